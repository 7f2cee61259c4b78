"""The incomplete beta and gamma functions: what t, F, binomial, chi-square and Poisson are made of.

``scipy.special`` has them too. Importing it costs 0.3 s of CPU, three times as much as numpy, and more than all else
that ``summary`` of a small table does. Arrays of many thousands belong there; these take one number at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_TINY = 1e-300  # instead of 0 as a denominator (Lentz)
_EPSILON = 1e-16
_SETTLED = 1e-15  # of a continued fraction: its last factor is 1 but for rounding
_FURTHEST = 700.0  # of a root: exp of more leaves the range of a float


def beta_tails(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """(I_x(a, b), 1 - I_x(a, b)), the regularised incomplete beta function; y = 1 - x, given apart to stay exact.

    The smaller of both has the relative precision of a float, however small it is. NaN where it is not defined.
    """
    if not (0 < a < math.inf and 0 < b < math.inf and 0 <= x <= 1):
        return math.nan, math.nan
    density = beta_density(a, b, x, y)
    if a * y + y >= b * x + x:
        lower = min(1.0, density * _beta_fraction(a, b, x, y))
        return lower, 1 - lower
    upper = min(1.0, density * _beta_fraction(b, a, y, x))
    return 1 - upper, upper


def gamma_tails(a: float, x: float) -> tuple[float, float]:
    """(P(a, x), Q(a, x)), the regularised incomplete gamma functions; NaN where they are not defined."""
    if not (0 < a < math.inf and x >= 0):
        return math.nan, math.nan
    density = gamma_density(a, x)
    if x < a + 1:
        lower = min(1.0, density / a * _gamma_series(a, x))
        return lower, 1 - lower
    upper = density * _gamma_fraction(a, x) if math.isfinite(x) else 0.0
    return 1 - upper, upper


def beta_density(a: float, b: float, x: float, y: float) -> float:
    """x^a·y^b / B(a, b): the density of ln(x / y).

    By deviances, as Loader does (Fast and accurate computation of binomial probabilities, 2000): the logarithms of
    the factors are large numbers that cancel, and their digits with them.
    """
    if x <= 0 or y <= 0:
        return 0.0
    n = a + b
    errors = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    return math.exp(errors - _deviance(a, n * x) - _deviance(b, n * y)) * math.sqrt(a * b / (2 * math.pi * n))


def gamma_density(a: float, x: float) -> float:
    """x^a·e^-x / Γ(a): the density of ln x."""
    if x <= 0 or not math.isfinite(x):
        return 0.0
    return math.exp(-_stirling_error(a) - _deviance(a, x)) * math.sqrt(a / (2 * math.pi))


def increasing_root(
    function: Callable[[float], tuple[float, float]], start: float, low: float = -_FURTHEST, high: float = _FURTHEST
) -> float:
    """Where a function that increases is 0, between ``low`` and ``high``; it gives its value and its slope.

    Newton's steps, halved intervals where one would leave what is known to hold the root.
    """
    at = min(max(start, low), high)
    for _ in range(100):
        value, slope = function(at)
        low, high = (at, high) if value < 0 else (low, at)
        step = -value / slope if slope > 0 and math.isfinite(value) else math.inf
        inside = low <= at + step <= high
        at, before = (at + step if inside else (low + high) / 2), at
        if abs(at - before) <= 1e-9 * max(1e-6, abs(at)) and inside:
            break  # the error of the next is the square of this step
    return at


def _stirling_error(n: float) -> float:
    """ln Γ(n+1) less Stirling's formula."""
    if n <= 15:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - _LOG_ROOT_2PI
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n


def _deviance(x: float, mean: float) -> float:
    """x·ln(x / mean) + mean - x, without cancellation where both are near."""
    difference = x - mean
    if abs(difference) >= 0.1 * (x + mean):
        return x * math.log(x / mean) - difference
    ratio = difference / (x + mean)
    total, term, k = difference * ratio, 2 * x * ratio, 1
    while True:
        term *= ratio * ratio
        k += 2
        total, before = total + term / k, total
        if not abs(total - before) > 0:
            return total


def _beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """I_x(a, b) over its density, where x is below the mean.

    The continued fraction of DiDonato & Morris (ACM TOMS 18, 1992, 360-373), in which x near 1 loses no digits, by
    Lentz's method (Thompson & Barnett, J. Comput. Phys. 64, 1986).
    """
    n, below_mean = a + b, a * y - b * x + 1
    value = c = _not_zero(a * below_mean / (a + 1))
    d, m = 0.0, 0
    while True:
        m += 1
        odd = a + 2 * m - 1
        share = m * (b - m) * x / odd
        top = (a + m - 1) * (n + m - 1) * x / odd * share
        bottom = m + share + (a + m) * (below_mean + m * (1 + y)) / (odd + 2)
        d, c = 1 / _not_zero(bottom + top * d), _not_zero(bottom + top / c)
        value *= d * c
        if not abs(d * c - 1) > _SETTLED:
            return 1 / value


def _gamma_series(a: float, x: float) -> float:
    total = term = 1.0
    while term > _EPSILON * total:
        a += 1
        term *= x / a
        total += term
    return total


def _gamma_fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / _not_zero(b)
    value, m = d, 0
    while True:
        m += 1
        b += 2
        d, c = 1 / _not_zero(b - m * (m - a) * d), _not_zero(b - m * (m - a) / c)
        value *= d * c
        if not abs(d * c - 1) > _SETTLED:
            return value


def _not_zero(value: float) -> float:
    return value or _TINY
