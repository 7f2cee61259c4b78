"""How likely each place within the bounds of a change is."""

import math
from dataclasses import replace

import numpy as np

from iosonde.core.arrays import Array

from .evidence import compute_variance_inflation, evaluate_split
from .find import Break, compute_correlation_bound

_LARGE = 3.0  # standard deviations of a step whose values themselves say where it is
_NEARLY = 3.0  # in log likelihood, as of the bounds of a split
_TAIL_DF = 5.0  # of the noise: an outlier next to a step hardly moves it


def compute_place_shares(values: Array, change: Break) -> list[float]:
    """Return the share of the likelihood of each place from ``first`` to ``last``, as docs/method/watching.md defines
    the bounds; they add up to 1."""
    logs = _compute_log_likelihoods(values, change)
    if logs is None:
        logs = _compute_rank_log_likelihoods(values, change)
    largest = float(logs.max())
    weights = np.isinf(logs).astype(float) if math.isinf(largest) else np.exp(logs - largest)
    return [float(weight) for weight in weights / weights.sum()]


def locate(values: Array, change: Break) -> Break:
    """Return a change with its most likely place and bounds. Ranks hardly tell where a large step of few values is, as
    its values and the next ones have nearly the same scores; the values themselves do. A small step stays."""
    logs = _compute_log_likelihoods(values, change)
    if logs is None:
        return change
    near = np.flatnonzero(logs >= logs.max() - _NEARLY)
    first, last = change.first + int(near[0]), change.first + int(near[-1])
    return replace(change, at=change.first + int(np.argmax(logs)), first=first, last=last)


def is_better_place(values: Array, change: Break, other: Break) -> bool:
    """Return whether the values between two places of a large change clearly prefer the first one."""
    first, last = min(change.at, other.at), max(change.at, other.at)
    logs = _compute_log_likelihoods(values, replace(other, end=max(change.end, other.end), first=first, last=last))
    return logs is not None and bool(logs[change.at - first] > logs[other.at - first] + _NEARLY)


def measure_noise(residuals: Array) -> float:
    """Return the standard deviation of residuals, of which a few may be outliers, from their median magnitude."""
    return 1.4826 * float(np.median(np.abs(residuals)))


def _compute_log_likelihoods(values: Array, change: Break) -> Array | None:
    """Return the log likelihood of each place within the bounds of a large step in noise with Student's tails; None for
    a small one, or without noise."""
    before, after = values[change.begin : change.at], values[change.at : change.end]
    levels = float(np.median(before)), float(np.median(after))
    noise = measure_noise(np.concatenate([before - levels[0], after - levels[1]]))
    if noise == 0 or abs(levels[1] - levels[0]) < _LARGE * noise:
        return None
    moved = values[change.first : change.last]  # they are before or after, as the place may be
    losses = [(_TAIL_DF + 1) / 2 * np.log1p(((moved - level) / noise) ** 2 / _TAIL_DF) for level in levels]
    steps = np.concatenate([[0.0], np.cumsum(losses[1] - losses[0])])
    n = change.end - change.begin
    return np.asarray(steps / compute_variance_inflation(change.correlation, n)[n])


def _compute_rank_log_likelihoods(values: Array, change: Break) -> Array:
    part = values[change.begin : change.end]
    bound = compute_correlation_bound(values, part.size)
    places = range(change.first, change.last + 1)
    return np.array([_measure(part, place - change.begin, bound) / 2 for place in places])


def _measure(part: Array, at: int, bound: float) -> float:
    """Return the squared standard errors between both sides of a place; 0 at an end."""
    split = evaluate_split(part, at, bound) if 0 < at < part.size else None
    return 0.0 if split is None else split.z**2
