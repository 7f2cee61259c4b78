"""Percentiles: pooled inside a trial, with an interval over trials; none where the tail was not seen."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.schema import OPERATION
from iosonde.stats.estimate import percentiles
from iosonde.stats.estimate.percentiles import TrialPercentiles
from messages import assert_problem


def test_a_percentile_is_an_observed_duration():
    durations = np.arange(1, 1001)[::-1]
    found = percentiles.percentiles_from_durations(durations, (0.5, 0.99), 0.95)
    assert found == {0.5: 500.0, 0.99: 990.0}
    assert found[0.99] == np.quantile(durations, 0.99, method="inverted_cdf")


def test_too_few_operations_hide_the_tail():
    found = percentiles.percentiles_from_durations(np.arange(500), percentiles.PERCENTILES, 0.95)
    assert found[0.5] is not None and found[0.99] is not None and found[0.999] is None


def test_a_histogram_gives_the_same_within_its_buckets():
    rng = np.random.default_rng(3)
    durations = rng.lognormal(11, 1, 20_000).astype(np.int64)
    edges = np.exp(np.arange(0, 1000) * 0.018)
    counts = np.histogram(durations, edges)[0]
    exact = percentiles.percentiles_from_durations(durations, percentiles.PERCENTILES, 0.95)
    binned = percentiles.percentiles_from_histogram(edges, counts, percentiles.PERCENTILES, 0.95)
    for p in percentiles.PERCENTILES:
        assert binned[p] == pytest.approx(exact[p], rel=0.02)


def test_buckets_of_several_ranks_add_up():
    edges = np.array([0.0, 10, 20, 30])
    found = percentiles.percentiles_from_buckets("read", "read", edges, [[0, 50], [2, 50], [0, 100]], 0.95, (0.5,))
    assert (found.n_operations, found.duration_ns[0.5]) == (200, pytest.approx(100 / 150 * 10))


def test_ranks_are_pooled_and_failures_and_untimed_phases_left_out():
    rows = np.zeros(40, OPERATION)
    rows["rank"] = np.arange(40) % 2
    rows["duration_ns"] = 100
    rows["phase"][:10] = 7  # not timed
    rows["status"][10] = 5  # failed
    rows["duration_ns"][10] = 10**9
    (found,) = percentiles.percentiles_from_trial(rows, {0: "open"}, ["open"], 0.95)
    assert (found.operation, found.kind, found.n_operations, found.duration_ns[0.5]) == ("open", "open", 29, 100.0)


def trial(duration_ns: float | None, n: int = 1000) -> TrialPercentiles:
    return TrialPercentiles("read", "read", n, {0.99: duration_ns})


def test_n_counts_trials_and_seconds_come_out():
    estimate = percentiles.estimate_over_trials([trial(1e6), trial(2e6), trial(4e6)], 0.99, 0.95)
    assert (estimate.value, estimate.n) == (pytest.approx(2e-3), 3)
    assert estimate.low < 1e-3 and estimate.high > 4e-3


def test_one_short_trial_hides_the_percentile_and_says_how_many_operations_it_needs():
    estimate = percentiles.estimate_over_trials([trial(1e6), trial(None, 12)], 0.99, 0.95)
    assert estimate.value is None
    assert_problem(estimate.warnings[0], "too-few-operations", least=299, fewest=12)


def test_the_interval_covers_where_trials_differ_and_pooling_all_operations_would_not():
    rng = np.random.default_rng(11)
    covered = []
    for _ in range(500):
        shift = np.exp(0.2 * rng.standard_normal(6))
        trials = [
            percentiles.percentiles_from_durations(1e5 * s * rng.lognormal(0, 0.5, 1000), (0.99,), 0.95) for s in shift
        ]
        estimate = percentiles.estimate_over_trials([trial(found[0.99]) for found in trials], 0.99, 0.95)
        covered.append(estimate.low <= 1e-4 * np.exp(0.5 * 2.3263) <= estimate.high)
    assert 0.92 < np.mean(covered) < 0.98
