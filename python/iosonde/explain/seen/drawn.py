"""Data of the figures of a diagnosis: the operations of its last trial in bins, and the density of all trials."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.explain.classes import DensityClasses
from iosonde.explain.cost import Account
from iosonde.explain.operations import Operations

_ACROSS, _UP, _CURVE = 150, 90, 300  # bins of operation numbers and of log durations; points of the curve
_TIMES, _PLACES, _RANKS = 100, 60, 64  # bins of time, of offsets, and of ranks
EVERY = 60_000  # operations beyond which the fast ones are a sample
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class DrawnRows:
    """Some operations of a trial as columns. ``number``: that among the operations of its rank; ``of``: its class;
    ``weight``: the number of operations that it represents."""

    number: Array
    rank: Array
    offset: Array
    start_ns: Array
    duration_ns: Array
    of: npt.NDArray[np.uint8]
    weight: Array


@dataclass(frozen=True)
class ClassTimes:
    """The share of each class in the operations of a part of a trial, and in their time."""

    begin_s: float
    end_s: float
    shares: tuple[float, ...]
    time_shares: tuple[float, ...]


@dataclass(frozen=True)
class DrawnOperations:
    """``cells``: (operation number of the rank, duration in s, class, operations in it); ``curve``: (duration in s,
    operations per natural logarithm of it, class); ``times``: the classes over the time of the trial.

    ``places``: (s after the first start, offset, class, operations in it), empty where places are not known.
    ``ranks``: (s, s, rank, class that took most of its time then, the share that it took), of several ranks; each line
    stands for ``ranks_a_line``.
    """

    cells: tuple[tuple[float, float, int, int], ...]
    curve: tuple[tuple[float, float, int], ...]
    longest: int
    times: tuple[ClassTimes, ...]
    places: tuple[tuple[float, float, int, int], ...]
    ranks: tuple[tuple[float, float, int, int, float], ...]
    ranks_a_line: int


def bin_trial_to_draw(
    rows: DrawnRows, classes: DensityClasses, account: Account, longest: int, placed: bool
) -> DrawnOperations:
    """Bin one trial and the density of all. ``longest``: operations of the rank with most."""
    low, high = (np.log(max(end, 1e-3)) for end in classes.ends_ns)
    height = max(high - low, 1e-9)
    up = np.clip((np.log(np.maximum(rows.duration_ns, 1e-3)) - low) / height * _UP, 0, _UP - 1)
    cells = _count_cells(rows.number * _ACROSS // max(longest, 1), up, rows.of, _ACROSS)
    seconds = account.elapsed_s / _TIMES
    begun = rows.start_ns / (1e9 * max(seconds, 1e-12))
    return DrawnOperations(
        tuple(
            ((x + 0.5) * longest / _ACROSS, float(np.exp(low + (y + 0.5) / _UP * height)) / 1e9, of, n)
            for x, y, of, n in cells
        ),
        _build_curve(classes),
        longest,
        _build_times(account),
        _bin_places(rows, begun, seconds) if placed else (),
        *_bin_ranks(rows, begun, seconds, classes.count),
    )


def select_rows_to_draw(
    operations: Operations, of: npt.NDArray[np.uint8], classes: DensityClasses
) -> tuple[DrawnRows, int]:
    """Return (rows, operations of the rank with most). The rows are all operations; of many, all of the rare classes
    and an even sample of the frequent ones."""
    rows, weight = _sample_rows(of, classes)
    begins = np.array([begin for _, begin, _ in operations.ranks])
    number = rows - begins[np.searchsorted(begins, rows, "right") - 1]
    longest = max((end - begin for _, begin, end in operations.ranks), default=0)
    return DrawnRows(
        number,
        operations.rank[rows],
        operations.offset[rows],
        operations.start_ns[rows],
        operations.duration_ns[rows],
        of[rows],
        weight,
    ), longest


def _sample_rows(of: npt.NDArray[np.uint8], classes: DensityClasses) -> tuple[npt.NDArray[np.intp], Array]:
    if of.size <= EVERY:
        return np.arange(of.size), np.ones(of.size)
    share = EVERY // classes.count
    rows, weights = [], []
    for place in range(classes.count):
        mine = np.flatnonzero(of == place)
        rows.append(mine[:: max(1, mine.size // share)])
        weights.append(np.full(rows[-1].size, mine.size / max(rows[-1].size, 1)))
    order = np.argsort(np.concatenate(rows))
    return np.concatenate(rows)[order], np.concatenate(weights)[order]


def _count_cells(x: Array, y: Array, of: npt.NDArray[np.uint8], across: int) -> list[list[int]]:
    """Return [x, y, class, count] of each cell that is not empty."""
    x = np.clip(x, 0, across - 1).astype(np.int64)
    cells, counts = np.unique(np.stack([x, y.astype(np.int64), of]), axis=1, return_counts=True)
    return list(np.vstack([cells, counts]).T.tolist())


def _build_curve(classes: DensityClasses) -> tuple[tuple[float, float, int], ...]:
    hills = classes.hills
    wide = np.exp(3 * hills.bandwidth)
    inside = np.flatnonzero((hills.grid > classes.ends_ns[0] / wide) & (hills.grid < classes.ends_ns[1] * wide))
    at = np.unique(np.linspace(inside[0], inside[-1], _CURVE).astype(np.intp))
    of = classes.classify(hills.grid[at])
    return tuple(zip((hills.grid[at] / 1e9).tolist(), hills.density[at].tolist(), of.tolist(), strict=True))


def _build_times(account: Account) -> tuple[ClassTimes, ...]:
    """Sum the classes over the trial's time, by start of the operations."""
    blocks = account.counts.shape[0]
    width = account.elapsed_s / blocks
    return tuple(
        ClassTimes(
            place * width,
            (place + 1) * width,
            *(tuple((part[place] / part[place].sum()).tolist()) for part in (account.counts, account.seconds)),
        )
        for place in range(blocks)
        if account.seconds[place].sum() > 0
    )


def _bin_places(rows: DrawnRows, begun: Array, seconds: float) -> tuple[tuple[float, float, int, int], ...]:
    reach = float(rows.offset.max(initial=0))
    if not reach:
        return ()
    up = np.minimum(rows.offset * (_PLACES / reach), _PLACES - 1)
    return tuple(
        ((x + 0.5) * seconds, (y + 0.5) * reach / _PLACES, of, n)
        for x, y, of, n in _count_cells(begun, up, rows.of, _TIMES)
    )


def _bin_ranks(
    rows: DrawnRows, begun: Array, seconds: float, count: int
) -> tuple[tuple[tuple[float, float, int, int, float], ...], int]:
    """Return the class that took most of the time, by rank, or by groups of ranks."""
    names, of = np.unique(rows.rank, return_inverse=True)
    if names.size < 2:
        return (), 1
    a_line = -(-names.size // _RANKS)
    line, lines = of // a_line, -(-names.size // a_line)
    cell = (line * _TIMES + np.clip(begun, 0, _TIMES - 1).astype(np.int64)) * count + rows.of
    took = np.bincount(cell, rows.weight * rows.duration_ns, lines * _TIMES * count).reshape(lines, _TIMES, count)
    total, most = took.sum(axis=2), took.argmax(axis=2)
    cells = tuple(
        (
            place * seconds,
            (place + 1) * seconds,
            int(names[line * a_line]),
            int(most[line, place]),
            float(took[line, place].max() / total[line, place]),
        )
        for line, place in zip(*np.nonzero(total > 0), strict=True)
    )
    return tuple((float(a), float(b), rank, class_number, share) for a, b, rank, class_number, share in cells), a_line
