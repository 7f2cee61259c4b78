"""How evenly servers shared what a trial moved, and S133."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from iosonde.core.stored import StoredRun
from iosonde.stats import checks
from iosonde.stats.overview.balance import estimate_server_balances
from messages import assert_problem


def run(written, number=0, read=0, **factors):
    by_server = {f"s{i}": {"written_bytes": n, "read_bytes": read} for i, n in enumerate(written)}
    return StoredRun(
        {
            "id": f"r{number}",
            "experiment": "e",
            "missing": [],
            "factors": {"repetition": number, **factors},
            "facts": {"servers": {"profile": {"by_server": by_server}}},
        }
    )


def found(*runs):
    return checks.run_checks(checks.Subject([], 0.95, runs), ["S133"])


def test_the_index_is_the_busiest_by_the_mean_with_its_interval_over_trials():
    trials = [[60, 20, 10], [50, 20, 20], [45, 30, 15], [70, 10, 10]]
    (one,) = estimate_server_balances([run(each, i) for i, each in enumerate(trials)], 0.95)
    by_hand = np.array([max(each) / np.mean(each) for each in trials])
    low, high = scipy.stats.t.interval(0.95, 3, by_hand.mean(), scipy.stats.sem(by_hand))
    assert (one.index.value, one.index.low, one.index.high) == pytest.approx((by_hand.mean(), low, high))
    assert (one.lost.value, one.lost.low) == pytest.approx((1 - 1 / by_hand.mean(), 1 - 1 / low))
    assert one.busiest == {"s0": 4} and one.index.n == 4


def test_different_settings_are_never_one_index():
    made = estimate_server_balances(
        [run([90, 10], 0, size=1), run([50, 50], 1, size=1), run([50, 50], 0, size=2)], 0.95
    )
    assert [(one.setting, one.index.n) for one in made] == [("size=1", 2), ("size=2", 1)]


def test_even_servers_one_server_and_runs_without_counts_are_silent():
    assert found(run([50, 50]), run([50, 50], 1)) == [] == found(run([100]))
    assert found(StoredRun({"id": "x", "experiment": "e", "missing": [], "factors": {}, "facts": {}})) == []
    assert found(run([99, 1], 0), run([1, 99], 1))[0].evidence["balance"][0]["busiest"] == {"s0": 1, "s1": 1}


def test_what_is_not_sure_is_not_said_and_one_trial_is_said_to_be_one():
    assert found(run([54, 46], 0), run([80, 20], 1)) == []  # 1.34, from 1 to 4.6
    (one,) = found(run([75, 25]))
    assert_problem(
        one.sentence, "uneven-servers", busiest=", s0", index="1.50 (~)", direction="written", lost="33.3 (~) %"
    )


def test_what_every_trial_had_is_said_though_the_interval_reaches_even():
    (one,) = found(run([99, 0, 0, 0], 0), run([50, 0, 50, 0], 1), run([0, 50, 50, 0], 2))
    assert_problem(one.sentence, "uneven-servers", index="2.67 (1.00–5.54)", direction="written")


def test_a_run_with_something_missing_is_left_out():
    whole = run([90, 10])
    assert found(StoredRun({**whole.document, "missing": ["rank 1"]})) == []
