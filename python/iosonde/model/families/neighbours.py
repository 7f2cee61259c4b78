"""Nearest neighbours: the mean of the ``k`` nearest settings, weighted by 1 ÷ distance (Shepard 1968).

Distance counts levels: each number is placed from 0 to 1, by its logarithm if the levels are spaced by ratios, else by
its rank among the levels that were measured, between two levels in proportion; so sizes by powers of two are as far
apart as counts. Repeats of a setting are one
neighbour, their mean. Settings as far away as the k-th are neighbours too. A setting that was measured predicts itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.core.factor_levels import are_spaced_by_ratios
from iosonde.model.fit.coding import build_coded_columns, factors_to_json
from iosonde.model.fit.features import Array, Examples

NAME = "neighbours"
OPTIONS: dict[str, Any] = {"k": 5}
MOST_SETTINGS = 5000
_BLOCK = 256


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"k": 5, "factors": […], "settings": [{"at": […], "value": mean, "n": repeats}]}``. Raises DataError where
    there are too many settings to compare with."""
    settings, inverse, counts = np.unique(examples.x, axis=0, return_inverse=True, return_counts=True)
    if len(settings) > MOST_SETTINGS:
        raise DataError(
            "too-many-settings",
            "{settings} settings are too many neighbours",
            "use {spell.family:tree} or forest",
            settings=len(settings),
        )
    return {
        "k": int(options.get("k") or OPTIONS["k"]),
        "factors": describe_scales(factors_to_json(examples.features), settings),
        "settings": [
            {"at": at.tolist(), "value": float(value), "n": int(n)}
            for at, value, n in zip(
                settings, np.bincount(inverse.reshape(-1), examples.y) / counts, counts, strict=True
            )
        ],
    }


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """The weighted mean of the nearest settings."""
    positions = np.array([setting["at"] for setting in form["settings"]], dtype=float)
    values = np.array([setting["value"] for setting in form["settings"]], dtype=float)
    here, there = (
        to_distance_coordinates(form["factors"], positions, positions),
        to_distance_coordinates(form["factors"], positions, x),
    )
    k = min(int(form["k"]), len(values))
    prediction = np.empty(len(x))
    for start in range(0, len(x), _BLOCK):
        distance = np.sqrt(((there[start : start + _BLOCK, None, :] - here[None, :, :]) ** 2).sum(axis=2))
        limit = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
        with np.errstate(divide="ignore"):
            weight = np.where(distance <= limit * (1 + 1e-12), 1 / distance, 0.0)
        same = distance == 0
        weight = np.where(same.any(axis=1, keepdims=True), same, weight)
        prediction[start : start + _BLOCK] = weight @ values / weight.sum(axis=1)
    return prediction


def describe_scales(factors: Sequence[dict[str, Any]], positions: Array) -> list[dict[str, Any]]:
    """Add ``"scale": "log"`` to the factors whose levels in ``positions`` are spaced by ratios."""
    is_log = [
        "levels" not in factor and are_spaced_by_ratios(np.unique(column))
        for factor, column in zip(factors, positions.T, strict=True)
    ]
    return [{**factor, **({"scale": "log"} if log else {})} for factor, log in zip(factors, is_log, strict=True)]


def to_distance_coordinates(factors: Sequence[dict[str, Any]], positions: Array, x: Array) -> Array:
    """Rows of ``x`` in the coordinates of the distance: numbers by their logarithm, or by their place among the levels
    of ``positions``; beyond these, as at their ends."""
    columns = []
    for column in build_coded_columns(factors):
        values = column.values(x)
        if column.code is None:
            levels = np.unique(positions[:, column.index])
            places = np.linspace(0, 1, levels.size)
            if factors[column.index].get("scale") == "log":
                levels, values = np.log(levels[[0, -1]]), np.log(np.maximum(values, levels[0]))
                places = np.array([0.0, 1.0])
            values = np.interp(values, levels, places) if levels.size > 1 else 0 * values
        columns.append(values)
    return np.column_stack(columns)
