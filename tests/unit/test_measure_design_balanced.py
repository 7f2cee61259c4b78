"""The balanced fraction: levels and pairs come up alike often, what is forbidden never, the same for the same seed."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from iosonde.core.errors import InputError
from iosonde.core.types import Factor
from iosonde.measure import design
from iosonde.measure.design import balanced
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


def cells_of(*rows):
    return [dict(zip("ab", row, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("rows", "v"),
    [
        ([(0, 0), (0, 1), (1, 0), (1, 1)], 0.0),
        ([(0, 0), (1, 1)], 1.0),
        ([(0, 0), (1, 1), (2, 2)], 1.0),
        # Each of the four squares is 0.5² / 1.5 of 6 cells.
        ([(0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (1, 1)], 1 / 3),
        ([(0, 0), (0, 1)], 0.0),
        # 2 × 3 levels: five of the six deviations are 1/3, 2/3 … and chi² is 3 of 6 cells.
        ([(0, 0), (0, 0), (0, 1), (1, 1), (1, 2), (1, 2)], (2 / 3) ** 0.5),
    ],
)
def test_the_association_of_two_factors_by_hand(rows, v):
    assert balanced._compute_cramers_v(cells_of(*rows), "a", "b") == pytest.approx(v)
    assert balanced._compute_cramers_v(cells_of(*rows), "b", "a") == pytest.approx(v)


def test_factors_are_named_that_change_together_more_than_all_allowed_cells_do():
    factors = [Factor(name, "", (0, 1)) for name in "ab"]
    tied, half = cells_of((0, 0), (1, 1)), cells_of(*[(0, 0)] * 3, *[(1, 1)] * 3, (0, 1), (1, 0))
    free = cells_of((0, 0), (0, 1), (1, 0), (1, 1))
    assert balanced.find_confounded_factors(tied, free, factors) == [("a", "b", pytest.approx(1))]
    assert balanced.find_confounded_factors(half, free, factors) == [("a", "b", pytest.approx(0.5))]
    assert balanced.find_confounded_factors(tied, tied, factors) == []
    assert balanced.find_confounded_factors(half[1:], free, factors) == []
    assert balanced.find_confounded_factors(cells_of((0, 0), (0, 1)), free, factors) == []


def test_levels_and_pairs_of_levels_are_numbered():
    factors = tuple(Factor(name, "", levels) for name, levels in (("a", (1, 2)), ("b", ("x", "y", "z"))))
    cells = cells_of((1, "x"), (2, "z"), (2, "x"))
    assert [code.tolist() for code in balanced._encode_levels(cells, factors)] == [[0, 1, 1], [0, 1, 0], [0, 2, 1]]


def codes_and_dues(*codes, count):
    arrays = [np.array(code) for code in codes]
    return arrays, [np.bincount(code) / code.size * count for code in arrays]


def test_the_search_for_a_balanced_subset_by_hand():
    arrays, due = codes_and_dues([0, 0, 1, 1], count=2)
    assert balanced._compute_cost(arrays, due, [0, 1]) == 2.0
    assert balanced._compute_cost(arrays, due, [0, 2]) == 0.0
    assert balanced._choose_greedily(arrays, due, 3) == [0, 2, 1]
    assert balanced._exchange_cells(arrays, due, [0, 1]) == [2, 1]
    assert balanced._exchange_cells(arrays, due, [3, 0]) == [3, 0]
    assert balanced._choose_best(arrays, 2, 1) == [0, 2]
    rare, due = codes_and_dues([0, 0, 0, 1], count=2)
    assert [target.tolist() for target in due] == [[1.5, 0.5]]
    # (2 - 1.5)² / 1.5 + 0.5² / 0.5, and (1 - 1.5)² / 1.5 + 0.5² / 0.5
    assert [balanced._compute_cost(rare, due, chosen) for chosen in ([0, 1], [0, 3])] == pytest.approx([2 / 3] * 2)
    assert balanced._choose_greedily(rare, due, 2) == [0, 3]
    both, due = codes_and_dues([0, 0, 1, 1], [0, 1, 0, 1], count=2)
    assert balanced._compute_cost(both, due, [0, 1]) == 2.0
    assert balanced._choose_greedily(both, due, 2) == [0, 3]
    assert balanced._exchange_cells(both, due, [0, 1]) == [2, 1]


def test_a_balanced_fraction_says_of_how_many_cells_it_is_and_is_crossed():
    keys = {"factors": ["a", "b", "c"], "constraints": ["a == 0 or d == 0", "a == 0 or b != 2"]}
    drawn = design.build_cells(FACTORS, {"kind": "balanced", "cells": 6, **keys}, 1)
    assert_problem(drawn.notes[0], "balanced-fraction", cells=6 * 6, allowed=6 * 20)
    chosen = {tuple(cell[name] for name in "abc") for cell in drawn.cells}
    assert len(chosen) == 6 and not [cell for cell in drawn.cells if cell["a"] and cell["d"]]
    # Forbidden by the crossed factor: of each chosen cell with a = 1, five of six.
    assert drawn.dropped == (("a == 0 or d == 0", 5 * sum(a for a, _, _ in chosen)), ("a == 0 or b != 2", 0))
    with raises("no-varying-factor", InputError):
        made(6, factors=[Factor("a", "", (1,))])
    held = made(2, factors=[Factor("a", "", (0, 1, 2)), Factor("k", "", (3,))], constraints=["a < k - 1"])
    assert sorted(cell["a"] for cell in held.cells) == [0, 1] and held.dropped == (("a < k - 1", 0),)
