"""A clock whose tick is as large as the spread of the trials: what half of it leaves open of means and their ratio.

Where the standard deviation is half a tick or more, rounding is noise like any other, which trials average out: 0.2 %
of a tick is left of it in the mean (of normal trials h ÷ π · exp(-2π²σ² ÷ h²); Sheppard 1898). Where it is less the
same error is in all trials, and each mean may be wrong by half a tick.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from .ticks import tick

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rounding:
    """Half a tick of the means of A and of B; 0 of a side that is spread over ticks."""

    a: float = 0.0
    b: float = 0.0

    def __bool__(self) -> bool:
        """Whether a mean is known no better than to half a tick."""
        return self.a > 0 or self.b > 0

    @property
    def step(self) -> float:
        """The tick."""
        return 2 * max(self.a, self.b)


def rounding(a: Array, b: Array, sd_a: float, sd_b: float) -> Rounding:
    """Of two sides that were measured by the same clock; ``sd_a``, ``sd_b``: inside their cells."""
    values = np.concatenate([a, b])
    step = tick(values)
    if step is None or not np.ptp(values):
        return Rounding()
    half = step / 2
    return Rounding(*(half if sd < half * (1 - 1e-9) else 0.0 for sd in (sd_a, sd_b)))


def wider_ratio(estimate: Estimate, slack_a: float, slack_b: float) -> Estimate:
    """The interval of B ÷ A with means that may be wrong by these shares; none where a mean may be 0."""
    if estimate.low is None or estimate.high is None or not (slack_a or slack_b):
        return estimate
    if slack_a >= 1:
        why = "half a tick of the clock is as large as a mean"
        return replace(estimate, low=None, high=None, warnings=(*estimate.warnings, why))
    low = estimate.low * max(0.0, 1 - slack_b) / (1 + slack_a)
    return replace(estimate, low=low, high=estimate.high * (1 + slack_b) / (1 - slack_a))


def wider(estimate: Estimate, by: float) -> Estimate:
    """The interval with so much more on either side."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=estimate.low - by, high=estimate.high + by)
