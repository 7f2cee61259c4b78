"""Duplicates among the trials of an advice: duplicate rows, and a setting measured under two names.

A duplicate reveals its original. So duplicates of a trial are never split between the choosing and the measuring side.
A setting that equals another one everywhere is counted once. Instances that mostly are duplicates of each other are one
piece of evidence. Equal values that are likely by chance are not duplicates (``stats.copies``).
"""

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate import copies
from iosonde.stats.overview.cells import TrialCell

Rows = npt.NDArray[np.intp]


def find_originals_of_copies(y: npt.NDArray[np.float64], cells: Rows) -> Rows:
    """Return the number of each trial's original: its own unless it is a copy. ``cells`` numbers the trials' cells."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    parts = [
        TrialCell({"cell": int(cells[rows[0]])}, "", "", y[rows], rows=rows, places=tuple(map(str, rows)))
        for rows in np.split(order, starts[1:])
    ]
    duplicates, original = copies.find_copies(parts), np.arange(len(y))
    if duplicates is None:
        return original
    for a, b in duplicates.cells:
        assert a.rows is not None and b.rows is not None
        original[b.rows[np.argsort(b.values, kind="stable")]] = a.rows[np.argsort(a.values, kind="stable")]
    for first, again in duplicates.trials:
        original[int(again)] = original[int(first)]
    return original


def number_copied_cells(original: Rows, instance: Rows, setting: Rows) -> npt.NDArray[np.int64]:
    """Return instances × settings: cells with the same number hold copies of the same trials; -1 for unmeasured
    ones."""
    numbers: dict[tuple[int, ...], int] = {}
    cell_numbers = np.full((int(instance.max()) + 1, int(setting.max()) + 1), -1, dtype=np.int64)
    cell = instance * cell_numbers.shape[1] + setting
    order = np.lexsort((original, cell))
    for rows in np.split(order, np.flatnonzero(np.diff(cell[order], prepend=-1))[1:]):
        cell_numbers.flat[cell[rows[0]]] = numbers.setdefault(tuple(original[rows].tolist()), len(numbers))
    return cell_numbers


def find_renamed_settings(same: npt.NDArray[np.int64]) -> dict[int, int]:
    """Return copy → original for settings that copy an earlier one in every instance that has both (two or more)."""
    originals: dict[int, int] = {}
    for copy in range(1, same.shape[1]):
        for first in (s for s in range(copy) if s not in originals):
            both = (same[:, first] >= 0) & (same[:, copy] >= 0)
            if both.sum() >= 2 and (same[both, first] == same[both, copy]).all():
                originals[copy] = first
                break
    return originals


def group_instances_with_copies(same: npt.NDArray[np.int64]) -> Rows:
    """Return the number of each instance's group: instances with copies in more than half of their cells belong
    together."""
    group = np.arange(len(same))
    for setting in range(same.shape[1]):
        if len(np.unique(same[:, setting])) < len(same):
            break
    else:
        return group
    for row in range(1, len(same)):
        shared = (same[:row] == same[row]).mean(axis=1)
        near = int(shared.argmax())
        if shared[near] > 0.5:
            group[row] = group[near]
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def assign_slots(original: Rows, cells: Rows, complete: npt.NDArray[np.bool_], most: int) -> Rows:
    """Return the slot of each trial: the k-th of a cell is in slot k, modulo their number; a copy in that of its
    original.

    There are as many slots (at most ``most``) as every cell of ``complete`` (by cell) has distinct trials, or fewer.
    """
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    place = np.empty(len(cells), dtype=np.intp)
    sizes = np.diff(np.append(starts, len(cells)))
    place[order] = np.arange(len(cells)) - np.repeat(starts, sizes)
    if (original != np.arange(len(cells))).any():
        place = _renumber_places(place, original, order, starts)
    place = place[original]
    for n in range(min(int(np.bincount(cells, minlength=len(complete))[complete].min()), most), 1, -1):
        filled = np.zeros((len(complete), n), dtype=bool)
        filled[cells, place % n] = True
        if filled[complete].all():
            return place % n
    return np.zeros(len(cells), dtype=np.intp)


def _renumber_places(place: Rows, original: Rows, order: Rows, starts: Rows) -> Rows:
    """Renumber places over a cell's distinct trials."""
    places = place.copy()
    for rows in np.split(order, starts[1:]):
        places[rows] = np.unique(original[rows], return_inverse=True)[1].reshape(-1)
    return places
