"""The level of a series before and after a change, and their ratio, with intervals that know the autocorrelation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import t_critical
from iosonde.stats.estimate.ratio import Moments, ratio_of_means, side

from .evidence import times_as_uncertain


@dataclass(frozen=True)
class BeforeAfter:
    """Means before and after, and their ratio after / before. ``n`` counts points."""

    before: Estimate
    after: Estimate
    ratio: Estimate


def levels(before: Array, after: Array, correlation: float, level: float) -> BeforeAfter:
    """Estimate the levels of two segments of a series with this ``correlation`` of neighbours.

    The standard deviation is scaled by the square root of the variance that the correlation adds to a mean. The
    interval is Student's, and that of the ratio is that of ``compare``. The largest of many possible changes is, in a
    series with few or noisy values, overestimated.
    """
    sides = [_widen_by_correlation(side(part), correlation) for part in (before, after)]
    means = [_estimate_mean(moments, level) for moments in sides]
    return BeforeAfter(means[0], means[1], ratio_of_means(sides[1], sides[0], level))


def _widen_by_correlation(of: Moments, correlation: float) -> Moments:
    times = math.sqrt(times_as_uncertain(correlation, of.n)[of.n])
    return replace(of, sd=of.sd * times, log_sd=None if of.log_sd is None else of.log_sd * times)


def _estimate_mean(of: Moments, level: float) -> Estimate:
    if of.n < 2:
        return Estimate(of.mean, None, None, level, of.n, (Message("single-trial", "one trial shows no spread"),))
    half = t_critical(level, of.n - 1) * of.sd / math.sqrt(of.n)
    return Estimate(of.mean, of.mean - half, of.mean + half, level, of.n).within(
        low=0.0 if of.log_mean is not None else None
    )
