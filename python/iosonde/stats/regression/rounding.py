"""What of numbers is nothing but rounding: no error that anything could be held against.

Bytes and calls that are counted are often exactly the same in every repetition. What least squares leave over of them
is the last bits of their own arithmetic, and an F against that would be as large as it likes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message

Array = npt.NDArray[np.float64]

NO_ERROR = Message(
    "no-residual",
    "the terms leave nothing over but rounding: there is no error to hold them against, and F and p are not told",
)
_ROUNDING = 2e-15  # of the largest number: some times its last bit


def beyond_rounding(ss: float, y: Array) -> float:
    """A sum of squares of residuals of ``y``; 0 where it is rounding."""
    return ss if ss > y.size * least_spread(y) ** 2 else 0.0


def alike(y: Array) -> str:
    """How all rows are the same, in words: ``is the same``; '' where they are not."""
    spread = float(np.ptp(y)) if y.size else 0.0
    if spread > least_spread(y):
        return ""
    return "differs by no more than rounding" if spread else "is the same"


def least_spread(y: Array) -> float:
    """A standard deviation of ``y`` that may be rounding."""
    return _ROUNDING * float(np.abs(y).max(initial=0.0))
