"""The test of an effect with a variance of each setting: Welch's of two settings and of several, and second
implementations of the formulas of Johansen (1980) and of Brunner, Dette and Munk (1997) with projectors instead of
bases."""

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


def compute_by_projectors(cells: list[np.ndarray], a: np.ndarray, b: np.ndarray) -> float:
    """The p: T projects √n·means on what ``a`` adds to ``b``, S are the variances of √n·means."""
    n = np.array([x.size for x in cells])
    root = np.sqrt(n)[:, None]
    ones = np.ones((n.size, 1))
    both, other = (np.hstack([ones, *(np.equal.outer(x, np.unique(x)) for x in each)]) for each in ((a, b), (b,)))
    t = project(root * both) - project(root * other)
    m = np.sqrt(n) * np.array([x.mean() for x in cells])
    s = np.diag([x.var(ddof=1) for x in cells])
    level_df = np.array([(n[a == level] - 1).sum() for level in np.unique(a)])
    sums = [(np.diag(t)[a == level] ** 2).sum() for level in np.unique(a)]
    if np.linalg.matrix_rank(t, tol=1e-8) == 1 or (sums / level_df).sum() > 2:
        return compute_brunner_dette_munk_p(t, s, m, n)
    return compute_johansen_p(t, s, m, n, 2.0 * level_df.min())


def compute_brunner_dette_munk_p(t: np.ndarray, s: np.ndarray, m: np.ndarray, n: np.ndarray) -> float:
    """F = m'Tm ÷ tr(TS), f = tr(TS)² ÷ tr(TSTS)."""
    trace = np.trace(t @ s)
    parts, df = np.diag(t) * np.diag(s), n - 1
    error_df = trace**2 / np.sum(parts**2 / (df + 2)) - 2
    return float(stats.f.sf(m @ t @ m / trace, trace**2 / np.trace(t @ s @ t @ s), error_df))


def compute_johansen_p(t: np.ndarray, s: np.ndarray, m: np.ndarray, n: np.ndarray, most: float) -> float:
    """W = m'T(TST)⁻Tm; c, and f(f + 2) ÷ 3A degrees of freedom."""
    inverse, f = t @ np.linalg.pinv(t @ s @ t, rcond=1e-9) @ t, np.linalg.matrix_rank(t, tol=1e-8)
    shares = np.diag(inverse @ s)
    a = float(np.sum(shares**2 / (n - 1)))
    scale = f + 2 * a - 6 * a / (f + 2)
    return float(stats.f.sf(m @ inverse @ m / scale, f, min(most, f * (f + 2) / (3 * a))))


@FEW
@given(SEEDS, st.integers(2, 4), st.integers(2, 4))
def test_main_effects_are_those_of_the_published_formulas(seed, levels, others):
    rng = np.random.default_rng(seed)
    cells = draw_cells(rng, (levels, others), 4)
    a, b = np.repeat(np.arange(levels), others), np.tile(np.arange(others), levels)
    effect = estimate_effects({"a": a.tolist(), "b": b.tolist()}, cells, None, 0.95).effect_of("a")
    if effect.factors == ("a",):
        assert effect.p == pytest.approx(compute_by_projectors(cells, a, b), rel=1e-6, abs=1e-12)
        assert (effect.explained.low > 0) == (effect.p < 0.05)


@FEW
@given(SEEDS, st.integers(3, 9))
def test_many_levels_with_few_trials_have_the_p_of_brunner_dette_and_munk(seed, n):
    """Few trials of many levels, where Johansen's F claims too often; else his."""
    rng = np.random.default_rng(seed)
    cells = [rng.normal(0, rng.uniform(0.1, 4), n) for _ in range(12)]
    (effect,) = estimate_effects({"a": [*range(12)]}, cells, None, 0.95).effects
    expected = compute_by_projectors(cells, np.arange(12), np.zeros(12))
    assert effect.p == pytest.approx(expected, rel=1e-6, abs=1e-12)


@FEW
@given(SEEDS, st.lists(st.integers(6, 15), min_size=3, max_size=5))
def test_several_settings_have_the_p_of_welch(seed, sizes):
    """Welch 1951: F with weights n ÷ s²."""
    rng = np.random.default_rng(seed)
    cells = [rng.normal(place % 2, rng.uniform(0.1, 4), n) for place, n in enumerate(sizes)]
    (effect,) = estimate_effects({"a": [*range(len(cells))]}, cells, None, 0.95).effects
    k, w = len(cells), np.array([x.size / x.var(ddof=1) for x in cells])
    means, n = np.array([x.mean() for x in cells]), np.array(sizes)
    a = float(np.sum((1 - w / w.sum()) ** 2 / (n - 1)))
    f = float(w @ (means - w @ means / w.sum()) ** 2) / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * a)
    df = (k**2 - 1) / (3 * a)
    assert effect.p == pytest.approx(stats.f.sf(f, k - 1, min(df, 2 * (n.min() - 1))), rel=1e-6, abs=1e-12)
    assert (effect.explained.low > 0) == (effect.p < 0.05)


@pytest.mark.parametrize(
    ("sizes", "spreads"),
    [
        ((3, 12, 12), (4, 1, 1)),
        ((3, 12, 12), (1, 4, 1)),
        ((5, 12, 12), (20, 2, 1)),
        ((3, 3, 3), (4, 1, 1)),
        ((20, 20, 20), (4, 1, 1)),
    ],
)
def test_no_effect_is_claimed_in_5_of_100(sizes, spreads):
    rng = np.random.default_rng(20)
    claims = sum(
        estimate_effects(
            {"a": [0, 1, 2]}, [rng.normal(100, s, n) for n, s in zip(sizes, spreads, strict=True)], None, 0.95
        )
        .effects[0]
        .p
        < 0.05
        for _ in range(400)
    )
    assert claims <= 33  # more is rarer than 1 in 200 at 5 %


def test_a_noisy_level_does_not_hide_the_difference_of_two_others():
    rng = np.random.default_rng(3)
    cells = [rng.normal(110, 20, 5), rng.normal(100, 1.6, 12), rng.normal(105, 0.9, 12)]
    (effect,) = estimate_effects({"a": ["x", "y", "z"]}, cells, None, 0.95).effects
    assert effect.p < 1e-4


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
