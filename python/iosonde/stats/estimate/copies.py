"""Copied values: duplicate rows, and cells copied as a whole.

Equal values are no proof: a clock counts in ticks. So equal pairs are counted and compared with the number for a smooth
distribution of the same precision (``coarse.compute_expected_ties``). If more is known of a trial than this value, such
as times and latencies of a tool's run, a copy repeats all of it: a rate that recurs alone was rounded.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from iosonde.core.table import Cell as Level
from iosonde.core.table import Table

from ..overview.cells import TrialCell
from .coarse import compute_expected_ties, find_tick
from .distributions import poisson_upper_p

ALPHA = 0.001
_FEW = 6  # distinct values
_FEW_STEPS = 20
_MIN_NUMBERS = 12  # distinct ones of a run and operation: no two executions have all of them alike
_SAME = 1e-12  # relative: closer values differ by the rounding of a sum

Difference = tuple[tuple[str, Level, Level], ...]
# (place of a trial, operation) → all its numbers.
Records = Mapping[tuple[str, str], Hashable]
Observation = tuple[float, Hashable]


class RunNumbers(NamedTuple):
    """All numbers of a run and operation as one key, and how many of their values are distinct."""

    key: int
    n_distinct: int


@dataclass(frozen=True)
class Pattern:
    """Differences between the copied cells and their originals: ``changed`` settings (name, original's level, copy's),
    at ``fixed`` levels of others. ``n`` of the ``of`` cells at these levels are copies."""

    changed: Difference
    fixed: dict[str, Level]
    n: int
    of: int


@dataclass(frozen=True)
class Copies:
    """``cells``: (original, copy) of cells with all their trials equal; ``trials``: (place, place) of equal trials
    inside a cell, or of single ones of different cells. ``n_repeats``: values that occurred before; ``expected``: equal
    pairs expected by chance."""

    cells: tuple[tuple[TrialCell, TrialCell], ...]
    trials: tuple[tuple[str, str], ...]
    n_repeats: int
    expected: float
    pattern: Pattern | None
    is_certain: bool = False  # all numbers of a run recur, not only those of a metric

    @property
    def rows_with_twin(self) -> int:
        """Return the number of trials with an equal one in another place."""
        sizes = {id(cell): cell.values.size for pair in self.cells for cell in pair}
        return sum(sizes.values()) + len({place for pair in self.trials for place in pair})


def group_numbers_by_run(rows: Table) -> Records:
    """Return all numbers of each run and operation, from the results of a store."""
    columns = [rows.columns[name].values for name in ("run", "operation", "metric", "iteration", "value")]
    numbers_by_place: dict[tuple[str, str], set[tuple[Hashable, ...]]] = {}
    for run, operation, *number in zip(*(column.tolist() for column in columns), strict=True):
        numbers_by_place.setdefault((f"run {run}", str(operation)), set()).add(tuple(number))
    return {
        place: RunNumbers(hash(frozenset(numbers)), len({number[-1] for number in numbers}))
        for place, numbers in numbers_by_place.items()
    }


def find_copies(cells: Sequence[TrialCell], records: Records | None = None) -> Copies | None:
    """Find copies among the cells of one metric; None if equal values are explained by chance.

    ``records``: other numbers of a trial; equal values with different ones are not copies.
    """
    used = [cell for cell in cells if cell.values.size]
    if not used:
        return None
    values = np.concatenate([cell.values for cell in used])
    all_observations = [observation for cell in used for observation in _list_observations(cell, records or {})]
    certain = {observation for observation, n in Counter(all_observations).items() if n > 1 and _has_many(observation)}
    # 0, the lowest and the highest value may occur often: a timeout, a saturated counter.
    ends = {0.0, values.min(), values.max()} - {value for value, _ in certain}
    limits = np.array([end for end in ends if (values == end).sum() > 2])
    observations = [observation for observation in all_observations if observation[0] not in limits]
    repeats = len(observations) - len(set(observations))
    if not repeats:
        return None
    # Cells may have ticks of their own, such as operations/s × size: the coarsest limits the resolution.
    ticks = [find_tick(cell.values) or 0.0 for cell in used if cell.values.size >= 3 <= np.unique(cell.values).size]
    free = ~np.isin(values, limits)
    of = np.repeat(np.arange(len(used)), [cell.values.size for cell in used])
    by_digits = _compute_expected_ties(values[free], of[free], max(ticks, default=0.0))
    expected = max(by_digits, _compute_ties_by_rounding(used, values, free, of))
    if poisson_upper_p(repeats, expected) >= ALPHA:
        return _build_certain_copies(used, records or {}, certain)
    cell_pairs = list(_find_equal_cells(used, limits, records or {}))
    inside = {id(cell) for pair in cell_pairs for cell in pair}
    trials = _find_copied_trials([cell for cell in used if id(cell) not in inside], limits, records or {})
    return Copies(tuple(cell_pairs), tuple(trials), repeats, expected, _find_pattern(cell_pairs, used))


def _has_many(observation: Observation) -> bool:
    """Return whether so much is known of a trial that only a copy has the same."""
    numbers = observation[1]
    return isinstance(numbers, RunNumbers) and numbers.n_distinct >= _MIN_NUMBERS


def _build_certain_copies(cells: Sequence[TrialCell], records: Records, certain: set[Observation]) -> Copies | None:
    """Return the trials of which every number of their run is that of another; None if there are none."""
    first: dict[Observation, str] = {}
    trials = list[tuple[str, str]]()
    for cell in cells:
        for observation, place in zip(_list_observations(cell, records), cell.places, strict=False):
            if observation in certain and first.setdefault(observation, place) != place:
                trials.append((first[observation], place))
    return Copies((), tuple(trials), len(trials), 0.0, None, is_certain=True) if trials else None


def _list_observations(cell: TrialCell, records: Records) -> list[Observation]:
    """Return each value with the other numbers of its trial and, for iterations inside one run, the iteration."""
    values = cell.values.tolist()
    if not records:
        return [(value, None) for value in values]
    trial_records = [records.get((place, cell.operation)) for place in cell.places[: len(values)]]
    trial_records += [None] * (len(values) - len(trial_records))
    return (
        [(value, (record, at)) for at, (value, record) in enumerate(zip(values, trial_records, strict=True))]
        if cell.within_run
        else list(zip(values, trial_records, strict=True))
    )


def _compute_expected_ties(values: np.ndarray, of: np.ndarray, coarsest: float = 0.0) -> float:
    """Return the equal pairs expected by chance, over all cells or, if larger, inside each: cells may lie far apart.
    ``of`` numbers the cell of each value."""
    parts = np.split(values, np.cumsum(np.bincount(of, minlength=1))[:-1])
    inside = [
        compute_expected_ties(part, max(coarsest, find_tick(values) or 0.0))
        for part in parts
        if np.unique(part).size >= 3
    ]
    return max(compute_expected_ties(values, coarsest), sum(inside))


def _compute_ties_by_rounding(
    cells: Sequence[TrialCell], values: np.ndarray, free: np.ndarray, of: np.ndarray
) -> float:
    """Return the equal pairs expected by chance if the values were computed from rounded ones without visible digits,
    else 0.

    Either they lie on a grid themselves (a mean of rounded times) or their reciprocals do (work ÷ time). The work may
    be proportional to a setting or to a product of two. A lowest or highest value may lie on the grid, too, or be an
    exception such as a timeout.
    """
    works = [np.array([_to_number(cell.by.get(name)) for cell in cells])[of] for name in cells[0].by]
    works = [work for work in works if np.all(work > 0) and np.ptp(work) > 0]
    works += [first * other for first, other in combinations(works, 2)]
    chances = [0.0]
    for mask in (free, np.ones(values.size, bool)):
        x = values[mask]
        if np.all(x > 0):
            grids = [_place_on_grid(view) for view in (x, 1 / x, *(work[mask] / x for work in works))]
            chances += [_compute_expected_ties(grid[free[mask]], of[free]) for grid in grids if grid is not None]
    return max(chances)


def _to_number(level: Level) -> float:
    return float(level) if isinstance(level, (int, float)) else 0.0


def _place_on_grid(x: np.ndarray) -> np.ndarray | None:
    """Return values as numbers of steps from the least on if they are whole multiples of one, else None.

    Each continuous value, from the third on, is on a grid by chance with probability 1/5. The step is the smallest gap,
    or a half or third of it, refined over more and more of the others. A few values must lie nearer to it, and no more
    than a few steps apart. The tolerance is larger if each occurs three times or more, unlike copied rows.
    """
    levels = np.unique(x)
    if levels.size < 3:
        return None
    levels = levels[np.concatenate([[True], np.diff(levels) > _SAME * levels[-1]])]
    gaps = np.diff(levels)
    if gaps.size < 2 or gaps.min() < 1e-7 * levels[-1]:
        return None
    few = levels.size < _FEW
    near_enough = 0.1 if not few else 0.03 if x.size >= 3 * levels.size else 0.005 * (levels.size - 2)
    for part in (1, 2, 3):
        step = gaps.min() / part
        for most in (4,) if few else (4, 32, 256, np.inf):
            counts = np.round(gaps / step)
            near = counts <= most
            step = gaps[near].sum() / counts[near].sum()
        steps = (levels - levels[0]) / step
        far = few and steps[-1] > _FEW_STEPS
        if not far and np.abs(steps - np.round(steps)).max() <= near_enough:
            return np.asarray(np.round((x - levels[0]) / step))
    return None


def _find_equal_cells(
    cells: Sequence[TrialCell], limits: np.ndarray, records: Records
) -> Iterator[tuple[TrialCell, TrialCell]]:
    first: dict[Hashable, TrialCell] = {}
    for cell in cells:
        if np.isin(cell.values, limits).all():
            continue
        key = tuple(
            sorted(_list_observations(cell, records), key=lambda observation: (observation[0], str(observation[1])))
        )
        if key in first:
            yield (first[key], cell)
        else:
            first[key] = cell


def _find_copied_trials(cells: Sequence[TrialCell], limits: np.ndarray, records: Records) -> Iterator[tuple[str, str]]:
    first: dict[tuple[float, Hashable], str] = {}
    for cell in cells:
        for number, observation in enumerate(_list_observations(cell, records)):
            place = cell.places[number] if number < len(cell.places) else f"{cell.name}, trial {number + 1}"
            if observation[0] not in limits:
                if observation in first:
                    yield (first[observation], place)
                first.setdefault(observation, place)


def _find_pattern(pairs: Sequence[tuple[TrialCell, TrialCell]], cells: Sequence[TrialCell]) -> Pattern | None:
    """Return the most frequent difference between copy and original, and how many of the cells there are copies."""
    if not pairs:
        return None
    changed, n = Counter(_compare_settings(a, b) for a, b in pairs).most_common(1)[0]
    if not changed or n < 2:
        return None
    copied = [b for a, b in pairs if _compare_settings(a, b) == changed]
    moved = {name: level for name, _, level in changed}
    fixed = {}
    for name in copied[0].by:
        levels = {cell.by[name] for cell in copied}
        if name not in moved and len(levels) == 1 and len({cell.by[name] for cell in cells}) > 1:
            fixed[name] = copied[0].by[name]
    there = moved | fixed
    return Pattern(
        changed, fixed, n, sum(all(cell.by[name] == level for name, level in there.items()) for cell in cells)
    )


def _compare_settings(original: TrialCell, copy: TrialCell) -> Difference:
    return tuple((name, original.by[name], level) for name, level in copy.by.items() if original.by[name] != level)
