"""Regression tree (CART: Breiman, Friedman, Olshen & Stone 1984), grown by scikit-learn, kept as nodes.

A leaf predicts the mean of its measurements. ``depth`` limits the questions, ``min_leaf`` the measurements of a
leaf; where ``min_leaf`` is 0, one in a thousand rows, so that a tree of many rows can still be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iosonde.model.families import nodes
from iosonde.model.fit.coding import factors_json
from iosonde.model.fit.features import Array, Examples

NAME = "tree"
OPTIONS: dict[str, Any] = {"depth": 0, "min_leaf": 0}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"factors": […], "nodes": […]}``."""
    from sklearn.tree import DecisionTreeRegressor

    factors = factors_json(examples.features)
    seen, _ = nodes.matrix_of(factors, examples.x)
    grown = DecisionTreeRegressor(**limits(options, len(examples)), random_state=seed).fit(seen.ranks, examples.y)
    tree = grown.tree_
    leaves = [{"value": float(value)} for value in tree.value[:, 0, 0]]
    return {"factors": factors, "nodes": nodes.read_out(tree, factors, seen, leaves)}


def limits(options: Mapping[str, Any], n: int) -> dict[str, Any]:
    """scikit-learn's words for our options."""
    return {
        "max_depth": options.get("depth") or None,
        "min_samples_leaf": options.get("min_leaf") or max(1, n // 1000),
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """The mean of the leaf that a row ends in."""
    return nodes.predict(form["nodes"], form["factors"], x)
