"""The ratio of two means with an interval: Fieller's theorem, or Welch's t on logs for few trials.

Below 20 trials on a side the logs are used: a percentile bootstrap of five trials covers 83 % instead of 95 %,
and Fieller's interval assumes normal means, which few skewed trials do not have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from iosonde.core.levels import check_level
from iosonde.core.types import Estimate

from .distributions import t_critical
from .summarise import Values, standard_deviation

FIELLER_FROM = 20
_LARGEST_LOG = 700.0  # exp of more is infinite


@dataclass(frozen=True)
class Moments:
    """What is known of one side: mean, standard deviation and number of trials, in the metric's unit."""

    mean: float
    sd: float
    n: int
    log_mean: float | None  # None: only the summary is known, or a value is not positive
    log_sd: float | None


def side(values: Values) -> Moments:
    """The side that these trials make."""
    x = np.asarray(values, dtype=float)
    logs = np.log(x) if x.size and np.all(x > 0) else None
    return Moments(
        mean=float(np.mean(x)),
        sd=standard_deviation(x),
        n=int(x.size),
        log_mean=None if logs is None else float(np.mean(logs)),
        log_sd=None if logs is None else standard_deviation(logs),
    )


def side_of_summary(mean: float, sd: float, n: int) -> Moments:
    """A side of which only mean, sd and n are known: its logs by the delta method (sd of logs ≈ sd ÷ mean)."""
    if mean <= 0:
        return Moments(mean, sd, n, None, None)
    return Moments(mean, sd, n, math.log(mean), sd / mean)


def ratio_of_means(numerator: Moments, denominator: Moments, level: float) -> Estimate:
    """numerator.mean ÷ denominator.mean with its interval; ``n`` is the smaller side's.

    From 20 trials a side Fieller's interval (Fieller 1954, JRSS B 16, 175-185) with Welch-Satterthwaite degrees
    of freedom; below, exp of Welch's interval for the difference of log means, around the ratio of geometric
    means.
    """
    check_level(level)
    n = min(numerator.n, denominator.n)
    if denominator.mean == 0:
        return Estimate(None, None, None, level, n, ("the mean below the line is 0",))
    value = numerator.mean / denominator.mean
    if n < 2:
        return Estimate(value, None, None, level, n, ("one trial shows no spread: repeat it, 6 times or more",))
    if n >= FIELLER_FROM or numerator.log_sd is None or denominator.log_sd is None:
        return _fieller(numerator, denominator, value, level, n)
    return _on_logs(numerator, denominator, value, level, n)


def welch_df(variance_a: float, n_a: int, variance_b: float, n_b: int) -> float:
    """Welch-Satterthwaite degrees of freedom of a difference of two means (Welch 1947, Biometrika 34,
    28-35)."""
    a, b = variance_a / n_a, variance_b / n_b
    if a + b == 0:
        return float(n_a + n_b - 2)
    a, b = a / (a + b), b / (a + b)
    return 1 / (a * a / (n_a - 1) + b * b / (n_b - 1))


def _on_logs(a: Moments, b: Moments, value: float, level: float, n: int) -> Estimate:
    assert a.log_mean is not None and b.log_mean is not None and a.log_sd is not None and b.log_sd is not None
    difference = a.log_mean - b.log_mean
    half = t_critical(level, welch_df(a.log_sd**2, a.n, b.log_sd**2, b.n)) * math.sqrt(
        a.log_sd**2 / a.n + b.log_sd**2 / b.n
    )
    if abs(difference) + half > _LARGEST_LOG:
        return Estimate(value, None, None, level, n, ("the trials spread so far that no interval can be computed",))
    low, high = math.exp(difference - half), math.exp(difference + half)
    # A ratio of means outside the interval of typical values is a sign of skew, and is said.
    outside = value < low * (1 - 1e-12) or value > high * (1 + 1e-12)
    warning = (
        "the trials are so skewed that the ratio of means lies outside the interval of the ratio of typical values",
    )
    return Estimate(value, low, high, level, n, warning if outside else ())


def _fieller(a: Moments, b: Moments, value: float, level: float, n: int) -> Estimate:
    variance_a, variance_b = a.sd**2 / a.n, b.sd**2 / b.n
    # The pivot a.mean - ratio·b.mean has this variance at the observed ratio: its degrees of freedom follow Welch.
    t = t_critical(level, welch_df(a.sd**2, a.n, value**2 * b.sd**2, b.n))
    g = t * t * variance_b / b.mean**2
    if g >= 1:
        warning = "the mean below the line cannot be told from 0: more trials are needed"
        return Estimate(value, None, None, level, n, (warning,))
    root = math.sqrt(max(0.0, variance_a * (1 - g) + value**2 * variance_b))
    half = t / abs(b.mean) * root / (1 - g)
    center = value / (1 - g)
    return Estimate(value, center - half, center + half, level, n)
