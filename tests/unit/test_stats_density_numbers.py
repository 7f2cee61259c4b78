"""Histograms, bandwidths and hills of small data by hand; simulations and libraries are in ``test_stats_density``."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from iosonde.stats.density import hills, histogram, kernel
from iosonde.stats.density.hills import FINEST, _find_equal_run, _find_longest_equal_run, detect_hills
from iosonde.stats.density.histogram import PER_OCTAVE, WIDTH, LogHistogram
from messages import raises


def counts_of(made: LogHistogram) -> dict[int, int]:
    return {made.first + int(place): int(made.counts[place]) for place in np.flatnonzero(made.counts)}


def levels(*medians: float, n: int = 100, sd: float = 0.05) -> np.ndarray:
    """So many values around each median, at the quantiles of a normal distribution of the logarithms."""
    deviates = norm.ppf((np.arange(n) + 0.5) / n)
    return np.concatenate([median * np.exp(sd * deviates) for median in medians])


def test_values_are_counted_in_1024_bins_an_octave_from_1_on():
    made = histogram.histogram_from_values(np.array([1.001, 1.001, 2.001, 5.001]))
    assert counts_of(made) == {
        math.floor(math.log2(1.001) * 1024): 2,
        math.floor(math.log2(2.001) * 1024): 1,
        math.floor(math.log2(5.001) * 1024): 1,
    }
    assert made.n == 4 and made.unspread is None and made.recorded is made.counts
    assert histogram.histogram_from_values(np.array([0.0, -1.0])) is None
    assert histogram.histogram_from_values(np.array([])) is None


def test_the_numbers_of_a_histogram_are_those_of_its_bins():
    made = LogHistogram(0, np.array([2, 0, 1, 1]))
    middles = 2 ** ((np.arange(4) + 0.5) / PER_OCTAVE)
    assert made.value(0) == 1 and made.value(1024) == pytest.approx(2)
    assert made.total() == pytest.approx(2 * middles[0] + middles[2] + middles[3])
    assert [made.quantile(share) for share in (0.25, 0.5, 0.75, 1.0)] == pytest.approx(middles[[0, 0, 2, 3]])
    assert made.slowest(0.25) == pytest.approx(middles[3] / made.total())
    assert made.slowest(0.5) == pytest.approx((middles[2] + middles[3]) / made.total())
    assert [made.below(float(value)) for value in (0.5, 1.0, 2 ** (2 / 1024), 9.0)] == [0, 0, 2, 4]
    sd, iqr = made.spread()
    assert sd == pytest.approx(np.std([0, 0, 2, 3]) * WIDTH) and iqr == pytest.approx(2 * WIDTH)
    padded = made.pad_with_empty_bins(0.0)
    assert padded.counts.size >= histogram.LEAST_BINS and padded.counts[-padded.first :][:4].tolist() == [2, 0, 1, 1]
    wide = made.pad_with_empty_bins(8.0)
    assert -wide.first == math.ceil(8 / WIDTH) == wide.counts.size - 4 + wide.first


def test_histograms_are_added_by_their_bins():
    merged = histogram.merge_histograms(
        [LogHistogram(5, np.array([1, 2])), LogHistogram(3, np.array([4, 0, 8]), np.array([12, 0, 0]))]
    )
    assert (merged.first, merged.counts.tolist(), merged.recorded.tolist()) == (3, [4, 0, 9, 2], [12, 0, 1, 2])


def test_counts_of_wider_buckets_are_spread_evenly_and_none_is_lost():
    made = histogram.histogram_from_buckets(np.array([1.0, 2.0, 4.0, 8.0]), [(0, 1024), (1, 0), (2, 2048)])
    assert counts_of(made) == dict.fromkeys(range(1024), 1) | dict.fromkeys(range(2048, 3072), 2)
    assert histogram.histogram_from_buckets(np.array([1.0, 2.0]), [(0, 0)]) is None
    assert histogram.histogram_from_buckets(np.array([1.0, 2.0, 4.0]), [(1, 7)]).n == 7


def test_the_clocks_tick_is_the_distance_of_frequent_neighbours():
    assert histogram.find_tick(np.repeat([10.0, 20, 30], 4)) == 10.0
    assert histogram.find_tick(np.repeat([10.0, 20, 30, 90], [6, 6, 6, 2])) == 10.0  # a rare value in the tail
    assert histogram.find_tick(np.repeat([10.0, 20, 30], [4, 4, 3])) == 0.0  # 11 values are no 4 of each
    assert histogram.find_tick(np.repeat([10.0, 20], 9)) == 0.0
    assert histogram.find_clock_step(np.array([12, 18, 0])) == 6 and histogram.find_clock_step(np.array([0])) == 0


def test_values_of_a_coarse_clock_are_spread_over_its_tick():
    made = histogram.histogram_from_values(np.repeat([10.0, 20, 30], 40))
    assert made.recorded.sum() == made.n == 120 and np.flatnonzero(made.recorded).size == 3
    assert np.flatnonzero(made.counts).size > 60
    filled = made.value(np.flatnonzero(made.counts) + 0.5)
    assert filled.min() >= 4.99 and filled.max() <= 35.1


def test_rules_of_the_bandwidth_are_those_of_the_books():
    made = LogHistogram(0, np.ones(1000, int))
    sd, iqr = np.std(np.arange(1000)) * WIDTH, 500 * WIDTH
    assert kernel.compute_rule_bandwidth(made, kernel.SCOTT) == pytest.approx(1.06 * sd * 1000**-0.2)
    assert kernel.compute_rule_bandwidth(made, kernel.SILVERMAN) == pytest.approx(
        0.9 * min(sd, iqr / 1.34) * 1000**-0.2, rel=0.01
    )
    long_tail = LogHistogram(0, np.concatenate([np.full(10, 100), np.zeros(5000, int), [9]]))
    sd, iqr = long_tail.spread()
    assert iqr / 1.34 < sd
    assert kernel.compute_rule_bandwidth(long_tail, kernel.SILVERMAN) == pytest.approx(
        max(0.9 * iqr / 1.34 * 1009**-0.2, WIDTH)
    )
    single = LogHistogram(0, np.array([5]))
    assert {kernel.compute_rule_bandwidth(single, rule) for rule in (kernel.SCOTT, kernel.SILVERMAN)} == {WIDTH}
    with raises("unknown-option-value", bandwidth="x"):
        kernel.compute_rule_bandwidth(made, "x")


def test_smoothed_counts_are_sums_of_normal_densities():
    counts = np.zeros(400)
    counts[[150, 200]] = 3, 1
    (curve,) = kernel.smooth_counts(counts, [0.3], 0.1)
    at = np.arange(400) * 0.1
    bells = [np.exp(-(((at - middle) / 0.3) ** 2) / 2) / (0.3 * math.sqrt(2 * math.pi)) for middle in (15, 20)]
    direct = 3 * bells[0] + bells[1]
    assert np.abs(curve - direct).max() < 1e-9 and curve[0] == 0.0


@pytest.mark.parametrize("medians", [(100.0,), (100.0, 200.0), (100.0, 200.0, 1000.0)])
def test_hills_lie_at_the_groups_and_valleys_between_them(medians):
    hills = detect_hills(histogram.histogram_from_values(levels(*medians)))
    assert hills.tops == pytest.approx(medians, rel=0.01) and len(hills.heights) == len(medians)
    assert len(hills.valleys) == len(medians) - 1
    assert all(a < valley < b for a, valley, b in zip(medians, hills.valleys, medians[1:], strict=False))
    width = math.hypot(0.05, hills.bandwidth)
    assert hills.heights == pytest.approx([100 / (width * math.sqrt(2 * math.pi))] * len(medians), rel=0.03)
    assert len(hills.counts_at) == 32 and hills.counts_at[0][0] == pytest.approx(FINEST)
    same = [bandwidth for bandwidth, count in hills.counts_at if count == len(medians)]
    assert hills.stability == pytest.approx(len(same) / 32)
    assert hills.stable_from <= hills.bandwidth <= hills.stable_to
    assert hills.bandwidth == pytest.approx(math.sqrt(hills.stable_from * hills.stable_to))
    assert (hills.overlap == 0.0) is (len(medians) == 1) and hills.overlap < 0.1


def test_a_bandwidth_may_be_a_number():
    made = histogram.histogram_from_values(levels(100.0, 200.0))
    hills = detect_hills(made, 0.05)
    assert hills.bandwidth == 0.05 and hills.stable_from <= 0.052 and hills.stable_to >= 0.048
    assert len(detect_hills(made, 1.0).tops) == 1


def test_the_longest_run_with_one_number_of_hills_is_chosen_and_on_a_tie_that_with_more():
    assert _find_longest_equal_run([3, 3, 2, 2, 2, 1]) == (2, 4)
    assert _find_longest_equal_run([3, 3, 2, 2]) == (0, 1)
    assert _find_longest_equal_run([1]) == (0, 0)
    assert [_find_equal_run([3, 3, 2, 3], at) for at in range(4)] == [(0, 1), (0, 1), (2, 2), (3, 3)]


def test_the_bandwidth_of_one_normal_hill_is_scotts_and_that_of_two_is_of_one():
    one, two = (histogram.histogram_from_values(levels(*medians, n=1000)) for medians in ((100.0,), (100.0, 400.0)))
    usual = 1.06 * 0.05 * 1000**-0.2
    assert kernel.compute_rule_bandwidth(one, kernel.ISJ) == pytest.approx(usual, rel=0.15)
    assert kernel.compute_rule_bandwidth(two, kernel.ISJ) == pytest.approx(usual, rel=0.15)
    assert kernel.compute_rule_bandwidth(two, kernel.SILVERMAN) > 5 * usual


@pytest.mark.parametrize(
    ("heights", "deep", "tops", "valleys"),
    [
        ([9, 1, 9, 8, 9, 2, 9], 5, [0, 2, 6], [1, 5]),
        ([9, 1, 8, 7, 9, 2, 9], 5, [0, 4, 6], [1, 5]),  # the lower of two merged hills goes
        ([9, 4, 9, 5, 9, 6, 9], 5, [0, 2], [1]),
        ([9, 5, 9, 6, 10], 5, [4], []),
        ([9, 5, 8], 5, [0], []),
        ([8, 5, 9], 5, [2], []),
        ([9, 4, 9], 5, [0, 2], [1]),
    ],
)
def test_hills_with_a_shallow_valley_between_them_are_merged_the_shallowest_first(heights, deep, tops, valleys):
    roots, places = np.array(heights, float), list(range(0, len(heights), 2))
    assert hills._merge_shallow(places, list(range(1, len(heights), 2)), roots, deep) == (tops, valleys)


def test_hills_are_tops_that_chance_does_not_make():
    """At a bandwidth of 0.1 a height of h gathers 0.1 · 2√π · h values, of which the root counts."""
    curve = np.zeros(700)
    curve[[100, 300, 500]], curve[200] = (1000.0, 900.0, 1.0), 5.0
    assert hills.locate_stable_hills(curve, 0.1) == ([100, 300], [101])
    assert hills.locate_stable_hills(curve / 1e6, 0.1) == ([100], [])
    assert hills.count_values_in_kernel(np.array([2.0]), 0.1) == pytest.approx(0.4 * math.sqrt(math.pi))
    deep = norm.ppf(1 - 0.001 / (700 * WIDTH / 0.01)) / math.sqrt(2)
    for share, count in ((1.01, 2), (0.99, 1)):
        curve[300] = (share * deep) ** 2 / (0.01 * 2 * math.sqrt(math.pi))
        assert len(hills.locate_stable_hills(curve, 0.01)[0]) == count
