"""Quantiles and tails of the few distributions that the statistics need.

``scipy.special`` is used directly: importing ``scipy.stats`` costs most of a second, which every command would
pay.
"""

from __future__ import annotations

from iosonde.core.errors import InputError

# A level outside is a slip, and the quantiles that it asks for cannot be computed to any digit.
LEAST_LEVEL, MOST_LEVEL = 0.01, 0.999999


def check_level(level: float) -> float:
    """``level`` if it can be a confidence level, else InputError."""
    if not 0.0 < level < 1.0:
        hint = f"write {level / 100:g}" if 1 < level < 100 else "use a fraction such as 0.95"
        raise InputError(f"the confidence level {level:g} is not between 0 and 1", hint)
    if not LEAST_LEVEL <= level <= MOST_LEVEL:
        raise InputError(f"the confidence level {level!r} is not from {LEAST_LEVEL} to {MOST_LEVEL}",
                         "use a usual one: 0.9, 0.95 or 0.99")  # fmt: skip
    return level


def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's t with ``df`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def t_critical(level: float, df: float) -> float:
    """The two-sided critical value: P(|t| <= it) = ``level``."""
    return t_quantile(0.5 + level / 2, df)


def t_two_sided_p(t: float, df: float) -> float:
    """P(|T| >= |t|)."""
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(t)))


def normal_quantile(p: float) -> float:
    """The p-quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(p))


def normal_two_sided_p(z: float) -> float:
    """P(|Z| >= |z|)."""
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(z)))


def chi2_quantile(p: float, df: float) -> float:
    """The p-quantile of chi-square."""
    from scipy.special import chdtri

    return float(chdtri(df, 1 - p))


def f_upper_p(f: float, df1: float, df2: float) -> float:
    """P(F >= f)."""
    from scipy.special import fdtrc

    return float(fdtrc(df1, df2, f))


def f_quantile(p: float, df1: float, df2: float) -> float:
    """The p-quantile of F."""
    from scipy.special import fdtri

    return float(fdtri(df1, df2, p))


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for X binomial(n, p)."""
    from scipy.special import bdtr

    return float(bdtr(k, n, p)) if k >= 0 else 0.0


def chi2_upper_p(x: float, df: float) -> float:
    """P(chi-square >= x)."""
    from scipy.special import chdtrc

    return float(chdtrc(df, x))


def binomial_interval(hits: float, n: int, level: float) -> tuple[float, float]:
    """Limits of a share by Clopper and Pearson (Biometrika 26, 1934, 404-413): they cover at least ``level``."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - tail))
    return low, high
