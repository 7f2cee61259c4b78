"""Intervals of a law: profile likelihood, which holds at the edge (α = 0, κ = 0), and the bootstrap.

Profile: all values v for which the best fit with v fixed has SSE(v) ≤ SSE·(1 + F ÷ (n − p)), F the quantile of F(1, n −
p). (Bates and Watts 1988, Nonlinear Regression Analysis, chapter 6.) At an edge the interval ends there. If SSE(v)
never rises that far the data do not bound the value, and that end is None.

Bootstrap: the percentiles of fits to trials resampled within each size. It assumes neither normal nor equal noise, and
is too narrow for few trials: docs/method/scaling.md has the coverages.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .laws import ALPHA, KAPPA, KNEE, PEAK, SHARE, Law, LawFit, build_profile_loss, compute_law_sse
from .points import Points

_FARTHEST = 60.0  # in logs: a factor of 10²⁶
_NOWHERE = 1e9  # times the largest rate or size measured
_OUTSIDE = 1e6  # standard errors: enough to be outside


# Ends of a parameter by its meaning, where it can be fixed. A rate ends only at 0, which no law reaches.
_BOUNDS = {ALPHA: (0.0, None), KAPPA: (0.0, None), KNEE: (1.0, None), SHARE: (0.0, 1.0), PEAK: (1.0, None)}
Excess = Callable[[float], float]


def estimate_profile_interval(
    fitted: LawFit, points: Points, name: str, level: float, size: float | None = None
) -> Estimate:
    """Return the parameter ``name``, or the rate at ``size``, with its interval. An end that the data do not bound is
    None, with a warning."""
    value = fitted.rate(size) if size is not None else fitted.parameter(name)
    excess = _build_excess(
        build_profile_loss(fitted.law, points, name, size),
        compute_law_sse(fitted, points),
        points.n - fitted.law.n_parameters,
        level,
    )
    bottom, top = _BOUNDS.get(name, (None, None))
    # A value this far away counts as infinite; its lower end may be finite, and is searched from there.
    unit = {ALPHA: 1.0, KAPPA: 1.0, KNEE: points.sizes[-1], PEAK: points.sizes[-1]}.get(
        name, fitted.rate(points.sizes[-1])
    )
    nowhere = _NOWHERE * float(unit)
    start = min(value, nowhere)
    low = _search_down(excess, start, bottom)
    high = _search_up(excess, start, nowhere if top is None else top, 1e-4 / float(points.sizes[-1]) ** 2)
    if top is None and high == nowhere:
        high = None
    return Estimate(value if start < nowhere else None, low, high, level, points.n, _list_warnings(low, high))


def compute_accepted_sum_of_squares(law: Law, points: Points, least: float, level: float) -> float:
    """Return the sum of squares up to which a fixed value is accepted."""
    from iosonde.stats.estimate.distributions import t_critical

    df = points.n - law.n_parameters
    return least * (1 + t_critical(level, df) ** 2 / df)


def find_profile_interval_ends(loss: Excess, at: float, least: float, df: int, level: float) -> tuple[float, float]:
    """Return the interval of a value of any sign, by steps from ``at``; infinite if nothing bounds it."""
    excess = _build_excess(loss, least, df, level)
    ends = []
    for side in (-1.0, 1.0):
        good, step = at, 0.01
        while step < _FARTHEST and excess(at + side * step) <= 0:
            good, step = at + side * step, step * 2
        ends.append(_find_border(excess, good, at + side * step) if step < _FARTHEST else side * math.inf)
    return ends[0], ends[1]


def _build_excess(loss: Excess, least: float, df: int, level: float) -> Excess:
    """Measure how far outside a value is, in about standard errors: nearly linear in the value, and 0 at the ends."""
    from iosonde.stats.estimate.distributions import t_critical

    t = t_critical(level, df)

    @lru_cache(None)
    def measure_excess(value: float) -> float:
        return min(math.sqrt(max(loss(value) / least - 1, 0.0) * df), _OUTSIDE) - t

    return measure_excess


def _list_warnings(low: float | None, high: float | None) -> tuple[str, ...]:
    if low is not None and high is not None:
        return ()
    return (
        Message(
            "unbounded-interval",
            "{ends} not bounded by the data: measure at more sizes",
            ends="its ends are"
            if low is None and high is None
            else f"its {'lower' if low is None else 'upper'} end is",
        ),
    )


def _search_down(excess: Excess, value: float, bound: float | None) -> float | None:
    edge = 0.0 if bound is None else bound
    if value <= edge or bound is not None and excess(bound) <= 0:
        return edge
    good, step = value, 0.01
    while step < _FARTHEST:
        low = edge + (value - edge) * math.exp(-step)
        if excess(low) > 0:
            return _find_border(excess, good, low)
        good, step = low, step * 2
    return bound


def _search_up(excess: Excess, value: float, bound: float, first: float) -> float | None:
    """Return the upper end, at most ``bound``; ``first`` is the first step from 0."""
    good, step = value, 0.01
    while step < _FARTHEST and good < bound:
        high = min(max(value, first) * math.exp(step), bound)
        if excess(high) > 0:
            return _find_border(excess, good, high)
        good, step = high, step * 2
    return bound if good >= bound else None


def _find_border(excess: Excess, good: float, bad: float) -> float:
    """Return the border between a value inside and one outside, to one part in 2000; in logs while they are far
    apart."""
    from scipy.optimize import brentq

    if excess(good) >= 0:
        return good
    if min(good, bad) > 0 and not 0.25 < good / bad < 4:
        return math.exp(brentq(lambda x: excess(math.exp(x)), *sorted((math.log(good), math.log(bad))), xtol=5e-4))
    return float(brentq(excess, *sorted((good, bad)), xtol=5e-4 * max(abs(good), abs(bad))))


def bootstrap_ends(values: np.ndarray, level: float) -> tuple[float, float]:
    """The percentile interval of bootstrap values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
