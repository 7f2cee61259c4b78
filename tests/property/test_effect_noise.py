"""The test of an effect with a variance of each setting: Welch's of two settings, and a second implementation from the
formula of Brunner, Dette and Munk (1997) with projectors instead of bases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from iosonde.stats.estimate.within_cells import average_cell_differences
from iosonde.stats.regression.effects import estimate_effects

SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(deadline=None, max_examples=60)


def draw_cells(rng: np.random.Generator, shape: tuple[int, int], least: int) -> list[np.ndarray]:
    """Trials of every setting of two factors, with a mean, a spread and a number of trials of its own."""
    return [
        rng.normal(rng.normal(), rng.uniform(0.1, 4), int(rng.integers(least, 9))) for _ in range(shape[0] * shape[1])
    ]


def project(columns: np.ndarray) -> np.ndarray:
    return columns @ np.linalg.pinv(columns)


def compute_by_projectors(cells: list[np.ndarray], a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """F, f and the degrees of freedom of the noise: T projects √n·means on what ``a`` adds to ``b``, S are variances
    of √n·means; F = m'Tm ÷ tr(TS), f = tr(TS)² ÷ tr(TSTS)."""
    n = np.array([x.size for x in cells])
    root = np.sqrt(n)[:, None]
    ones = np.ones((n.size, 1))
    both, other = (np.hstack([ones, *(np.equal.outer(x, np.unique(x)) for x in each)]) for each in ((a, b), (b,)))
    t = project(root * both) - project(root * other)
    m = np.sqrt(n) * np.array([x.mean() for x in cells])
    s = np.diag([x.var(ddof=1) for x in cells])
    trace = np.trace(t @ s)
    parts, df = np.diag(t) * np.diag(s), n - 1
    error_df = trace**2 / np.sum(parts**2 / (df + 2)) - 2
    return m @ t @ m / trace, trace**2 / np.trace(t @ s @ t @ s), error_df


@FEW
@given(SEEDS, st.integers(2, 4), st.integers(2, 4))
def test_main_effects_are_those_of_the_published_formula(seed, levels, others):
    rng = np.random.default_rng(seed)
    cells = draw_cells(rng, (levels, others), 4)
    a, b = np.repeat(np.arange(levels), others), np.tile(np.arange(others), levels)
    f, df, error_df = compute_by_projectors(cells, a, b)
    effect = estimate_effects({"a": a.tolist(), "b": b.tolist()}, cells, None, 0.95).effect_of("a")
    if effect.factors == ("a",):
        assert effect.p == pytest.approx(stats.f.sf(f, df, error_df), rel=1e-6, abs=1e-12)
        assert (effect.explained.low > 0) == (effect.p < 0.05)


@FEW
@given(SEEDS, st.integers(4, 12), st.integers(4, 12))
def test_two_settings_have_the_p_of_welch(seed, n, m):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, n), rng.normal(0.7, rng.uniform(0.1, 4), m)
    (effect,) = estimate_effects({"a": [1, 2]}, [x, y], None, 0.95).effects
    assert effect.p == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue, rel=1e-7)
    assert (effect.explained.low > 0) == (effect.p < 0.05)


@FEW
@given(SEEDS, st.integers(2, 5))
def test_two_levels_within_cells_have_the_p_of_a_comparison(seed, others):
    """Whatever is missing: cells with one trial, and two trials against many."""
    rng = np.random.default_rng(seed)
    cells = draw_cells(rng, (2, others), 1)
    sides = list(zip(cells[:others], cells[others:], strict=True))
    if min(sum(x.size - 1 for x in side) for side in zip(*sides, strict=True)) < others - 1:
        return  # there the differences of the cells are the repetition
    made = average_cell_differences(sides)
    levels = {"a": [side for side in "xy" for _ in range(others)], "b": [*range(others)] * 2}
    effect = estimate_effects(levels, cells, None, 0.95).effect_of("a")
    if effect.factors == ("a",):
        assert effect.p == pytest.approx(2 * stats.t.sf(abs(made.value / made.error), made.df), rel=1e-6, abs=1e-12)
