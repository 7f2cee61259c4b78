"""The noise passport: false alarms where there is no difference, variances, the smallest difference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestIndPower
from statsmodels.stats.proportion import proportion_confint

from iosonde.core.errors import DataError
from iosonde.stats.estimate import noise
from iosonde.stats.estimate.distributions import binomial_interval
from iosonde.stats.estimate.noise import compute_detectable_effect, estimate_smallest_difference
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.regression.components import estimate_components
from messages import assert_problem, raises


def cells(values) -> list[TrialCell]:
    return [TrialCell({"x": i}, "y", "s", np.asarray(row, float)) for i, row in enumerate(values)]


@pytest.mark.parametrize("n", [3, 6, 10, 50])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_the_smallest_effect_is_that_of_a_second_implementation(n, level):
    theirs = TTestIndPower().solve_power(nobs1=n, alpha=1 - level, power=0.8)
    assert compute_detectable_effect(n, level, 0.8) == pytest.approx(theirs, rel=1e-5)


def test_a_difference_of_that_size_is_found_as_often_as_promised():
    rng, n, sd = np.random.default_rng(1), 10, 0.1
    ratio = 1 + estimate_smallest_difference(sd, 100, n, 0.95, 0.8).value
    logs = rng.normal(0, sd, (4000, 2, n))
    p = scipy_stats.ttest_ind(logs[:, 0] + np.log(ratio), logs[:, 1], axis=1).pvalue
    assert np.mean(p < 0.05) == pytest.approx(0.8, abs=0.025)


def test_a_power_below_the_chance_of_a_false_alarm_is_refused():
    for power in (0.04, 1.0):
        with raises("out-of-range"):
            compute_detectable_effect(6, 0.95, power)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (3, 12), (10, 10)])
def test_limits_of_a_share_are_clopper_and_pearsons(hits, n):
    assert binomial_interval(hits, n, 0.95) == pytest.approx(proportion_confint(hits, n, 0.05, "beta"))


def nested(rng, between, within, trials=12, ranks=6, cells=3):
    of_trial = rng.normal(0, between, (cells, trials, 1))
    return [list(cell) for cell in of_trial + rng.normal(0, within, (cells, trials, ranks))]


def test_components_are_found_again_and_their_intervals_cover():
    rng, hits, values = np.random.default_rng(4), [], []
    for _ in range(200):
        found = estimate_components(nested(rng, 0.1, 0.2), 0.9)
        values.append((found.between.value**2, found.within.value**2))
        hits.append((found.share.low <= 0.2 <= found.share.high, found.within.low <= 0.2 <= found.within.high))
    assert np.mean(values, axis=0) == pytest.approx([0.01, 0.04], rel=0.1)
    assert np.all(np.abs(np.mean(hits, axis=0) - 0.9) < 0.06)


def test_components_need_ranks_and_repeats():
    assert estimate_components([[np.array([1.0]), np.array([2.0]), np.array([3.0])]], 0.95) is None
    assert estimate_components([[np.array([1.0, 2.0])]], 0.95) is None
    assert estimate_components([], 0.95) is None


def test_no_false_alarms_beyond_the_promise_on_independent_trials():
    made = noise.compute_passport(cells(np.random.default_rng(1).normal(100, 5, (300, 12))), 0.95, {})
    assert made.random.value == pytest.approx(0.05, abs=0.02)
    for seen in (made.halves, made.alternating):
        assert seen.low <= 0.05 <= seen.high and seen.n == 300


def test_a_drift_shows_between_halves_and_not_between_neighbours():
    x = np.random.default_rng(1).normal(100, 3, (40, 12)) + np.arange(12)
    made = noise.compute_passport(cells(x), 0.95, {})
    assert made.halves.low > 0.3 and made.alternating.value < 0.1


def test_every_number_of_the_passport_scales_with_the_unit():
    x = np.random.default_rng(1).lognormal(3, 0.2, (5, 8))
    a, b = (noise.compute_passport(cells(factor * x), 0.95, {}).to_json() for factor in (1.0, 1024.0))
    assert a["metrics"][0]["sd_log"] == pytest.approx(b["metrics"][0]["sd_log"])
    assert a["false_alarms"] == b["false_alarms"]
    assert [d["n"] for d in a["metrics"][0]["smallest_difference"]] == [6, 10, 20, 50]


def test_data_without_repeats_have_no_passport():
    with raises("too-few-trials", DataError):
        noise.compute_passport(cells([[1.0], [2.0]]), 0.95, {})


def test_few_trials_cannot_tell_about_false_alarms():
    made = noise.compute_passport(cells([[1.0, 2.0, 3.0]]), 0.95, {})
    assert made.halves.value is None
    assert_problem(made.halves.warnings[0], "too-few-trials", least=6)


def test_a_spread_beyond_all_numbers_gives_none():
    assert estimate_smallest_difference(300.0, 5, 6, 0.95, 0.8).value is None
