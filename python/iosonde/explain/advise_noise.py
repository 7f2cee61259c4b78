"""What is known of few instances by the noise of their repeats, pooled over all cells.

Where no instance can be held out, a gain holds for these instances alone. Its interval then follows from the spread of
trials within cells, which all cells tell together: four repeats of four settings have twelve degrees of freedom for
it, and their four rounds three. Who picks the best of several settings asks for as many intervals as settings
(Bonferroni), which pays for the choice.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from .advise_defaults import shares
from .instances import Instances

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


def has_repeats(instances: Instances) -> bool:
    """Whether cells have repeats."""
    return bool(instances.log_df.sum())


def by_noise(
    instances: Instances, values: Array, slopes: Array, level: float, estimate: Estimate | None = None
) -> Estimate:
    """The mean of ``values``, one an instance, with the t interval of its first-order variance: ``slopes`` (instances ×
    settings) are its derivatives by the log mean of each cell (delta method). Of ``estimate``, which was measured where
    nothing was chosen, the value, which the interval is made to hold. Raises nothing; needs ``has_repeats``."""
    from iosonde.stats.estimate.distributions import t_critical

    df = float(instances.log_df.sum())
    variance = float((instances.noise() ** 2 * (slopes**2 / instances.trials).sum(axis=1)).sum())
    mean, half = float(values.mean()), t_critical(level, df) * math.sqrt(variance) / len(instances)
    if estimate is None or estimate.value is None:
        return Estimate(mean, mean - half, mean + half, level, int(instances.trials[slopes != 0].sum()))
    low, high = min(mean - half, estimate.value), max(mean + half, estimate.value)
    return replace(estimate, low=low, high=high, level=level, warnings=())


def one_hot(instances: Instances, at: Rows) -> Array:
    """Instances × settings: 1 at the setting of each instance."""
    return np.asarray(np.eye(len(instances.settings))[at])


def _log_speeds(instances: Instances) -> Array:
    """Of speeds."""
    return np.asarray(np.log(instances.values) * (-1.0 if instances.lower else 1.0))


def ratio_gain(instances: Instances, what: Rows, over: Rows, level: float, estimate: Estimate) -> Estimate:
    """The mean log ratio of speeds of two settings of each instance."""
    slopes = one_hot(instances, what) - one_hot(instances, over)
    return by_noise(instances, (_log_speeds(instances) * slopes).sum(axis=1), slopes, level, estimate)


def share_gain(instances: Instances, what: Rows, weights: Array, level: float, estimate: Estimate) -> Estimate:
    """What a setting adds to the share of the best over others with these ``weights`` (instances × settings)."""
    share = shares(instances.values, instances.lower)
    contrast = (one_hot(instances, what) - weights) * share
    values = contrast.sum(axis=1)
    slopes = contrast - values[:, None] * one_hot(instances, share.argmax(axis=1))
    gain = by_noise(instances, values, slopes, level, estimate)
    # Of a difference that is 0 its first-order interval holds too little; that of the logarithms, which are what is
    # normal here, says whether it may be.
    slopes = one_hot(instances, what) - weights
    logs = by_noise(instances, (_log_speeds(instances) * slopes).sum(axis=1), slopes, level)
    assert gain.low is not None and logs.low is not None
    return (replace(gain, low=min(gain.low, logs.low)) if logs.low <= 0 else gain).within(-1.0, 1.0)


def absolute_gain(instances: Instances, what: Rows, over: Rows, level: float, estimate: Estimate) -> Estimate:
    """The mean difference in the response's unit; for a time what is saved."""
    slopes = (
        (one_hot(instances, what) - one_hot(instances, over)) * instances.values * (-1.0 if instances.lower else 1.0)
    )
    return by_noise(instances, slopes.sum(axis=1), slopes, level, estimate)
