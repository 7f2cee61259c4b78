"""Our distributions and order tests against scipy.stats, which they stand in for."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import special, stats

from iosonde.stats.estimate import distributions as ours
from iosonde.stats.estimate import rank_tests

DF = (0.7, 1, 1.5, 2, 3, 4.7, 10, 30, 99.3, 1000, 1e5, 1e6)
P = (1e-100, 1e-30, 1e-12, 1e-6, 0.001, 0.025, 0.05, 0.2, 0.4, 0.5, 0.51, 0.6, 0.95, 0.975, 0.995, 0.9995, 1 - 1e-9)
X = (1e-3, 0.1, 0.5, 1, 1.5, 1.96, 4, 10, 50, 1e3, 1e6)
SMALLEST = 1e-290  # below it a float, and scipy, lose digits


def close(found, expected):
    assert found == pytest.approx(expected, rel=1e-12, abs=SMALLEST)


@pytest.mark.parametrize("df", DF)
def test_student_t(df):
    for t in X:
        close(ours.t_two_sided_p(t, df), 2 * stats.t.sf(t, df))
        assert ours.t_two_sided_p(-t, df) == ours.t_two_sided_p(t, df)
    for p in P:
        close(ours.t_quantile(p, df), stats.t.ppf(p, df))
    close(ours.t_critical(0.95, df), stats.t.ppf(0.975, df))


def test_normal():
    for z in (0, 1e-9, 0.1, 1.3, 5, 20, 37):
        close(ours.normal_two_sided_p(-z), 2 * stats.norm.sf(z))
    for p in P:
        close(ours.normal_quantile(p), stats.norm.ppf(p))


@pytest.mark.parametrize("df", DF)
def test_chi_square(df):
    for x in (*X, *(x * df for x in X)):
        close(ours.chi2_upper_p(x, df), stats.chi2.sf(x, df))
    for p in P:
        assert ours.chi2_quantile(p, df) == pytest.approx(stats.chi2.ppf(p, df), rel=of_many(df), abs=SMALLEST)


@pytest.mark.parametrize("df1", DF)
def test_f(df1):
    for df2, f in itertools.product(DF, X):
        found, expected = ours.f_upper_p(f, df1, df2), stats.f.sf(f, df1, df2)
        assert found == pytest.approx(expected, rel=of_many(df1, df2), abs=SMALLEST)
    for df2, p in itertools.product(DF, (0.001, 0.05, 0.5, 0.9, 0.95, 0.999)):
        assert ours.f_quantile(p, df1, df2) == pytest.approx(stats.f.ppf(p, df1, df2), rel=of_many(df1, df2))


def of_many(*df):
    """How near scipy itself comes: with very many degrees of freedom it loses digits (``test_to_the_last_digits``)."""
    return 3e-11 if max(df) >= 1e5 else 1e-12


def test_to_the_last_digits():
    """Values of 40-digit arithmetic (mpmath), where scipy is 2e-12 to 2e-11 off."""
    for found, exact in (
        (ours.f_upper_p(1.5, 10, 1e6), 0.132063770335163737),
        (ours.f_upper_p(1.5, 30, 1e6), 0.0386049214498234763),
        (ours.f_upper_p(1.96, 30, 1e5), 0.00128653894605624276),
        (ours.f_quantile(0.99, 10, 1e6), 2.3209427657192152),
        (ours.chi2_quantile(1e-6, 1e6), 993292.033737391296),
    ):
        assert found == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 1000, 100_000])
def test_counts(n):
    for k, p in itertools.product((-1, 0, 1, n // 3, n // 2, n - 1, n, n + 1), (1e-9, 0.001, 0.1, 0.5, 0.9, 0.999)):
        close(ours.binomial_cdf(k, n, p), stats.binom.cdf(k, n, p))
    for k, mean in itertools.product((-1, 0, 1, n // 2, n), (1e-9, 0.1, 1, 20, 1000)):
        close(ours.poisson_upper_p(k, mean), stats.poisson.sf(k - 1, mean))
    for hits, level in itertools.product((0, 0.5, n / 3, n - 0.5, n), (0.5, 0.95, 0.999)):
        low, high = ours.binomial_interval(hits, n, level)
        close(low, special.betaincinv(hits, n - hits + 1, (1 - level) / 2) if hits else 0.0)
        close(high, special.betaincinv(hits + 1, n - hits, 0.5 + level / 2) if hits < n else 1.0)


def test_noncentral_chi_square():
    for x, df, noncentrality in itertools.product((0.01, 1, 7, 40, 300, 2000), (1, 2, 5, 17), (0, 1e-6, 0.3, 10, 2500)):
        expected = special.chndtr(x, df, noncentrality)
        below, slope = ours.noncentral_chi2(x, df, noncentrality)
        assert below == pytest.approx(expected, rel=1e-12, abs=1e-25)
        assert slope == pytest.approx((special.chndtr(x, df + 2, noncentrality) - expected) / 2, rel=1e-6, abs=1e-15)


def test_noncentral_f():
    cases = itertools.product((0.01, 1, 7, 60), (1, 2, 5), (4, 13, 200), (0, 1e-6, 0.3, 10, 400))
    for f, df1, df2, noncentrality in cases:
        expected = special.ncfdtr(df1, df2, noncentrality, f)
        below, slope = ours.noncentral_f(f, df1, df2, noncentrality)
        assert below == pytest.approx(expected, rel=1e-9, abs=1e-14)
        step = 1e-4 * (1 + noncentrality)
        more = special.ncfdtr(df1, df2, noncentrality + step, f)
        assert slope == pytest.approx((more - expected) / step, rel=1e-2, abs=1e-9)


LEAST = ours.LEAST_P


def test_what_is_not_defined_is_nan_and_ends():
    nan, inf = math.nan, math.inf
    for found in (
        ours.t_quantile(0.9, 0), ours.t_quantile(nan, 3), ours.t_quantile(1.1, 3), ours.t_quantile(0.9, nan),
        ours.t_two_sided_p(nan, 3), ours.t_two_sided_p(1, 0), ours.t_two_sided_p(1, nan), ours.normal_quantile(-0.1),
        ours.normal_two_sided_p(nan), ours.chi2_quantile(0.5, -1), ours.chi2_upper_p(1, 0), ours.f_upper_p(nan, 1, 2),
        ours.f_upper_p(1, 0, 2), ours.f_quantile(0.5, 0, 1),
    ):  # fmt: skip
        assert math.isnan(found)
    assert (ours.t_quantile(0, 3), ours.t_quantile(1, 3), ours.t_quantile(0.5, 3)) == (-inf, inf, 0)
    assert (ours.f_upper_p(inf, 1, 2), ours.f_upper_p(0, 1, 2), ours.chi2_upper_p(inf, 2)) == (LEAST, 1, LEAST)
    assert ours.t_quantile(0.975, inf) == ours.normal_quantile(0.975)
    assert ours.t_two_sided_p(inf, 3) == LEAST


def test_no_chance_is_said_to_be_none_at_all():
    assert ours.f_upper_p(1e6, 1, 500) == ours.normal_two_sided_p(60) == ours.chi2_upper_p(1e4, 3) == LEAST
    assert ours.poisson_upper_p(2000, 1.0) == LEAST and 0 < ours.t_two_sided_p(1e9, 4) < 1e-30


def samples(seed):
    """Two samples and differences, with ties and zeros in every other."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, rng.integers(2, 40)), rng.normal(0.5, 2, rng.integers(2, 40))
    d = rng.normal(0.3, 1, rng.integers(2, 70))
    return (np.round(a), np.round(b * 2), np.round(d * 2)) if seed % 2 else (a, b, d)


@pytest.mark.parametrize("seed", range(200))
def test_order_tests(seed):
    a, b, d = samples(seed)
    found = rank_tests.unpaired(a, b, 0.95)
    if found.name == "Brunner-Munzel":
        assert min(a.size, b.size) >= rank_tests.BRUNNER_MUNZEL_FROM
        assert found.p == pytest.approx(stats.brunnermunzel(a, b).pvalue, rel=1e-11)
    else:
        assert found.p == pytest.approx(mann_whitney(a, b), rel=1e-9)
    assert rank_tests.paired(np.zeros_like(d), d, 0.95).p == pytest.approx(wilcoxon(d), rel=1e-9)


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
    assert rank_tests.unpaired(both[: len(a)], both[len(a) :], 0.95).p == pytest.approx(p)


def test_order_tests_where_all_are_equal():
    same = np.ones(12)
    assert rank_tests.unpaired(same, same, 0.95).p == 1.0
    assert rank_tests.unpaired(same, same + 1, 0.95).p == pytest.approx(2 / math.comb(24, 12))
