"""Class tree: performance is divided into classes, a tree selects the class, the class's middle is the prediction.

The classes are those of ``iosonde.model.fit.speed_classes``; ``reading`` is one of its two. The tree is a CART
classifier (Gini). Each leaf keeps the class frequencies. Custom classes are given by their upper ends without the last,
and by names: ``ends=25,75 names=slow,avg,fast``.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError
from iosonde.model.families import nodes
from iosonde.model.fit import speed_classes
from iosonde.model.fit.coding import factors_to_json
from iosonde.model.fit.features import Array, Examples

from .tree import to_sklearn_options

NAME = "classes"
OPTIONS: dict[str, Any] = {"depth": 0, "min_leaf": 0, "reading": "width", "maximum": 0.0, "ends": "", "names": ""}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"bounds": upper ends of the classes, "factors": […], "nodes": […]}``. Raises DataError for a response
    below 0."""
    from sklearn.tree import DecisionTreeClassifier

    if examples.y.min() < 0:
        raise DataError(
            "negative-response",
            "{response} is below 0 in places: it has no speed classes",
            "use {spell.family:tree}",
            response=examples.response,
        )
    bounds, names = _read_classes(options, float(options.get("maximum") or examples.y.max()))
    class_numbers, middles = (
        speed_classes.number_speed_classes(examples.y, bounds),
        speed_classes.compute_class_middles(bounds),
    )
    factors = factors_to_json(examples.features)
    matrix, _ = nodes.build_training_matrix(factors, examples.x)
    grown = DecisionTreeClassifier(**to_sklearn_options(options, len(examples)), random_state=seed)
    with warnings.catch_warnings(), nodes.skip_sklearn_checks():
        warnings.filterwarnings("ignore", "The number of unique classes")  # few rows have many classes here
        grown.fit(matrix.ranks, class_numbers)
    counts = grown.tree_.value[:, 0, :] * grown.tree_.n_node_samples[:, None]
    return {
        "bounds": bounds.tolist(),
        "factors": factors,
        "nodes": nodes.tree_to_nodes(
            grown.tree_,
            factors,
            matrix,
            [_build_leaf(np.rint(row).astype(int), grown.classes_, middles, names) for row in counts],
        ),
    }


def get_custom_class_bounds(options: Mapping[str, Any], y: Array) -> Array | None:
    """Return the upper ends of custom classes; None without them, or for a response below 0."""
    return (
        None
        if not options.get("ends") or y.min() < 0
        else _read_classes(options, float(options.get("maximum") or y.max()))[0]
    )


def _read_classes(options: Mapping[str, Any], maximum: float) -> tuple[Array, list[str]]:
    """(upper ends, names or none). Raises InputError."""
    names = [name for name in str(options.get("names") or "").split(",") if name]
    if not options.get("ends"):
        bounds = speed_classes.compute_class_upper_bounds(maximum, str(options.get("reading") or "width"))
    else:
        try:
            ends = [float(text) for text in str(options["ends"]).split(",")]
        except ValueError:
            raise InputError(
                "not-a-number", "classes ends={ends} are not numbers", "write ends=25,75", ends=options["ends"]
            ) from None
        bounds = np.array([*ends, maximum])
        if not (np.diff(bounds, prepend=0.0) > 0).all():
            raise InputError(
                "class-ends-not-rising",
                "classes end at {ends}, not rising from 0 to below {maximum:g}",
                "write them in order, without the last",
                ends=options["ends"],
                maximum=maximum,
            )
    if names and len(names) != len(bounds):
        raise InputError(
            "class-count-mismatch",
            "{names} names for {classes} classes",
            "give each a name",
            names=len(names),
            classes=len(bounds),
        )
    return bounds, names


def _build_leaf(counts: Any, numbers: Any, middles: Array, names: list[str]) -> dict[str, Any]:
    chosen = int(numbers[counts.argmax()])
    return {
        "class": chosen,
        **({"name": names[chosen - 1]} if names else {}),
        "value": float(middles[chosen - 1]),
        "classes": {str(int(number)): int(count) for number, count in zip(numbers, counts, strict=True) if count},
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """Return the middle of the class of each row's leaf."""
    return nodes.predict_by_leaf(form["nodes"], form["factors"], x)
