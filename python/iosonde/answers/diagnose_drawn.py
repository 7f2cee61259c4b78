"""What the figure of a diagnosis draws: the operations of its last trial in bins, and the density of all trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.explain.classes import DensityClasses
from iosonde.explain.operations import Operations

_ACROSS, _UP, _CURVE = 150, 90, 300  # bins of operation numbers and of log durations; points of the curve
_EVERY = 60_000  # operations beyond which the fast ones are a sample


@dataclass(frozen=True)
class DrawnOperations:
    """``cells``: (operation number of the rank, duration in s, class, operations in it); ``curve``: (duration in s,
    operations per natural logarithm of it, class)."""

    cells: tuple[tuple[float, float, int, int], ...]
    curve: tuple[tuple[float, float, int], ...]
    longest: int


def drawn(operations: Operations, of: npt.NDArray[np.uint8], classes: DensityClasses) -> DrawnOperations:
    """One trial and the density of all."""
    longest = max((end - begin for _, begin, end in operations.ranks), default=0)
    rows = _some(of, classes)
    begins = np.array([begin for _, begin, _ in operations.ranks])
    number = rows - begins[np.searchsorted(begins, rows, "right") - 1]
    low, high = (np.log(max(end, 1e-3)) for end in classes.ends_ns)
    height = max(high - low, 1e-9)
    x = np.minimum(number * _ACROSS // max(longest, 1), _ACROSS - 1)
    y = np.clip((np.log(np.maximum(operations.duration_ns[rows], 1e-3)) - low) / height * _UP, 0, _UP - 1)
    cells, counts = np.unique(np.stack([x, y.astype(np.int64), of[rows]]), axis=1, return_counts=True)
    middle = np.exp(low + (cells[1] + 0.5) / _UP * height) / 1e9
    return DrawnOperations(
        tuple(zip(((cells[0] + 0.5) * longest / _ACROSS).tolist(), middle.tolist(), cells[2].tolist(), counts.tolist(),
                  strict=True)),
        _curve(classes), longest,
    )  # fmt: skip


def _some(of: npt.NDArray[np.uint8], classes: DensityClasses) -> npt.NDArray[np.intp]:
    """All rows; of many a part of the frequent classes, evenly, and all of the rare ones."""
    if of.size <= _EVERY:
        return np.arange(of.size)
    share = _EVERY // classes.count
    several = []
    for place in range(classes.count):
        mine = np.flatnonzero(of == place)
        several.append(mine[:: max(1, mine.size // share)])
    return np.sort(np.concatenate(several))


def _curve(classes: DensityClasses) -> tuple[tuple[float, float, int], ...]:
    found = classes.hills
    wide = np.exp(3 * found.bandwidth)
    inside = np.flatnonzero((found.grid > classes.ends_ns[0] / wide) & (found.grid < classes.ends_ns[1] * wide))
    at = np.unique(np.linspace(inside[0], inside[-1], _CURVE).astype(np.intp))
    of = classes.of(found.grid[at])
    return tuple(zip((found.grid[at] / 1e9).tolist(), found.density[at].tolist(), of.tolist(), strict=True))
