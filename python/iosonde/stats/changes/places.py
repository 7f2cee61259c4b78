"""How likely each place within the bounds of a change is."""

import math

import numpy as np

from iosonde.core.arrays import Array

from .evidence import evaluate_split
from .find import Break, compute_correlation_bound


def compute_place_shares(values: Array, change: Break) -> list[float]:
    """Return the share of the likelihood of each place from ``first`` to ``last``, as docs/method/watching.md defines
    the bounds; they add up to 1."""
    part = values[change.begin : change.end]
    bound = compute_correlation_bound(values, part.size)
    places = range(change.first, change.last + 1)
    squares = [_measure(part, place - change.begin, bound) for place in places]
    largest = max(squares)
    if math.isinf(largest):
        weights = np.array([float(math.isinf(square)) for square in squares])
    else:
        weights = np.exp((np.array(squares) - largest) / 2)
    return [float(weight) for weight in weights / weights.sum()]


def _measure(part: Array, at: int, bound: float) -> float:
    """Return the squared standard errors between both sides of a place; 0 at an end."""
    split = evaluate_split(part, at, bound) if 0 < at < part.size else None
    return 0.0 if split is None else split.z**2
