"""S413: fast operations get slower, or faster

What it says
    The usual operation takes longer (or shorter) at the end of a trial than
    at its beginning, without changing class at one moment: a file system
    that fills or fragments, a device that gets warm, memory that gets
    short, or growing load of others.

How we know
    The mean of the fast class in 40 parts of the trial's time: the median
    of the slopes between any two parts (Theil and Sen), and Kendall's test
    of their order (Mann). Reported from a change of 5 % on. The interval of
    one trial is Sen's, that of several is of their mean.

When it is wrong
    When parts of the run resemble their neighbours without a direction: a
    wandering level looks like a drift in one trial. Repeat the trial.

What to do
    Run twice as long: a drift continues, a transient settles. Compare the
    facts of the machine before and after (temperature, free space, memory).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.types import Estimate
from iosonde.core.words import format_share
from iosonde.stats.estimate.distributions import normal_quantile
from iosonde.stats.estimate.summarise import estimate_mean

from ..cost import Account

CODE = "S413"
_LEAST = 0.05
_ALPHA = 0.001
_BLOCKS, _OPERATIONS = 10, 5  # parts, and operations in each


@dataclass(frozen=True)
class FastDrift:
    """``change``: relative difference of a fast operation's time at the end from that at the beginning (0.1: 10 %
    longer)."""

    change: Estimate
    p: float

    @property
    def sentence(self) -> str:
        """The drift in words."""
        value = self.change.value or 0.0
        ends = sorted(abs(end) for end in (self.change.low, self.change.high) if end is not None)
        between = f" ({' to '.join(format_share(end) for end in ends)})" if ends else ""
        way = "longer" if value > 0 else "shorter"
        return f"at the end fast operations take {format_share(abs(value))}{between} {way} than at the beginning"


def estimate_fast_class_drift(trials: Sequence[Account], fast: int, level: float) -> FastDrift | None:
    """Estimate the drift of the fast class; None without such a class, or if fewer than half of the trials show it."""
    drifts = [trend for trial in trials if (trend := _fit_trend(trial, fast, level)) is not None]
    if not drifts or 2 * len(drifts) < len(trials):
        return None
    changes = [drift.change.value or 0.0 for drift in drifts]
    change = drifts[0].change if len(drifts) == 1 else estimate_mean(changes, level)
    p = float(np.median([drift.p for drift in drifts]))
    sure = change.low is not None and change.high is not None and change.low * change.high > 0
    return FastDrift(change, p) if p < _ALPHA and sure and abs(change.value or 0.0) >= _LEAST else None


def _fit_trend(trial: Account, fast: int, level: float) -> FastDrift | None:
    """Fit the trend (Sen, Journal of the American Statistical Association 63 (1968), 1379-1389) and test it (Mann,
    Econometrica 13 (1945), 245-259)."""
    at = np.flatnonzero(trial.counts[:, fast] >= _OPERATIONS)
    if at.size < _BLOCKS:
        return None
    usual = np.log(trial.seconds[at, fast] / trial.counts[at, fast])
    first, other = np.triu_indices(at.size, 1)
    slopes = np.sort((usual[other] - usual[first]) / (at[other] - at[first]))
    n = at.size
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    p = math.erfc(max(abs(float(np.sign(slopes).sum())) - 1, 0) / spread / math.sqrt(2))
    half = normal_quantile(0.5 + level / 2) * spread
    ends = [int(np.clip(round((slopes.size + way * half) / 2), 0, slopes.size - 1)) for way in (-1, 1)]
    value, low, high = (
        math.expm1(slope * (at[-1] - at[0])) for slope in (float(np.median(slopes)), slopes[ends[0]], slopes[ends[1]])
    )
    return FastDrift(Estimate(value, min(low, value), max(high, value), level, 1), p)
