"""A against B inside the cells of other settings: least squares by another library, and how often it is wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, compare, group
from iosonde.stats.estimate.compare_words import sentence
from iosonde.stats.estimate.within_cells import compare_within, within


def cells(seed: int, difference: float = 0.0, sizes: tuple[int, int] = (1, 5), interaction: float = 0.0):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(7):
        center = 3 * rng.standard_normal()
        n, m = rng.integers(*sizes, 2)
        own = difference + interaction * rng.standard_normal()
        made.append((center + 0.2 * rng.standard_normal(n), center + own + 0.2 * rng.standard_normal(m)))
    return made


@pytest.mark.parametrize("seed", range(10))
def test_it_is_least_squares_on_cells_and_one_difference(seed):
    data = cells(seed, 0.1)
    rows = [(place, side, y) for place, both in enumerate(data) for side, x in zip("ab", both, strict=True) for y in x]
    fitted = ols("y ~ C(cell) + side", pd.DataFrame(rows, columns=["cell", "side", "y"])).fit()
    made = within(data)
    assert (made.value, made.error, made.df) == pytest.approx(
        (fitted.params["side[T.b]"], fitted.bse["side[T.b]"], fitted.df_resid)
    )
    found, expected = made.interval(0.95, 7), fitted.conf_int().loc["side[T.b]"]
    assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_what_the_cells_differ_in_hides_no_difference():
    """Pooled, the same trials cannot tell."""
    positive = [(np.exp(a), np.exp(b)) for a, b in cells(3, 0.2, (4, 6))]
    a, b = (np.concatenate(side) for side in zip(*positive, strict=True))
    assert compare(group("a", a), group("b", b), 0.95, 0.02).verdict == CANNOT_TELL
    made = compare_within(("a", "b"), positive, 0.95, 0.02, None)
    assert made.verdict == DIFFERENT and made.ratio.low < np.exp(0.2) < made.ratio.high and made.cells == 7


@pytest.mark.parametrize("sizes", [(1, 2), (1, 4), (3, 4)])
def test_it_covers_also_unbalanced_and_unrepeated_cells(sizes):
    hits = []
    for seed in range(400):
        found = within(cells(seed, 0.3, sizes)).interval(0.95, 7)
        hits.append(found.low <= 0.3 <= found.high)
    assert 0.92 < np.mean(hits) < 0.98


def test_cells_whose_ratios_differ_are_said_to():
    positive = [(np.exp(a), np.exp(b)) for a, b in cells(5, 0.2, (5, 6), interaction=0.5)]
    made = compare_within(("a", "b"), positive, 0.95, 0.02, None)
    assert any("not the same in all cells" in one and "--by" in one for one in made.warnings)
    same = compare_within(("a", "b"), [(np.exp(a), np.exp(b)) for a, b in cells(5, 0.2, (5, 6))], 0.95, 0.02, None)
    assert not same.warnings


def test_no_number_of_trials_is_promised_where_the_cells_disagree():
    def told(interaction):
        made = [(np.exp(a), np.exp(b)) for a, b in cells(5, 0.0, (5, 6), interaction=interaction)]
        return compare_within(("a", "b"), made, 0.95, 0.001, None)

    unlike, alike = told(0.5), told(0.0)
    assert unlike.verdict == alike.verdict == CANNOT_TELL
    assert unlike.n_needed is None and unlike.cells_differ and unlike.to_json()["cells_differ"]
    assert "cells disagree" in sentence(unlike) and "would tell" not in sentence(unlike)
    assert alike.n_needed and "would tell" in sentence(alike) and "disagree" not in sentence(alike)


def test_values_of_zero_are_compared_by_their_difference():
    made = compare_within(("a", "b"), [(x - 1, y - 1) for x, y in cells(3, 0.5, (4, 6))], 0.95, 0.02, None)
    assert made.ratio is None and made.difference.low < 0.5 < made.difference.high


def test_one_trial_a_side_in_one_cell_shows_nothing():
    made = compare_within(("a", "b"), [(np.array([1.0]), np.array([2.0]))], 0.95, 0.02, None)
    assert made.verdict == CANNOT_TELL and "no spread" in made.warnings[0]
