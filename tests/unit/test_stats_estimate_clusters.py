"""Clustered values: each cluster counts once, and intervals rest on the number of clusters."""

import math

import numpy as np
import pytest
from scipy import stats

from iosonde.stats.estimate.clusters import (
    Clustered,
    estimate_explained_by_levels,
    estimate_explained_by_number,
    estimate_member_share,
)
from iosonde.stats.estimate.variance_share import SumOfSquares, Variation
from messages import assert_problem, codes


def drawn(rng, clusters=30, largest=12):
    sizes = rng.integers(1, largest, clusters)
    of = np.repeat(np.arange(clusters), sizes)
    return Clustered(np.exp(rng.normal(size=clusters)[of] + 0.1 * rng.normal(size=len(of))), of)


def test_each_cluster_counts_once():
    many = Clustered(np.array([1.0] * 99 + [10.0]), np.array([0] * 99 + [1]))
    assert many.estimate_share_below(5.0, 0.95).value == pytest.approx(0.5) and many.n == 2
    assert many.geometric_mean(0.95).value == pytest.approx(10**0.5)
    assert many.quantile(0.6, 0.95).value == 10.0
    tied = Clustered(np.array([1.0, 2.0, 3.0]), np.arange(3))
    assert tied.estimate_share_below(2.0, 0.95).value == pytest.approx(0.5)


def test_repeating_a_submission_changes_nothing():
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(size=20))
    once, thrice = Clustered(values, np.arange(20)), Clustered(np.tile(values, 3), np.tile(np.arange(20), 3))
    for ask in (
        lambda one: one.estimate_share_below(1.0, 0.95),
        lambda one: one.quantile(0.5, 0.95),
        lambda one: one.geometric_mean(0.95),
    ):
        a, b = ask(once), ask(thrice)
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high)) and a.n == b.n == 20


def test_the_share_is_about_as_wide_as_a_bootstrap_of_clusters():
    rng = np.random.default_rng(2)
    made = drawn(rng, 60)
    shares = np.array([np.mean(made.values[made.clusters == i] < 1.0) for i in range(60)])
    resampled = rng.choice(shares, (4000, 60)).mean(axis=1)
    low, high = np.quantile(resampled, (0.025, 0.975))
    found = made.estimate_share_below(1.0, 0.95)
    assert found.value == pytest.approx(shares.mean())
    assert found.low == pytest.approx(low, abs=0.03) and found.high == pytest.approx(high, abs=0.03)


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng, held, n = np.random.default_rng(3), {"share": 0, "median": 0, "mean": 0}, 400
    for _ in range(n):
        made = drawn(rng, 15)
        for name, estimate, truth in (
            ("share", made.estimate_share_below(1.0, 0.95), 0.5),
            ("median", made.quantile(0.5, 0.95), 1.0),
            ("mean", made.geometric_mean(0.95), 1.0),
        ):
            held[name] += estimate.low <= truth <= estimate.high
    assert min(held.values()) > 0.925 * n, held


def test_the_share_of_members_that_stand_alone_is_wilsons():
    """With n - 1 for the variance and Student's t; Newcombe, Statistics in Medicine 17, 1998, has the plain one."""
    hits = np.array([1.0] * 15 + [0.0] * 133)
    made = estimate_member_share(hits, np.arange(148), 0.95)
    assert (made.low, made.high) == (pytest.approx(0.0624, abs=0.001), pytest.approx(0.1605, abs=0.001))
    assert made.value == 15 / 148 and made.n == 148


def test_members_of_one_cluster_are_no_repetitions_and_the_interval_holds_as_often_as_it_says():
    rng, held, narrow = np.random.default_rng(7), 0, 0
    clusters = np.repeat(np.arange(30), 6)
    for _ in range(400):
        chance = rng.beta(0.6, 0.9, 30)  # most clusters have nearly all right, or nearly none
        hits = (rng.random(180) < chance[clusters]).astype(float)
        made, alone = (estimate_member_share(hits, of, 0.95) for of in (clusters, np.arange(180)))
        held += made.low <= 0.4 <= made.high
        narrow += alone.low <= 0.4 <= alone.high
    assert held / 400 > 0.93 > 0.85 > narrow / 400


def test_all_alike_and_a_single_cluster():
    made = estimate_member_share(np.ones(12), np.repeat(np.arange(4), 3), 0.95)
    assert made.value == made.high == 1 and 0.2 < made.low < 0.6 and made.n == 4
    assert estimate_member_share(np.ones(3), np.zeros(3, dtype=int), 0.95).low is None


def test_few_clusters_say_so():
    one = Clustered(np.array([1.0, 2.0]), np.zeros(2, dtype=np.intp))
    assert one.estimate_share_below(1.5, 0.95).low is None and one.estimate_share_below(1.5, 0.95).warnings
    five = Clustered(np.arange(1.0, 6.0), np.arange(5))
    assert five.quantile(0.5, 0.95).low is None and "6 clusters" in five.quantile(0.5, 0.95).warnings[0]
    assert estimate_explained_by_number(one, np.array([1.0, 2.0]), 0.95).share.value is None


def test_what_a_number_explains_is_the_square_of_the_correlation():
    rng = np.random.default_rng(4)
    x = rng.normal(size=40)
    values = np.exp(2 * x + rng.normal(size=40))
    found = estimate_explained_by_number(Clustered(values, np.arange(40)), x, 0.95)
    assert found.share.value == pytest.approx(np.corrcoef(x, np.log(values))[0, 1] ** 2)
    assert np.log(found.slope.value) == pytest.approx(np.polyfit(x, np.log(values), 1)[0])
    assert found.share.low < found.share.value < found.share.high


def test_one_cluster_far_out_decides_the_line_and_the_share_without_it_is_said():
    rng = np.random.default_rng(4)
    x, y = np.append(rng.normal(size=20), 1000.0), np.append(rng.normal(size=20), 50.0)
    found = estimate_explained_by_number(Clustered(np.exp(y), np.arange(21)), x, 0.95)
    hat = np.column_stack([np.ones(21), x])
    assert found.leverage == pytest.approx((hat @ np.linalg.inv(hat.T @ hat) @ hat.T).diagonal().max())
    assert found.share.value > 0.95 and found.without.value == pytest.approx(np.corrcoef(x[:-1], y[:-1])[0, 1] ** 2)
    assert found.without.n == 20
    even = estimate_explained_by_number(Clustered(np.exp(y[:-1]), np.arange(20)), x[:-1], 0.95)
    assert even.leverage < 0.5 and even.without is None


def test_what_levels_explain_counts_clusters_and_leaves_rare_levels_out():
    rng = np.random.default_rng(5)
    levels = np.repeat([0, 1], 10)
    y = 3.0 * levels + rng.normal(size=20)
    found = estimate_explained_by_levels(Clustered(np.exp(y), np.arange(20)), levels, 0.95)
    between = 10 * np.sum((np.array([y[:10].mean(), y[10:].mean()]) - y.mean()) ** 2)
    assert found.share.value == pytest.approx(between / np.sum((y - y.mean()) ** 2)) and found.levels == 2
    tripled = Clustered(np.exp(np.repeat(y, 3)), np.repeat(np.arange(20), 3))
    again = estimate_explained_by_levels(tripled, np.repeat(levels, 3), 0.95)
    assert (again.share.low, again.share.high) == pytest.approx((found.share.low, found.share.high))
    rare = Clustered(np.exp(np.append(y, 99.0)), np.arange(21))
    assert estimate_explained_by_levels(rare, np.append(levels, 2), 0.95).levels == 2


def test_the_share_of_levels_has_the_degrees_of_freedom_of_clusters():
    """Four clusters at each of three levels, one with two values; a level of two clusters is left out."""
    logs = np.array([1.0, 1.4, 0.8, 1.2, 2.0, 2.6, 2.2, 1.8, 3.1, 2.7, 3.4, 3.0, 9.0, 9.5])
    levels = np.repeat([0, 1, 2, 3], [4, 4, 4, 2])
    values = Clustered(np.exp(np.append(logs, 1.4)), np.append(np.arange(14), 0))
    made = estimate_explained_by_levels(values, np.append(levels, 0), 0.9)
    y = np.array([1.2, *logs[1:12]]).reshape(3, 4)
    total, inside = float(((y - y.mean()) ** 2).sum()), float(((y - y.mean(axis=1, keepdims=True)) ** 2).sum())
    share = Variation(total, SumOfSquares(inside, 9), 12).estimate_explained_share(SumOfSquares(total - inside, 2), 0.9)
    assert (made.share.value, made.share.low, made.share.high) == pytest.approx((share.value, share.low, share.high))
    assert (made.share.n, made.levels, made.slope) == (12, 3, None)


def compute_wilson(share: float, effective: float, df: int, level: float) -> tuple[float, float]:
    """Newcombe 1998, method 3, with Student's t."""
    t = stats.t.ppf(0.5 + level / 2, df)
    middle, half = 2 * effective * share + t**2, t * math.sqrt(t**2 + 4 * effective * share * (1 - share))
    return (middle - half) / 2 / (effective + t**2), (middle + half) / 2 / (effective + t**2)


VALUES = Clustered(np.array([1.0, 2.0, 3.0, 9.0, 2.0, 8.0, 7.0]), np.array([0, 0, 1, 1, 2, 3, 3]))


def test_every_number_of_a_share_of_clusters():
    below = np.array([0.75, 0.0, 0.5, 0.0])  # a value that is equal counts half
    made = VALUES.estimate_share_below(2.0, 0.9)
    share = below.mean()
    effective = max(4, min(7, share * (1 - share) / (below.var(ddof=1) / 4)))
    assert (VALUES.n, made.value, made.n, made.level) == (4, share, 4, 0.9)
    assert (made.low, made.high) == pytest.approx(compute_wilson(share, effective, 3, 0.9))
    assert VALUES.weights == pytest.approx([0.125, 0.125, 0.125, 0.125, 0.25, 0.125, 0.125])
    assert VALUES.log_means == pytest.approx(np.log([2**0.5, 27**0.5, 2, 56**0.5]))


def test_every_number_of_a_share_of_members():
    hits, clusters = np.array([1.0, 1, 0, 1, 0, 0, 1, 0]), np.array([5, 5, 5, 7, 7, 7, 9, 9])
    made = estimate_member_share(hits, clusters, 0.9)
    residuals = np.array([2 - 1.5, 1 - 1.5, 1 - 1.0])
    effective = min(8, 0.25 / (residuals @ residuals * 3 / 2 / 64))
    assert (made.value, made.n, made.level) == (0.5, 3, 0.9)
    assert (made.low, made.high) == pytest.approx(compute_wilson(0.5, effective, 2, 0.9))
    apart = estimate_member_share(np.array([1.0, 1, 1, 0, 0, 0]), np.array([0, 0, 0, 1, 1, 1]), 0.9)
    assert (apart.low, apart.high) == pytest.approx(compute_wilson(0.5, 0.25 / (4.5 * 2 / 36), 1, 0.9))
    single, none = (estimate_member_share(np.ones(n), np.zeros(n, dtype=int), 0.9) for n in (3, 0))
    assert (single.value, single.n, codes(single.warnings)) == (1.0, 1, ["single-cluster"])
    assert (none.value, none.n, none.warnings) == (None, 0, ())


def test_every_number_of_a_quantile_of_clusters():
    values = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 8.0, 7.0, 6.0])
    made = Clustered(values, np.arange(8)).quantile(0.5, 0.95)
    below = (values < 4) + 0.5 * (values == 4)
    ends = compute_wilson(0.5, min(8, 0.25 / (below.var(ddof=1) / 8)), 7, 0.95)
    expected = [float(np.sort(values)[math.ceil(end * 8) - 1]) for end in ends]
    expected = [max(expected[0], 1.0), expected[1]]
    assert (made.value, [made.low, made.high], made.n, made.level) == (4.0, expected, 8, 0.95)
    few = Clustered(values[:5], np.arange(5)).quantile(0.9, 0.95)
    assert (few.value, few.low, few.high, few.n) == (5.0, None, None, 5)
    assert_problem(few.warnings[0], "too-few-clusters", needed=29, level=95.0, n=5)
    none = Clustered(np.zeros(0), np.zeros(0, dtype=int)).estimate_share_below(1.0, 0.9)
    assert (none.value, none.low, none.n, codes(none.warnings)) == (None, None, 0, ["single-cluster"])


def test_a_line_over_clusters_is_that_of_their_means():
    x, clusters = np.array([0.0, 2.0, 3.0, 5.0, 4.0]), np.array([0, 0, 1, 2, 3])
    y = np.array([0.1, 0.5, 1.2, 2.2, 1.3])
    made = estimate_explained_by_number(Clustered(np.exp(y), clusters), x, 0.9)
    xs, ys = np.array([1.0, 3, 5, 4]), np.array([0.3, 1.2, 2.2, 1.3])
    fit = stats.linregress(xs, ys)
    half = stats.t.ppf(0.95, 2) * fit.stderr
    assert (made.slope.value, made.slope.low, made.slope.high) == pytest.approx(
        np.exp([fit.slope, fit.slope - half, fit.slope + half])
    )
    total = float(((ys - ys.mean()) ** 2).sum())
    rest = total * (1 - fit.rvalue**2)
    share = Variation(total, SumOfSquares(rest, 2), 4).estimate_explained_share(SumOfSquares(total - rest, 1), 0.9)
    assert made.share.value == pytest.approx(fit.rvalue**2)
    assert (made.share.low, made.share.high) == pytest.approx((share.low, share.high))
    assert (made.share.n, made.slope.n, made.levels) == (4, 4, 4)
    assert made.leverage == pytest.approx(1 / 4 + 2.25**2 / ((xs - 3.25) ** 2).sum())


@pytest.mark.parametrize(
    ("x", "y"), [([1.0, 2.0], [1.0, 3.0]), ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0]), ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])]
)
def test_a_line_takes_three_clusters_that_differ_in_both(x, y):
    made = estimate_explained_by_number(Clustered(np.exp(y), np.arange(len(x))), np.array(x), 0.9)
    assert (made.share.value, made.share.n, made.share.level, made.slope, made.levels) == (
        None,
        len(x),
        0.9,
        None,
        len(x),
    )
    assert (made.leverage, made.without, codes(made.share.warnings)) == (None, None, ["too-few-clusters"])


def test_levels_take_two_of_enough_clusters_whose_values_differ():
    levels = np.repeat([0, 1], [3, 2])
    few = estimate_explained_by_levels(Clustered(np.arange(1.0, 6.0), np.arange(5)), levels, 0.9)
    assert (few.share.value, few.share.n, few.levels, few.slope) == (None, 3, 1, None)
    assert_problem(few.share.warnings[0], "too-few-clusters", least=3)
    two = estimate_explained_by_levels(Clustered(np.arange(1.0, 6.0), np.arange(5)), levels, 0.9, 2)
    assert (two.share.n, two.levels, two.share.value) == (5, 2, pytest.approx(two.share.value))
    equal = estimate_explained_by_levels(Clustered(np.ones(8), np.arange(8)), np.repeat([0, 1], 4), 0.9)
    assert (equal.share.value, equal.share.n, equal.levels, codes(equal.share.warnings)) == (
        None,
        8,
        2,
        ["equal-values"],
    )
