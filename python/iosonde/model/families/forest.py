"""Random forest (Breiman, Machine Learning 45, 2001): the mean of many trees, each fitted to a resample of the rows.

A third of the columns is tried at each branch. Its form is its trees: readable, but hardly understandable; use a single
tree to explain.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde.model.families import nodes
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

from .tree import to_sklearn_options

NAME = "forest"
OPTIONS: dict[str, Any] = {"trees": 50, "depth": 0, "min_leaf": 0}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"factors": […], "trees": [nodes, …]}``."""
    from sklearn.ensemble import RandomForestRegressor

    factors = factors_to_json(examples.features)
    matrix, columns = nodes.build_training_matrix(factors, examples.x)
    grown = RandomForestRegressor(
        int(options.get("trees") or OPTIONS["trees"]),
        max_features=max(1, round(len(columns) / 3)) if len(columns) > 2 else len(columns),
        random_state=seed,
        **to_sklearn_options(options, len(examples)),
    ).fit(matrix.ranks, examples.y)
    return {
        "factors": factors,
        "trees": [
            nodes.tree_to_nodes(
                estimator.tree_, factors, matrix, [{"value": float(value)} for value in estimator.tree_.value[:, 0, 0]]
            )
            for estimator in grown.estimators_
        ],
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """The mean of the trees' predictions."""
    total: Array = np.sum([nodes.predict_by_leaf(tree, form["factors"], x) for tree in form["trees"]], axis=0)
    return total / len(form["trees"])
