"""A diagnosis of durations in coarse ticks: no class without operations, and no interval that reaches anything."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.explain.classes import classify_by_density
from iosonde.explain.cost import estimate_class_shares, estimate_slow_class_cost, sum_trial_account
from iosonde.explain.operations import Operations
from iosonde.stats.density import histogram

TICK_NS = 1000


def system_calls(seed: int, n: int = 3000, slow_share: float = 0.02) -> np.ndarray:
    """Durations of a trace in microseconds: 8 to 12 of them, and a long tail in which hardly two are alike."""
    rng = np.random.default_rng(seed)
    micros = np.maximum(np.round(rng.lognormal(np.log(9.5), 0.08, n)), 8)
    slow = rng.random(n) < slow_share
    micros[slow] = np.round(rng.lognormal(np.log(700), 1.2, int(slow.sum())))
    return (micros * TICK_NS).astype(np.int64)


@pytest.mark.parametrize("seed", range(6))
def test_the_tick_is_that_of_the_usual_values_and_not_the_distance_of_rare_ones(seed):
    assert histogram.find_tick(system_calls(seed)) == TICK_NS


@pytest.mark.parametrize("seed", range(6))
def test_every_class_has_operations_and_as_many_as_the_histogram_says(seed):
    durations = system_calls(seed)
    classes = classify_by_density(histogram.histogram_from_values(durations))
    shares = np.bincount(classes.classify(durations), minlength=classes.count) / durations.size
    assert (shares > 0).all()
    assert classes.shares == pytest.approx(shares.tolist())
    assert classes.typical_ns[classes.fast] >= durations.min() - TICK_NS / 2
    assert shares[classes.fast] > 0.9, "the bulk is the fast class, and none of its time is lost"


def test_values_at_the_lowest_ticks_make_no_hill_at_the_edge_of_their_spread():
    micros = np.array([0] * 4000 + [1] * 4000 + [2] * 300 + [3] * 50)
    made = histogram.histogram_from_values(micros * TICK_NS)
    assert made.counts.max() < 0.02 * made.n, "no bin holds what was cut off"


def test_a_class_between_two_ticks_is_none():
    made = histogram.LogHistogram(0, np.array([5, 5, 5, 5]), np.array([0, 0, 10, 10]))
    classes = classify_by_density(made)
    assert classes.count == 1 and classes.shares == (1.0,)


def trial(slow: np.ndarray, rng: np.random.Generator) -> Operations:
    took = 20e3 * np.exp(0.15 * rng.standard_normal(slow.size))
    took[slow] *= 100
    nothing = np.zeros(slow.size, np.int64)
    start = np.concatenate([[0], np.cumsum(took[:-1] + 1000)]).astype(np.int64)
    return Operations(nothing, nothing, nothing, start, took.astype(np.int64), 0)


@pytest.mark.parametrize("seed", range(8))
def test_intervals_stay_within_what_can_be(seed):
    rng = np.random.default_rng(seed)
    slow = rng.random(300) < (0.02, 0.05, 0.1, 0.3)[seed % 4] if seed < 4 else np.arange(300) // 20 % 5 == seed % 5
    operations = trial(slow, rng)
    classes = classify_by_density(histogram.histogram_from_values(operations.duration_ns))
    sums = sum_trial_account(operations, classes.classify(operations.duration_ns), classes.count)
    cost = estimate_slow_class_cost([sums], classes, 0.95)
    assert cost.cost_s.high <= sums.elapsed_s
    assert all(one.cost_s.high <= sums.elapsed_s for one in estimate_class_shares([sums], classes, 0.95))
    fastest = 300 / (300 * float(operations.duration_ns.min()) / 1e9)
    assert cost.rate_if_fast.high is None or cost.rate_if_fast.high < 100 * fastest
