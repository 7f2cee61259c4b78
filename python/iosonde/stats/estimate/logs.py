"""What was estimated of logarithms, turned back."""

from __future__ import annotations

import math
from dataclasses import replace

from iosonde.core.message import Message
from iosonde.core.types import Estimate

LARGEST_LOG = 700.0  # exp of more is infinite
TOO_FAR = Message("spread-too-large", "the trials spread so far that no interval can be computed")


def exp_of(logs: Estimate) -> Estimate:
    """exp of the value and of both ends. No interval where one is beyond all numbers, and no value where that is."""
    value = None if logs.value is None or abs(logs.value) > LARGEST_LOG else math.exp(logs.value)
    if logs.low is None or logs.high is None:
        return replace(logs, value=value)
    if max(-logs.low, logs.high) > LARGEST_LOG:
        return replace(logs, value=value, low=None, high=None, warnings=(*logs.warnings, TOO_FAR))
    return replace(logs, value=value, low=math.exp(logs.low), high=math.exp(logs.high))
