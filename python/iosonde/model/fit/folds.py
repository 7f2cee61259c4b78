"""Rows to learn from and rows to judge by: folds that keep dependent rows together.

Repeats of one setting, and duplicates, are in the same fold: a model that has seen one of them knows the answer. Trials
of one bring-up share its error, and a predicted setting will have its own bring-up. If factors are constant within a
bring-up, whole settings stay together if possible. Otherwise folds are crossed: test rows share neither setting nor
bring-up with training rows (Roberts et al., Ecography 40, 2017). Sizes and seeds are exact: the same rows and seed give
the same folds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Flags, Indices
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import tidy_number
from iosonde.stats.estimate import copies
from iosonde.stats.overview.cells import TrialCell

from .features import Examples

TOGETHER = ("twins", "cells", "rows")
_MOST_INNER = 6  # levels of a number that are left out: enough to judge predictions between levels
_LEAST_PLOTS = 5  # groups of whole bring-ups: enough to leave one out


@dataclass(frozen=True)
class Fold:
    """Row numbers for training and for testing, and a name if one is meaningful (``size=4096``)."""

    train: Indices
    test: Indices
    name: str = ""


@dataclass(frozen=True)
class Groups:
    """``of`` numbers each row's group, ``n`` is their number; ``twins`` rows have a copy in another setting.

    ``n_bring_ups``: bring-ups that groups keep together. With ``crossed``, the bring-up of each row, no group does
    so."""

    of: Indices
    twins: int = 0
    n_bring_ups: int = 0
    crossed: Indices | None = None

    @property
    def n(self) -> int:
        """The number of groups."""
        return int(np.unique(self.of).size)

    @property
    def independent(self) -> Indices:
        """The units with independent errors."""
        return self.of if self.crossed is None else self.crossed

    def take(self, rows: Indices) -> Groups:
        """Select these rows."""
        return replace(self, of=self.of[rows], crossed=None if self.crossed is None else self.crossed[rows])


def group_inseparable_rows(examples: Examples, together: str = "twins") -> Groups:
    """Return the rows that must stay together.

    ``twins``: repeats, and copies in other settings; ``cells``: repeats. Both also keep shared bring-ups together.
    ``rows``: nothing. Raises InputError for another ``together``."""
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
    copied = {cell for pair in pairs for cell in pair}
    groups = Groups(_join_groups(examples.cells, pairs), int(np.isin(examples.cells, list(copied)).sum()))
    return groups if examples.bring_ups is None else _add_bring_ups(groups, examples.bring_ups)


def _add_bring_ups(groups: Groups, shared: Indices) -> Groups:
    first = {int(unit): int(group) for unit, group in zip(shared[::-1], groups.of[::-1], strict=True)}
    plots = _join_groups(
        groups.of, [(first[int(unit)], int(group)) for unit, group in zip(shared, groups.of, strict=True)]
    )
    n_bring_ups = int(np.unique(shared).size)
    if np.unique(plots).size >= _LEAST_PLOTS:
        return replace(groups, of=plots, n_bring_ups=n_bring_ups)
    if any(np.unique(shared[plots == plot]).size < 2 for plot in np.unique(plots)):
        return groups  # one bring-up a level: the two are confounded, which S311 reports
    return replace(groups, n_bring_ups=n_bring_ups, crossed=shared)


def _join_groups(of: Indices, pairs: Iterable[tuple[int, int]]) -> Indices:
    parent = np.arange(int(of.max()) + 1)
    for a, b in pairs:
        parent[_find_root(parent, b)] = _find_root(parent, a)
    roots = np.array([_find_root(parent, group) for group in range(parent.size)])
    return np.unique(roots[of], return_inverse=True)[1].astype(np.intp)


def _find_root(parent: Indices, cell: int) -> int:
    while parent[cell] != cell:
        cell = int(parent[cell])
    return cell


def _find_twins(examples: Examples) -> list[tuple[int, int]]:
    """Find pairs of cells of which one is a copy of the other, or that share single copied trials."""
    if np.unique(examples.y).size == len(examples):
        return []
    order = np.argsort(examples.cells, kind="stable")
    cells = []
    for rows in np.split(order, np.flatnonzero(np.diff(examples.cells[order], prepend=-1))[1:]):
        number = str(examples.cells[rows[0]])
        cells.append(TrialCell({"cell": number}, "", "", examples.y[rows], places=(number,) * rows.size))
    duplicates = copies.find_copies(cells)
    if duplicates is None:
        return []
    cell_pairs = [(str(a.by["cell"]), str(b.by["cell"])) for a, b in duplicates.cells]
    return [(int(a), int(b)) for a, b in (*cell_pairs, *duplicates.trials) if a != b]


def build_k_folds(together: Groups, k: int, seed: int) -> list[Fold]:
    """Build k folds of whole groups, as even as the groups allow; each row is judged once. Crossed with bring-ups there
    are about k blocks of both. Raises InputError, DataError."""
    if k < 2:
        raise InputError("too-few-folds", "{folds} folds leave no test rows", "use 2 folds or more", folds=k)
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


def _fold_of(group: Indices, k: int, seed: int) -> Indices:
    numbers, sizes = np.unique(group, return_counts=True)
    order = np.random.default_rng(seed).permutation(numbers.size)
    # The largest first, each to the smallest fold so far: sizes differ as little as possible.
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.empty(numbers.size, np.intp), np.zeros(k, np.intp)
    for number in order:
        smallest = int(filled.argmin())
        fold_of[number] = smallest
        filled[smallest] += sizes[number]
    return fold_of[np.searchsorted(numbers, group)]


def _build_blocks(group: Indices, crossed: Indices, k: int, seed: int) -> list[Fold]:
    """Build blocks of settings × bring-ups; training rows of a block share neither. Raises DataError."""
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


def swap_training_and_test(folds: Iterable[Fold]) -> list[Fold]:
    """Swap the roles: learn from one fold, judge by the others, to see the value of few measurements."""
    return [Fold(fold.test, fold.train, fold.name) for fold in folds]


def split_once(together: Groups, train: float, seed: int) -> Fold:
    """Split once at random: whole groups, until about ``train`` of the rows are training rows. Crossed with bring-ups,
    test rows share neither with them. Raises InputError, DataError."""
    if not 0 < train < 1:
        raise InputError(
            "out-of-range",
            "the training share {fraction:g} is not between 0 and 1",
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
        raise DataError("too-few-bring-ups", "too few bring-ups for one split", "use folds, or repeat whole bring-ups")
    return Fold(np.flatnonzero(a & b), np.flatnonzero(~a & ~b))


def _mark_training(group: Indices, train: float, seed: int) -> Flags:
    """Return whether each row is a training row; at least one group never is."""
    numbers, sizes = np.unique(group, return_counts=True)
    order = np.random.default_rng(seed).permutation(numbers.size)
    reached = np.cumsum(sizes[order]) - sizes[order] / 2
    learned = numbers[order[reached < train * group.size]]
    if learned.size == numbers.size:
        learned = learned[:-1]
    return np.isin(group, learned)


def leave_out(examples: Examples, factor: str) -> list[Fold]:
    """Build a fold for every level of a factor, to test predictions at unseen levels. Raises InputError."""
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
        level = tidy_number(float(value)) if feature.numeric else feature.levels[int(value)]
        folds.append(Fold(np.flatnonzero(column != value), np.flatnonzero(column == value), f"{factor}={level}"))
    return folds


def leave_inner_levels_out(examples: Examples) -> list[Fold]:
    """Build a fold for each inner level of each number, to test predictions between levels: at most ``_MOST_INNER`` a
    factor. Numbers that hardly repeat have no levels."""
    settings = np.unique(examples.cells).size
    folds = []
    for feature, column in zip(examples.features, examples.x.T, strict=True):
        inner = np.unique(column)[1:-1]
        if not feature.numeric or not inner.size or 2 * (inner.size + 2) > settings:
            continue
        chosen = inner[np.unique(np.linspace(0, inner.size - 1, min(inner.size, _MOST_INNER)).round().astype(int))]
        for value in chosen:
            folds.append(
                Fold(np.flatnonzero(column != value), np.flatnonzero(column == value), f"{feature.name}={value:g}")
            )
    return folds
