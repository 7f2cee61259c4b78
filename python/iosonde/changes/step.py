"""Steps in a series that is too short for a test: a suspicion, by the order of its values alone."""

import numpy as np

from iosonde.core.arrays import Array

_MIN_SIDE = 3  # fewer values are separated by chance too often: 3 of 6 in one of 10 series without a change


def find_step(values: Array) -> int | None:
    """Return the first place after the largest step: every value since is above all those before, or below them. None
    without such a place, or for values of 0 or below."""
    places = [at for at in range(_MIN_SIDE, values.size - _MIN_SIDE + 1) if _is_separated(values[:at], values[at:])]
    return max(places, key=lambda at: measure_step(values, at), default=None)


def measure_step(values: Array, at: int) -> float:
    """Return the size of a step as the logarithm of the ratio of its two means, without its sign."""
    return float(abs(np.log(values[at:].mean() / values[:at].mean())))


def _is_separated(before: Array, after: Array) -> bool:
    lowest = min(before.min(), after.min())
    return bool(lowest > 0 and (before.max() < after.min() or after.max() < before.min()))
