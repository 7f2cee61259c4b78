"""Which rows a model learns from, and which it is judged by: folds that keep together what belongs together.

Repeats of one setting, and rows that are copies of each other, are in the same fold: a model that has seen one of
them has seen the answer. So it is with trials that share a bring-up, whose error is theirs together: a setting that
is predicted will have a bring-up of its own. Where whole settings of what is set once a bring-up can be kept together
they are; else folds are crossed, and what is predicted shares neither setting nor bring-up with what is learned from
(Roberts et al., Ecography 40, 2017). Sizes and seeds are exact: the same rows and seed give the same folds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.table import tidy
from iosonde.stats.estimate import copies
from iosonde.stats.overview.cells import TrialCell

from .features import Examples

Rows = npt.NDArray[np.intp]
TOGETHER = ("twins", "cells", "rows")
_LEAST_PLOTS = 5  # groups of whole bring-ups, from which one can be left out and the rest says something


@dataclass(frozen=True)
class Fold:
    """Row numbers to learn from and to be judged by, and a name where one is meaningful (``size=4096``)."""

    train: Rows
    test: Rows
    name: str = ""


@dataclass(frozen=True)
class Groups:
    """``of`` numbers each row's group, of which there are ``n``; ``twins`` rows have a copy in another setting.
    ``n_bring_ups``: which groups keep together; with ``crossed``, the bring-up of each row, no group does so."""

    of: Rows
    twins: int = 0
    n_bring_ups: int = 0
    crossed: Rows | None = None

    @property
    def n(self) -> int:
        """How many there are."""
        return int(np.unique(self.of).size)

    @property
    def independent(self) -> Rows:
        """What errors are independent between."""
        return self.of if self.crossed is None else self.crossed

    def take(self, rows: Rows) -> Groups:
        """Of these rows only."""
        return replace(self, of=self.of[rows], crossed=None if self.crossed is None else self.crossed[rows])


def groups(examples: Examples, together: str = "twins") -> Groups:
    """What must stay together: ``twins`` (repeats, and copies in other settings), ``cells`` (repeats), and in both
    cases what shares a bring-up; ``rows`` (nothing)."""
    if together not in TOGETHER:
        raise InputError(
            "unknown-option-value",
            "rows cannot be kept together by '{choice}'",
            "use {choices}",
            choice=together,
            choices=", ".join(TOGETHER),
        )
    if together == "rows":
        return Groups(np.arange(len(examples)))
    pairs = _find_twins(examples) if together == "twins" else []
    of = _join_groups(examples.cells, pairs)
    copied = {cell for pair in pairs for cell in pair}
    groups = Groups(of, int(np.isin(examples.cells, list(copied)).sum()))
    return groups if examples.bring_ups is None else _with_bring_ups(groups, examples.bring_ups)


def _with_bring_ups(groups: Groups, shared: Rows) -> Groups:
    first = {int(unit): int(group) for unit, group in zip(shared[::-1], groups.of[::-1], strict=True)}
    plots = _join_groups(
        groups.of, [(first[int(unit)], int(group)) for unit, group in zip(shared, groups.of, strict=True)]
    )
    n_bring_ups = int(np.unique(shared).size)
    if np.unique(plots).size >= _LEAST_PLOTS:
        return replace(groups, of=plots, n_bring_ups=n_bring_ups)
    if any(np.unique(shared[plots == plot]).size < 2 for plot in np.unique(plots)):
        return groups  # one bring-up a level: the two cannot be told apart, which S311 says
    return replace(groups, n_bring_ups=n_bring_ups, crossed=shared)


def _join_groups(of: Rows, pairs: Iterable[tuple[int, int]]) -> Rows:
    """The groups with those of each pair made one, numbered anew."""
    parent = np.arange(int(of.max()) + 1)
    for a, b in pairs:
        parent[_find_root(parent, b)] = _find_root(parent, a)
    roots = np.array([_find_root(parent, group) for group in range(parent.size)])
    return np.unique(roots[of], return_inverse=True)[1].astype(np.intp)


def _find_root(parent: Rows, cell: int) -> int:
    while parent[cell] != cell:
        cell = int(parent[cell])
    return cell


def _find_twins(examples: Examples) -> list[tuple[int, int]]:
    """Pairs of cells of which one is a copy of the other, or that share single copied trials."""
    if np.unique(examples.y).size == len(examples):
        return []
    order = np.argsort(examples.cells, kind="stable")
    starts = np.flatnonzero(np.diff(examples.cells[order], prepend=-1))
    cells = []
    for rows in np.split(order, starts[1:]):
        number = str(examples.cells[rows[0]])
        cells.append(TrialCell({"cell": number}, "", "", examples.y[rows], places=(number,) * rows.size))
    duplicates = copies.find(cells)
    if duplicates is None:
        return []
    cell_pairs = [(str(a.by["cell"]), str(b.by["cell"])) for a, b in duplicates.cells]
    return [(int(a), int(b)) for a, b in (*cell_pairs, *duplicates.trials) if a != b]


def k_folds(together: Groups, k: int, seed: int) -> list[Fold]:
    """k folds of whole groups, as even as the groups allow; each row is judged once. Crossed with bring-ups they are
    about as many, blocks of both. Raises InputError, DataError."""
    if k < 2:
        raise InputError("too-few-folds", "{folds} folds leave nothing to be judged by", "use 2 folds or more", folds=k)
    if together.n < k:
        raise DataError(
            "too-few-settings",
            "{settings} settings cannot make {folds} folds",
            "use {limit} or fewer, or measure more",
            settings=together.n,
            folds=k,
            limit=max(2, together.n),
        )
    if together.crossed is not None:
        return _build_blocks(together.of, together.crossed, k, seed)
    fold = _fold_of(together.of, k, seed)
    return [Fold(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]


def _fold_of(group: Rows, k: int, seed: int) -> Rows:
    """The fold of each row."""
    numbers, sizes = np.unique(group, return_counts=True)
    order = np.random.default_rng(seed).permutation(numbers.size)
    # The largest first, each to the smallest fold so far: sizes differ by no more than they must.
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.empty(numbers.size, np.intp), np.zeros(k, np.intp)
    for number in order:
        smallest = int(filled.argmin())
        fold_of[number] = smallest
        filled[smallest] += sizes[number]
    return fold_of[np.searchsorted(numbers, group)]


def _build_blocks(group: Rows, crossed: Rows, k: int, seed: int) -> list[Fold]:
    """Settings × bring-ups: a block is predicted by what shares neither with it. Raises DataError."""
    across = max(2, math.ceil(math.sqrt(k)))
    a = _fold_of(group, min(across, np.unique(group).size), seed)
    b = _fold_of(crossed, min(across, np.unique(crossed).size), seed + 1)
    blocks = [
        Fold(np.flatnonzero((a != i) & (b != j)), np.flatnonzero((a == i) & (b == j)))
        for i in range(int(a.max()) + 1)
        for j in range(int(b.max()) + 1)
    ]
    usable = [block for block in blocks if block.train.size and block.test.size]
    if not usable:
        raise DataError(
            "too-few-bring-ups",
            "no setting has a bring-up of its own and another one to learn from",
            "repeat whole bring-ups",
        )
    return usable


def inverse(folds: Iterable[Fold]) -> list[Fold]:
    """Learn from one fold, be judged by the others: what few measurements are worth."""
    return [Fold(fold.test, fold.train, fold.name) for fold in folds]


def split(together: Groups, train: float, seed: int) -> Fold:
    """One split at random: whole groups, until ``train`` of the rows are there to learn from; crossed with bring-ups
    about as many, and what shares neither with them is judged. Raises InputError, DataError."""
    if not 0 < train < 1:
        raise InputError(
            "out-of-range",
            "a share of {fraction:g} to learn from is not between 0 and 1",
            "write {spell.split:0.75}",
            fraction=train,
        )
    if together.n < 2:
        raise DataError("too-few-settings", "one setting cannot be split", "measure more settings")
    if together.crossed is None:
        inside = _mark_training(together.of, train, seed)
        return Fold(np.flatnonzero(inside), np.flatnonzero(~inside))
    a, b = (
        _mark_training(together.of, math.sqrt(train), seed),
        _mark_training(together.crossed, math.sqrt(train), seed + 1),
    )
    if not (a & b).any() or not (~a & ~b).any():
        raise DataError("too-few-bring-ups", "too few bring-ups for one split", "take folds, or repeat whole bring-ups")
    return Fold(np.flatnonzero(a & b), np.flatnonzero(~a & ~b))


def _mark_training(group: Rows, train: float, seed: int) -> npt.NDArray[np.bool_]:
    """Whether each row is among those to learn from; some group never is."""
    numbers, sizes = np.unique(group, return_counts=True)
    order = np.random.default_rng(seed).permutation(numbers.size)
    reached = np.cumsum(sizes[order]) - sizes[order] / 2
    learned = numbers[order[reached < train * group.size]]
    if learned.size == numbers.size:
        learned = learned[:-1]
    return np.isin(group, learned)


def leave_out(examples: Examples, factor: str) -> list[Fold]:
    """A fold for every level of a factor: what a model says of a level that it has never seen. Raises InputError."""
    names = [feature.name for feature in examples.features]
    if factor not in names:
        raise InputError(
            "unknown-factor",
            "'{factor}' is not a factor of the model",
            "factors: {factors}",
            factor=factor,
            factors=", ".join(names),
        )
    index = names.index(factor)
    feature, column = examples.features[index], examples.x[:, index]
    folds = []
    for value in np.unique(column):
        level = tidy(float(value)) if feature.numeric else feature.levels[int(value)]
        folds.append(Fold(np.flatnonzero(column != value), np.flatnonzero(column == value), f"{factor}={level}"))
    return folds
