"""Tukey's single degree of freedom."""

import numpy as np
import pytest

from iosonde.stats.regression.additivity import compute_nonadditivity_p, do_effects_multiply
from iosonde.stats.regression.blocks import build_orthonormal_basis
from iosonde.stats.regression.ols import fit_ols

ROWS, COLUMNS = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)
INDICATORS = np.column_stack([ROWS == 1, ROWS == 2, COLUMNS == 1, COLUMNS == 2, COLUMNS == 3]).astype(float)


def test_the_p_is_that_of_the_squared_fit_as_a_further_predictor():
    y = 10 + ROWS * 3.0 + COLUMNS**2 + np.random.default_rng(3).standard_normal(12)
    first = fit_ols(INDICATORS, y, list("abcde"), 0.95)
    fitted = first.x @ first.beta - y.mean()
    second = fit_ols(np.column_stack([INDICATORS, fitted**2]), y, list("abcdef"), 0.95)
    p = compute_nonadditivity_p(build_orthonormal_basis([INDICATORS], np.ones(12)), y)
    assert p == pytest.approx(second.coefficients()[-1].p, rel=1e-6)


def test_additive_effects_are_said_to_multiply_in_1_of_100():
    rng, claims = np.random.default_rng(7), 0
    for _ in range(400):
        claims += do_effects_multiply([ROWS.tolist(), COLUMNS.tolist()], 100 + 5.0 * ROWS + rng.standard_normal(12))
    assert claims <= 11  # more is rarer than 1 in 500 at 1 %
