"""The balanced fraction: levels and pairs come up alike often, what is forbidden never, the same for the same seed."""

from collections import Counter
from itertools import combinations

import pytest

from iosonde.core.errors import InputError
from iosonde.core.types import Factor
from iosonde.measure import design
from messages import assert_problem, codes, raises

FACTORS = [Factor(name, "", tuple(range(n))) for name, n in (("a", 2), ("b", 3), ("c", 4), ("d", 6))]


def made(cells, seed=1, factors=FACTORS, **keys):
    return design.build_cells(factors, {"kind": "balanced", "cells": cells, **keys}, seed)


def test_levels_and_pairs_come_up_alike_often():
    cells = made(48).cells
    assert len({tuple(cell.items()) for cell in cells}) == 48
    for factor in FACTORS:
        counts = Counter(cell[factor.name] for cell in cells)
        assert max(counts.values()) - min(counts.values()) <= 1
    for one, other in combinations(FACTORS, 2):
        counts = Counter((cell[one.name], cell[other.name]) for cell in cells)
        assert len(counts) == len(one.levels) * len(other.levels)
        assert max(counts.values()) - min(counts.values()) <= 2


def test_where_there_is_an_orthogonal_array_it_is_found():
    """Greedy alone takes, of 2^5 cells, eight in which one factor is the opposite of another."""
    factors = [Factor(name, "", (0, 1)) for name in "abcde"]
    for seed in (1, 7, 147, 2013):
        found = design.build_cells(factors, {"kind": "balanced", "cells": 8}, seed)
        for one, other in combinations("abcde", 2):
            assert set(Counter((cell[one], cell[other]) for cell in found.cells).values()) == {2}
        assert "confounded-factors" not in codes(found.notes)


def test_factors_that_change_together_are_named():
    factors = [Factor(name, "", (0, 1)) for name in "abcdef"]
    notes = confounding_notes(factors, {"kind": "balanced", "cells": 2})
    assert_problem(notes[0], "confounded-factors", factor="a", other="b", cramers_v=1.0)
    tied = {"constraints": ["a == b"]}  # that is asked for, and no fault of the fraction
    notes = confounding_notes(factors, {"kind": "balanced", "cells": 12, **tied})
    assert ("a", "b") not in [(note.values["factor"], note.values["other"]) for note in notes]


def confounding_notes(factors, keys):
    return [note for note in design.build_cells(factors, keys, 1).notes if codes([note]) == ["confounded-factors"]]


def test_the_seed_draws_the_cells_and_other_factors_are_crossed_with_them():
    assert made(12).cells == made(12).cells != made(12, seed=2).cells
    assert len(design.build_cells(FACTORS, {"kind": "balanced", "cells": 6, "factors": ["a", "b", "c"]}, 1).cells) == 36


def test_what_is_forbidden_is_never_taken_and_all_that_is_allowed_is_the_full_design():
    forbidden = {"constraints": ["a == 0 or b != 2"]}
    cells = made(1000, **forbidden).cells
    assert len(cells) == 2 * 3 * 4 * 6 - 24 and not any(cell["a"] == 1 and cell["b"] == 2 for cell in cells)
    assert made(30, **forbidden).dropped == (("a == 0 or b != 2", 0),)


@pytest.mark.parametrize(
    ("keys", "code", "values"),
    [
        ({"cells": 1}, "not-an-integer", {"key": "cells", "setting": 1, "minimum": 2}),
        ({"cells": 5000}, "too-many-cells", {"count": 5000, "max_cells": 2000}),
        ({"cells": 10, "constraints": ["a > 5"]}, "no-allowed-cells", {}),
    ],
)
def test_what_cannot_be_is_said(keys, code, values):
    with raises(code, InputError, **values):
        made(**keys)
