"""Trials of one bring-up are averaged, adjusted for what varies inside it; values by hand."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.schema import BRING_UPS
from iosonde.core.table import build_table
from iosonde.stats.estimate.shared_bring_ups import (
    _find_constant,
    average_by_bring_up,
    group_means_by_bring_up,
    has_repeated_bring_ups,
    number_bring_ups,
    number_bring_ups_by_group,
)

OUTER, INNER = BRING_UPS[:2]


def test_bring_ups_are_numbered_in_the_order_of_their_first_trial():
    units = [("b",), ("a",), ("b",), ("c",)]
    assert number_bring_ups(units).tolist() == [0, 1, 0, 2]
    assert average_by_bring_up(np.array([1.0, 5.0, 3.0, 7.0]), units).tolist() == [2.0, 5.0, 7.0]
    assert has_repeated_bring_ups(units) and not has_repeated_bring_ups(units[1:])


def units_of(campaign_columns=(), **columns) -> tuple:
    return number_bring_ups_by_group(build_table(columns), "side", campaign_columns)


def test_the_outermost_bring_up_that_holds_the_sides_constant_is_the_unit():
    outer, inner = [1, 1, 2, 2, 2, 2], [1, 2, 1, 1, 2, 2]
    assert units_of(**{OUTER: outer, INNER: inner, "side": list("aabbbb")}) == ((1,), (1,), (2,), (2,), (2,), (2,))
    changing = units_of(**{OUTER: outer, INNER: inner, "side": list("abaabb")})
    assert changing == ((1, 1), (1, 2), (2, 1), (2, 1), (2, 2), (2, 2))
    assert units_of(**{OUTER: outer, INNER: inner, "side": list("ababab")}) == ()
    assert units_of(side=list("ab")) == units_of(**{OUTER: [1, 1], "side": list("ab")}) == ()


def test_campaigns_are_apart_and_those_without_bring_ups_have_a_unit_a_row():
    columns = {"campaign": list("xxyyz"), OUTER: [1, 1, 1, 1, None], "side": list("aabba")}
    assert units_of(["campaign", "unknown"], **columns) == (("x", 1), ("x", 1), ("y", 1), ("y", 1), (4,))
    assert units_of([], **columns) == ()
    assert units_of(["campaign"], **columns | {"side": list("aabab")}) == ()


def test_columns_are_constant_if_no_bring_up_has_two_of_their_levels():
    cells, units = [(1, "x", 0), (1, "y", 0), (2, "x", 0)], [("u",), ("u",), ("v",)]
    assert _find_constant(cells, units) == [True, False, True]
    assert _find_constant([*cells, (3, "x", 0)], [*units, ("v",)]) == [False, False, True]
    assert _find_constant([], []) == []


def test_bring_ups_of_both_sides_are_averaged_in_each_cell_that_both_have():
    a, b = np.array([1.0, 3.0, 10.0, 20.0]), np.array([5.0, 7.0, 9.0, 30.0])
    cells = ([("x",), ("x",), ("x",), ("y",)], [("x",), ("x",), ("x",), ("z",)])
    units = ([(1,), (1,), (2,), (3,)], [(1,), (2,), (2,), (3,)])
    ((mean_a, mean_b),) = group_means_by_bring_up((a, b), cells, units)
    assert (mean_a, mean_b) == (pytest.approx([2.0, 10.0]), pytest.approx([5.0, 8.0]))


def test_a_missing_trial_of_a_bring_up_does_not_shift_its_mean():
    """Value = bring-up + cell: bring-ups 0, 2 of A and 10, 14 of B, cells 0 and 100; the last lacks its second cell."""
    cells = ([(1,), (2,), (1,), (2,)], [(1,), (2,), (1,)])
    units = ([(1,), (1,), (2,), (2,)], [(1,), (1,), (2,)])
    values = np.array([0.0, 100, 2, 102]), np.array([10.0, 110, 14])
    ((mean_a, mean_b),) = group_means_by_bring_up(values, cells, units)
    assert (mean_a, mean_b) == (pytest.approx([50.0, 52.0]), pytest.approx([60.0, 64.0]))


def test_three_cells_weigh_alike_and_what_is_constant_separates_cells():
    cells = ([(1, "p"), (2, "p"), (3, "p"), (1, "q")], [(1, "p"), (2, "p"), (3, "p"), (3, "p"), (1, "q"), (1, "q")])
    units = ([(1,), (1,), (1,), (2,)], [(1,), (1,), (1,), (1,), (2,), (3,)])
    values = np.array([0.0, 3, 9, 50]), np.array([10.0, 13, 19, 19, 60, 70])
    first, second = group_means_by_bring_up(values, cells, units)
    assert (first[0], first[1]) == (pytest.approx([4.0]), pytest.approx([14.0]))
    assert (second[0], second[1]) == (pytest.approx([50.0]), pytest.approx([60.0, 70.0]))
