"""Regression tree (CART: Breiman, Friedman, Olshen & Stone 1984), grown by scikit-learn (``one_column``: here).

A leaf predicts the mean of its measurements. ``depth`` limits the questions, ``min_leaf`` the measurements of a leaf.
``min_leaf`` 0 means one in a thousand rows, so that a tree of many rows stays readable.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.model.families import nodes, one_column
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

NAME = "tree"
OPTIONS: dict[str, Any] = {"depth": 0, "min_leaf": 0}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"factors": […], "nodes": […]}``."""
    factors = factors_to_json(examples.features)
    matrix, _ = nodes.build_training_matrix(factors, examples.x)
    tree = _grow_tree(matrix.ranks, examples.y, to_sklearn_options(options, len(examples)), seed)
    return {
        "factors": factors,
        "nodes": nodes.tree_to_nodes(
            tree, factors, matrix, [{"value": value} for value in tree.value.ravel().tolist()]
        ),
    }


def _grow_tree(ranks: npt.NDArray[np.float32], y: Array, limits: Mapping[str, Any], seed: int) -> Any:
    if one_column.is_simple(ranks):
        return one_column.grow_column_tree(ranks, y, limits)
    from sklearn.tree import DecisionTreeRegressor

    with nodes.skip_sklearn_checks():
        return DecisionTreeRegressor(**limits, random_state=seed).fit(ranks, y).tree_


def to_sklearn_options(options: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return our options under scikit-learn's names."""
    return {
        "max_depth": options.get("depth") or None,
        "min_samples_leaf": options.get("min_leaf") or max(1, n // 1000),
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """The mean of the leaf that a row ends in."""
    return nodes.predict_by_leaf(form["nodes"], form["factors"], x)
