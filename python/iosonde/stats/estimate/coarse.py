"""Coarse clocks: uncertainty of means and their ratio if the tick is as large as the spread of the trials.

With a standard deviation of half a tick or more, rounding is noise like any other, which trials average out: 0.2 % of a
tick is left in the mean (of normal trials h ÷ π · exp(-2π²σ² ÷ h²); Sheppard 1898). With a smaller one all trials have
the same error, and each mean may be off by half a tick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import significant

from .ticks import tick


@dataclass(frozen=True)
class Rounding:
    """Half a tick of the means of A and of B; 0 for a side that is spread over ticks."""

    a: float = 0.0
    b: float = 0.0

    def __bool__(self) -> bool:
        """Return whether a mean is known only to half a tick."""
        return self.a > 0 or self.b > 0

    @property
    def step(self) -> float:
        """Return the tick."""
        return 2 * max(self.a, self.b)


def rounding(a: Array, b: Array, sd_a: float, sd_b: float) -> Rounding:
    """Return the rounding of two sides measured by the same clock; ``sd_a``, ``sd_b``: standard deviations inside their
    cells."""
    return Rounding(*half_ticks([a, b], [sd_a, sd_b]))


def half_ticks(samples: Sequence[Array], sds: Sequence[float]) -> list[float]:
    """Return half a tick for the mean of each sample, all by the same clock; 0 if its sd is spread over ticks."""
    values = np.concatenate(samples)
    step = tick(values) if values.size and np.ptp(values) else None
    half = 0.0 if step is None else step / 2
    return [half if sd < half * (1 - 1e-9) else 0.0 for sd in sds]


def coarse_text(step: float) -> str:
    """Return the warning about a clock that is coarser than the spread."""
    return Message(
        "coarse-clock",
        "the values are in steps of {step}, as large as their spread: half a step is added to the interval",
        step=significant(step),
    )


def wider_ratio(estimate: Estimate, slack_a: float, slack_b: float) -> Estimate:
    """Widen the interval of B ÷ A for means that may be off by these shares; no interval if a mean may be 0."""
    if estimate.low is None or estimate.high is None or not (slack_a or slack_b):
        return estimate
    if slack_a >= 1:
        why = Message("coarse-clock", "half a tick of the clock is as large as a mean")
        return replace(estimate, low=None, high=None, warnings=(*estimate.warnings, why))
    low = estimate.low * max(0.0, 1 - slack_b) / (1 + slack_a)
    return replace(estimate, low=low, high=estimate.high * (1 + slack_b) / (1 - slack_a))


def wider(estimate: Estimate, by: float) -> Estimate:
    """The interval with so much more on either side."""
    return (
        estimate
        if estimate.low is None or estimate.high is None
        else replace(estimate, low=estimate.low - by, high=estimate.high + by)
    )
