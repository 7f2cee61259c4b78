"""The linear model of the logarithm: effects multiply, and a prediction is never below 0.

A prediction is e to the linear model: the median of the response, not its mean, where the logarithm's errors are
even.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.model.fit.features import Array, Examples

from . import linear

NAME = "loglinear"
OPTIONS: dict[str, Any] = {"terms": ""}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The form of ``linear``, fitted to ln(response). Raises DataError where the response is not above 0."""
    if examples.y.min() <= 0:
        raise DataError(
            "response-not-positive",
            "{response} is not above 0 everywhere: it has no logarithm",
            "use {spell.family:linear}",
            response=examples.response,
        )
    return linear.fit_to(examples, np.log(examples.y), options)


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """e to the linear model; what is beyond all numbers is infinite."""
    with np.errstate(over="ignore"):
        return np.exp(linear.predict(form, x))
