"""Scattered settings: numbers that were sampled from a range, not varied over a few levels.

Their levels are too many for a mean of each: few settings share a level, so that the means of one factor follow the
noise and the effects of the others. Such a number is a broken line with its knots at quantiles instead (linear splines:
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2009, 5.2).
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from iosonde.core.arrays import Array, Indices

from ..estimate.variance_share import LEAST_DF

FACTORIAL, FRACTION, GRID, SCATTERED = "factorial", "fraction", "grid", "scattered"
_NEARLY_COMPLETE, _GOOD_PART = 0.8, 0.2  # of all combinations
_MOST_BINS = 25
_MOST_PIECES, _CELLS_A_PIECE = 8, 10
_SHARED = 3  # settings of a level of a grid, at least
_LEAST_CELLS = 20  # for a line where levels are not too many for the settings


def classify_design(levels: Indices, n: int) -> str:
    """Classify the settings ``levels`` (cells × factors) of ``n`` rows: *factorial*: nearly every combination of levels
    was measured; *fraction*: a part, but balanced in every pair of factors; *grid*: a good part, repeated;
    *scattered*: anything else."""
    sizes = [int(column.max()) + 1 for column in levels.T]
    cells = len(levels)
    if len(sizes) == 1 and cells == n:
        return SCATTERED
    if cells >= _NEARLY_COMPLETE * math.prod(sizes):
        return FACTORIAL
    if len(sizes) > 2 and all(
        _is_balanced(levels[:, a], levels[:, b], sizes[a] * sizes[b]) for a, b in combinations(range(len(sizes)), 2)
    ):
        return FRACTION
    return GRID if n - cells >= LEAST_DF and cells >= _GOOD_PART * math.prod(sizes) else SCATTERED


def _is_balanced(a: Indices, b: Indices, combinations_: int) -> bool:
    table = np.unique(np.column_stack([a, b]), axis=0, return_counts=True)[1]
    return len(table) == combinations_ and np.ptp(table) == 0


def choose_bin_count(cells: int) -> int:
    """Return the number of bins of a scattered factor: 0.8·√n, between 3 and 25. More bins follow the curve, fewer have
    less noise."""
    return int(min(_MOST_BINS, max(3, 0.8 * cells**0.5)))


def build_broken_line(values: Array, factors: int) -> Array:
    """Return the (cells, pieces) of a number; ``factors``: how many share the settings."""
    pieces = int(np.clip(len(values) // (_CELLS_A_PIECE * factors), 1, _MOST_PIECES))
    low, high = float(values.min()), float(values.max())
    scaled = (values - low) / (high - low)
    knots = np.unique(np.quantile(scaled, np.arange(1, pieces) / pieces))
    return np.column_stack([scaled, *(np.maximum(scaled - knot, 0.0) for knot in knots)])


def find_scattered_numbers(settings: Mapping[str, Sequence[object]], n: int) -> dict[str, Array]:
    """Return the values of the factors ``settings`` (the level of each cell) that are scattered numbers, over ``n``
    trials: too many levels for a mean of each."""
    cells = len(next(iter(settings.values()), ()))
    levels = [_number_levels(column) for column in settings.values()]
    distinct = {min(tuple(numbers), tuple(numbers.max() - numbers)): int(numbers.max()) for numbers in levels}
    if not cells or (cells < _LEAST_CELLS and sum(distinct.values()) < cells):
        return {}
    if classify_design(np.column_stack(levels), n) != SCATTERED:
        return {}
    # In a grid with gaps, as IOzone's of records that fit into the file, levels that settings share have means.
    is_grid = cells >= _GOOD_PART * math.prod(most + 1 for most in distinct.values())
    most = cells / _SHARED if is_grid else choose_bin_count(cells)
    return {
        name: np.array(column, dtype=float)
        for name, column in settings.items()
        if len(set(column)) > most and _are_numbers(column)
    }


def _number_levels(column: Sequence[object]) -> Indices:
    """Number the levels: numbers by size, so that two that rise together are alike; others as they appear."""
    levels = sorted(set(column)) if _are_numbers(column) else dict.fromkeys(column)  # type: ignore[type-var]  # all are numbers
    numbers = {level: place for place, level in enumerate(levels)}
    return np.array([numbers[level] for level in column], dtype=np.intp)


def _are_numbers(column: Sequence[object]) -> bool:
    return all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in column)
