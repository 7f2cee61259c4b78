"""The power law: a linear model of the response's logarithm on the logarithms of the factors.

A number above 0 everywhere counts by its logarithm, so that its coefficient is an exponent; any other factor as in
``loglinear``. A prediction is the median of the response.
"""

from collections.abc import Mapping
from typing import Any

from iosonde.model.fit.features import Array, Examples, Feature

from . import loglinear

NAME = "loglog"
OPTIONS: dict[str, Any] = {}


def fit(examples: Examples, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The form of ``loglinear``. Raises DataError where the response is not above 0."""
    terms = [_build_term(feature) for feature in examples.features]
    return loglinear.fit(examples, {**options, "terms": ", ".join(terms)}, seed)


def _build_term(feature: Feature) -> str:
    return f"log({feature.name})" if has_exponent(feature) else feature.name


def has_exponent(feature: Feature) -> bool:
    """Return whether a factor counts by its logarithm."""
    return feature.numeric and feature.low > 0


def predict(form: Mapping[str, Any], x: Array) -> Array:
    """e to the linear model."""
    return loglinear.predict(form, x)
