"""A regression tree of a single column of few levels, grown here without scikit-learn.

Importing scikit-learn costs as much CPU as the rest of a small page. A tree of one column only cuts the row of its
levels at the best place, then each part. With several columns two may split the rows alike; ``tree`` leaves the choice
to scikit-learn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fit.features import Array

_SAME = 1e-12  # of the best gain: cuts closer than this differ by rounding alone; the first is taken
_MOST_LEVELS = 100  # beyond, growing tree after tree costs more than the import


@dataclass(frozen=True)
class Levels:
    """The rows of each level, in the order of the levels: their count, sum, minimum and maximum."""

    counts: Array
    sums: Array
    least: Array
    most: Array

    def cut(self, first: int, end: int, min_leaf: int) -> int | None:
        """Return the level that begins the right-hand part of the best cut of levels ``first`` to before ``end``. None
        if all values are equal, or a part would have fewer than ``min_leaf`` rows."""
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
    """The attributes of a tree that ``nodes.tree_to_nodes`` reads, named as in scikit-learn; numbered depth first, no
    child is -1."""

    feature: Any = field(default_factory=list)
    threshold: Any = field(default_factory=list)
    children_left: Any = field(default_factory=list)
    children_right: Any = field(default_factory=list)
    n_node_samples: Any = field(default_factory=list)
    value: Any = field(default_factory=list)

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return len(self.value)


def is_simple(ranks: npt.NDArray[np.float32]) -> bool:
    """Return whether ``grow_one_column_tree`` handles this matrix of ranks."""
    return ranks.shape[1] == 1 and bool(ranks.max() < _MOST_LEVELS)


def grow_one_column_tree(ranks: npt.NDArray[np.float32], y: Array, limits: Mapping[str, Any]) -> GrownTree:
    """Grow the tree of ``y`` by a simple matrix, within ``limits`` as ``tree`` passes them to scikit-learn."""
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
