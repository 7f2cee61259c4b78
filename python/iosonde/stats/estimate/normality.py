"""Do numbers look normal? Normal quantiles of many places at once, and the test of Shapiro and Wilk.

``scipy.stats`` has them too, and costs a second of CPU before the first number (``special.py``).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .distributions import normal_two_sided_p

Array = npt.NDArray[np.float64]

MOST = 5000  # values: the p of Shapiro and Wilk was fitted to simulations up to so many

# Wichura, Algorithm AS 241 (Applied Statistics 37, 1988, 477-484): ratios of polynomials, the highest power first.
_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip

# Royston, Algorithm AS R94 (Applied Statistics 44, 1995, 547-551), the highest power first: in 1/√n what is added to
# the two largest weights; in n (few values) and ln n (many) the mean and the log of the sd of a normal W.
_LARGEST = (-2.706056, 4.434685, -2.07119, -0.147981, 0.221157, 0.0)
_SECOND = (-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, 0.0)
_FEW = 11
_FEW_END, _FEW_MEAN, _FEW_SD = (
    (0.459, -2.273), (-6.714e-4, 0.025054, -0.39978, 0.544), (-0.0020322, 0.062767, -0.77857, 1.3822)
)  # fmt: skip
_MANY_MEAN, _MANY_SD = (0.0038915, -0.083751, -0.31082, -1.5861), (0.0030302, -0.082676, -0.4803)


def normal_scores(p: Array) -> Array:
    """The quantiles of the standard normal distribution; each ``p`` from 1e-11 to 1 - 1e-11."""
    q = p - 0.5
    square = 0.180625 - q * q
    middle = q * np.polyval(_MIDDLE[0], square) / np.polyval(_MIDDLE[1], square)
    r = np.sqrt(-np.log(np.minimum(p, 1 - p))) - 1.6
    tail = np.copysign(np.polyval(_TAIL[0], r) / np.polyval(_TAIL[1], r), q)
    return np.where(np.abs(q) <= 0.425, middle, tail)


def shapiro_wilk(values: Array) -> tuple[float, float]:
    """(W, p) of 3 to :data:`MOST` values that differ: the share of their variance that a sample of a normal
    distribution would have in its order (Shapiro & Wilk, Biometrika 52, 1965), weights and p after Royston."""
    n = values.size
    ordered = np.sort(values) - np.median(values)
    ordered /= ordered[-1] - ordered[0]
    weights = _weights(n)
    centred = ordered - ordered.mean()
    whole = math.sqrt(float(centred @ centred))
    shared = float(weights @ ordered)
    missing = (whole - shared) * (whole + shared) / whole**2  # 1 - W, which keeps its digits where W is nearly 1
    if n == 3:
        return 1 - missing, max(0.0, 6 / math.pi * (math.asin(math.sqrt(1 - missing)) - math.asin(math.sqrt(0.75))))
    score, of = math.log(max(missing, 1e-300)), math.log(n)
    if n <= _FEW:
        end = _polynomial(_FEW_END, n)
        if score >= end:
            return 1 - missing, 0.0
        score, mean, log_sd = -math.log(end - score), _polynomial(_FEW_MEAN, n), _polynomial(_FEW_SD, n)
    else:
        mean, log_sd = _polynomial(_MANY_MEAN, of), _polynomial(_MANY_SD, of)
    z = (score - mean) / math.exp(log_sd)
    tail = normal_two_sided_p(z) / 2
    return 1 - missing, tail if z > 0 else 1 - tail


def _weights(n: int) -> Array:
    """Of the sorted values: antisymmetric, of length 1."""
    if n == 3:
        return np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    expected = normal_scores((np.arange(1, n + 1, dtype=float) - 0.375) / (n + 0.25))
    length, own = math.sqrt(float(expected @ expected)), 1 if n <= 5 else 2
    ends = [_polynomial(of, 1 / math.sqrt(n)) + expected[-1 - at] / length
            for at, of in enumerate((_LARGEST, _SECOND)[:own])]  # fmt: skip
    inner = expected[own : n - own]
    weights = np.empty(n)
    weights[own : n - own] = inner * math.sqrt((1 - 2 * sum(end**2 for end in ends)) / float(inner @ inner))
    for at, end in enumerate(ends):
        weights[at], weights[-1 - at] = -end, end
    return weights


def _polynomial(highest_first: tuple[float, ...], x: float) -> float:
    return float(np.polyval(highest_first, x))
