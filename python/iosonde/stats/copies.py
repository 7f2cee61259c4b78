"""Values that occur too often: the steps they come in, and cells that hold each other's values to the last
digit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .cells import TrialCell
from .table import Cell

Array = npt.NDArray[np.float64]
_NEAR = 20
_ENOUGH = 10
_LEAST_PAIRS = 3
_SHARE = 0.9


@dataclass(frozen=True)
class CopiedLevels:
    """``n_equal`` of ``n_pairs`` cells that differ only in ``factor`` (``one`` or ``other``) hold the same
    values."""

    factor: str
    one: Cell
    other: Cell
    n_equal: int
    n_pairs: int
    rows: tuple[int, ...]  # of the cells that are copies: those of ``other``


def step(values: Array) -> float:
    """The step that all values are multiples of: 1 for whole numbers, 0.1 for one decimal …; 0 if none is seen.

    Only powers of ten are looked for, down to 15 significant digits of the largest value.
    """
    x = np.asarray(values, dtype=float)
    largest = float(np.abs(x).max()) if x.size else 0.0
    if largest == 0:
        return 0.0
    top = int(np.floor(np.log10(largest)))
    for exponent in range(top, top - 15, -1):
        scaled = x / 10.0**exponent
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(1.0, np.abs(scaled))):
            return float(10.0**exponent)
    return 0.0


def expected_ties(values: Array, width: float) -> float:
    """Pairs of equal values that chance gives to values rounded to ``width``.

    Where the density is smooth, pairs one step apart are twice as many as equal ones, and so are pairs two steps apart:
    their mean over as few steps as give 10 pairs (at most 20).
    """
    if width <= 0:
        return 0.0
    steps, counts = np.unique(np.round(values / width), return_counts=True)
    pairs = 0
    for k in range(1, _NEAR + 1):
        places = np.searchsorted(steps, steps + k)
        matched = places < steps.size
        matched[matched] = steps[places[matched]] == steps[matched] + k
        pairs += int((counts[matched] * counts[places[matched]]).sum())
        if pairs >= _ENOUGH:
            break
    return pairs / (2 * k)


def ties(values: Array) -> int:
    """Pairs of equal values."""
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def copied_levels(cells: Sequence[TrialCell]) -> list[CopiedLevels]:
    """Pairs of levels of one factor whose cells hold the same values, wherever both were measured.

    At least 3 such pairs of cells are needed, nine in ten of them equal, and values that are not all one
    number.
    """
    found = []
    for factor in cells[0].by if cells else ():
        by_level: dict[Cell, dict[tuple[Cell, ...], TrialCell]] = {}
        for cell in cells:
            others = tuple(level for name, level in cell.by.items() if name != factor)
            by_level.setdefault(cell.by[factor], {})[others] = cell
        for one, other in combinations(by_level, 2):
            both = [key for key in by_level[one] if key in by_level[other]]
            equal = [key for key in both if _same(by_level[one][key].values, by_level[other][key].values)]
            if len(equal) < _LEAST_PAIRS or len(equal) < _SHARE * len(both):
                continue
            if np.ptp([by_level[one][key].values[0] for key in equal]) == 0:
                continue
            copies = [by_level[other][key] for key in equal]
            rows = tuple(int(row) for cell in copies if cell.rows is not None for row in cell.rows)
            found.append(CopiedLevels(factor, one, other, len(equal), len(both), rows))
    return found


def _same(a: Array, b: Array) -> bool:
    return a.size == b.size and a.size > 0 and bool(np.array_equal(np.sort(a), np.sort(b)))
