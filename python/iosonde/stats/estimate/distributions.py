"""Quantiles and tails of the distributions used here: thin functions over ``scipy.special``.

Each takes scalars. SciPy is imported inside the functions, because it loads more slowly than everything else that most
commands need. Quantiles are cached: many groups of a table have the same degrees of freedom.
"""

import math
from functools import lru_cache

_CACHED = 1024
_CACHED_INTERVALS = 4096
_ROOT_2 = math.sqrt(2)
_MAX_DRAWS = 1e15  # betaincinv loses precision above
LEAST_P = 1e-300  # lower limit of reported p-values, which are never 0


@lru_cache(_CACHED)
def t_quantile(p: float, df: float) -> float:
    """Return the p-quantile of Student's t with ``df`` degrees of freedom."""
    from scipy.special import betainccinv, betaincinv

    if not (0 < p < 1 and df > 0):
        return _quantile_at_end(p, -math.inf, math.inf)
    if math.isinf(df):
        return normal_quantile(p)
    both_tails = 2 * min(p, 1 - p)
    # t² = df·y/x with x + y = 1; each is computed separately, as one may be too near 1 for the other's digits.
    x, y = float(betaincinv(df / 2, 0.5, both_tails)), float(betainccinv(0.5, df / 2, both_tails))
    return math.copysign(math.sqrt(df * y / x) if x else math.inf, p - 0.5)


def t_critical(level: float, df: float) -> float:
    """Return the two-sided critical value: P(|t| <= it) = ``level``."""
    return t_quantile(0.5 + level / 2, df)


def t_two_sided_p(t: float, df: float) -> float:
    """Return P(|T| >= |t|)."""
    return normal_two_sided_p(t) if math.isinf(df) or math.isnan(t) else f_upper_p(t * t, 1, df)


@lru_cache(_CACHED)
def normal_quantile(p: float) -> float:
    """Return the p-quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(p)) if 0 < p < 1 else _quantile_at_end(p, -math.inf, math.inf)


def normal_two_sided_p(z: float) -> float:
    """Return P(|Z| >= |z|)."""
    return max(math.erfc(abs(z) / _ROOT_2), LEAST_P)


def normal_upper_p(z: float) -> float:
    """Return P(Z >= z)."""
    return math.erfc(z / _ROOT_2) / 2


@lru_cache(_CACHED)
def chi2_quantile(p: float, df: float) -> float:
    """Return the p-quantile of chi-square."""
    from scipy.special import gammaincinv

    return 2 * float(gammaincinv(df / 2, p)) if 0 < p < 1 and 0 < df < math.inf else _quantile_at_end(p, 0.0, math.inf)


def chi2_upper_p(x: float, df: float) -> float:
    """Return P(chi-square >= x)."""
    from scipy.special import gammaincc

    return _p_value(gammaincc(df / 2, x / 2)) if x > 0 and 0 < df < math.inf else _p_at_end(x, df)


def f_upper_p(f: float, df1: float, df2: float) -> float:
    """Return P(F >= f)."""
    from scipy.special import betainc, betaincc

    if not (0 < f < math.inf and 0 < df1 < math.inf and 0 < df2 < math.inf):
        return _p_at_end(f, df1, df2)
    x, y = df2 / (df2 + df1 * f), df1 * f / (df2 + df1 * f)
    # x + y = 1: the smaller one has more digits.
    return _p_value(betaincc(df1 / 2, df2 / 2, y) if y < x else betainc(df2 / 2, df1 / 2, x))


@lru_cache(_CACHED)
def f_quantile(p: float, df1: float, df2: float) -> float:
    """Return the p-quantile of F."""
    from scipy.special import betainccinv, betaincinv

    if not (0 < p < 1 and 0 < df1 < math.inf and 0 < df2 < math.inf):
        return _quantile_at_end(p, 0.0, math.inf)
    x, y = float(betaincinv(df1 / 2, df2 / 2, p)), float(betainccinv(df2 / 2, df1 / 2, p))
    return df2 * x / (df1 * y) if df1 * y else math.inf


def binomial_cdf(k: int, n: int, p: float) -> float:
    """Return P(X <= k) for X binomial(n, p)."""
    from scipy.special import betaincc

    return float(betaincc(k + 1, n - k, p)) if 0 <= k < n else float(k >= n)


def poisson_upper_p(count: int, expected: float) -> float:
    """Return P(N >= count) for N Poisson with this mean."""
    from scipy.special import gammainc

    return 1.0 if count <= 0 or not math.isfinite(expected) else _p_value(gammainc(count, expected))


@lru_cache(_CACHED_INTERVALS)
def binomial_interval(hits: float, n: float, level: float) -> tuple[float, float]:
    """Return the limits of a share by Clopper and Pearson (Biometrika 26, 1934, 404-413), which cover at least
    ``level``.

    Neither ``hits`` nor ``n`` need be whole. More than 10¹⁵ draws count as 10¹⁵.
    """
    from scipy.special import betainccinv, betaincinv

    tail = (1 - level) / 2
    if n > _MAX_DRAWS:
        hits, n = hits / n * _MAX_DRAWS, _MAX_DRAWS
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betainccinv(hits + 1, n - hits, tail)) if hits < n else 1.0
    return low, high


def _p_value(p: float) -> float:
    return p if math.isnan(p) else max(float(p), LEAST_P)


def _p_at_end(x: float, *df: float) -> float:
    """Return P(X >= x) at an end of the range of X; NaN for invalid arguments."""
    if x <= 0:
        return 1.0
    return LEAST_P if math.isinf(x) and all(0 < each < math.inf for each in df) else math.nan


def _quantile_at_end(p: float, least: float, most: float) -> float:
    """Return the quantile of 0 or 1; NaN for invalid arguments."""
    return least if p == 0 else most if p == 1 else math.nan
