"""Gradient boosting (Friedman, Annals of Statistics 29, 2001): small trees, each fitted to the residuals of the others.

Prediction: start + rate × the sum of the trees' values. Beyond 10,000 rows each tree learns from a random sample of
10,000 (stochastic gradient boosting: Friedman, Computational Statistics & Data Analysis 38, 2002).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde.model.families import nodes
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

NAME = "boosting"
OPTIONS: dict[str, Any] = {"trees": 100, "depth": 3, "rate": 0.1, "min_leaf": 1}
MOST_ROWS = 10_000  # per tree


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"start": mean, "rate": 0.1, "factors": […], "trees": [nodes, …]}``."""
    from sklearn.ensemble import GradientBoostingRegressor

    chosen = {**OPTIONS, **options}
    factors = factors_to_json(examples.features)
    matrix, _ = nodes.build_training_matrix(factors, examples.x)
    learner = GradientBoostingRegressor(
        n_estimators=int(chosen["trees"]),
        max_depth=int(chosen["depth"]) or None,
        learning_rate=float(chosen["rate"]),
        min_samples_leaf=int(chosen["min_leaf"]) or 1,
        subsample=min(1.0, MOST_ROWS / len(examples)),
        random_state=seed,
    )
    with nodes.skip_sklearn_checks():
        grown = learner.fit(matrix.ranks, examples.y)
    return {
        "start": float(examples.y.mean()),
        "rate": float(chosen["rate"]),
        "factors": factors,
        "trees": [
            nodes.tree_to_nodes(
                estimator.tree_,
                factors,
                matrix,
                [{"value": value} for value in estimator.tree_.value[:, 0, 0].tolist()],
            )
            for (estimator,) in grown.estimators_
        ],
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """Start + rate × the sum of the trees."""
    total = np.zeros(len(x))
    for tree in form["trees"]:
        total += nodes.predict_by_leaf(tree, form["factors"], x)
    return float(form["start"]) + float(form["rate"]) * total
