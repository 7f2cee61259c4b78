"""Rank correlations: planted truths, SciPy's as a second implementation, and how often the procedures are wrong."""

import numpy as np
import pytest
from scipy import stats

from iosonde.stats.estimate.multiple import adjust_by_yekutieli
from iosonde.stats.estimate.rank_correlation import LEAST, compute_mean_ranks, estimate_rank_correlation

RHO = 0.6  # Pearson's; Spearman's of two normals is 6 ÷ π · asin(ρ ÷ 2)
SPEARMAN = 6 / np.pi * np.arcsin(RHO / 2)


def draw(rng, n, rho=RHO):
    """Two normals with this correlation, under monotone transformations."""
    x = rng.normal(size=n)
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)
    return np.exp(x), y**3


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [LEAST, 33, 700])
def test_rho_and_p_are_those_of_scipy(n, ties):
    x, y = draw(np.random.default_rng(n), n)
    if ties:
        x, y = np.ceil(x), np.round(y)
    theirs = stats.spearmanr(x, y)
    ours = estimate_rank_correlation(x, y, 0.95)
    assert ours.rho.value == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-299)
    assert ours.rho.low < theirs.statistic < ours.rho.high and ours.rho.n == n
    assert np.array_equal(compute_mean_ranks(x), stats.rankdata(x))


def test_a_partial_correlation_is_that_of_the_residuals_of_ranks():
    rng = np.random.default_rng(1)
    size = rng.normal(size=50)
    x, y = size + rng.normal(size=50), size + rng.normal(size=50)
    ranks = [stats.rankdata(values) for values in (x, y, size)]
    residuals = [a - np.polyval(np.polyfit(ranks[2], a, 1), ranks[2]) for a in ranks[:2]]
    partial = estimate_rank_correlation(x, y, 0.95, size)
    rho = stats.pearsonr(*residuals).statistic
    assert partial.rho.value == pytest.approx(rho)
    assert partial.p == pytest.approx(2 * stats.t.sf(abs(rho) * np.sqrt(47 / (1 - rho**2)), 47))
    assert partial.rho.value < 0.3 < estimate_rank_correlation(x, y, 0.95).rho.value
    equal = estimate_rank_correlation(x, y, 0.95, np.ones(50))
    assert equal == estimate_rank_correlation(x, y, 0.95)


@pytest.mark.parametrize("control", [None, np.random.default_rng(8).normal(size=12)])
def test_the_unit_that_carries_a_correlation_is_the_one_whose_removal_takes_most(control):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=12), rng.normal(size=12)
    x[7] = y[7] = 40.0
    found = estimate_rank_correlation(x, y, 0.95, control)
    others = [
        estimate_rank_correlation(
            np.delete(x, i), np.delete(y, i), 0.95, None if control is None else np.delete(control, i)
        )
        for i in range(12)
    ]
    signed = [np.sign(found.rho.value) * one.rho.value for one in others]
    assert found.carrier == int(np.argmin(signed))
    assert found.rho_without == pytest.approx(others[found.carrier].rho.value)
    assert found.p_without == pytest.approx(others[found.carrier].p)


def test_too_few_equal_and_perfectly_ordered_units():
    few = estimate_rank_correlation(np.arange(9.0), np.arange(9.0), 0.95)
    equal = estimate_rank_correlation(np.arange(20.0), np.ones(20), 0.95)
    assert few.rho.value is None and equal.rho.value is None and few.rho.warnings and equal.rho.warnings
    perfect = estimate_rank_correlation(np.arange(20.0), -np.arange(20.0), 0.95)
    assert perfect.rho.value == pytest.approx(-1) and -1 <= perfect.rho.low < perfect.rho.high < -0.9
    assert perfect.p < 1e-10
    alone = estimate_rank_correlation(np.eye(12)[3], np.eye(12)[3], 0.95)
    assert alone.carrier == 3 and alone.rho_without is None


def test_intervals_enclose_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(3)
    for n in (12, 40):
        intervals = [estimate_rank_correlation(*draw(rng, n), 0.95).rho for _ in range(1000)]
        assert np.mean([one.low <= SPEARMAN <= one.high for one in intervals]) == pytest.approx(0.95, abs=0.025)


def test_partial_correlations_of_what_only_grows_with_size_are_seldom_significant():
    rng = np.random.default_rng(4)
    p = []
    for _ in range(1000):
        size = rng.normal(size=30)
        p.append(estimate_rank_correlation(size + rng.normal(size=30), size + rng.normal(size=30), 0.95, size).p)
    assert np.mean(np.array(p) < 0.05) < 0.08  # ranks are no linear function of ranks of the size


def test_adjusted_p_values_are_those_of_scipy():
    rng = np.random.default_rng(5)
    p = (rng.uniform(size=30) ** 3).tolist()
    ours = adjust_by_yekutieli([p[0], None, *p[1:]])
    assert ours[1] is None and [ours[0], *ours[2:]] == pytest.approx(stats.false_discovery_control(p, method="by"))
    assert adjust_by_yekutieli([]) == []


def test_false_discoveries_among_pairs_that_share_members_stay_below_their_rate():
    """Eight members: four follow one another, four are independent of all. 6 pairs are true, 22 are not."""
    rng, shares, found = np.random.default_rng(6), [], []
    true = {(a, b) for a in range(4) for b in range(a)}
    pairs = [(a, b) for a in range(8) for b in range(a)]
    for _ in range(150):
        members = rng.normal(size=(8, 40))
        members[:4] += 1.2 * rng.normal(size=40)
        p = [estimate_rank_correlation(members[a], members[b], 0.95).p for a, b in pairs]
        hits = {pair for pair, q in zip(pairs, adjust_by_yekutieli(p), strict=True) if q <= 0.1}
        shares.append(len(hits - true) / max(1, len(hits)))
        found.append(len(hits & true) / len(true))
    assert np.mean(shares) < 0.1 and np.mean(found) > 0.8
