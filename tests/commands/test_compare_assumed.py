"""``compare`` without a group takes the only setting of two levels."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

import iosonde
from iosonde.core.errors import InputError
from messages import assert_problem


def table(sizes: tuple[int, ...]) -> pa.Table:
    rows = [(fs, size, 10.0 * size + n + (fs == "afs")) for fs, size, n in product(("nfs", "afs"), sizes, range(3))]
    return pa.table(dict(zip(("fs", "size", "speed"), map(list, zip(*rows, strict=True)), strict=True)))


def test_the_only_setting_of_two_levels_separates_the_sides_and_the_others_are_held():
    answer = iosonde.compare(table((1, 2, 3))).answer
    (item,) = answer.items
    assert (answer.group, item.sides, item.adjusted) == ("fs", ("nfs", "afs"), ("size",))
    assert [note.code for note in answer.warnings if getattr(note, "code", "") == "assumed-group"] == ["assumed-group"]
    named = iosonde.compare(table((1, 2, 3)), "fs").answer
    assert named.items[0].comparison.p == item.comparison.p


def test_several_candidates_are_listed():
    with pytest.raises(InputError) as refused:
        iosonde.compare(table((1, 2)))
    assert_problem(refused.value, "missing-option", names=" (fs, size)")
    assert iosonde.compare(table((1, 2)), by="size").answer.group == "fs"


def test_the_setting_that_has_the_named_levels_separates_the_sides():
    assert iosonde.compare(table((1, 2)), levels=("afs", "nfs")).answer.items[0].sides == ("afs", "nfs")
    assert iosonde.compare(table((1, 2, 4)), levels=("4", "1")).answer.group == "size"


def test_a_level_that_the_setting_lacks_is_refused_with_its_levels():
    with pytest.raises(InputError) as refused:
        iosonde.compare(table((1, 2)), levels=("afs", "ufs"))
    assert_problem(refused.value, "unknown-level", name="fs", level="ufs")


def test_levels_of_several_settings_are_ambiguous():
    rows = [(a, b, 10.0 * a + b + n / 8) for a, b, n in product((1, 2), (1, 2), range(3))]
    numbers = pa.table(dict(zip(("nodes", "servers", "speed"), map(list, zip(*rows, strict=True)), strict=True)))
    with pytest.raises(InputError) as refused:
        iosonde.compare(numbers, levels=("1", "2"))
    assert_problem(refused.value, "ambiguous-levels", names="nodes, servers")


def test_a_hint_names_the_only_setting_of_three_levels():
    rows = [(fs, float(n)) for fs, n in product(("nfs", "afs", "ufs"), (7.25, 8.5, 9.125))]
    speeds = pa.table(dict(zip(("fs", "speed"), map(list, zip(*rows, strict=True)), strict=True)))
    with pytest.raises(InputError) as refused:
        iosonde.compare(speeds)
    assert_problem(refused.value, "missing-option", names=" (fs)")
