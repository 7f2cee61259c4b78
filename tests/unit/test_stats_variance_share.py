"""Limits of an explained share: noncentralities by SciPy, and what combines them by hand."""

from __future__ import annotations

import math

import pytest
from scipy import stats as scipy_stats
from scipy.optimize import brentq

from iosonde.stats.estimate import variance_share
from iosonde.stats.estimate.variance_share import (
    LEAST_DF,
    SumOfSquares,
    Variation,
    _Limits,
    clamp_share,
    compute_share_limits,
)


def solve(distribution, x: float, p, *df: float) -> float:
    """The noncentrality at which P(X <= x) = p, or p of the noncentrality; 0 if even 0 is less likely."""
    at = p if callable(p) else lambda noncentrality: p
    if distribution.cdf(x, *df, 1e-9) <= at(1e-9):
        return 0.0
    return brentq(
        lambda noncentrality: distribution.cdf(x, *df, noncentrality) - at(noncentrality), 1e-9, 20 * x * df[0] + 100
    )


def tails(tail: float):
    """Where t of a mean μ = √λ has this tail beyond |t|, at both ends, on both sides of 0."""
    z, normal = scipy_stats.norm.isf(tail), scipy_stats.norm

    def below(noncentrality: float) -> float:
        return 1 - tail - normal.sf(z + 2 * math.sqrt(noncentrality))

    def above(noncentrality: float) -> float:
        return max(0.0, tail - normal.cdf(z - 2 * math.sqrt(noncentrality)))

    return below, above


@pytest.mark.parametrize(("ss", "df", "noise_df"), [(30.0, 2, 12), (9.0, 3, 8), (400.0, 1, 20), (0.1, 2, 9)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_single_effect_has_the_limits_of_steiger_and_fouladi(ss, df, noise_df, level):
    noise, n, tail = SumOfSquares(2.0 * noise_df, noise_df), 24, (1 - level) / 2
    f = ss / 2 / df
    ends = [solve(scipy_stats.ncf, f, p, df, noise_df) for p in tails(tail)]
    limits = compute_share_limits(SumOfSquares(ss, df), SumOfSquares(0.0, 0), noise, n, level)
    assert limits == pytest.approx([end / (end + n) for end in ends], abs=1e-5)
    assert (limits[0] > 0) == (scipy_stats.f.sf(f, df, noise_df) < 1 - level)


@pytest.mark.parametrize("t", [0.1, 1.0, 1.95, 1.97, 3.0, 9.0])
def test_limits_of_one_mean_are_those_of_its_two_sided_interval(t):
    """With a known variance μ is t ± z, and λ = μ²."""
    noise, z = SumOfSquares(1e6, 1e6), scipy_stats.norm.isf(0.025)
    low, high = compute_share_limits(SumOfSquares(t * t, 1), SumOfSquares(0.0, 0), noise, 1, 0.95)
    expected = max(0.0, t - z) ** 2, (t + z) ** 2
    assert (low / (1 - low), high / (1 - high)) == pytest.approx(expected, rel=0.02, abs=1e-3)


@pytest.mark.parametrize(("x", "df", "noise_df"), [(600.0, 2, 30), (5000.0, 3, 12)])
def test_large_effects_have_nearly_the_same_limits(x, df, noise_df):
    made = variance_share._compute_exact(SumOfSquares(3 * x, df), SumOfSquares(3.0 * noise_df, noise_df), 0.95)
    low, high = (solve(scipy_stats.ncf, x / df, p, df, noise_df) for p in (0.975, 0.025))
    assert (made.value, made.low, made.high) == (x - df, pytest.approx(low, rel=0.02), pytest.approx(high, rel=0.02))


@pytest.mark.parametrize(("x", "df", "p"), [(9.0, 3, 0.025), (9.0, 3, 0.975), (1900.0, 4, 0.5), (2500.0, 4, 0.025)])
def test_noncentralities_are_those_of_the_noncentral_chi_square(x, df, p):
    assert variance_share._solve_noncentrality(x, df, lambda _: p) == pytest.approx(
        solve(scipy_stats.ncx2, x, p, df), rel=1e-4
    )


def test_noise_as_estimated_widens_limits_by_students_t_over_the_normal_quantile():
    noise = SumOfSquares(30.0, 10)
    fixed = variance_share._FixedNoise.of(noise, 0.9)
    wider = scipy_stats.t.ppf(0.95, 10) / scipy_stats.norm.ppf(0.95)
    assert (fixed.variance, fixed.tails.tail, fixed.wider) == pytest.approx((3.0, 0.05, wider))
    x = 20.0
    low, high = (solve(scipy_stats.ncx2, x, p, 4) for p in tails(0.05))
    made = fixed.limits(SumOfSquares(60.0, 4))
    assert made.value == 16.0
    assert (made.low, made.high) == pytest.approx((max(0, 16 - wider * (16 - low)), 16 + wider * (high - 16)))
    cut = fixed.limits(SumOfSquares(60.0, 4), _Limits(16.0, 15.0, 17.0))
    assert cut == _Limits(16.0, 15.0, 17.0)
    assert fixed.limits(SumOfSquares(60.0, 4), _Limits(16.0, 0.0, 99.0)) == made
    assert fixed.limits(SumOfSquares(60.0, 4), _Limits(16.0, 18.0, 12.0)) == _Limits(16.0, 16.0, 16.0)
    assert fixed.limits(SumOfSquares(60.0, 0)) == _Limits(0.0, 0.0, 0.0)
    assert fixed.limits(SumOfSquares(-1.0, 4)).value == 0.0


def test_lower_limits_are_combined_on_logarithms():
    top, exact, below = _Limits(40.0, 20.0, 70.0), _Limits(40.0, 10.0, 80.0), _Limits(100.0, 80.0, 150.0)
    errors = (math.log(2), 0.5 * math.sqrt(math.log(4) ** 2 - math.log(2) ** 2), math.log(1.5))
    expected = 0.4 * math.exp(-math.hypot(*errors))
    assert variance_share._combine_lower_limits(top, exact, below, 0.5) == pytest.approx(expected)
    narrow = _Limits(40.0, 30.0, 80.0)
    expected = 0.4 * math.exp(-math.hypot(math.log(2), math.log(1.5)))
    assert variance_share._combine_lower_limits(top, narrow, below, 0.5) == pytest.approx(expected)
    assert variance_share._combine_lower_limits(top, _Limits(40.0, 0.0, 80.0), below, 0.5) == 0.0
    assert variance_share._combine_lower_limits(_Limits(0.0, 0.0, 9.0), exact, below, 0.5) == 0.0


def donner_and_zou(a: float, b: float, end_a: float, end_b: float) -> float:
    """The upper limit of a ratio a ÷ b (2012, equation 8)."""
    down = end_b * (2 * b - end_b)
    return (a * b + math.sqrt((a * b) ** 2 - end_a * (2 * a - end_a) * down)) / down


def test_upper_limits_are_combined_as_donner_and_zou_do():
    top, exact, below = _Limits(40.0, 20.0, 70.0), _Limits(40.0, 10.0, 90.0), _Limits(100.0, 80.0, 150.0)
    end = 40 + math.hypot(30, 0.5 * math.sqrt(50**2 - 30**2))
    made = variance_share._combine_upper_limits(top, exact, below, 0.5)
    assert made == pytest.approx(donner_and_zou(40, 100, end, 80))
    narrow = variance_share._combine_upper_limits(top, _Limits(40.0, 10.0, 50.0), below, 0.5)
    assert narrow == pytest.approx(donner_and_zou(40, 100, 70, 80))
    none = variance_share._combine_upper_limits(_Limits(0.0, 0.0, 9.0), _Limits(0.0, 0.0, 9.0), below, 1.0)
    assert none == pytest.approx(donner_and_zou(0, 100, 9, 80))
    deep = variance_share._combine_upper_limits(top, exact, _Limits(100.0, -50.0, 150.0), 0.5)
    assert deep == pytest.approx(donner_and_zou(40, 100, end, 1.0))


def test_without_noise_the_share_is_known():
    effect, others = SumOfSquares(3.0, 1), SumOfSquares(1.0, 1)
    assert compute_share_limits(effect, others, SumOfSquares(0.0, 5), 9, 0.95) == (0.75, 0.75)
    assert compute_share_limits(SumOfSquares(0.0, 1), SumOfSquares(0.0, 1), SumOfSquares(0.0, 5), 9, 0.95) == (0.0, 0.0)
    assert compute_share_limits(SumOfSquares(3.0, 0), others, SumOfSquares(1.0, 5), 9, 0.95) == (0.0, 0.0)


def test_a_share_of_the_total_leaves_the_rest_to_other_effects():
    made = Variation(100.0, SumOfSquares(20.0, 10), 16).estimate_explained_share(SumOfSquares(50.0, 2), 0.9)
    expected = compute_share_limits(SumOfSquares(50.0, 2), SumOfSquares(30.0, 3), SumOfSquares(20.0, 10), 16, 0.9)
    assert (made.value, made.level, made.n) == (0.5, 0.9, 16)
    assert (made.low, made.high) == pytest.approx((min(expected[0], 0.5), max(expected[1], 0.5)))
    for df, known in ((LEAST_DF, True), (LEAST_DF - 1, False)):
        some = Variation(100.0, SumOfSquares(20.0, df), 16).estimate_explained_share(SumOfSquares(50.0, 2), 0.9)
        assert (some.value, some.low is not None) == (0.5, known)
    above = Variation(100.0, SumOfSquares(1.0, 2), 16).estimate_explained_share(SumOfSquares(130.0, 2), 0.9)
    below = Variation(100.0, SumOfSquares(1.0, 2), 16).estimate_explained_share(SumOfSquares(-1.0, 2), 0.9)
    assert (above.value, below.value) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("value", "limits", "clamped"),
    [
        (0.5, (0.2, 0.8), (0.5, 0.2, 0.8)),
        (0.5, (0.6, 0.8), (0.5, 0.5, 0.8)),
        (0.5, (0.2, 0.4), (0.5, 0.2, 0.5)),
        (1.5, (-0.2, 1.8), (1.0, 0.0, 1.0)),
        (-0.5, (0.1, 0.3), (0.0, 0.0, 0.3)),
    ],
)
def test_a_share_is_inside_its_limits_and_between_0_and_1(value, limits, clamped):
    made = clamp_share(value, limits, 0.95, 7)
    assert (made.value, made.low, made.high, made.level, made.n) == (*clamped, 0.95, 7)
