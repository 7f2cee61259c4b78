"""How precisely a mean is known: the half-width of its interval, relative to it."""

import math

from iosonde.core.transforms import get_log_base
from iosonde.core.types import Estimate


def compute_relative_half_width(estimate: Estimate) -> float | None:
    """Return (high - low) ÷ 2 ÷ |value|; None without an interval or if the value is 0."""
    return (
        None
        if estimate.low is None or estimate.high is None or not estimate.value
        else (estimate.high - estimate.low) / 2 / abs(estimate.value)
    )


def compute_response_width(mean: Estimate, response: str) -> float | None:
    """Return the relative half-width of a mean; of a logarithm, that of the geometric mean."""
    base = get_log_base(response)
    if base is None or mean.low is None or mean.high is None:
        return compute_relative_half_width(mean)
    return math.expm1(min(700.0, math.log(base) * (mean.high - mean.low) / 2))
