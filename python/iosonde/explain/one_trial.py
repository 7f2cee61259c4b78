"""An interval from one trial alone: blocks of its time are left out one at a time.

The jackknife over blocks (Künsch 1989, Annals of Statistics 17, 1217-1241) keeps together what follows each other.
Where few blocks decide, Student's t has as many degrees of freedom as blocks count effectively, which is learned from
their fourth powers, and the interval is even in the logarithm, as one of a few counts is. Neighbouring blocks that go
together are made one. Of fewer than three episodes nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import t_critical

NOTE = "one trial: blocks of its time were left out in turn; how trials differ is not in it"
FEW = "one trial, in which too few moments decide for an interval: repeat it"
_FEWEST_BLOCKS = 8
_FEWEST_DECIDE, _FEWEST_EPISODES = 4.0, 3
_TOGETHER = 0.2  # correlation of neighbours from which on they are one
Array = npt.NDArray[np.float64]
Value = Callable[[Array, Array], Array]


def interval(value: Value, counts: Array, seconds: Array, level: float, whole: float | None = None) -> Estimate:
    """Of ``value`` of sums over blocks (rows) of operations and of their seconds; ``whole``: what it cannot pass."""
    found = float(value(counts.sum(axis=0)[None], seconds.sum(axis=0)[None])[0])
    influence = _influence(value, counts, seconds)
    while influence.size >= 2 * _FEWEST_BLOCKS and _neighbours(influence) > _TOGETHER:
        counts, seconds = _in_pairs(counts), _in_pairs(seconds)
        influence = _influence(value, counts, seconds)
    square = float((influence**2).sum())
    if square == 0 and influence.size >= _FEWEST_BLOCKS:
        return Estimate(found, found, found, level, 1, (NOTE,))
    decide = square**2 / float((influence**4).sum()) if square else 0.0
    if influence.size < _FEWEST_BLOCKS or decide < _FEWEST_DECIDE or _episodes(influence) < _FEWEST_EPISODES:
        return Estimate(found, None, None, level, 1, (FEW,))
    error = math.sqrt((influence.size - 1) / influence.size * square)
    low, high = _ends(found, t_critical(level, decide - 1) * error, whole)
    return Estimate(found, low, high, level, 1, (NOTE,))


def _influence(value: Value, counts: Array, seconds: Array) -> Array:
    """What leaving out each block does."""
    without = value(counts.sum(axis=0) - counts, seconds.sum(axis=0) - seconds)
    found: Array = without - without.mean()
    return found


def _neighbours(influence: Array) -> float:
    square = float((influence**2).sum())
    return float((influence[:-1] * influence[1:]).sum()) / square if square else 0.0


def _episodes(influence: Array) -> int:
    """How many times in a row it is on the rarer side: an episode may fill several blocks."""
    above = influence > 0
    rarer = above if above.mean() <= 0.5 else ~above
    return int(rarer[0]) + int((np.diff(rarer.astype(np.int8)) == 1).sum())


def _in_pairs(rows: Array) -> Array:
    found: Array = np.add.reduceat(rows, np.arange(0, rows.shape[0], 2), axis=0)
    return found


def _ends(found: float, half: float, whole: float | None) -> tuple[float, float]:
    """Even in the logarithm: of the value, or of what is left to the whole where that is less."""
    if whole is not None and found > whole / 2:
        low, high = _ends(whole - found, half, None)
        return whole - high, whole - low
    if found <= 0:
        return 0.0, half
    step = math.exp(half / found) if half < 50 * found else math.inf
    return found / step, found * step
