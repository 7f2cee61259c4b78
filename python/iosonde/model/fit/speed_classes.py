"""Performance as classes: ten equal ones up to 5 % of the maximum, then each wider than the one before by 10 %.

The mapping comes from work on data sieving (Kunkel, Zimmer & Betke, "Predicting performance of non-contiguous I/O with
machine learning", ISC 2015). Its text allows two readings: the *width* of a class grows by 10 % (``width``: 41
classes), or its *upper end* does (``bound``: 42 classes).
"""

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError

from .features import Array

READINGS = ("width", "bound")
_EQUAL, _PART, _GROWTH = 10, 0.05, 1.1
_SLACK = 1e-9


def compute_class_upper_bounds(maximum: float, reading: str = "width") -> Array:
    """The upper ends of the classes; the last is ``maximum``. Raises InputError."""
    if reading not in READINGS:
        raise InputError(
            "unknown-option-value",
            "unknown reading '{choice}' of the classes",
            "use {choices}",
            choice=reading,
            choices=" or ".join(READINGS),
        )
    if not maximum > 0 or not np.isfinite(maximum):
        raise InputError(
            "not-positive",
            "classes need a maximum above 0, not {maximum:g}",
            "use {spell.family:tree}",
            maximum=maximum,
        )
    width = maximum * _PART / _EQUAL
    bounds = [width * number for number in range(1, _EQUAL + 1)]
    while bounds[-1] < maximum:
        width *= _GROWTH
        bounds.append(bounds[-1] + width if reading == "width" else bounds[-1] * _GROWTH)
    bounds[-1] = maximum
    return np.array(bounds)


def number_speed_classes(values: npt.ArrayLike, bounds: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Return the number of each value's class, from 1: (lower, upper], the first closed. Values above the last end are
    in the last class. A value that misses an end by 10⁻⁹ of it counts as the end."""
    ends = np.asarray(bounds, dtype=float) * (1 + _SLACK)
    return np.minimum(np.searchsorted(ends, np.asarray(values, dtype=float), side="left"), ends.size - 1) + 1


def compute_class_middles(bounds: npt.ArrayLike) -> Array:
    """Return the middle of each class, its prediction."""
    ends = np.asarray(bounds, dtype=float)
    return np.asarray((ends + np.concatenate([[0.0], ends[:-1]])) / 2, float)
