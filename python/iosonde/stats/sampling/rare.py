"""Interval of a mean of values from 0 to 1 that depends on few draws, such as the share of zeros in files of which most
have none. Auditors use this bound for errors in accounts, where the observed spread does not represent rare values.

Stringer (Proceedings of the Business and Economic Statistics Section, ASA, 1963, 405-411): the j-th largest value
counts as much as a j-th hit would raise Clopper and Pearson's limit. For values 0 and 1 it is that limit. It is known
to be conservative (Panel on Nonstandard Mixtures of Distributions, Statistical Science 4, 1989, 2-33).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate.distributions import binomial_interval, normal_quantile, t_critical

_FEW = 30.0
_ROUNDING = 1e-12  # relative to a mean: a smaller standard error is only rounding
_EXACTLY = 100  # further values count as the last of these: a close upper bound


def few_decide(values: npt.NDArray[np.float64]) -> bool:
    """Return whether the effective number of values (Kish's) is below 30."""
    squares = float(values @ values)
    return squares > 0 and float(values.sum()) ** 2 / squares < _FEW


def rare_interval(values: npt.NDArray[np.float64], draws: float, level: float) -> tuple[float, float]:
    """Return the interval of the mean. ``draws``: the number of draws with replacement that all ``values`` are
    worth."""
    hits = -np.sort(-values[values > 0])
    each = draws / len(values)
    some = hits[:_EXACTLY]
    low, high = zip(*(binomial_interval(each * many, draws, level) for many in range(len(some) + 1)), strict=True)
    rises = [np.diff(limits) for limits in (low, high)]
    lower, upper = (float(rise @ some) for rise in rises)
    rest = float(hits[_EXACTLY:].sum())
    if rest:
        lower, upper = lower + rest * float(rises[0][-1]), upper + rest * float(rises[1][-1])
    return lower, min(1.0, high[0] + upper)


def interval_of_mean(
    values: npt.NDArray[np.float64], variance: float, freedom: int, effective: float, level: float, bounded: bool = True
) -> tuple[float, float]:
    """Return the limits of the mean of values from 0 to 1 that has this variance.

    ``effective``: effective number of draws for a property that no value has. ``bounded``: rare values that were not
    drawn may be 1, and the interval is never narrower than they allow; else they are like the drawn values.
    """
    mean = float(values.mean()) if len(values) else 0.0
    if not effective:
        return mean, mean
    rare = binomial_interval(0, effective, level)[1]
    largest = 1.0 if bounded else float(values.max())
    unmet = mean - rare * mean, mean + rare * max(0.0, largest - mean)
    if is_rounding(variance, mean) or not 0 < mean < 1:
        return unmet
    wider = (t_critical(level, max(1, freedom)) / normal_quantile(0.5 + level / 2)) ** 2
    # Draws of 0 and 1 whose mean would have the same variance.
    draws = mean * (1 - mean) / variance / wider
    low, high = binomial_interval(mean * draws, draws, level)
    if not bounded:
        return low, high
    low, high = min(low, unmet[0]), max(high, unmet[1])
    if few_decide(values):
        least, most = rare_interval(values, effective, level)
        low, high = min(low, least), max(high, most)
    if few_decide(1 - values):
        least, most = rare_interval(1 - values, effective, level)
        low, high = min(low, 1 - most), max(high, 1 - least)
    return low, high


def is_rounding(variance: float, mean: float) -> bool:
    """Return whether a variance of a mean is 0 except for rounding."""
    return not variance > (_ROUNDING * mean) ** 2
