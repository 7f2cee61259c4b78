"""A regression tree of a single column of few levels, grown by our own few lines.

Importing scikit-learn costs as much CPU as the rest of a small page, and a tree of one column is only the best place
to cut the row of its levels, then of each part. Of several columns two may part the rows alike; which of them is
taken is scikit-learn's business (``tree``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fit.features import Array

_SAME = 1e-12  # of the best gain: cuts that differ by rounding alone; the first is taken
_MOST_LEVELS = 100  # beyond, growing tree after tree costs more than the import


@dataclass(frozen=True)
class Levels:
    """The rows of each level, in the order of the levels: how many, the sum, least and most of their values."""

    counts: Array
    sums: Array
    least: Array
    most: Array

    def cut(self, first: int, end: int, min_leaf: int) -> int | None:
        """The level that begins the right-hand part where those from ``first`` to before ``end`` are cut best. None
        where all values are equal, or a part would have fewer than ``min_leaf`` rows."""
        if self.least[first:end].min() == self.most[first:end].max():
            return None
        counts, sums = self.counts[first:end], self.sums[first:end]
        above = np.cumsum(sums - counts * (sums.sum() / counts.sum()))[:-1]  # of the left part, above the mean
        n_lower = np.cumsum(counts)[:-1]
        right = counts.sum() - n_lower
        gain = np.where((n_lower >= min_leaf) & (right >= min_leaf), above**2 * (1 / n_lower + 1 / right), -1.0)
        best = gain.max(initial=-1.0)
        return None if best < 0 else first + 1 + int(np.argmax(gain >= best * (1 - _SAME)))


@dataclass
class GrownTree:
    """What ``nodes.read_out`` needs of a tree, in scikit-learn's words; numbered depth first, no child is -1."""

    feature: Any = field(default_factory=list)
    threshold: Any = field(default_factory=list)
    children_left: Any = field(default_factory=list)
    children_right: Any = field(default_factory=list)
    n_node_samples: Any = field(default_factory=list)
    value: Any = field(default_factory=list)

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.value)


def is_simple(ranks: npt.NDArray[np.float32]) -> bool:
    """Whether ``grow`` is for this matrix of ranks."""
    return ranks.shape[1] == 1 and bool(ranks.max() < _MOST_LEVELS)


def grow(ranks: npt.NDArray[np.float32], y: Array, limits: Mapping[str, Any]) -> GrownTree:
    """The tree of ``y`` by a simple matrix, within the ``limits`` that ``tree`` has for scikit-learn."""
    levels = _summarise_levels(ranks[:, 0].astype(np.intp), y)
    tree, deepest = GrownTree(), limits["max_depth"] or levels.counts.size
    waiting = [(0, levels.counts.size, 0, -1)]  # levels from, to before; depth; the node whose right child it is
    while waiting:
        first, end, depth, parent = waiting.pop()
        at = levels.cut(first, end, limits["min_samples_leaf"]) if depth < deepest else None
        number, n = tree.node_count, levels.counts[first:end].sum()
        if parent >= 0:
            tree.children_right[parent] = number
        tree.children_right.append(-1)
        tree.children_left.append(-1 if at is None else number + 1)
        tree.feature.append(-1 if at is None else 0)
        tree.threshold.append(-1.0 if at is None else at - 0.5)
        tree.n_node_samples.append(int(n))
        tree.value.append(float(levels.sums[first:end].sum() / n))
        if at is not None:
            waiting += [(at, end, depth + 1, number), (first, at, depth + 1, -1)]
    return GrownTree(*(np.array(column) for column in vars(tree).values()))


def _summarise_levels(column: npt.NDArray[np.intp], y: Array) -> Levels:
    counts, sums = np.bincount(column).astype(float), np.bincount(column, y).astype(float)
    least, most = np.full(counts.size, np.inf), np.full(counts.size, -np.inf)
    np.minimum.at(least, column, y)
    np.maximum.at(most, column, y)
    return Levels(counts, sums, least, most)
