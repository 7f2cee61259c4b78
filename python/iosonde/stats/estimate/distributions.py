"""Quantiles and tails of the few distributions that the statistics need.

Each takes one number and needs no library (``special.py`` says why). Quantiles are remembered: many groups of a table
have the same degrees of freedom.
"""

from __future__ import annotations

import math
from functools import lru_cache

from .special import beta_density, beta_tails, gamma_density, gamma_tails, increasing_root

_REMEMBERED = 1024
_ROOT_2 = math.sqrt(2)
LEAST_P = 1e-300  # that is said: no chance is none at all, and smaller ones are below the smallest numbers


@lru_cache(_REMEMBERED)
def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's t with ``df`` degrees of freedom."""
    if not (0 < p < 1 and df > 0):
        return _at_an_end(p, -math.inf, math.inf)
    if math.isinf(df):
        return normal_quantile(p)
    tail = min(p, 1 - p)
    x, y = _beta_quantile(2 * tail, 1 - 2 * tail, df / 2, 0.5)
    return math.copysign(math.sqrt(df * y / x), p - 0.5)


def t_critical(level: float, df: float) -> float:
    """The two-sided critical value: P(|t| <= it) = ``level``."""
    return t_quantile(0.5 + level / 2, df)


def t_two_sided_p(t: float, df: float) -> float:
    """P(|T| >= |t|)."""
    if math.isinf(df) or math.isnan(t):
        return normal_two_sided_p(t)
    return f_upper_p(t * t, 1, df)


@lru_cache(_REMEMBERED)
def normal_quantile(p: float) -> float:
    """The p-quantile of the standard normal distribution."""
    if not 0 < p < 1:
        return _at_an_end(p, -math.inf, math.inf)
    tail = min(p, 1 - p)

    def missing(z: float) -> tuple[float, float]:
        below = math.erfc(-z / _ROOT_2) / 2
        return _log_ratio(below, tail), math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / below if below else 0.0

    z = increasing_root(missing, -math.sqrt(-2 * math.log(2 * tail)))
    return math.copysign(z, p - 0.5)


def normal_two_sided_p(z: float) -> float:
    """P(|Z| >= |z|)."""
    return max(math.erfc(abs(z) / _ROOT_2), LEAST_P)


@lru_cache(_REMEMBERED)
def chi2_quantile(p: float, df: float) -> float:
    """The p-quantile of chi-square."""
    if not (0 < p < 1 and 0 < df < math.inf):
        return _at_an_end(p, 0.0, math.inf)
    a, lower = df / 2, p <= 0.5
    sign, tail = (1, p) if lower else (-1, 1 - p)

    def missing(log_x: float) -> tuple[float, float]:
        x = math.exp(log_x)
        found = gamma_tails(a, x)[not lower]
        return sign * _log_ratio(found, tail), gamma_density(a, x) / found if found else 0.0

    return 2 * math.exp(increasing_root(missing, math.log(a) + normal_quantile(p) / math.sqrt(a)))


def chi2_upper_p(x: float, df: float) -> float:
    """P(chi-square >= x)."""
    return max(gamma_tails(df / 2, x / 2)[1], LEAST_P) if x > 0 else 1.0


def f_upper_p(f: float, df1: float, df2: float) -> float:
    """P(F >= f)."""
    if f <= 0:
        return 1.0
    if math.isinf(f):
        return LEAST_P
    whole = df2 + df1 * f
    return max(beta_tails(df2 / 2, df1 / 2, df2 / whole, df1 * f / whole)[0], LEAST_P)


@lru_cache(_REMEMBERED)
def f_quantile(p: float, df1: float, df2: float) -> float:
    """The p-quantile of F."""
    if not (0 < p < 1 and 0 < df1 < math.inf and 0 < df2 < math.inf):
        return _at_an_end(p, 0.0, math.inf)
    x, y = _beta_quantile(p, 1 - p, df1 / 2, df2 / 2)
    return df2 * x / (df1 * y)


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for X binomial(n, p)."""
    if not 0 <= k < n:
        return float(k >= n)
    return beta_tails(n - k, k + 1, 1 - p, p)[0]


def poisson_upper_p(count: int, expected: float) -> float:
    """P(N >= count) for N Poisson with this mean."""
    if count <= 0 or not math.isfinite(expected):
        return 1.0
    return max(gamma_tails(count, expected)[0], LEAST_P)


@lru_cache(maxsize=4096)
def binomial_interval(hits: float, n: float, level: float) -> tuple[float, float]:
    """Limits of a share by Clopper and Pearson (Biometrika 26, 1934, 404-413): they cover at least ``level``."""
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _beta_quantile(tail, 1 - tail, hits, n - hits + 1)[0]
    high = 1.0 if hits == n else _beta_quantile(1 - tail, tail, hits + 1, n - hits)[0]
    return low, high


def noncentral_chi2(x: float, df: float, noncentrality: float) -> tuple[float, float]:
    """(P(X <= x) for noncentral chi-square, its slope as the noncentrality grows).

    A sum of chi-squares with df + 2j, weighted by Poisson probabilities of j, from the largest j that counts down to 0:
    so each chi-square follows from the one before by an addition.
    What is added is the slope's part, too: half of what two more degrees of freedom take away.
    """
    mean, half = noncentrality / 2, x / 2
    if x <= 0 or math.sqrt(noncentrality) - math.sqrt(x) > 40:
        return 0.0, 0.0  # less than exp(-40² / 2)
    if mean == 0:
        return gamma_tails(df / 2, half)[0], -gamma_density(df / 2, half) / df
    j = int(mean + 9 * math.sqrt(mean) + 30)
    while df / 2 + j > half and gamma_density(df / 2 + j + 1, half) < 1e-280:
        j -= 8  # what lies above adds nothing
    j = max(j, 0)
    a = df / 2 + j
    weight = gamma_density(j + 1, mean) / mean
    below, step = gamma_tails(a, half)[0], gamma_density(a, half) / a
    total, falls = weight * below, weight * step
    while j > 0 and (j > mean or weight > 1e-17 * total):
        weight *= j / mean
        j -= 1
        step *= a / half
        a -= 1
        below += step
        total += weight * below
        falls += weight * step
    return min(1.0, total), -falls / 2


def noncentral_f(f: float, df1: float, df2: float, noncentrality: float) -> tuple[float, float]:
    """(P(F <= f) for noncentral F, its slope as the noncentrality grows): as ``noncentral_chi2``, a sum of incomplete
    beta functions (Johnson, Kotz & Balakrishnan, Continuous univariate distributions 2, 1995, ch. 30)."""
    if f <= 0:
        return 0.0, 0.0
    mean, whole, b = noncentrality / 2, df1 * f + df2, df2 / 2
    x, y = df1 * f / whole, df2 / whole
    if mean == 0:
        return beta_tails(df1 / 2, b, x, y)[0], -beta_density(df1 / 2, b, x, y) / df1
    j = int(mean + 9 * math.sqrt(mean) + 30)
    while j > 0 and beta_density(df1 / 2 + j, b, x, y) < 1e-280:
        j = max(0, j - 8)
    a = df1 / 2 + j
    weight = gamma_density(j + 1, mean) / mean
    below, step = beta_tails(a, b, x, y)[0], beta_density(a, b, x, y) / a
    total, falls = weight * below, weight * step
    while j > 0 and (j > mean or weight > 1e-17 * total):
        weight *= j / mean
        j -= 1
        step *= a / (x * (a + b - 1))
        a -= 1
        below += step
        total += weight * below
        falls += weight * step
    return min(1.0, total), -falls / 2


def _beta_quantile(p: float, q: float, a: float, b: float) -> tuple[float, float]:
    """(x, 1 - x) with I_x(a, b) = p = 1 - q.

    ln(x / (1-x)) has a density whose logarithm is concave, and so the logarithm of either tail, for which Newton's
    method converges from wherever it starts.
    """
    if p <= 0 or q <= 0:
        return (0.0, 1.0) if p <= 0 else (1.0, 0.0)
    if not (0 < a < math.inf and 0 < b < math.inf):
        return math.nan, math.nan
    lower = p <= q
    sign, tail = (1, p) if lower else (-1, q)

    def missing(z: float) -> tuple[float, float]:
        x, y = _logistic(z), _logistic(-z)
        found = beta_tails(a, b, x, y)[not lower]
        return sign * _log_ratio(found, tail), beta_density(a, b, x, y) / found if found else 0.0

    z = increasing_root(missing, math.log(a / b) + normal_quantile(p) * math.sqrt(1 / a + 1 / b))
    return _logistic(z), _logistic(-z)


def _logistic(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def _log_ratio(found: float, wanted: float) -> float:
    return math.log(found / wanted) if found / wanted else -math.inf


def _at_an_end(p: float, least: float, most: float) -> float:
    """The quantile of 0 or 1; else the question has no answer."""
    return least if p == 0 else most if p == 1 else math.nan
