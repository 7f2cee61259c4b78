"""Normality: normal quantiles of many probabilities at once, and the test of Shapiro and Wilk.

``scipy.stats`` has the test, too, but takes a second of CPU to import.
"""

import math

import numpy as np

from iosonde.core.arrays import Array

from .distributions import normal_two_sided_p

MOST = 5000  # values: the p-value of Shapiro and Wilk was fitted to simulations up to this size

# Royston, Algorithm AS R94 (Applied Statistics 44, 1995, 547-551), the highest power first: polynomials in 1/√n of the
# two largest weights; in n (few values) and ln n (many) of the mean and the log of the sd of a normal W.
_LARGEST = (-2.706056, 4.434685, -2.07119, -0.147981, 0.221157, 0.0)
_SECOND = (-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, 0.0)
_FEW = 11
_FEW_END, _FEW_MEAN, _FEW_SD = (
    (0.459, -2.273),
    (-6.714e-4, 0.025054, -0.39978, 0.544),
    (-0.0020322, 0.062767, -0.77857, 1.3822),
)
_MANY_MEAN, _MANY_SD = (0.0038915, -0.083751, -0.31082, -1.5861), (0.0030302, -0.082676, -0.4803)


def compute_normal_quantiles(p: Array) -> Array:
    """Return the quantiles of the standard normal distribution."""
    from scipy.special import ndtri

    return np.asarray(ndtri(p))


def run_shapiro_wilk_test(values: Array) -> tuple[float, float]:
    """Return (W, p) of 3 to :data:`MOST` values that differ. W is the share of their variance that normal order
    statistics explain (Shapiro & Wilk, Biometrika 52, 1965), weights and p after Royston."""
    n = values.size
    ordered = np.sort(values) - np.median(values)
    ordered /= ordered[-1] - ordered[0]
    centred = ordered - ordered.mean()
    norm = math.sqrt(float(centred @ centred))
    shared = float(_compute_weights(n) @ ordered)
    missing = (norm - shared) * (norm + shared) / norm**2  # 1 - W, which keeps its digits where W is nearly 1
    if n == 3:
        return 1 - missing, max(0.0, 6 / math.pi * (math.asin(math.sqrt(1 - missing)) - math.asin(math.sqrt(0.75))))
    score, of = math.log(max(missing, 1e-300)), math.log(n)
    if n <= _FEW:
        end = _evaluate_polynomial(_FEW_END, n)
        if score >= end:
            return 1 - missing, 0.0
        score, mean, log_sd = (
            -math.log(end - score),
            _evaluate_polynomial(_FEW_MEAN, n),
            _evaluate_polynomial(_FEW_SD, n),
        )
    else:
        mean, log_sd = _evaluate_polynomial(_MANY_MEAN, of), _evaluate_polynomial(_MANY_SD, of)
    z = (score - mean) / math.exp(log_sd)
    tail = normal_two_sided_p(z) / 2
    return 1 - missing, tail if z > 0 else 1 - tail


def _compute_weights(n: int) -> Array:
    """Return the weights of the sorted values: antisymmetric, of length 1."""
    if n == 3:
        return np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    expected = compute_normal_quantiles((np.arange(1, n + 1, dtype=float) - 0.375) / (n + 0.25))
    length, own = math.sqrt(float(expected @ expected)), 1 if n <= 5 else 2
    ends = [
        _evaluate_polynomial(of, 1 / math.sqrt(n)) + expected[-1 - at] / length
        for at, of in enumerate((_LARGEST, _SECOND)[:own])
    ]
    inner = expected[own : n - own]
    weights = np.empty(n)
    weights[own : n - own] = inner * math.sqrt((1 - 2 * sum(end**2 for end in ends)) / float(inner @ inner))
    for at, end in enumerate(ends):
        weights[at], weights[-1 - at] = -end, end
    return weights


def _evaluate_polynomial(highest_first: tuple[float, ...], x: float) -> float:
    return float(np.polyval(highest_first, x))
