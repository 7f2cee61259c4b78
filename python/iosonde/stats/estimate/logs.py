"""Back-transformation of estimates of logarithms."""

import math
from dataclasses import replace

from iosonde.core.message import Message
from iosonde.core.types import Estimate

LARGEST_LOG = 700.0  # exp of more is infinite
TOO_FAR = Message("spread-too-large", "the spread of the trials is too large to compute an interval")


def exp_estimate(logs: Estimate) -> Estimate:
    """Return exp of the value and of both ends. An overflow of an end leaves no interval, one of the value no value."""
    value = None if logs.value is None or abs(logs.value) > LARGEST_LOG else math.exp(logs.value)
    if logs.low is None or logs.high is None:
        return replace(logs, value=value)
    if max(-logs.low, logs.high) > LARGEST_LOG:
        return replace(logs, value=value, low=None, high=None, warnings=(*logs.warnings, TOO_FAR))
    return replace(logs, value=value, low=math.exp(logs.low), high=math.exp(logs.high))
