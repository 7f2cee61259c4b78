"""Values that come again where they should not: copied rows, and cells copied as a whole.

Equal values are not proof: a clock counts in ticks. So equal pairs are counted and set against those that a smooth
distribution, written as finely, would have (``ticks.chance_of_ties``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.table import Cell as Level

from ..overview.cells import TrialCell
from .distributions import poisson_upper_p
from .ticks import chance_of_ties, tick

ALPHA = 0.001

Difference = tuple[tuple[str, Level, Level], ...]


@dataclass(frozen=True)
class Pattern:
    """What tells the copied cells from their originals: ``changed`` settings (name, original's level, copy's), at
    ``fixed`` levels of others. ``n`` cells are copies, of ``of`` that there are at these levels."""

    changed: Difference
    fixed: dict[str, Level]
    n: int
    of: int


@dataclass(frozen=True)
class Copies:
    """``cells``: (original, copy) of cells with all their trials equal; ``trials``: (place, place) of equal trials
    inside a cell, or of single ones of different cells. ``n_repeats``: values that were there before;
    ``expected``: equal pairs that chance would give."""

    cells: tuple[tuple[TrialCell, TrialCell], ...]
    trials: tuple[tuple[str, str], ...]
    n_repeats: int
    expected: float
    pattern: Pattern | None

    @property
    def rows_with_twin(self) -> int:
        """Trials that have an equal in another place."""
        whole = {id(cell): cell.values.size for pair in self.cells for cell in pair}
        return sum(whole.values()) + len({place for pair in self.trials for place in pair})


def find(cells: Sequence[TrialCell]) -> Copies | None:
    """Copies among the cells of one metric; None where equal values are no more than chance would give."""
    used = [cell for cell in cells if cell.values.size]
    if not used:
        return None
    values = np.concatenate([cell.values for cell in used])
    limits = _limits(values)
    free = values[~np.isin(values, limits)]
    repeats = free.size - np.unique(free).size
    if not repeats:
        return None
    # Cells may count in ticks of their own, as operations/s × size: the coarsest says what can be told apart.
    ticks = [tick(cell.values) or 0.0 for cell in used if cell.values.size >= 3 <= np.unique(cell.values).size]
    expected = max(chance_of_ties(free, max(ticks, default=0.0)), _by_equal_times(free))
    if poisson_upper_p(repeats, expected) >= ALPHA:
        return None
    whole = _whole_cells(used, limits)
    inside = {id(cell) for pair in whole for cell in pair}
    trials = _single_trials([cell for cell in used if id(cell) not in inside], limits)
    return Copies(tuple(whole), tuple(trials), repeats, expected, _pattern(whole, used))


def _limits(values: np.ndarray) -> np.ndarray:
    """0, the lowest and the highest value where they come three times or more: a timeout, a saturated counter."""
    return np.array([end for end in {0.0, values.min(), values.max()} if (values == end).sum() > 2])


def _by_equal_times(values: np.ndarray) -> float:
    """The same chance where the values are work ÷ a time that was counted in ticks, else 0.

    Then the reciprocals lie on a grid, which continuous values do by a chance of a fifth for each of them.
    """
    if values.size < 6 or np.any(values <= 0):
        return 0.0
    inverse = np.unique(1 / values)
    gaps = np.diff(inverse)
    if gaps.size < 5 or gaps.min() < 1e-7 * inverse.max():
        return 0.0
    steps = (inverse - inverse[0]) / gaps.min()
    if np.abs(steps - np.round(steps)).max() > 0.1:
        return 0.0
    return chance_of_ties(np.round((1 / values - inverse[0]) / gaps.min()))


def _whole_cells(cells: Sequence[TrialCell], limits: np.ndarray) -> list[tuple[TrialCell, TrialCell]]:
    first: dict[bytes, TrialCell] = {}
    found = []
    for cell in cells:
        if np.isin(cell.values, limits).all():
            continue
        key = np.sort(cell.values).tobytes()
        if key in first:
            found.append((first[key], cell))
        else:
            first[key] = cell
    return found


def _single_trials(cells: Sequence[TrialCell], limits: np.ndarray) -> list[tuple[str, str]]:
    first: dict[float, str] = {}
    found = []
    for cell in cells:
        for number, value in enumerate(cell.values.tolist()):
            if value in limits:
                continue
            place = cell.places[number] if number < len(cell.places) else f"{cell.name}, trial {number + 1}"
            if value in first:
                found.append((first[value], place))
            first.setdefault(value, place)
    return found


def _pattern(pairs: Sequence[tuple[TrialCell, TrialCell]], cells: Sequence[TrialCell]) -> Pattern | None:
    """The commonest difference between copy and original, and how much of the cells there it covers."""
    if not pairs:
        return None
    changed, n = Counter(_difference(a, b) for a, b in pairs).most_common(1)[0]
    if not changed or n < 2:
        return None
    copied = [b for a, b in pairs if _difference(a, b) == changed]
    moved = {name: level for name, _, level in changed}
    fixed = {}
    for name in copied[0].by:
        levels = {cell.by[name] for cell in copied}
        if name not in moved and len(levels) == 1 and len({cell.by[name] for cell in cells}) > 1:
            fixed[name] = copied[0].by[name]
    there = moved | fixed
    of = sum(all(cell.by[name] == level for name, level in there.items()) for cell in cells)
    return Pattern(changed, fixed, n, of)


def _difference(original: TrialCell, copy: TrialCell) -> Difference:
    return tuple((name, original.by[name], level) for name, level in copy.by.items() if original.by[name] != level)
