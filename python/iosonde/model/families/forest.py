"""Random forest (Breiman, Machine Learning 45, 2001): the mean of many trees, each fitted to a resample of the rows.

A third of the columns is tried at each branch. Its form is its trees: readable, but hardly understandable; use a single
tree to explain.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.model.families import nodes
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

from .tree import to_sklearn_options

NAME = "forest"
OPTIONS: dict[str, Any] = {"trees": 50, "depth": 0, "min_leaf": 0}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"factors": […], "trees": [nodes, …]}``."""
    factors = factors_to_json(examples.features)
    matrix, columns = nodes.build_training_matrix(factors, examples.x)
    limits = to_sklearn_options(options, len(examples))
    limits["max_features"] = max(1, round(len(columns) / 3)) if len(columns) > 2 else len(columns)
    count = int(options.get("trees") or OPTIONS["trees"])
    return {
        "factors": factors,
        "trees": [
            nodes.tree_to_nodes(tree, factors, matrix, [{"value": value} for value in tree.value[:, 0, 0].tolist()])
            for tree in _grow_trees(matrix.ranks, examples.y, count, limits, seed)
        ],
    }


def _grow_trees(
    ranks: npt.NDArray[np.float32], y: Array, count: int, limits: Mapping[str, Any], seed: int
) -> list[Any]:
    """Return the trees of scikit-learn's RandomForestRegressor, which takes three times as long for few rows."""
    from sklearn.tree import DecisionTreeRegressor

    seeds = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=count)
    trees = []
    with nodes.skip_sklearn_checks():
        for own in seeds.tolist():
            rows = np.random.RandomState(own).randint(0, len(y), len(y))
            weights = np.bincount(rows, minlength=len(y)).astype(float)
            learner = DecisionTreeRegressor(**limits, random_state=own)
            trees.append(learner.fit(ranks, y, sample_weight=weights, check_input=False).tree_)
    return trees


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """The mean of the trees' predictions."""
    total: Array = np.sum([nodes.predict_by_leaf(tree, form["factors"], x) for tree in form["trees"]], axis=0)
    return total / len(form["trees"])
