"""Tick of a column: the step that indicates clock resolution, rounding and chance ties."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_MOST_DECIMALS = 12
_MOST_DIGITS = 13
_ROUNDING = 2e-15  # relative: a few units of a float's last place
ENDLESS = _MOST_DECIMALS + 1


def decimals(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the fewest decimals that write each value exactly; ENDLESS: more than 12, or more than 13 digits in
    all."""
    counts = np.full(values.size, ENDLESS)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for places in range(_MOST_DECIMALS, -1, -1):
            counts[np.abs(np.round(values, places) - values) <= _ROUNDING * np.abs(values)] = places
        integer_digits = np.floor(np.log10(np.abs(values))) + 1
    counts[counts + integer_digits > _MOST_DIGITS] = ENDLESS
    return counts


def tick(values: npt.NDArray[np.float64]) -> float | None:
    """Return the largest step of which all values are multiples; None if they are not written in steps.

    It is the greatest common divisor of the values as integers of their last decimal.
    """
    finite = values[np.isfinite(values)]
    places = int(decimals(finite).max(initial=0))
    if places == ENDLESS or not finite.size:
        return None
    scaled = np.abs(np.round(finite * 10.0**places))
    if scaled.max() >= 2**53:
        return None
    step = int(np.gcd.reduce(scaled.astype(np.int64)))
    return step / 10.0**places if step else None


def chance_of_ties(values: npt.NDArray[np.float64], coarsest: float = 0.0) -> float:
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
    step = max(coarsest, tick(values) or float(np.spacing(np.abs(x).max())))
    window = int(np.clip(0.01 * float(np.std(x)) / step, 10, 1e9))
    counts = np.unique(values[np.isfinite(values)], return_counts=True)[1]
    before = np.concatenate([[0], np.cumsum(counts)])
    upper = np.searchsorted(x, x + (window + 0.5) * step, "right")
    pairs = float((counts * (before[upper] - before[1:])).sum())
    even = values.size * (values.size - 1) / 2 * step / float(np.ptp(x))
    return max((pairs + 0.5) / window, even, _by_significant_digits(values))


def _by_significant_digits(values: npt.NDArray[np.float64]) -> float:
    """Return the same for values with a fixed number of significant digits (0.29, 54), spread evenly over their
    logs."""
    x = np.abs(values[values != 0])
    places = decimals(x)
    if x.size < 2 or np.ptp(x) == 0 or np.median(places) == ENDLESS:
        return 0.0
    digits = float(np.median(places + np.floor(np.log10(x)) + 1))
    # The mean step of a mantissa between 1 and 10, relative to it, is 0.39 of its unit in the last place.
    return float(x.size * (x.size - 1) / 2 * 0.39 * 10 ** (1 - digits) / np.log(x.max() / x.min()))
