"""Intervals of shares of the best possible, which are from 0 to 1.

An interval computed without these limits exceeds them, and covers the truth too rarely if most shares are near 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .advise_defaults import best_of
from .instances import Instances

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


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
        return cut(estimate)
    half = (estimate.high - p) / (p * (1.0 - p))
    odds = math.log(p / (1.0 - p))
    return replace(estimate, low=_share_at(odds - half), high=_share_at(odds + half))


def _share_at(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-odds)) if odds > -700 else 0.0


def cut(estimate: Estimate) -> Estimate:
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

    share = cut(estimate)
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


def best_settings(instances: Instances) -> Rows:
    """Return the best setting of each instance."""
    at = instances.values == best_of(instances.values, instances.lower)[:, None]
    return np.asarray(at.argmax(axis=1))
