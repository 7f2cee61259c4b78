"""Does the spread of trials grow with their mean, as where effects and noise multiply?

A power of the mean (Bartlett, Biometrics 3, 1947, 39-52): the slope of log(standard deviation) on log(mean) over the
settings is 0 for noise that adds, and 1 for noise that multiplies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from iosonde.core.arrays import Array

_MIN_SPAN = 3.0  # ratio of means, below which logarithms change little
_MIN_SLOPE = 0.5  # nearer to noise that multiplies
_MIN_Z = 2.576  # 1 % two-sided
_MIN_SETTINGS = 3


def grows_with_mean(settings: Sequence[Array]) -> bool:
    """Return whether the spread of the trials of the ``settings`` grows with their mean; False for values of 0 or
    below."""
    repeated = [values for values in settings if values.size > 1 and np.ptp(values) > 0]
    if len(repeated) < _MIN_SETTINGS or any(values.min() <= 0 for values in settings):
        return False
    means = np.array([float(values.mean()) for values in repeated])
    if means.max() < _MIN_SPAN * means.min():
        return False
    df = np.array([values.size - 1.0 for values in repeated])
    # E[log s] is about log σ - 1/(2 df), its variance 1/(2 (df - 0.6)): the first terms of di- and trigamma.
    spreads = np.array([math.log(float(values.std(ddof=1))) for values in repeated]) + 1 / (2 * df)
    weights = 2 * (df - 0.6)
    centered = np.log(means) - float(weights @ np.log(means) / weights.sum())
    information = float(weights @ centered**2)
    slope = float((weights * centered) @ spreads / information)
    return slope >= _MIN_SLOPE and slope * math.sqrt(information) > _MIN_Z
