"""Quantiles of a population from a sample drawn with known probabilities.

The interval inverts a test: it contains each value whose interval of the mass at or below includes the requested share
(Woodruff, JASA 47, 1952, 635-646; Francisco and Fuller, Annals of Statistics 19, 1991, 454-469). It holds for any
distribution and needs no density.
"""

import bisect
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .shares import PopulationEstimate

_NOTHING = Message("empty-sample", "nothing was drawn")
_BEYOND = Message("interval-beyond-sample", "an end of the interval lies beyond the drawn values")


def estimate_weighted_quantile(
    values: npt.ArrayLike,
    weights: npt.ArrayLike,
    q: float,
    level: float,
    share_below: Callable[[float], PopulationEstimate],
) -> PopulationEstimate:
    """Return the smallest value at or below which a share ``q`` of the mass lies.

    ``weights``: the mass that each drawn value stands for. ``share_below``: the share of the mass at or below a value,
    with its interval at ``level``. An end that no drawn value reaches is None, with a warning.
    """
    numbers, masses = np.asarray(values, float), np.asarray(weights, float)
    if not len(numbers) or not masses.sum() > 0:
        return PopulationEstimate(Estimate(None, None, None, level, 0, (_NOTHING,)), None, 0.0, 0.0)
    order = np.argsort(numbers, kind="stable")
    ordered, filled = numbers[order], np.cumsum(masses[order]) / masses.sum()

    value = float(ordered[min(int(np.searchsorted(filled, q - 1e-12)), len(ordered) - 1)])
    share = share_below(value)
    estimate = share.estimate
    if estimate.low == estimate.high:  # the whole population was drawn
        return PopulationEstimate(Estimate(value, value, value, level, len(numbers)), 0.0, value, value)
    high = _find_first(ordered, lambda at: (share_below(at).estimate.low or 0.0) >= q)
    open_below = (share_below(-math.inf).estimate.high or 0.0) >= q
    low = None if open_below else _find_first(ordered, lambda at: (share_below(at).estimate.high or 1.0) >= q)
    warnings = (_BEYOND,) if low is None or high is None else ()
    low, high = (None if end is None else pick(end, value) for end, pick in ((low, min), (high, max)))
    return PopulationEstimate(
        Estimate(value, low, high, level, len(numbers), warnings), share.design_effect, value, value
    )


def _find_first(ordered: npt.NDArray[np.float64], reached: Callable[[float], bool]) -> float | None:
    place = bisect.bisect_left(range(len(ordered)), True, key=lambda at: reached(float(ordered[at])))
    return float(ordered[place]) if place < len(ordered) else None
