"""Coarse clocks: uncertainty of means and their ratio if the tick is as large as the spread of the trials.

With a standard deviation of half a tick or more, rounding is noise like any other, which trials average out: 0.2 % of a
tick is left in the mean (of normal trials h ÷ π · exp(-2π²σ² ÷ h²); Sheppard 1898). With a smaller one all trials have
the same error, and each mean may be off by half a tick. The tick of a column is the step that indicates clock
resolution, rounding and chance ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import format_significant

_MOST_DECIMALS = 12
_MOST_DIGITS = 13
_ROUNDING = 2e-15  # relative: a few units of a float's last place
ENDLESS = _MOST_DECIMALS + 1


def count_decimals(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the fewest decimals that write each value exactly; ENDLESS: more than 12, or more than 13 digits in
    all."""
    counts = np.full(values.size, ENDLESS)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for places in range(_MOST_DECIMALS, -1, -1):
            counts[np.abs(np.round(values, places) - values) <= _ROUNDING * np.abs(values)] = places
        integer_digits = np.floor(np.log10(np.abs(values))) + 1
    counts[counts + integer_digits > _MOST_DIGITS] = ENDLESS
    return counts


def find_tick(values: npt.NDArray[np.float64]) -> float | None:
    """Return the largest step of which all values are multiples; None if they are not written in steps.

    It is the greatest common divisor of the values as integers of their last decimal.
    """
    finite = values[np.isfinite(values)]
    places = int(count_decimals(finite).max(initial=0))
    if places == ENDLESS or not finite.size:
        return None
    scaled = np.abs(np.round(finite * 10.0**places))
    if scaled.max() >= 2**53:
        return None
    step = int(np.gcd.reduce(scaled.astype(np.int64)))
    return step / 10.0**places if step else None


def compute_expected_ties(values: npt.NDArray[np.float64], coarsest: float = 0.0) -> float:
    """Return the number of equal pairs expected for a smooth distribution of the same precision as these values.

    ``coarsest``: a larger tick that some of the values have.

    Values that differ by 1, 2, … ticks are as likely to be neighbours as equal ones. So it is the number of pairs
    within a window that is small relative to the spread, divided by the number of ticks in it. Half a pair is added, as
    zero observed pairs do not mean zero probability. It is at least that of values spread evenly over their range or
    their logs.
    """
    x = np.unique(values[np.isfinite(values)])
    if x.size < 2:
        return float("inf")
    step = max(coarsest, find_tick(values) or float(np.spacing(np.abs(x).max())))
    window = int(np.clip(0.01 * float(np.std(x)) / step, 10, 1e9))
    counts = np.unique(values[np.isfinite(values)], return_counts=True)[1]
    before = np.concatenate([[0], np.cumsum(counts)])
    pairs = float((counts * (before[np.searchsorted(x, x + (window + 0.5) * step, "right")] - before[1:])).sum())
    even = values.size * (values.size - 1) / 2 * step / float(np.ptp(x))
    return max((pairs + 0.5) / window, even, _compute_ties_by_digits(values))


def _compute_ties_by_digits(values: npt.NDArray[np.float64]) -> float:
    """Return the same for values with a fixed number of significant digits (0.29, 54), spread evenly over their
    logs."""
    x = np.abs(values[values != 0])
    places = count_decimals(x)
    if x.size < 2 or np.ptp(x) == 0 or np.median(places) == ENDLESS:
        return 0.0
    digits = float(np.median(places + np.floor(np.log10(x)) + 1))
    # The mean step of a mantissa between 1 and 10, relative to it, is 0.39 of its unit in the last place.
    return float(x.size * (x.size - 1) / 2 * 0.39 * 10 ** (1 - digits) / np.log(x.max() / x.min()))


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


def measure_rounding(a: Array, b: Array, sd_a: float, sd_b: float) -> Rounding:
    """Return the rounding of two sides measured by the same clock; ``sd_a``, ``sd_b``: standard deviations inside their
    cells."""
    return Rounding(*compute_half_ticks([a, b], [sd_a, sd_b]))


def compute_half_ticks(samples: Sequence[Array], sds: Sequence[float]) -> list[float]:
    """Return half a tick for the mean of each sample, all by the same clock; 0 if its sd is spread over ticks."""
    values = np.concatenate(samples)
    step = find_tick(values) if values.size and np.ptp(values) else None
    half = 0.0 if step is None else step / 2
    return [half if sd < half * (1 - 1e-9) else 0.0 for sd in sds]


def build_coarse_clock_warning(step: float) -> str:
    """Return the warning about a clock that is coarser than the spread."""
    return Message(
        "coarse-clock",
        "the values are in steps of {step}, as large as their spread: half a step is added to the interval",
        step=format_significant(step),
    )


def widen_ratio(estimate: Estimate, slack_a: float, slack_b: float) -> Estimate:
    """Widen the interval of B ÷ A for means that may be off by these shares; no interval if a mean may be 0."""
    if estimate.low is None or estimate.high is None or not (slack_a or slack_b):
        return estimate
    if slack_a >= 1:
        why = Message("coarse-clock", "half a tick of the clock is as large as a mean")
        return replace(estimate, low=None, high=None, warnings=(*estimate.warnings, why))
    return replace(
        estimate,
        low=estimate.low * max(0.0, 1 - slack_b) / (1 + slack_a),
        high=estimate.high * (1 + slack_b) / (1 - slack_a),
    )


def widen_estimate(estimate: Estimate, by: float) -> Estimate:
    """The interval with so much more on either side."""
    return (
        estimate
        if estimate.low is None or estimate.high is None
        else replace(estimate, low=estimate.low - by, high=estimate.high + by)
    )
