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
    rows = build_table({"run": ["b", "a"]})
    trials = TrialCell({}, "rate_last_done", "", np.array([9.0, 9.0]), "read", np.array([0, 1]))
    (inside,) = noise._group_rank_rates(table, rows, [trials]).values()
    assert [rates.tolist() for rates in inside] == [[3.0], [1.0, 2.0]]
    assert noise._group_rank_rates(build_table({"run": ["a"]}), rows, [trials]) == {}
