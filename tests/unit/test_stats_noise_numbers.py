"""Each number of a noise passport by a second computation; simulations are in ``test_stats_noise``."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestIndPower

from iosonde.core.table import build_table
from iosonde.stats.estimate import noise
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.regression.components import estimate_components
from messages import raises

FALLING = np.array([16.0, 15.9, 16.1, 10.0, 10.1, 9.9])  # first half against second: different


def cell(values, **more) -> TrialCell:
    return TrialCell({}, "m", "s", np.asarray(values, float), "read", **more)


def test_every_number_of_a_passport():
    even = FALLING[[0, 3, 4, 1, 2, 5]]
    made = noise.compute_passport([cell(FALLING), cell(even), cell([5.0]), cell([0.0, 1.0])], 0.95, {}).to_json()
    alarms = made["false_alarms"]
    assert (made["level"], made["power"]) == (0.95, 0.8)
    low, high = scipy_stats.beta.ppf(0.025, 1, 2), scipy_stats.beta.ppf(0.975, 2, 1)
    assert (alarms["halves"]["value"], alarms["halves"]["n"]) == (0.5, 2)
    assert (alarms["halves"]["low"], alarms["halves"]["high"]) == (pytest.approx(low), pytest.approx(high))
    assert alarms["alternating"]["value"] == 0.0 and 0 < alarms["random"]["value"] < 0.25
    (metric,) = made["metrics"]
    logs = np.log(FALLING)
    assert (metric["operation"], metric["metric"], metric["n_cells"], metric["n_trials"]) == ("read", "m", 3, 13)
    assert metric["sd_log"] == pytest.approx(logs.std(ddof=1))  # both repeated cells hold the same values
    assert metric["between_trials"] is metric["within_trial"] is metric["between_share"] is None
    assert [each["n"] for each in metric["smallest_difference"]] == [6, 10, 20, 50]


@pytest.mark.parametrize("n", [6, 20])
def test_the_smallest_difference_follows_from_power_and_the_interval_of_the_spread(n):
    effect = TTestIndPower().solve_power(nobs1=n, alpha=0.05, power=0.8)
    made = noise.estimate_smallest_difference(0.1, 10, n, 0.95, 0.8)
    ends = [0.1 * math.sqrt(10 / scipy_stats.chi2.ppf(p, 10)) for p in (0.975, 0.025)]
    assert (made.value, made.low, made.high) == pytest.approx(
        [math.expm1(effect * sd) for sd in (0.1, *ends)], rel=1e-4
    )
    assert made.n == 11


def test_rates_of_ranks_are_those_of_their_run_operation_and_metric():
    table = build_table(
        {
            "run": ["a", "a", "a", "b", "a", "a"],
            "operation": ["read", "read", "read", "read", "write", "read"],
            "metric": ["rate_own", "rate_own", "rate_last_done", "rate_own", "rate_own", "rate_own"],
            "rank": [0, 1, float("nan"), 0, 0, 2],
            "value": [1.0, 2.0, 9.0, 3.0, 4.0, 0.0],
        }
    )
    rows = build_table({"run": ["b", "a"], "operation": ["read", "read"]})
    trials = TrialCell({}, "rate_last_done", "", np.array([9.0, 9.0]), "read", np.array([0, 1]))
    (inside,) = noise._group_rank_rates(table, rows, [trials]).values()
    assert [rates.tolist() for rates in inside] == [[3.0], [1.0, 2.0]]
    assert noise._group_rank_rates(build_table({"run": ["a"]}), rows, [trials]) == {}


def test_the_noise_of_a_metric_in_a_table_has_a_column_for_each_number():
    ranks = [np.array([1.0, 2.0, 4.0]), np.array([3.0, 3.5, 5.0]), np.array([2.0, 2.5, 2.2])]
    trials = cell([2.0, 4.0, 3.0])
    made = noise.compute_passport([trials], 0.9, {id(trials): ranks})
    (metric,) = made.metrics
    parts = estimate_components([[np.log(each) for each in ranks]], 0.9)
    assert metric.components == parts
    sizes = {n: noise.estimate_smallest_difference(metric.sd_log, 2, n, 0.9, 0.8) for n in (6, 10, 20, 50)}
    assert metric.smallest == sizes
    known = {"operation": "read", "metric": "m", "n_cells": 1, "n_trials": 3, "sd_log": metric.sd_log}
    assert metric.flat() == {
        **known,
        **parts.between.flat("between"),
        **parts.within.flat("within"),
        **parts.share.flat("share"),
        **{key: value for n, each in sizes.items() for key, value in each.flat(f"difference_{n}").items()},
    }
    assert metric.to_json() == {
        **known,
        "between_trials": parts.between.to_json(),
        "within_trial": parts.within.to_json(),
        "between_share": parts.share.to_json(),
        "smallest_difference": [{"n": n, "power": 0.8, **each.flat("difference")} for n, each in sizes.items()],
    }
    expected = {
        "level": 0.9,
        "power": 0.8,
        "false_alarms": {
            "random": made.random.to_json(),
            "alternating": made.alternating.to_json(),
            "halves": made.halves.to_json(),
        },
        "metrics": [metric.to_json()],
    }
    assert made.to_json() == expected
    plain = noise.MetricNoise("", "m", 1, 1, None, None, {})
    assert plain.flat() == {"operation": None, "metric": "m", "n_cells": 1, "n_trials": 1, "sd_log": None}


def test_metrics_are_apart_and_the_spread_is_pooled_over_their_cells():
    a, b = np.array([1.0, 2.0, 4.0]), np.array([10.0, 30.0])
    other = TrialCell({}, "n", "s", np.array([5.0, 5.0]), "read")
    made = noise.compute_passport([cell(a), cell(b), other, cell([7.0])], 0.95, {})
    first, second = made.metrics
    squares = sum(float(((np.log(x) - np.log(x).mean()) ** 2).sum()) for x in (a, b))
    assert (first.metric, first.n_cells, first.n_trials, first.sd_log) == (
        "m",
        3,
        6,
        pytest.approx(math.sqrt(squares / 3)),
    )
    assert (second.metric, second.sd_log, second.smallest) == ("n", 0.0, {})
    assert [estimate.n for estimate in first.smallest.values()] == [4] * 4  # three degrees of freedom


def test_false_alarms_are_of_cells_with_six_trials_and_a_spread():
    even, spread = cell([3.0] * 8), cell([1.0, 1.1, 0.9, 1.05, 1.0, 0.95])
    made = noise.compute_passport([even, spread, cell([1.0, 2.0, 3.0, 4.0, 5.0])], 0.95, {})
    assert {each.n for each in (made.random, made.alternating, made.halves)} == {1}
    low, high = scipy_stats.beta.ppf(0.025, 0 + 1e-300, 2), scipy_stats.beta.ppf(0.975, 1, 1)
    assert (made.halves.value, made.halves.low, made.halves.high) == pytest.approx((0.0, low, high))


def test_a_difference_is_an_alarm_in_either_direction():
    low, high = np.array([1.0, 1.1, 0.9]), np.array([9.0, 9.1, 8.9])
    assert noise._is_different(low, high, 0.95) and noise._is_different(high, low, 0.95)
    assert not noise._is_different(low, low, 0.95) and not noise._is_different(low[:1], high[:1], 0.95)


@pytest.mark.parametrize(
    ("n", "level", "power", "code"),
    [(1, 0.95, 0.8, "too-few-trials"), (6, 0.95, 0.05, "out-of-range"), (6, 0.95, 1.0, "out-of-range")],
)
def test_an_effect_takes_two_trials_and_a_power_above_alpha(n, level, power, code):
    with raises(code):
        noise.compute_detectable_effect(n, level, power)
    assert noise.compute_detectable_effect(2, 0.95, 0.8) > noise.compute_detectable_effect(3, 0.95, 0.8)


@pytest.mark.parametrize("power", [0.051, 0.1, 0.5, 0.99])
def test_an_effect_is_found_with_its_power_in_both_tails_together(power):
    noncentrality = noise.compute_detectable_effect(6, 0.95, power) * math.sqrt(3)
    critical = scipy_stats.t.ppf(0.975, 10)
    tails = scipy_stats.nct.sf(critical, 10, noncentrality) + scipy_stats.nct.cdf(-critical, 10, noncentrality)
    assert tails == pytest.approx(power, rel=1e-6)
