"""A small tree from the workload to the setting to choose.

CART (Breiman et al. 1984) by scikit-learn, with midpoint thresholds and the Gini index. An instance's label is its best
setting; its weight is the loss of choosing at random, so that instances with similar settings do not shape the tree. A
node advises the setting with the highest mean share of the best, not the most frequent label. The result is plain
nodes; a tree cut at a lower depth is a tree of that depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.model.families.nodes import skip_sklearn_checks
from iosonde.model.fit.features import Feature

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
_LEAST = 2  # instances in a leaf: a rule for a single instance is useless


@dataclass(frozen=True)
class Question:
    """A yes-or-no question about an instance: ``x[feature] <= at``, or for text ``x[feature] == at``."""

    feature: int
    at: float
    equal: bool

    def holds(self, x: Array) -> npt.NDArray[np.bool_]:
        """Return which rows of ``x`` answer yes."""
        return np.asarray(x[:, self.feature] == self.at if self.equal else x[:, self.feature] <= self.at)


@dataclass(frozen=True)
class Node:
    """``choice`` is the setting advised if the tree ends here; ``rows`` are the instances it was learned from."""

    choice: int
    rows: Rows
    question: Question | None = None
    yes: Node | None = None
    no: Node | None = None

    @property
    def leaf(self) -> bool:
        """True if the node has no question."""
        return self.question is None

    @property
    def depth(self) -> int:
        """The number of questions on the longest path down."""
        return 0 if self.yes is None or self.no is None else 1 + max(self.yes.depth, self.no.depth)

    def leaves(self) -> Iterator[Node]:
        """Yield all leaves, yes before no."""
        if self.yes is None or self.no is None:
            yield self
        else:
            yield from self.yes.leaves()
            yield from self.no.leaves()


def grow_advice_tree(
    features: Sequence[Feature], x: Array, share: Array, labels: Rows, depth: int, weigh: bool = True
) -> Node:
    """Grow the tree of instances ``x`` with shares of the best (instances × settings) and their labels."""
    rows = np.arange(len(x))
    root = Node(int(share.mean(axis=0).argmax()), rows)
    if depth == 0 or not features or len(np.unique(labels)) < 2:
        return root
    from sklearn.tree import DecisionTreeClassifier

    questions = list(_iter_questions(features))
    # Ranks, as scikit-learn keeps 32 bits of a number; thresholds are numbers again (_choose_round_midpoint).
    columns = np.column_stack(
        [x[:, f] == at if equal else np.unique(x[:, f], return_inverse=True)[1] for f, at, equal in questions]
    ).astype(np.float32)
    weights = 1 - share.mean(axis=1) + 1e-9 if weigh else None
    learner = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=_LEAST, random_state=0)
    with skip_sklearn_checks():
        model = learner.fit(columns, labels, sample_weight=weights, check_input=False)
    return _build_node(model.tree_, 0, questions, (x, columns), share, rows)


def _iter_questions(features: Sequence[Feature]) -> Iterator[tuple[int, float, bool]]:
    """Yield the columns for scikit-learn: a number itself; for text each level against the rest."""
    for at, feature in enumerate(features):
        if feature.numeric:
            yield at, 0.0, False
        else:
            last = 1 if len(feature.levels) == 2 else len(feature.levels)
            yield from ((at, float(level), True) for level in range(last))


def _build_node(
    tree: Any,
    node: int,
    questions: Sequence[tuple[int, float, bool]],
    matrices: tuple[Array, npt.NDArray[np.float32]],
    share: Array,
    rows: Rows,
) -> Node:
    x, columns = matrices
    choice = int(share[rows].mean(axis=0).argmax())
    lower_child, right = int(tree.children_left[node]), int(tree.children_right[node])
    if lower_child == right:
        return Node(choice, rows)
    column = int(tree.feature[node])
    below = columns[rows, column] <= tree.threshold[node]
    sides = [
        _build_node(tree, child, questions, matrices, share, part)
        for child, part in ((lower_child, rows[below]), (right, rows[~below]))
    ]
    feature, level, equal = questions[column]
    if equal:
        return Node(choice, rows, Question(feature, level, True), sides[1], sides[0])
    return Node(choice, rows, Question(feature, _choose_round_midpoint(x[rows, feature], below), False), *sides)


def _choose_round_midpoint(values: Array, below: npt.NDArray[np.bool_]) -> float:
    """Return a value between the two nearest values of the factor, in the fewest digits within 1 % of their gap from
    the middle."""
    low, high = float(values[below].max()), float(values[~below].min())
    middle = low + (high - low) / 2
    for digits in range(2, 17):
        short = float(f"{middle:.{digits}g}")
        if abs(short - middle) <= 0.01 * (high - low):
            return short
    return middle if middle < high else low


def cut_tree(node: Node, depth: int) -> Node:
    """Cut the tree to at most ``depth`` questions on a path; branches with the same advice become one leaf."""
    if node.yes is None or node.no is None or depth == 0:
        return Node(node.choice, node.rows)
    yes, no = cut_tree(node.yes, depth - 1), cut_tree(node.no, depth - 1)
    return (
        Node(yes.choice, node.rows)
        if yes.leaf and no.leaf and yes.choice == no.choice
        else replace(node, yes=yes, no=no)
    )


def choose_settings_by_tree(node: Node, x: Array, depth: int | None = None) -> Rows:
    """Return the setting advised for each row of ``x``, by the tree or by its first ``depth`` questions."""
    settings = np.full(len(x), node.choice, dtype=np.intp)
    if node.question is None or node.yes is None or node.no is None or depth == 0:
        return settings
    below = None if depth is None else depth - 1
    yes = node.question.holds(x)
    settings[yes] = choose_settings_by_tree(node.yes, x[yes], below)
    settings[~yes] = choose_settings_by_tree(node.no, x[~yes], below)
    return settings
