"""A regression tree as a list of plain nodes: converted from scikit-learn, evaluated here, printed as rules.

A branch is ``{"factor": "size", "at_most": 6144, "yes": 1, "no": 4}`` or ``{"factor": "fs", "is": "nfs", …}``; ``yes``
and ``no`` are later places in the list, so no file can make a prediction loop. A leaf is ``{"value": 81.2, "n": 12}``.
Every node has its number of measurements.

Trees learn from the rank of a value among the distinct values: the result depends on the order alone, not on
scikit-learn's 32-bit columns. A threshold lies in the middle between two neighbouring levels.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..fit.coding import Coded, build_coded_columns
from ..fit.features import Array

Node = dict[str, Any]
Factors = Sequence[Mapping[str, Any]]
_TWO = 2


@dataclass(frozen=True)
class RankedMatrix:
    """A matrix by ranks, and the values that the ranks stand for, column by column."""

    ranks: npt.NDArray[np.float32]
    levels: tuple[Array, ...]


def skip_sklearn_checks() -> AbstractContextManager[None]:
    """Have scikit-learn trust its parameters, which are ours, and its rows, which are finite: half of the time for
    small trees."""
    from sklearn import config_context

    return cast(AbstractContextManager[None], config_context(assume_finite=True, skip_parameter_validation=True))


def rank_columns(matrix: Array) -> RankedMatrix:
    """Each value as its place among the distinct values of its column."""
    columns = [np.unique(column, return_inverse=True) for column in matrix.T]
    return RankedMatrix(
        np.column_stack([inverse for _, inverse in columns]).astype(np.float32), tuple(levels for levels, _ in columns)
    )


def tree_to_nodes(tree: Any, factors: Factors, matrix: RankedMatrix, leaves: Sequence[Node]) -> list[Node]:
    """Convert a scikit-learn ``tree_`` that learned from ``matrix.ranks`` to nodes. ``leaves`` holds a leaf's content
    for every node number. scikit-learn numbers depth first, so children come after their parent."""
    columns = build_coded_columns([dict(factor) for factor in factors])
    feature, thresholds = tree.feature, np.zeros(tree.node_count)
    for number, levels in enumerate(matrix.levels):
        here = feature == number
        if here.any():
            thresholds[here] = _interpolate_levels(levels, tree.threshold[here])
    numbers = zip(
        feature.tolist(),
        thresholds.tolist(),
        tree.children_left.tolist(),
        tree.children_right.tolist(),
        tree.n_node_samples.tolist(),
        leaves,
        strict=True,
    )
    nodes: list[Node] = []
    for at, threshold, below_child, right, n, leaf in numbers:
        if below_child < 0:
            nodes.append({**leaf, "n": n})
            continue
        factor, code = factors[columns[at].index], columns[at].code
        if code is None:
            nodes.append({"factor": factor["name"], "at_most": threshold, "yes": below_child, "no": right, "n": n})
        else:  # its rank is 1 where it is this level: the right-hand child
            nodes.append(
                {"factor": factor["name"], "is": factor["levels"][code], "yes": right, "no": below_child, "n": n}
            )
    return nodes


def _interpolate_levels(levels: Array, ranks: Array) -> Array:
    """Return the values at ranks such as 2.5: the middle between two levels, in 6 digits if these distinguish them."""
    exact = np.interp(ranks, np.arange(levels.size), levels)
    short = np.array([float(f"{value:.6g}") for value in exact])
    low, high = (
        levels[np.floor(ranks).astype(int)],
        levels[np.minimum(np.floor(ranks).astype(int) + 1, levels.size - 1)],
    )
    return np.where((low <= short) & (short < high), short, exact)


def find_leaves(nodes: Sequence[Node], factors: Factors, x: Array) -> npt.NDArray[np.intp]:
    """The place of the leaf that each row ends in. Raises ValueError where the nodes are not a tree."""
    places = {factor["name"]: index for index, factor in enumerate(factors)}
    n = len(nodes)
    column, code = np.zeros(n, np.intp), np.full(n, -1.0)
    at_most, yes, no = np.zeros(n), np.arange(n), np.arange(n)
    for number, node in enumerate(nodes):
        if "factor" not in node:
            continue
        column[number] = places[node["factor"]]
        if "is" in node:
            code[number] = list(factors[column[number]]["levels"]).index(node["is"])
        else:
            at_most[number] = node["at_most"]
        yes[number], no[number] = node["yes"], node["no"]
        if not (number < yes[number] < n and number < no[number] < n):
            raise ValueError(f"node {number} leads to no later node")
    at = np.zeros(len(x), np.intp)
    moving = np.arange(len(x))
    while moving.size:
        here = at[moving]
        value = x[moving, column[here]]
        right = np.where(code[here] >= 0, value == code[here], value <= at_most[here])
        at[moving] = np.where(right, yes[here], no[here])
        moving = moving[at[moving] != here]
    return at


def predict_by_leaf(nodes: Sequence[Node], factors: Factors, x: Array) -> Array:
    """The value of the leaf that each row ends in."""
    return np.array([node.get("value", np.nan) for node in nodes], dtype=float)[find_leaves(nodes, factors, x)]


def compute_tree_depth(nodes: Sequence[Node]) -> int:
    """Return the number of questions until the deepest leaf."""
    deep = [0] * len(nodes)
    for number, node in enumerate(nodes):
        if "factor" in node:
            deep[node["yes"]] = deep[node["no"]] = deep[number] + 1
    return max(deep)


@dataclass(frozen=True)
class TreeRule:
    """A leaf and the conditions that lead to it, in words."""

    conditions: tuple[str, ...]
    leaf: Node

    def __str__(self) -> str:
        return f"if {' and '.join(self.conditions)}" if self.conditions else "always"


def iter_leaf_rules(nodes: Sequence[Node], factors: Factors = ()) -> Iterator[TreeRule]:
    """Return every leaf, from the left. Conditions on one number are joined: ``4096 < size <= 65536``. With
    ``factors``, the complement of one of two levels is named by the other level."""
    pairs = {factor["name"]: list(factor.get("levels") or ()) for factor in factors}
    waiting: list[tuple[int, tuple[tuple[str, str, Any], ...]]] = [(0, ())]
    while waiting:
        number, path = waiting.pop()
        node = nodes[number]
        if "factor" not in node:
            yield TreeRule(_join_conditions(path), node)
            continue
        kind = "is" if "is" in node else "at_most"
        other = {"is": "is not", "at_most": "above"}[kind]
        away = (node["factor"], other, node[kind])
        levels = pairs.get(node["factor"], [])
        if kind == "is" and len(levels) == _TWO:
            away = (node["factor"], "is", levels[1 - levels.index(node["is"])])
        waiting.append((node["no"], (*path, away)))
        waiting.append((node["yes"], (*path, (node["factor"], kind, node[kind]))))


def _join_conditions(path: Sequence[tuple[str, str, Any]]) -> tuple[str, ...]:
    conditions = []
    for factor in dict.fromkeys(name for name, _, _ in path):
        mine = {
            kind: [value for name, k, value in path if name == factor and k == kind]
            for kind in ("is", "is not", "at_most", "above")
        }
        low: float | None = max(mine["above"], default=None)
        high: float | None = min(mine["at_most"], default=None)
        if mine["is"]:
            conditions.append(f"{factor} = {mine['is'][0]}")
        elif mine["is not"]:
            conditions.append(f"{factor} is not {' or '.join(map(str, mine['is not']))}")
        elif low is not None and high is not None:
            conditions.append(f"{_format_number(low)} < {factor} <= {_format_number(high)}")
        elif low is not None:
            conditions.append(f"{factor} > {_format_number(low)}")
        elif high is not None:
            conditions.append(f"{factor} <= {_format_number(high)}")
    return tuple(conditions)


def _format_number(value: float) -> str:
    return f"{value:.12g}"


def build_training_matrix(factors: Factors, x: Array) -> tuple[RankedMatrix, list[Coded]]:
    """Return the training matrix of a tree: the coded columns by ranks."""
    columns = build_coded_columns([dict(factor) for factor in factors])
    return rank_columns(np.column_stack([column.values(x) for column in columns])), columns
