"""Transforms of a column that an analysis accepts by name, such as ``log(Y)``."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .errors import DataError

Array = npt.NDArray[np.float64]

TRANSFORMS: dict[str, Callable[[Array], Array]] = {
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "square": np.square,
    "inverse": lambda x: 1 / x,
}
# Differences of these are ratios.
LOG_BASES = {"log": math.e, "log2": 2.0, "log10": 10.0}
LOGARITHMS = tuple(LOG_BASES)


def is_logarithm(response: str) -> bool:
    """Return whether a response is a logarithm, such as ``log10(write)``: its brackets hold no unit."""
    return response.startswith(tuple(f"{name}(" for name in LOGARITHMS))


def get_log_base(response: str) -> float | None:
    """Return the base of a response that is a logarithm, else None."""
    return LOG_BASES.get(response.partition("(")[0]) if is_logarithm(response) else None


def remove_logarithm(response: str) -> str:
    """Return what a response is the logarithm of; the response itself if it is none."""
    return response.partition("(")[2].removesuffix(")") if is_logarithm(response) else response


def apply_transform(transform: str, values: Array, column: str) -> Array:
    """Return the transformed values; NaN stays. Raises DataError for a value outside the transform's domain."""
    if not transform:
        return values
    with np.errstate(all="ignore"):
        result = TRANSFORMS[transform](values)
    if np.any(~np.isfinite(result) & ~np.isnan(values)):
        bad = values[~np.isfinite(result) & ~np.isnan(values)][0]
        raise DataError(
            "undefined-transform",
            "{transform}({column}) is undefined for {number:g}",
            "exclude such rows with {spell.where}",
            transform=transform,
            column=column,
            number=bad,
        )
    return result
