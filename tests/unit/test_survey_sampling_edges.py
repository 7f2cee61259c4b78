"""Samples at their edges: values equal but for rounding, hits that were nearly certain, files without an answer."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.stats.estimate.clusters import Clustered, estimate_member_share
from iosonde.stats.estimate.distributions import binomial_interval
from iosonde.survey.sampling.pieces import compute_mean_limits
from iosonde.survey.sampling.shares import DrawnSample, estimate_mean, estimate_share
from iosonde.survey.sampling.strata import StratumValues, estimate_stratified_mean, estimate_stratified_share
from time_limit import limited

ROUNDING = 0.1 + 0.2 - 0.3


def draws(n: int, population: int = 10_000) -> DrawnSample:
    return DrawnSample(float(population), np.ones(n), np.full(n, n / population))


def limits(estimate) -> tuple[float, float]:
    return estimate.low, estimate.high


@pytest.mark.parametrize("value", [1e-9, 0.3, 0.999])
def test_spread_of_rounding_is_no_spread(value):
    values = np.full(400, value)
    with limited(10):
        equal = compute_mean_limits(values, 0.0, 399, 400, 0.95)
        rounded = compute_mean_limits(values, (ROUNDING * value) ** 2 / 400, 399, 400, 0.95)
    assert rounded == equal and equal[0] < value < equal[1]


@pytest.mark.parametrize(
    "estimate",
    [
        lambda sample, values: estimate_mean(sample, values, 0.95),
        lambda sample, values: estimate_stratified_mean([StratumValues(sample, values)] * 2, 0.95),
    ],
)
def test_less_spread_makes_no_interval_wider(estimate):
    """The interval shrinks with the spread down to that of equal values, and never below it."""
    shape = np.resize([-1.0, 1.0], 400)
    with limited(10):
        widths = [
            np.ptp(limits(estimate(draws(400), 0.4 + scale * shape).estimate))
            for scale in (0.3, 1e-3, 1e-6, 1e-9, 1e-14, 1e-17, 0.0)
        ]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(binomial_interval(0, 400 / (1 - 0.04), 0.95)[1], rel=0.5)


def test_seconds_per_byte_that_are_equal_allow_no_large_ones():
    low, high = limits(estimate_mean(draws(400), np.full(400, 1e-9), 0.95, bounded=False).estimate)
    assert 0 < low <= 1e-9 <= high <= 1e-9 * (1 + 1e-12)


def test_hits_that_were_nearly_certain_count_as_no_more_draws_than_there_were():
    chances = np.where(np.arange(400) < 8, 1 - 1e-12, 0.04)
    sample, has = DrawnSample(10_000.0, np.ones(400), chances), np.arange(400) < 8
    with limited(10):
        found = estimate_share(sample, has, 0.95).estimate
        same = estimate_stratified_share([StratumValues(sample, has)], 0.95).estimate
    drawn = 400 / float((1 - chances).mean())
    assert limits(found) == pytest.approx(binomial_interval(0.02 * drawn, drawn, 0.95))
    assert limits(same) == pytest.approx(limits(found))


def test_strata_that_nearly_agree_leave_open_what_no_draw_met():
    pure = [StratumValues(draws(100), np.full(100, float(value))) for value in (0, 0, 1, 1)]
    one_differs = [StratumValues(draws(100), np.arange(100) == 0), *pure[1:]]
    low, high = limits(estimate_stratified_share(one_differs, 0.95).estimate)
    unmet = binomial_interval(0, 400 / 0.99, 0.95)[1]
    assert low <= 0.5025 * (1 - unmet) and high >= 0.5025 + (1 - 0.5025) * unmet


def test_clusters_that_agree_count_as_no_more_values_than_there_are():
    """A third of each cluster: its variance is 0 but for rounding."""
    clusters, hits = np.repeat(np.arange(10), 3), np.resize([1.0, 0.0, 0.0], 30)
    low, high = limits(estimate_member_share(hits, clusters, 0.95))
    assert high - low > 0.4, "as of ten clusters"
    low, high = limits(Clustered(2 - hits, clusters).estimate_share_below(1.5, 0.95))
    assert high - low > 0.4
    nearly = np.concatenate([hits[1:], [1.0]])
    low, high = limits(estimate_member_share(nearly, np.repeat(np.arange(2), 15), 0.95))
    assert high - low > 0.3, "of 30 values"


def answering(n: int, missing: int) -> np.ndarray:
    return np.arange(n) >= missing


@pytest.mark.parametrize("strata", [False, True])
def test_intervals_hold_whatever_is_in_files_without_an_answer(strata):
    """Of 400 draws 40 gave no answer: they may all have it, or none."""
    sample, values, answered = draws(400), np.resize([0.0, 1.0], 400), answering(400, 40)
    none, every = (np.where(answered, values, missing) for missing in (0.0, 1.0))

    def estimate(kind, values, answered=None):
        if strata:
            stratified = estimate_stratified_share if kind is estimate_share else estimate_stratified_mean
            return stratified([StratumValues(sample, values, answered)] * 2, 0.95).estimate
        return kind(sample, values, 0.95, answered).estimate

    for kind in (estimate_share, estimate_mean):
        found = estimate(kind, values, answered)
        assert found.value == pytest.approx(0.5) and found.n == 360 * (1 + strata)
        assert limits(found) == pytest.approx((estimate(kind, none).low, estimate(kind, every).high))
        mostly = estimate(kind, values, answering(400, 201))
        assert mostly.value is None and mostly.low < 0.25 and mostly.high > 0.75
    speed = estimate_mean(sample, values * 1e-9, 0.95, answering(400, 201), bounded=False).estimate
    assert (speed.value, speed.low, speed.high) == (None, None, None), "they may take any time"
