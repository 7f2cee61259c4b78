"""Intervals for few instances from the noise of their repeats, pooled over all cells.

If no instance can be held out, a gain holds for these instances alone. Its interval then follows from the variance of
trials within cells, pooled over all cells. Four repeats of four settings give it twelve degrees of freedom, their four
rounds three. Picking the best of several settings needs as many intervals as settings (Bonferroni), which pays for the
choice.
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
    """Return whether cells have repeats."""
    return bool(instances.log_df.sum())


def by_noise(
    instances: Instances, values: Array, slopes: Array, level: float, estimate: Estimate | None = None
) -> Estimate:
    """Return the mean of ``values``, one an instance, with the t interval of its first-order variance (delta method).

    ``slopes`` (instances × settings) are its derivatives by the log mean of each cell. With ``estimate``, a
    cross-fitted one, the value is its own and the interval is extended to include it. Raises nothing; needs
    ``has_repeats``."""
    from iosonde.stats.estimate.distributions import t_critical

    df = float(instances.log_df.sum())
    variance = float((instances.noise() ** 2 * (slopes**2 / instances.trials).sum(axis=1)).sum())
    mean, half = float(values.mean()), t_critical(level, df) * math.sqrt(variance) / len(instances)
    if estimate is None or estimate.value is None:
        return Estimate(mean, mean - half, mean + half, level, int(instances.trials[slopes != 0].sum()))
    low, high = min(mean - half, estimate.value), max(mean + half, estimate.value)
    return replace(estimate, low=low, high=high, level=level, warnings=())


def one_hot(instances: Instances, at: Rows) -> Array:
    """Return instances × settings: 1 at the setting of each instance."""
    return np.asarray(np.eye(len(instances.settings))[at])


def _log_speeds(instances: Instances) -> Array:
    """Return the logarithms of the speeds."""
    return np.asarray(np.log(instances.values) * (-1.0 if instances.lower else 1.0))


def ratio_gain(instances: Instances, what: Rows, over: Rows, level: float, estimate: Estimate) -> Estimate:
    """Estimate the mean log ratio of speeds of two settings of each instance."""
    slopes = one_hot(instances, what) - one_hot(instances, over)
    return by_noise(instances, (_log_speeds(instances) * slopes).sum(axis=1), slopes, level, estimate)


def share_gain(instances: Instances, what: Rows, weights: Array, level: float, estimate: Estimate) -> Estimate:
    """Estimate what a setting adds to the share of the best over others with these ``weights`` (instances ×
    settings)."""
    share = shares(instances.values, instances.lower)
    contrast = (one_hot(instances, what) - weights) * share
    values = contrast.sum(axis=1)
    slopes = contrast - values[:, None] * one_hot(instances, share.argmax(axis=1))
    gain = by_noise(instances, values, slopes, level, estimate)
    # The first-order interval of a difference of 0 is too short; that of the logarithms, which are normal here, decides
    # whether 0 is possible.
    slopes = one_hot(instances, what) - weights
    logs = by_noise(instances, (_log_speeds(instances) * slopes).sum(axis=1), slopes, level)
    assert gain.low is not None and logs.low is not None
    return (replace(gain, low=min(gain.low, logs.low)) if logs.low <= 0 else gain).within(-1.0, 1.0)


def absolute_gain(instances: Instances, what: Rows, over: Rows, level: float, estimate: Estimate) -> Estimate:
    """Estimate the mean difference in the response's unit; for a time the saving."""
    slopes = (
        (one_hot(instances, what) - one_hot(instances, over)) * instances.values * (-1.0 if instances.lower else 1.0)
    )
    return by_noise(instances, slopes.sum(axis=1), slopes, level, estimate)
