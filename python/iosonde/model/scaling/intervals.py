"""Intervals of what a law says: profile likelihood, which holds at the edge (α = 0, κ = 0), and the bootstrap.

Profile: all values v for which the best fit with v held has SSE(v) ≤ SSE·(1 + F ÷ (n − p)), F the quantile of
F(1, n − p) (Bates and Watts 1988, Nonlinear Regression Analysis, chapter 6). At an edge the interval ends there; where
SSE(v) never rises so far the data do not bound the value, and that end is None.

Bootstrap: the percentiles of fits to trials drawn anew within each size. It needs no normal noise and no equal noise,
and is too narrow for few trials: docs/method/scaling.md has the coverages.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from iosonde.core.types import Estimate

from .laws import ALPHA, CEILING, KAPPA, KNEE, SHARE, Fit, Law, profile, sse
from .points import Points

_FARTHEST = 60.0  # in logs: a factor of 10²⁶
_NOWHERE = 1e9  # times the largest rate measured


# Where a parameter ends by its meaning. A rate has no end but 0, which no law reaches.
_BOUNDS = {ALPHA: (0.0, math.inf), KAPPA: (0.0, math.inf), KNEE: (1.0, math.inf), SHARE: (0.0, 1.0)}


def profile_interval(fitted: Fit, points: Points, name: str, level: float, size: float | None = None) -> Estimate:
    """The parameter ``name``, or the rate at ``size``, with its interval; an end that the data do not bound is
    None, and said."""
    value = fitted.rate(size) if size is not None else fitted.parameter(name)
    limit = threshold(fitted.law, points, sse(fitted, points), level)
    least = profile(fitted.law, points, name, size)
    bottom, top = _BOUNDS.get(name, (0.0, math.inf))

    def inside(v: float) -> bool:
        return least(v) <= limit

    if name in (CEILING, KNEE):
        # One so far away is nowhere, but its lower end is not.
        top = _NOWHERE * (fitted.rate(points.sizes[-1]) if name == CEILING else points.sizes[-1])
    start = min(value, top)
    low = _down(inside, start, bottom, name in _BOUNDS)
    high = _up(inside, start, top, 1e-4 / points.sizes[-1] ** 2)
    if name in (CEILING, KNEE) and high == top:
        high = None
    return Estimate(value if start < top or high else None, low, high, level, points.n, _said(low, high))


def _said(low: float | None, high: float | None) -> tuple[str, ...]:
    if low is not None and high is not None:
        return ()
    ends = "its ends are" if low is None and high is None else f"its {'lower' if low is None else 'upper'} end is"
    return (f"{ends} not bounded by the data: measure at more sizes",)


def threshold(law: Law, points: Points, least: float, level: float) -> float:
    """The sum of squares up to which a held value is believed."""
    from iosonde.stats.distributions import t_critical

    df = points.n - law.n_parameters
    return least * (1 + t_critical(level, df) ** 2 / df)


def _down(inside: Callable[[float], bool], value: float, bound: float, reached: bool) -> float | None:
    """The lower end: ever larger steps down, then bisection. ``reached``: the bound is a value itself."""
    if value <= bound or reached and inside(bound):
        return bound
    good, step = value, 0.01
    while step < _FARTHEST:
        low = bound + (value - bound) * math.exp(-step)
        if not inside(low):
            return _between(inside, good, low)
        good, step = low, step * 2
    return bound if reached else None


def _up(inside: Callable[[float], bool], value: float, bound: float, first: float) -> float | None:
    """The upper end; ``first`` is where to go from 0."""
    good, step = value, 0.01
    while step < _FARTHEST and good < bound:
        high = min(max(value, first) * math.exp(step), bound)
        if not inside(high):
            return _between(inside, good, high)
        good, step = high, step * 2
    return bound if good >= bound else None


def profile_ends(loss: Callable[[float], float], at: float, least: float, df: int, level: float) -> tuple[float, float]:
    """The interval of a value that may have any sign, by steps from ``at``; infinite where nothing bounds it."""
    from iosonde.stats.distributions import t_critical

    limit = least * (1 + t_critical(level, df) ** 2 / df)
    ends = []
    for side in (-1.0, 1.0):
        good, step = at, 0.01
        while step < _FARTHEST and loss(at + side * step) <= limit:
            good, step = at + side * step, step * 2
        bounded = step < _FARTHEST
        ends.append(_between(lambda v: loss(v) <= limit, good, at + side * step) if bounded else side * math.inf)
    return ends[0], ends[1]


def _between(inside: Callable[[float], bool], good: float, bad: float) -> float:
    """The border between a value inside and one outside: halved (in logs while far apart) to 1 part in 2000."""
    for _ in range(60):
        far = min(good, bad) > 0 and not 0.25 < good / bad < 4
        middle = math.sqrt(good * bad) if far else (good + bad) / 2
        good, bad = (middle, bad) if inside(middle) else (good, middle)
        if abs(good - bad) <= 5e-4 * max(abs(good), abs(bad)):
            break
    return good


def bootstrap_ends(values: np.ndarray, level: float) -> tuple[float, float]:  # type: ignore[type-arg]
    """The percentile interval of bootstrap values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
