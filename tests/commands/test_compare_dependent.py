"""``compare`` of sides that were measured one after the other, with errors that depend on those before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import iosonde
from iosonde.core.verdict import VerdictState
from iosonde.stats.estimate.autocorrelation import Autocorrelation

N = 30


def compare_draw(seed: int, phi: float, effect: float = 0.0):
    rng = np.random.default_rng(seed)
    errors, error = [], rng.normal()
    for _ in range(2 * N):
        error = phi * error + (1 - phi**2) ** 0.5 * rng.normal()
        errors.append(error)
    values = 500 * np.exp(0.05 * np.array(errors) + effect * (np.arange(2 * N) >= N))
    table = pa.table({"version": ["a"] * N + ["b"] * N, "mib_s": values})
    (item,) = iosonde.compare(table, "version").answer.items
    return item


@pytest.mark.parametrize("phi", [0.5, 0.85])
def test_dependent_trials_of_equal_sides_are_rarely_called_different(phi):
    states = [compare_draw(seed, phi).state for seed in range(40)]
    assert states.count(VerdictState.DIFFERENT) <= 6  # 7 % of 40, and two standard errors


def test_independent_trials_keep_their_power():
    states = [compare_draw(seed, 0.0, effect=0.05).state for seed in range(40)]
    assert states.count(VerdictState.DIFFERENT) >= 36


def test_the_interval_is_as_wide_as_the_dependence_makes_it():
    (seed,) = [seed for seed in range(40) if (found := compare_draw(seed, 0.7).checks) and _get_worth(found) < 1][:1]
    item = compare_draw(seed, 0.7)
    ratio, typical = item.comparison.ratio, item.comparison.typical
    narrow = np.log(typical.high / typical.low)
    assert np.log(ratio.high / ratio.low) == pytest.approx(narrow * _get_worth(item.checks) ** -0.5, rel=0.1)


def _get_worth(checks) -> float:
    return min(check.worth for check in checks)


def test_the_worth_of_a_trial_has_the_bias_of_residuals_removed():
    many, few = (Autocorrelation(0.5, 0.001, n, 2) for n in (4000, 40))
    assert many.effective_share == pytest.approx(1 / 3, rel=0.01)
    assert few.effective_share < 0.25
    assert Autocorrelation(-0.3, 0.9, 40).effective_share == 1.0
