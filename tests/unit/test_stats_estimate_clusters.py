"""Clustered values: each cluster counts once, and intervals rest on the number of clusters."""

import numpy as np
import pytest

from iosonde.stats.estimate.clusters import (
    Clustered,
    estimate_explained_by_levels,
    estimate_explained_by_number,
    estimate_member_share,
)
from iosonde.stats.estimate.variance_share import SumOfSquares, Variation


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
