"""Rounding: residuals that are too small to serve as an error term.

Counts of bytes and calls are often identical in every repetition. Their least-squares residuals are only the last bits
of floating-point arithmetic, and an F against them would be arbitrarily large.
"""

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.message import Message

NO_ERROR = Message(
    "no-residual",
    "the residuals are only rounding: there is no error to test against, and no F and p",
)
_ROUNDING = 2e-15  # relative to the largest number: a few times its last bit


def zero_if_rounding(ss: float, y: Array) -> float:
    """Return a sum of squares of residuals of ``y``; 0 if it is rounding."""
    return ss if ss > y.size * compute_rounding_sd(y) ** 2 else 0.0


def describe_equal_rows(y: Array) -> str:
    """Describe how all rows are the same: ``is the same``; '' if they differ."""
    spread = float(np.ptp(y)) if y.size else 0.0
    if spread > compute_rounding_sd(y):
        return ""
    return "differs by no more than rounding" if spread else "is the same"


def compute_rounding_sd(y: Array) -> float:
    """Return a standard deviation of ``y`` that may be rounding."""
    return _ROUNDING * float(np.abs(y).max(initial=0.0))
