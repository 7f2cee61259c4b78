"""Gradient boosting (Friedman, Annals of Statistics 29, 2001): small trees, each fitted to the residuals of the others.

Prediction: start + rate × the sum of the trees' values. Beyond 10,000 rows each tree learns from a random sample of
10,000 (stochastic gradient boosting: Friedman, Computational Statistics & Data Analysis 38, 2002).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.model.families import nodes
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

Ranks = npt.NDArray[np.float32]
NAME = "boosting"
OPTIONS: dict[str, Any] = {"trees": 100, "depth": 3, "rate": 0.1, "min_leaf": 1}
MOST_ROWS = 10_000  # per tree


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"start": mean, "rate": 0.1, "factors": […], "trees": [nodes, …]}``."""
    chosen = {**OPTIONS, **options}
    factors = factors_to_json(examples.features)
    matrix, _ = nodes.build_training_matrix(factors, examples.x)
    grow_trees = _grow_trees_of_samples if len(examples) > MOST_ROWS else _grow_trees
    with nodes.skip_sklearn_checks():
        trees = grow_trees(matrix.ranks, examples.y, chosen, seed)
    return {
        "start": float(examples.y.mean()),
        "rate": float(chosen["rate"]),
        "factors": factors,
        "trees": [
            nodes.tree_to_nodes(tree, factors, matrix, [{"value": value} for value in tree.value[:, 0, 0].tolist()])
            for tree in trees
        ],
    }


def _grow_trees(ranks: Ranks, y: Array, chosen: Mapping[str, Any], seed: int) -> list[Any]:
    """Return the trees of scikit-learn's GradientBoostingRegressor, which takes three times as long for few rows."""
    from sklearn.tree import DecisionTreeRegressor

    state, prediction, trees = np.random.RandomState(seed), np.full(len(y), y.mean()), []
    for _ in range(int(chosen["trees"])):
        learner = DecisionTreeRegressor(**_to_limits(chosen), random_state=state)
        tree = learner.fit(ranks, y - prediction, check_input=False).tree_
        prediction = prediction + float(chosen["rate"]) * tree.value[:, 0, 0][tree.apply(ranks)]
        trees.append(tree)
    return trees


def _grow_trees_of_samples(ranks: Ranks, y: Array, chosen: Mapping[str, Any], seed: int) -> list[Any]:
    """Return trees, each of which learns from a random sample of the rows."""
    from sklearn.ensemble import GradientBoostingRegressor

    learner = GradientBoostingRegressor(
        **_to_limits(chosen),
        n_estimators=int(chosen["trees"]),
        learning_rate=float(chosen["rate"]),
        subsample=MOST_ROWS / len(y),
        random_state=seed,
    )
    return [estimator.tree_ for (estimator,) in learner.fit(ranks, y).estimators_]


def _to_limits(chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {"max_depth": int(chosen["depth"]) or None, "min_samples_leaf": int(chosen["min_leaf"]) or 1}


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """Start + rate × the sum of the trees."""
    total = np.zeros(len(x))
    for tree in form["trees"]:
        total += nodes.predict_by_leaf(tree, form["factors"], x)
    return float(form["start"]) + float(form["rate"]) * total
