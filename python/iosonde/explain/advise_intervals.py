"""Intervals of gains and shares: for few instances from the noise of their repeats.

If no instance can be held out, a gain holds for these instances alone. Its interval then follows from the variance of
trials within cells: that of each setting (Welch's, as ``compare`` has it), or pooled over all cells if more than two
settings have few trials each. Four repeats of four settings give it twelve degrees of freedom, their four rounds
three. Picking the best of several
settings needs several intervals (Bonferroni), which pays for the choice. Shares of the best possible are from 0 to 1:
an interval computed without these limits covers the truth too rarely if most shares are near 1.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.cell_spread import CellSpread, compute_spread_df

from .advise_defaults import compute_shares_of_best, get_best_values
from .instances import Array, Instances, Rows

_MIN_TRIALS = 5  # of each cell, for the spread of each of several settings


def has_repeats(instances: Instances) -> bool:
    """Return whether cells have repeats."""
    return bool(instances.log_df.sum())


def estimate_mean_from_noise(
    instances: Instances, values: Array, slopes: Array, level: float, estimate: Estimate | None = None
) -> Estimate:
    """Return the mean of ``values``, one an instance, with the t interval of its first-order variance (delta method).

    ``slopes`` (instances × settings) are its derivatives by the log mean of each cell. With ``estimate``, a
    cross-fitted one, the value is its own and the interval is extended to include it. Raises nothing; needs
    ``has_repeats``."""
    from iosonde.stats.estimate.distributions import t_critical

    variance, df = _compute_variance(instances, slopes)
    mean, half = float(values.mean()), t_critical(level, df) * math.sqrt(variance) / len(instances)
    if estimate is None or estimate.value is None:
        return Estimate(mean, mean - half, mean + half, level, int(instances.trials[slopes != 0].sum()))
    low, high = min(mean - half, estimate.value), max(mean + half, estimate.value)
    return replace(estimate, low=low, high=high, level=level, warnings=())


def _compute_variance(instances: Instances, slopes: Array) -> tuple[float, float]:
    """Return the variance of a linear form of log means, and its degrees of freedom: with the spread of each setting,
    as ``compare``; of more than two with that of all if few trials of each have next to no degrees of freedom."""
    n = instances.trials.astype(float)
    weights, settings = slopes**2 / n, n.shape[1]
    has_own_spread = (n > 1).any(axis=0).all() if settings <= 2 else n.min() >= _MIN_TRIALS
    if not has_own_spread:
        return float((instances.noise() ** 2 * weights.sum(axis=1)).sum()), float(instances.log_df.sum())
    spreads = [CellSpread(n[:, at], instances.log_ss[:, at]) for at in range(settings)]
    parts = [spread.parts(weights[:, at]) for at, spread in enumerate(spreads)]
    return float(sum(part.sum() for part, _ in parts)), compute_spread_df(parts, spreads)[0]


def to_one_hot(instances: Instances, at: Rows) -> Array:
    """Return instances × settings: 1 at the setting of each instance."""
    return np.asarray(np.eye(len(instances.settings))[at])


def _compute_log_speeds(instances: Instances) -> Array:
    return np.asarray(np.log(instances.values) * (-1.0 if instances.lower else 1.0))


def estimate_ratio_gain(
    instances: Instances, what: Rows, over: Rows, level: float, estimate: Estimate | None = None
) -> Estimate:
    """Estimate the mean log ratio of speeds of two settings of each instance."""
    slopes = to_one_hot(instances, what) - to_one_hot(instances, over)
    return estimate_mean_from_noise(
        instances, (_compute_log_speeds(instances) * slopes).sum(axis=1), slopes, level, estimate
    )


def estimate_share_gain(
    instances: Instances, what: Rows, weights: Array, level: float, estimate: Estimate | None = None
) -> Estimate:
    """Estimate what a setting adds to the share of the best over others with these ``weights`` (instances ×
    settings)."""
    share = compute_shares_of_best(instances.values, instances.lower)
    contrast = (to_one_hot(instances, what) - weights) * share
    values = contrast.sum(axis=1)
    slopes = contrast - values[:, None] * to_one_hot(instances, share.argmax(axis=1))
    gain = estimate_mean_from_noise(instances, values, slopes, level, estimate)
    # The first-order interval of a difference of 0 is too short; that of the logarithms, which are normal here, decides
    # whether 0 is possible.
    slopes = to_one_hot(instances, what) - weights
    logs = estimate_mean_from_noise(instances, (_compute_log_speeds(instances) * slopes).sum(axis=1), slopes, level)
    assert gain.low is not None and logs.low is not None
    return (replace(gain, low=min(gain.low, logs.low)) if logs.low <= 0 else gain).within(-1.0, 1.0)


def estimate_absolute_gain(
    instances: Instances, what: Rows, over: Rows, level: float, estimate: Estimate | None = None
) -> Estimate:
    """Estimate the mean difference in the response's unit; for a time the saving."""
    slopes = (
        (to_one_hot(instances, what) - to_one_hot(instances, over))
        * instances.values
        * (-1.0 if instances.lower else 1.0)
    )
    return estimate_mean_from_noise(instances, slopes.sum(axis=1), slopes, level, estimate)


def bound_instance_share(estimate: Estimate, values: Array) -> Estimate:
    """Bound ``estimate``, the mean of ``values`` (shares of instances) with its t interval.

    Values from 0 to 1 are skewed near an end: the interval is on the scale of log-odds, which stays inside (Newcombe
    2001, The American Statistician 55, 200–202). Values that noise carries beyond are nearly normal. Their interval is
    Student's, cut to the possible range, which does not reduce its coverage (Mandelkern 2002, Statistical Science 17,
    149–172)."""
    p = estimate.value
    assert p is not None
    bounded = values.min() >= 0.0 and values.max() <= 1.0
    if estimate.high is None or not bounded or not 0.0 < p < 1.0:
        return cut_share_to_range(estimate)
    half = (estimate.high - p) / (p * (1.0 - p))
    odds = math.log(p / (1.0 - p))
    return replace(estimate, low=_log_odds_to_share(odds - half), high=_log_odds_to_share(odds + half))


def _log_odds_to_share(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-odds)) if odds > -700 else 0.0


def cut_share_to_range(estimate: Estimate) -> Estimate:
    """Cut a share that exceeds its range by noise, or has no other interval, with a warning."""
    assert estimate.value is not None
    if 0.0 <= estimate.value <= 1.0:
        return estimate.within(0.0, 1.0)
    value, low, high = (
        None if x is None else min(max(x, 0.0), 1.0) for x in (estimate.value, estimate.low, estimate.high)
    )
    message = Message("cut-share", "cut to the range 0 to 1: by noise the mean is {mean:.4g}", mean=estimate.value)
    return replace(estimate, value=value, low=low, high=high, warnings=(*estimate.warnings, message))


def bound_repeat_share(instances: Instances, chosen: Sequence[int] | Rows, estimate: Estimate) -> Estimate:
    """Bound the share of the best that the settings ``chosen``, one for each instance, reach.

    Keeps the value of ``estimate``; the interval is that of multiple comparisons with the best (Hsu 1984, The Annals of
    Statistics 12, 1136–1144). It is constrained to the possible: no setting is better than the best. Noise of trials
    shared by the best and the chosen setting does not count twice. Bonferroni over settings and instances."""
    from iosonde.stats.estimate.distributions import t_quantile

    share = cut_share_to_range(estimate)
    noise, df = instances.noise(), float(instances.log_df.sum())
    if not df or share.value is None:
        return share
    logs = np.log(instances.values) * (-1.0 if instances.lower else 1.0)
    rows, at = np.arange(len(instances)), np.asarray(chosen)
    ahead = logs[rows, at][:, None] - logs
    spread = np.sqrt(1 / instances.trials[rows, at][:, None] + 1 / instances.trials)
    comparisons = (len(instances.settings) - 1) * len(instances)
    half = t_quantile(1 - (1 - estimate.level) / comparisons, df) * noise[:, None] * spread
    half[rows, at] = 0.0  # to itself; its difference, 0, constrains the others
    low, high = (float(np.exp((ahead + sign * half).min(axis=1)).mean()) for sign in (-1.0, 1.0))
    return replace(share, low=min(low, share.value), high=max(high, share.value))


def find_best_settings(instances: Instances) -> Rows:
    """Return the best setting of each instance."""
    return np.asarray((instances.values == get_best_values(instances.values, instances.lower)[:, None]).argmax(axis=1))
