"""The coefficients of levels with the noise of each setting: Welch's of one factor; few false claims."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from iosonde.stats.regression.cell_errors import compute_joint_p_values, measure_cell_errors
from iosonde.stats.regression.effects import estimate_effects
from iosonde.stats.regression.ols import Fit, fit_ols

SEEDS = st.integers(0, 2**32 - 1)


def fit_levels(cells: list[np.ndarray]) -> Fit:
    level = np.repeat(np.arange(len(cells)), [x.size for x in cells])
    columns = np.equal.outer(level, np.arange(1, len(cells))).astype(float)
    return fit_ols(columns, np.concatenate(cells), [f"a[{place}]" for place in range(1, len(cells))], 0.95)


@settings(deadline=None, max_examples=50)
@given(SEEDS, st.lists(st.integers(4, 12), min_size=3, max_size=5))
def test_levels_have_the_p_of_welch_and_the_joint_p_of_their_factor(seed, sizes):
    rng = np.random.default_rng(seed)
    cells = [rng.normal(place, rng.uniform(0.1, 4), n) for place, n in enumerate(sizes)]
    fit = fit_levels(cells)
    errors = measure_cell_errors(fit)
    assert errors is not None
    for place, coefficient in enumerate(fit.coefficients()[1:], 1):
        slope = errors.estimate_slope(coefficient, place, 0.95)
        peer = stats.ttest_ind(cells[place], cells[0], equal_var=False)
        assert slope.p == pytest.approx(peer.pvalue, rel=1e-6)
        ends = peer.confidence_interval(0.95)
        assert (slope.low, slope.high) == pytest.approx((ends.low, ends.high), rel=1e-6)
    (effect,) = estimate_effects({"a": [*range(len(cells))]}, cells, None, 0.95).effects
    for p in compute_joint_p_values(fit).values():
        assert p == pytest.approx(effect.p, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("spreads", [(1, 1, 1), (4, 1, 1), (1, 1, 4)])
def test_levels_without_effect_are_claimed_in_5_of_100(spreads):
    """Two factors, 4 to 8 trials per setting: the levels of the first, held by the noise of each setting."""
    rng, draws, claims = np.random.default_rng(12), 400, np.zeros(2)
    a, b = np.repeat(np.tile([0, 1, 2], 2), 6), np.repeat([0, 1], 18)
    columns = np.column_stack([a == 1, a == 2, b == 1]).astype(float)
    for _ in range(draws):
        y = rng.normal(100 + 3 * b, np.asarray(spreads)[a])
        fit = fit_ols(columns, y, ["a[1]", "a[2]", "b[1]"], 0.95)
        errors = measure_cell_errors(fit)
        assert errors is not None
        slopes = [errors.estimate_slope(slope, place, 0.95) for place, slope in enumerate(fit.coefficients()[1:3], 1)]
        claims += [slope.p < 0.05 for slope in slopes]
    assert (claims <= 33).all()  # more is rarer than 1 in 200 at 5 %


def test_a_setting_without_repetition_or_noise_has_no_variance_of_its_own():
    rng = np.random.default_rng(1)
    assert measure_cell_errors(fit_levels([rng.normal(size=5), rng.normal(size=1), rng.normal(size=5)])) is None
    assert measure_cell_errors(fit_levels([rng.normal(size=5), np.full(4, 2.0), rng.normal(size=5)])) is None
