"""Densities of logarithms: against sums written out, other libraries, and samples whose hills are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stats_sample import examined

from iosonde.core.table import Column, Table
from iosonde.stats.density import histogram, kernel
from iosonde.stats.density.hills import detect_hills
from messages import raises
from outside import needed


def two_hills(n: int, share: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    slow = rng.random(n) < share
    return np.where(slow, 3e5, 2e4) * np.exp(0.2 * rng.standard_normal(n))


def test_the_estimate_is_the_sum_of_kernels():
    values = two_hills(300, 0.3)
    made = histogram.histogram_from_values(values).pad_with_empty_bins(1.0)
    curve = kernel.smooth_counts(made.counts, [0.07])[0]
    at = np.log(made.value(np.arange(curve.size) + 0.5))
    direct = np.zeros(curve.size)
    for one in np.log(values):
        direct += np.exp(-(((at - one) / 0.07) ** 2) / 2) / (0.07 * math.sqrt(2 * math.pi))
    assert np.abs(curve - direct).max() < 0.01 * direct.max()
    assert made.counts.size >= histogram.LEAST_BINS


def isj_written_out(values: np.ndarray, cells: int = 1024) -> float:
    """Botev, Grotowski and Kroese (2010), with sums of cosines and bisection instead of a transform and Brent."""
    x = np.log(values)
    low, high = x.min() - 0.3, x.max() + 0.3
    counts, _ = np.histogram(x, cells, (low, high))
    k = np.arange(1, cells)
    middle = (np.arange(cells) + 0.5) / cells
    a2 = np.array([(counts / counts.sum()) @ np.cos(math.pi * one * middle) for one in k]) ** 2

    def norm(order: int, t: float) -> float:
        with np.errstate(under="ignore"):
            logs = order * np.log(k.astype(float) ** 2) - (k * math.pi) ** 2 * t
            return 2 * math.pi ** (2 * order) * float((a2 * np.exp(logs)).sum())

    def over(t: float) -> float:
        f = norm(7, t)
        for s in range(6, 1, -1):
            odd = math.factorial(2 * s) / (2**s * math.factorial(s))
            c = (1 + 2 ** -(s + 0.5)) / 3 * odd / math.sqrt(math.pi / 2)
            f = norm(s, (c / (values.size * f)) ** (2 / (3 + 2 * s)))
        return t - (2 * values.size * math.sqrt(math.pi) * f) ** (-2 / 5)

    a, b = 1e-9, 0.01
    for _ in range(80):
        a, b = ((a + b) / 2, b) if over((a + b) / 2) < 0 else (a, (a + b) / 2)
    return math.sqrt(b) * (high - low)


def test_improved_sheather_jones_is_that_of_sums_written_out():
    for seed in range(3):
        values = two_hills(2000, 0.4, seed)
        assert kernel.compute_rule_bandwidth(histogram.histogram_from_values(values), kernel.ISJ) == pytest.approx(
            isj_written_out(values), rel=0.05
        )


def test_of_one_normal_the_rules_agree_and_of_two_apart_isj_is_narrower():
    one = histogram.histogram_from_values(np.exp(np.random.default_rng(2).standard_normal(5000)))
    assert kernel.compute_rule_bandwidth(one, "isj") == pytest.approx(
        kernel.compute_rule_bandwidth(one, "silverman"), rel=0.35
    )
    two = histogram.histogram_from_values(two_hills(5000, 0.5))
    assert kernel.compute_rule_bandwidth(two, "isj") < 0.3 * kernel.compute_rule_bandwidth(two, "scott")
    with raises("unknown-option-value", bandwidth="wide"):
        kernel.compute_rule_bandwidth(two, "wide")


def test_histograms_of_parts_are_that_of_all():
    values = two_hills(4000, 0.1)
    whole, parts = (
        histogram.histogram_from_values(values),
        [histogram.histogram_from_values(one) for one in np.array_split(values, 5)],
    )
    together = histogram.merge_histograms(parts)
    assert (together.first, together.counts.tolist()) == (whole.first, whole.counts.tolist())
    assert whole.quantile(0.5) == pytest.approx(np.median(values), rel=0.01)
    assert whole.total() == pytest.approx(values.sum(), rel=1e-3)
    assert whole.slowest(0.01) == pytest.approx(np.sort(values)[-40:].sum() / values.sum(), rel=0.02)


def test_the_slowest_hundredth_of_few_values_is_a_part_of_the_largest():
    made = histogram.histogram_from_values(np.array([1.0] * 9 + [11.0]))
    assert made.slowest(0.01) == pytest.approx(0.1 * 11 / 20, rel=0.01)


@pytest.mark.parametrize("n", [100, 1000, 20_000])
def test_one_hill_is_one_whatever_its_form(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        for values in (
            rng.lognormal(0, 0.3, n),
            rng.gamma(20, 1, n),
            0.5 + rng.exponential(1, n),
            1 + rng.pareto(2, n),
        ):
            assert len(detect_hills(histogram.histogram_from_values(1e5 * values)).tops) == 1


def test_a_small_hill_is_seen_and_its_valley_lies_between():
    values = two_hills(10_000, 0.005)
    found = detect_hills(histogram.histogram_from_values(values))
    assert found.tops == pytest.approx([2e4, 3e5], rel=0.1) and found.stability > 0.5
    assert 4e4 < found.valleys[0] < 1.5e5


def test_ticks_of_a_clock_are_no_hills():
    rng = np.random.default_rng(1)
    coarse = np.round(rng.lognormal(0, 0.1, 20_000) * 200 / 41.67) * 41.67
    assert histogram.find_tick(coarse) == pytest.approx(41.67)
    assert len(detect_hills(histogram.histogram_from_values(coarse)).tops) == 1
    assert (
        len(
            detect_hills(histogram.histogram_from_values((rng.lognormal(0, 0.1, 20_000) * 1000).astype(np.uint64))).tops
        )
        == 1
    )


def test_what_is_below_the_clock_is_counted():
    made = histogram.histogram_from_values(np.array([0] * 500 + [40] * 400 + [80] * 100 + [120] * 20, np.uint64))
    assert made.n == 1020
    assert (
        histogram.histogram_from_values(np.zeros(9)) is None and histogram.histogram_from_values(np.array([])) is None
    )


def three_hills(seed: int) -> np.ndarray:
    """Two components and a third that is seldom, as in the talk's simulation: 600, 380 and 20 times."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.gamma(20, 1, 600), rng.gamma(70, 1, 380), rng.normal(160, 2, 20)])


def test_the_classes_of_the_talks_simulation():
    file = needed("golden/fixtures/kde_1000.csv", "fixtures/kde_1000.csv")
    found = detect_hills(histogram.histogram_from_values(np.loadtxt(file, skiprows=1)))
    assert found.tops == pytest.approx([19.602563, 69.627062, 160.984546], abs=3)
    assert found.valleys == pytest.approx([43.938806, 124.673326], abs=15)
    counts = np.bincount(np.searchsorted(found.valleys, np.loadtxt(file, skiprows=1)))
    assert counts == pytest.approx([600, 380, 20], abs=5)


@pytest.mark.parametrize("seed", range(3))
def test_check_sees_three_hills_of_shuffled_durations(seed):
    values = np.random.default_rng(seed).permutation(three_hills(seed))
    made = examined(Table({"time_us": Column("time_us", values, "time", "us")}))
    [found] = [one for one in made.findings if one.code == "S109"]
    assert [one["n"] for one in found.evidence["cells"][next(iter(found.evidence["cells"]))]["groups"]] == [
        600,
        380,
        20,
    ]
    one = examined(Table({"time_us": Column("time_us", np.random.default_rng(seed).gamma(20, 1, 1000), "time", "us")}))
    assert "S109" not in {finding.code for finding in one.findings}
