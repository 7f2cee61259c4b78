"""Figure of a study of paths: the median time of each cell by size, and the line of each condition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .models import PathCell, PathModels

_POINTS = 60  # of a line


@dataclass(frozen=True)
class DrawnPaths:
    """A direction. ``lines``: condition → (bytes, s); ``cells``: (bytes, median s, its condition, name of the
    pattern); ``names``: every condition, mixed and slower last."""

    study: str
    direction: str
    names: tuple[str, ...]
    lines: dict[str, tuple[tuple[float, float], ...]]
    cells: tuple[tuple[int, float, str, str], ...]


def drawn_paths(study: str, every: Sequence[PathCell], models: PathModels) -> DrawnPaths:
    """Return the cells in the direction of these lines, at the setting ``study``."""
    cells = [cell for cell in every if cell.direction == models.direction]
    sizes = np.array([cell.access_size for cell in cells], float)
    medians = np.array([float(np.median(cell.seconds)) for cell in cells])
    at = models.assign(sizes, medians)
    grid = np.geomspace(sizes.min(), max(sizes.max(), sizes.min() * 2), _POINTS)
    lines = {
        line.name: tuple(
            (float(size), float(seconds))
            for size, seconds in zip(grid, line.seconds(grid), strict=True)
            if np.isfinite(seconds)
        )
        for line in models.lines
    }
    points = tuple(
        (int(size), float(seconds), at.names[code], cell.name)
        for size, seconds, code, cell in zip(sizes, medians, at.codes, cells, strict=True)
    )
    return DrawnPaths(study, models.direction, models.names, lines, points)
