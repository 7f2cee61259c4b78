"""The mean of everything: the baseline that every model has to beat."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde.model.fit.features import Array, Examples

NAME = "mean"
OPTIONS: dict[str, Any] = {}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """``{"value": mean}``."""
    return {"value": float(examples.y.mean())}


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """The same for every row."""
    return np.full(len(x), float(form["value"]))
