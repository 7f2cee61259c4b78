"""Distributions at the edges of what they are asked, and order tests against scipy.stats."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from iosonde.stats.estimate import distributions as ours
from iosonde.stats.estimate import rank_tests

LEAST = ours.LEAST_P


def test_what_is_not_defined_is_nan_and_ends():
    nan, inf = math.nan, math.inf
    for found in (
        ours.t_quantile(0.9, 0),
        ours.t_quantile(nan, 3),
        ours.t_quantile(1.1, 3),
        ours.t_quantile(0.9, nan),
        ours.t_two_sided_p(nan, 3),
        ours.t_two_sided_p(1, 0),
        ours.t_two_sided_p(1, nan),
        ours.normal_quantile(-0.1),
        ours.normal_two_sided_p(nan),
        ours.chi2_quantile(0.5, -1),
        ours.chi2_upper_p(1, 0),
        ours.f_upper_p(nan, 1, 2),
        ours.f_upper_p(1, 0, 2),
        ours.f_quantile(0.5, 0, 1),
    ):
        assert math.isnan(found)
    assert (ours.t_quantile(0, 3), ours.t_quantile(1, 3), ours.t_quantile(0.5, 3)) == (-inf, inf, 0)
    assert (ours.f_upper_p(inf, 1, 2), ours.f_upper_p(0, 1, 2), ours.chi2_upper_p(inf, 2)) == (LEAST, 1, LEAST)
    assert ours.t_quantile(0.975, inf) == ours.normal_quantile(0.975)
    assert ours.t_two_sided_p(inf, 3) == LEAST


def test_no_chance_is_said_to_be_none_at_all():
    assert ours.f_upper_p(1e6, 1, 500) == ours.normal_two_sided_p(60) == ours.chi2_upper_p(1e4, 3) == LEAST
    assert ours.poisson_upper_p(2000, 1.0) == LEAST and 0 < ours.t_two_sided_p(1e9, 4) < 1e-30


def test_quantiles_and_tails_belong_together():
    for df in (0.7, 1, 3, 30, 1e6, 1e12):
        for p in (1e-100, 1e-12, 0.025, 0.4, 0.51, 0.975):
            assert ours.t_two_sided_p(ours.t_quantile(p, df), df) == pytest.approx(2 * min(p, 1 - p), rel=1e-9)
        assert ours.chi2_upper_p(ours.chi2_quantile(0.05, df), df) == pytest.approx(0.95)
        assert ours.f_upper_p(ours.f_quantile(0.95, 3, df), 3, df) == pytest.approx(0.05)


def test_few_and_very_many_draws():
    assert ours.binomial_cdf(-1, 5, 0.3) == 0 and ours.binomial_cdf(5, 5, 0.3) == ours.binomial_cdf(7, 5, 0.3) == 1
    assert ours.binomial_cdf(1, 2, 0.5) == pytest.approx(0.75) and ours.binomial_cdf(0, 3, 0.0) == 1
    assert ours.poisson_upper_p(0, 3) == 1 and ours.poisson_upper_p(1, 1) == pytest.approx(1 - math.exp(-1))
    assert ours.binomial_interval(0, 20, 0.95) == (0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert ours.binomial_interval(20, 20, 0.95) == (pytest.approx(0.025 ** (1 / 20)), 1)
    for share, draws in itertools.product((0, 1e-9, 0.3, 0.999, 1), (1e15, 1e18, 5e33, 1e300)):
        low, high = ours.binomial_interval(share * draws, draws, 0.95)
        assert share - 1e-7 < low <= share <= high < share + 1e-7


def samples(seed):
    """Two samples and differences, with ties and zeros in every other."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, rng.integers(2, 40)), rng.normal(0.5, 2, rng.integers(2, 40))
    d = rng.normal(0.3, 1, rng.integers(2, 70))
    return (np.round(a), np.round(b * 2), np.round(d * 2)) if seed % 2 else (a, b, d)


@pytest.mark.parametrize("seed", range(200))
def test_order_tests(seed):
    a, b, d = samples(seed)
    found = rank_tests.run_unpaired_test(a, b, 0.95)
    if found.name == "Brunner-Munzel":
        assert min(a.size, b.size) >= rank_tests.BRUNNER_MUNZEL_FROM
        assert found.p == pytest.approx(stats.brunnermunzel(a, b).pvalue, rel=1e-11)
    else:
        assert found.p == pytest.approx(mann_whitney(a, b), rel=1e-9)
    assert rank_tests.run_paired_test(np.zeros_like(d), d, 0.95).p == pytest.approx(wilcoxon(d), rel=1e-9)


def mann_whitney(a, b):
    """As SciPy says where it knows the exact distribution; with ties by the generating function of the rank sums."""
    if a.size * b.size > 1000:
        return stats.mannwhitneyu(a, b, method="asymptotic").pvalue
    ranks = np.rint(2 * stats.rankdata(np.concatenate([a, b]))).astype(int)
    if np.unique(ranks).size == ranks.size:
        return stats.mannwhitneyu(a, b, method="exact").pvalue
    return two_sided(subset_sums(ranks.tolist())[a.size], int(ranks[: a.size].sum()))


def wilcoxon(d):
    d = d[d != 0]
    if d.size == 0:
        return 1.0
    ranks = np.rint(2 * stats.rankdata(np.abs(d))).astype(int)
    if np.unique(ranks).size == ranks.size or d.size > 50:
        return stats.wilcoxon(d, method="exact" if d.size <= 50 else "asymptotic").pvalue
    ways = sum(subset_sums(ranks.tolist()).values(), Counter())
    return two_sided(ways, int(ranks[d > 0].sum()))


def subset_sums(ranks):
    """Size of a subset → sum of its ranks → how many subsets there are, in whole numbers of any size."""
    found = {0: Counter({0: 1})}
    for rank in ranks:
        for size in sorted(found, reverse=True):
            more = found.setdefault(size + 1, Counter())
            for total, ways in list(found[size].items()):
                more[total + rank] += ways
    return found


def two_sided(ways, seen):
    below, above = (sum(n for total, n in ways.items() if keep(total)) for keep in (seen.__ge__, seen.__le__))
    return min(1.0, 2 * min(below, above) / sum(ways.values()))


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [((0, 0, 0), (1, 1, 1), 0.1), ((1, 2, 3), (3, 4, 5), 0.2), ((1, 1, 2), (1, 2, 2), 1.0), ((1, 2), (2, 2, 2), 0.8)],
)
def test_few_trials_with_ties_have_the_p_of_all_orders(a, b, p):
    """By counting every way to call three of the six trials A."""
    both = np.array([*a, *b], dtype=float)
    ranks = stats.rankdata(both)
    sums = np.array([ranks[list(chosen)].sum() for chosen in itertools.combinations(range(both.size), len(a))])
    counted = 2 * min(np.mean(sums <= ranks[: len(a)].sum()), np.mean(sums >= ranks[: len(a)].sum()))
    assert min(1.0, counted) == pytest.approx(p)
    assert rank_tests.run_unpaired_test(both[: len(a)], both[len(a) :], 0.95).p == pytest.approx(p)


def test_order_tests_where_all_are_equal():
    same = np.ones(12)
    assert rank_tests.run_unpaired_test(same, same, 0.95).p == 1.0
    assert rank_tests.run_unpaired_test(same, same + 1, 0.95).p == pytest.approx(2 / math.comb(24, 12))
