"""Quantiles of a population of which some were drawn with known chances.

The interval is Woodruff's (JASA 47, 1952, 635-646): that of the share at and below the quantile, read off the estimated
distribution. So it holds whatever the distribution looks like, and needs no density.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from .shares import OfWhole

_NOTHING = "nothing was drawn"
_BEYOND = "an end of the interval lies beyond all that was drawn"


def quantile(
    values: npt.ArrayLike, weights: npt.ArrayLike, q: float, level: float, share_below: Callable[[float], OfWhole]
) -> OfWhole:
    """The smallest value at or below which a share ``q`` of the mass lies.

    ``weights``: the mass that each drawn value stands for. ``share_below``: the share of the mass at or below a value,
    with its interval at ``level``. An end that no drawn value reaches is None, with a warning.
    """
    numbers, masses = np.asarray(values, float), np.asarray(weights, float)
    if not len(numbers) or not masses.sum() > 0:
        return OfWhole(Estimate(None, None, None, level, 0, (_NOTHING,)), None, 0.0, 0.0)
    order = np.argsort(numbers, kind="stable")
    ordered, filled = numbers[order], np.cumsum(masses[order]) / masses.sum()

    def at(share: float) -> float | None:
        place = int(np.searchsorted(filled, share - 1e-12))
        return float(ordered[place]) if share > 0 and place < len(ordered) else None

    value = at(q)
    assert value is not None
    found = share_below(value)
    seen = found.estimate
    assert seen.value is not None and seen.low is not None and seen.high is not None
    if seen.low == seen.high:  # all was seen
        return OfWhole(Estimate(value, value, value, level, len(numbers)), 0.0, value, value)
    # The interval of the share is around the share found, which may be more than q: it is moved to q.
    low, high = at(q - (seen.value - seen.low)), at(q + (seen.high - seen.value))
    warnings = (_BEYOND,) if low is None or high is None else ()
    return OfWhole(Estimate(value, low, high, level, len(numbers), warnings), found.design_effect, value, value)
