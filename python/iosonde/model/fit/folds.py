"""Which rows a model learns from, and which it is judged by: folds that keep together what belongs together.

Repeats of one setting, and rows that are copies of each other, are in the same fold: a model that has seen one of
them has seen the answer. Sizes and seeds are exact: the same rows and seed give the same folds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import tidy
from iosonde.stats.estimate import copies
from iosonde.stats.overview.cells import TrialCell

from .features import Examples

Rows = npt.NDArray[np.intp]
TOGETHER = ("twins", "cells", "rows")


@dataclass(frozen=True)
class Fold:
    """Row numbers to learn from and to be judged by, and a name where one is meaningful (``size=4096``)."""

    train: Rows
    test: Rows
    name: str = ""


@dataclass(frozen=True)
class Groups:
    """``of`` numbers each row's group, of which there are ``n``; ``twins`` rows have a copy in another setting."""

    of: Rows
    n: int
    twins: int


def groups(examples: Examples, together: str = "twins") -> Groups:
    """What must stay together: ``twins`` (repeats, and copies in other settings), ``cells`` (repeats), ``rows``
    (nothing)."""
    if together not in TOGETHER:
        raise InputError(f"rows cannot be kept together by '{together}'", f"use {', '.join(TOGETHER)}")
    if together == "rows":
        return Groups(np.arange(len(examples)), len(examples), 0)
    parent = np.arange(int(examples.cells.max()) + 1)
    pairs = _twins(examples) if together == "twins" else []
    for a, b in pairs:
        parent[_root(parent, b)] = _root(parent, a)
    roots = np.array([_root(parent, cell) for cell in range(parent.size)])
    _, of = np.unique(roots[examples.cells], return_inverse=True)
    copied = {cell for pair in pairs for cell in pair}
    return Groups(of.astype(np.intp), int(of.max()) + 1, int(np.isin(examples.cells, list(copied)).sum()))


def _root(parent: Rows, cell: int) -> int:
    while parent[cell] != cell:
        cell = int(parent[cell])
    return cell


def _twins(examples: Examples) -> list[tuple[int, int]]:
    """Pairs of cells of which one is a copy of the other, or that share single copied trials."""
    if np.unique(examples.y).size == len(examples):
        return []
    order = np.argsort(examples.cells, kind="stable")
    starts = np.flatnonzero(np.diff(examples.cells[order], prepend=-1))
    cells = []
    for rows in np.split(order, starts[1:]):
        number = str(examples.cells[rows[0]])
        cells.append(TrialCell({"cell": number}, "", "", examples.y[rows], places=(number,) * rows.size))
    found = copies.find(cells)
    if found is None:
        return []
    whole = [(str(a.by["cell"]), str(b.by["cell"])) for a, b in found.cells]
    return [(int(a), int(b)) for a, b in (*whole, *found.trials) if a != b]


def k_folds(group: Rows, k: int, seed: int) -> list[Fold]:
    """k folds of whole groups, as even as the groups allow; each row is judged once. Raises InputError, DataError."""
    if k < 2:
        raise InputError(f"{k} folds leave nothing to be judged by", "use 2 folds or more")
    numbers, sizes = np.unique(group, return_counts=True)
    if numbers.size < k:
        raise DataError(
            f"{numbers.size} settings cannot make {k} folds", f"use {max(2, numbers.size)} or fewer, or measure more"
        )
    order = np.random.default_rng(seed).permutation(numbers.size)
    # The largest first, each to the smallest fold so far: sizes differ by no more than they must.
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.empty(numbers.size, np.intp), np.zeros(k, np.intp)
    for number in order:
        smallest = int(filled.argmin())
        fold_of[number] = smallest
        filled[smallest] += sizes[number]
    fold = fold_of[np.searchsorted(numbers, group)]
    return [Fold(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]


def inverse(folds: Iterable[Fold]) -> list[Fold]:
    """Learn from one fold, be judged by the others: what few measurements are worth."""
    return [Fold(fold.test, fold.train, fold.name) for fold in folds]


def split(group: Rows, train: float, seed: int) -> Fold:
    """One split at random: whole groups, until ``train`` of the rows are there to learn from. Raises InputError,
    DataError."""
    if not 0 < train < 1:
        raise InputError(f"a share of {train:g} to learn from is not between 0 and 1", "write --split 0.75")
    numbers, sizes = np.unique(group, return_counts=True)
    if numbers.size < 2:
        raise DataError("one setting cannot be split", "measure more settings")
    order = np.random.default_rng(seed).permutation(numbers.size)
    reached = np.cumsum(sizes[order]) - sizes[order] / 2
    learned = numbers[order[reached < train * group.size]]
    if learned.size == numbers.size:
        learned = learned[:-1]
    inside = np.isin(group, learned)
    return Fold(np.flatnonzero(inside), np.flatnonzero(~inside))


def leave_out(examples: Examples, factor: str) -> list[Fold]:
    """A fold for every level of a factor: what a model says of a level that it has never seen. Raises InputError."""
    names = [feature.name for feature in examples.features]
    if factor not in names:
        raise InputError(f"'{factor}' is not a factor of the model", f"factors: {', '.join(names)}")
    index = names.index(factor)
    feature, column = examples.features[index], examples.x[:, index]
    folds = []
    for value in np.unique(column):
        level = tidy(float(value)) if feature.numeric else feature.levels[int(value)]
        folds.append(Fold(np.flatnonzero(column != value), np.flatnonzero(column == value), f"{factor}={level}"))
    return folds
