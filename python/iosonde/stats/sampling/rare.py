"""The interval of a mean of values from 0 to 1 that a few draws decide, as the share of zeros in files of which most
have none: auditors' bound for errors in accounts, where the spread that was seen says nothing of what is seldom.

Stringer (Proceedings of the Business and Economic Statistics Section, ASA, 1963, 405-411): the j-th largest value
counts as much as a j-th hit would raise Clopper and Pearson's limit. Of 0 and 1 it is that limit; it is known to be too
wide rather than too narrow (Panel on Nonstandard Mixtures of Distributions, Statistical Science 4, 1989, 2-33).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate.distributions import binomial_interval

_FEW = 30.0
_EXACTLY = 100  # beyond so many values each counts as the last of them: hardly more than it would


def few_decide(values: npt.NDArray[np.float64]) -> bool:
    """Whether fewer than 30 values of one size would sum up to as much, with as large a variance (Kish's number)."""
    squares = float(values @ values)
    return squares > 0 and float(values.sum()) ** 2 / squares < _FEW


def rare_interval(values: npt.NDArray[np.float64], draws: float, level: float) -> tuple[float, float]:
    """Of the mean. ``draws``: how many with replacement would say as much, all of the values counted."""
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
