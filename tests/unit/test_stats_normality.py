"""Shapiro and Wilk, Brown and Forsythe, against scipy, which they stand in for."""

import numpy as np
import pytest
from scipy import stats

from iosonde.core.table import build_table
from iosonde.stats.estimate import normality
from iosonde.stats.regression.assumptions import compute_brown_forsythe_p
from iosonde.stats.regression.regress import regress

KINDS = {
    "normal": lambda draw, n: draw.normal(10, 2, n),
    "skewed": lambda draw, n: draw.exponential(size=n),
    "flat": lambda draw, n: draw.uniform(size=n),
    "ties": lambda draw, n: np.round(draw.normal(size=n), 1) + 1e6,
}


def quantiles_of_as_111(p):
    """Beasley & Springer (Applied Statistics 26, 1977, 118-121): those of scipy's shapiro, right to 1e-8."""
    q = p - 0.5
    r = np.sqrt(-np.log(np.minimum(p, 1 - p)))
    tail = np.polyval([2.32121276858, 4.85014127135, -2.29796479134, -2.78718931138], r) / np.polyval(
        [1.63706781897, 3.54388924762, 1], r
    )
    middle = np.polyval([-25.44106049637, 41.39119773534, -18.61500062529, 2.50662823884], q * q) / np.polyval(
        [3.13082909833, -21.06224101826, 23.08336743743, -8.47351093090, 1], q * q
    )
    return np.where(np.abs(q) <= 0.42, q * middle, np.copysign(tail, q))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 11, 12, 13, 50, 499, 5000])
def test_shapiro_and_wilk(n, kind, monkeypatch):
    values = KINDS[kind](np.random.default_rng(n), n)
    expected = stats.shapiro(values)
    assert normality.run_shapiro_wilk_test(values) == pytest.approx(tuple(expected), rel=1e-6, abs=1e-9)
    monkeypatch.setattr(normality, "compute_normal_quantiles", quantiles_of_as_111)
    assert normality.run_shapiro_wilk_test(values) == pytest.approx(tuple(expected), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("values", [[1, 2, 3], [1, 1, 2], [0, 0, 0, 0, 0, 0, 0, 1], [0] * 30 + [1]])
def test_shapiro_and_wilk_at_its_ends(values):
    values = np.array(values, float)
    assert normality.run_shapiro_wilk_test(values) == pytest.approx(tuple(stats.shapiro(values)), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_brown_and_forsythe(kind):
    draw = np.random.default_rng(5)
    cells = np.repeat(np.arange(5), [3, 4, 9, 20, 2])
    values = KINDS[kind](draw, cells.size) * (1 + cells)
    groups = [values[cells == cell] for cell in range(4)]  # the last has no 3
    expected = stats.levene(*groups, center="median").pvalue
    assert compute_brown_forsythe_p(values, cells) == pytest.approx(expected, rel=1e-10)


def test_spread_that_never_varies_is_the_same_or_cannot_be_told():
    cells = np.repeat([0, 1], 4)
    assert compute_brown_forsythe_p(np.array([-1.0, -1, 1, 1, 4, 4, 6, 6]), cells) == 1.0
    assert (
        compute_brown_forsythe_p(np.array([-1.0, -1, 1, 1, 3, 3, 7, 7]), cells) is None
    )  # no error to hold that against


def test_equal_distances_from_the_medians_are_no_difference():
    x, y = [1.0, 2.0, 3.0] * 4, [0.0] * 6 + [1.0] * 6
    found = regress(build_table({"x": x, "y": y}), "y", ["x"], 0.95).assumptions.brown_forsythe_p
    assert found == 1.0
