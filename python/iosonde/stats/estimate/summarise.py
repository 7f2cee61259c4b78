"""Estimates of one sample of trials: mean, median, geometric and harmonic mean, spread.

Every function takes the values of a cell, one per trial, and the confidence level, which has no default: it must be a
deliberate choice. Values are in any unit; results are in the same. ``n`` counts trials.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from iosonde.core.arrays import Array, compute_median
from iosonde.core.errors import DataError
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .distributions import binomial_cdf, chi2_quantile, t_critical
from .logs import exp_estimate

_LARGEST = 1e140  # sums of a million squares stay finite
Values = Sequence[float] | Array


def estimate_mean(values: Values, level: float) -> Estimate:
    """Estimate the arithmetic mean with Student's t interval: x̄ ± t(1-α/2; n-1)·s/√n (Jain 1991, §13.2).

    With 6 trials, the normal instead of the t quantile would make the interval 24 % too narrow. A single trial has no
    interval but a warning. Raises DataError for values that are not finite.
    """
    x = _check_finite(values, level)
    if x.size < 2:
        return _build_without_interval(x, level, float(x[0]) if x.size else None)
    center, half = _compute_mean(x), t_critical(level, x.size - 1) * compute_sd(x) / math.sqrt(x.size)
    return Estimate(center, center - half, center + half, level, x.size)


def compute_least_n_for_median(level: float) -> int:
    """Return the fewest trials whose smallest and largest value enclose the median with ``level``: 6 for 0.95."""
    return compute_least_n_for_quantile(0.5, level)


def compute_least_n_for_quantile(p: float, level: float) -> int:
    """Return the fewest values whose smallest and largest enclose the p-quantile with ``level``.

    P(min < q_p < max) = 1 - pⁿ - (1-p)ⁿ for any continuous distribution (David & Nagaraja 2003, §7.1).
    """
    check_level(level)
    n = max(2, math.floor(math.log(1 - level) / math.log(max(p, 1 - p))))
    while 1 - p**n - (1 - p) ** n < level - 1e-12:
        n += 1
    return n


def estimate_median(values: Values, level: float) -> Estimate:
    """Estimate the median with the exact order-statistic interval [x(k), x(n+1-k)].

    k is the largest rank with P(Binomial(n, 1/2) < k) ≤ α/2, so the interval covers at least ``level`` for any
    continuous distribution (David & Nagaraja 2003, §7.1; Le Boudec 2010, §2.2). There is none below
    :func:`compute_least_n_for_median`.
    """
    x = np.sort(_check_finite(values, level))
    if x.size == 0:
        return _build_without_interval(x, level, None)
    center, least = compute_median(x), compute_least_n_for_median(level)
    if x.size < least:
        warning = Message(
            "too-few-trials",
            "needs at least {least} trials for a {level:g} % interval of the median, has {n}",
            least=least,
            level=100 * level,
            n=x.size,
        )
        return Estimate(center, None, None, level, x.size, (warning,))
    k = bisect_right(
        range(1, x.size // 2 + 1), (1 - level) / 2 + 1e-12, key=lambda rank: binomial_cdf(rank - 1, x.size, 0.5)
    )
    return Estimate(center, float(x[k - 1]), float(x[x.size - k]), level, x.size)


def estimate_quantile(values: Values, p: float, level: float) -> Estimate:
    """Estimate the p-quantile, the inverse of the empirical distribution, with an order-statistic interval [x(k),
    x(s)].

    It covers F(s - 1) - F(k - 1) ≥ ``level`` for any continuous distribution, F that of Binomial(n, p) (David &
    Nagaraja 2003, §7.1). Both tails are equal given enough values; else the nearer end is the outermost value. Below
    :func:`compute_least_n_for_quantile` there is no estimate: the values do not show the tail.
    """
    x = np.sort(_check_finite(values, level))
    least = compute_least_n_for_quantile(p, level)
    if x.size < least:
        warning = Message(
            "too-few-trials",
            "needs at least {least} trials for the {percentile:g} % quantile at {level:g} %, has {n}",
            least=least,
            percentile=100 * p,
            level=100 * level,
            n=x.size,
        )
        return Estimate(None, None, None, level, x.size, (warning,))
    below = np.array([binomial_cdf(rank, x.size, p) for rank in range(x.size)])  # F(0) … F(n - 1)
    tail = min((1 - level) / 2, float(below[-1]) - level)
    low = max(0, int(np.searchsorted(below, tail + 1e-12, side="right")) - 1)
    high = min(x.size - 1, int(np.searchsorted(below, level + float(below[low]) - 1e-12)))
    center = float(x[max(0, math.ceil(p * x.size - 1e-9) - 1)])
    return Estimate(center, min(float(x[low]), center), max(float(x[high]), center), level, x.size)


def estimate_geometric_mean(values: Values, level: float) -> Estimate:
    """Estimate exp of the mean of logs with its t interval: the typical value of ratios and of right-skewed positive
    data."""
    x = _check_finite(values, level)
    return (
        _refuse_nonpositive_mean(x, level, "geometric")
        if x.size and np.any(x <= 0)
        else exp_estimate(estimate_mean(np.log(x), level))
    )


def estimate_harmonic_mean(values: Values, level: float) -> Estimate:
    """Estimate n ÷ Σ(1/x) with an interval on its logarithm.

    It is the right mean of rates over equal work (every trial moves the same bytes): it equals total work ÷ total time.
    Over equal time the arithmetic mean is right.

    The half-width on logs is t(1-α/2; n-1)/√n times the relative standard deviation of 1/x (the delta method), or that
    of the logs if larger: few skewed trials rarely show their slow ones. The inverted interval of the mean reciprocal
    is not used. It has no upper end if it reaches 0, and a rule that omits those cases undercovers.
    """
    x = _check_finite(values, level)
    if x.size and np.any(x <= 0):
        return _refuse_nonpositive_mean(x, level, "harmonic")
    inverse = 1 / x
    if x.size < 2:
        return _build_without_interval(x, level, float(x[0]) if x.size else None)
    center = _compute_mean(inverse)
    spread = max(compute_sd(inverse) / center, compute_sd(np.log(x)))
    half = t_critical(level, x.size - 1) * spread / math.sqrt(x.size)
    return exp_estimate(Estimate(-math.log(center), -math.log(center) - half, -math.log(center) + half, level, x.size))


def compute_sd(values: Values) -> float:
    """Return s with n - 1 in the denominator; exactly 0 for equal values, NaN below two."""
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        return math.nan
    return 0.0 if np.ptp(x) == 0 else float(np.std(x, ddof=1))


def estimate_sd(values: Values, level: float) -> Estimate:
    """Estimate the standard deviation with the chi-square interval, which holds for near-normal trials only."""
    x = _check_finite(values, level)
    if x.size < 2:
        return _build_without_interval(x, level, None)
    s, df = compute_sd(x), x.size - 1
    low, high = (s * math.sqrt(df / chi2_quantile(p, df)) for p in (0.5 + level / 2, 0.5 - level / 2))
    return Estimate(s, low, high, level, x.size)


def estimate_variation_coefficient(values: Values, level: float) -> Estimate:
    """Estimate s ÷ |x̄| as a fraction, with Vangel's interval (The American Statistician 50(1), 1996, 21-26).

    The interval is for near-normal trials and coefficients below 1/3; above, only the value is returned.
    """
    x = _check_finite(values, level)
    if x.size < 2:
        return _build_without_interval(x, level, None)
    center, n, df = abs(_compute_mean(x)), x.size, x.size - 1
    if center == 0:
        return Estimate(
            None, None, None, level, n, (Message("zero-mean", "a mean of 0 has no coefficient of variation"),)
        )
    k = compute_sd(x) / center
    if k >= 1 / 3:
        return Estimate(
            k,
            None,
            None,
            level,
            n,
            (Message("spread-too-large", "no interval for a coefficient of variation above 1/3"),),
        )
    bounds = []
    for p in (0.5 + level / 2, 0.5 - level / 2):
        u = chi2_quantile(p, df)
        squared = ((u + 2) / n - 1) * k * k + u / df
        if squared <= 0:  # no upper bound for few trials with a large variation
            return Estimate(
                k,
                None,
                None,
                level,
                n,
                (Message("too-few-trials", "too few trials for an interval of such a large variation"),),
            )
        bounds.append(k / math.sqrt(squared))
    return Estimate(k, bounds[0], bounds[1], level, n)


def _compute_mean(x: Array) -> float:
    return float(x[0]) if np.ptp(x) == 0 else float(np.mean(x))


def _check_finite(values: Values, level: float) -> Array:
    check_level(level)
    x = np.asarray(values, dtype=float).ravel()
    if not np.all(np.isfinite(x)):
        raise DataError("non-finite-value", "a value is not a finite number", "leave the cell of a missing value empty")
    if x.size and np.abs(x).max() > _LARGEST:
        raise DataError(
            "value-too-large",
            "cannot compute with squares of {largest:g}",
            "write the values in another unit",
            largest=np.abs(x).max(),
        )
    return x


def _build_without_interval(x: Array, level: float, value: float | None) -> Estimate:
    return (
        Estimate(None, None, None, level, 0, (Message("no-values", "no values"),))
        if x.size == 0
        else Estimate(
            value,
            None,
            None,
            level,
            x.size,
            (Message("single-trial", "one trial has no spread: repeat it, 6 times or more"),),
        )
    )


def _refuse_nonpositive_mean(x: Array, level: float, name: str) -> Estimate:
    return Estimate(
        None,
        None,
        None,
        level,
        x.size,
        (Message("nonpositive-value", "a {mean} mean needs values above 0", mean=name),),
    )
