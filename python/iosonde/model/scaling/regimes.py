"""A change of regime: from one size to the next the rate jumps by a factor that no law of scaling explains.

A working set that no longer fits a cache, a switch that is shared from some rack on, a mount that changes its protocol:
a law fitted across such a cliff calls it contention, and is wrong on both sides. So it is looked for first: USL on all
sizes against USL with a factor on all sizes beyond a border, for every border (Andrews 1993, Econometrica 61, 821-856,
with Bonferroni's bound for the search instead of his asymptotic table). A border counts if the factor differs from 1
by more than a quarter, if it is told from *that* quarter by the F test, and if no smooth law has a smaller AICc.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import rational
from .intervals import profile_ends
from .laws import BY_NAME, LAWS, fit, sse
from .points import Points

LEAST_FACTOR = 1.25
_USL = (0, 1, 2)
_PARAMETERS = 4  # of USL with a factor
LEAST_SIZES = _PARAMETERS + 1
_WIDEST = math.log(1000.0)


@dataclass(frozen=True)
class Change:
    """Between the sizes ``last`` and ``first`` the rate changes by ``factor``; p is that of no such change."""

    last: float
    first: float
    factor: float
    factor_low: float
    factor_high: float
    p: float


def aicc(sse_: float, n: int, parameters: int) -> float | None:
    """The corrected criterion of Akaike (Hurvich and Tsai 1989, Biometrika 76, 297-307) of normal residuals, of which
    the variance is a parameter too; None where n does not allow it."""
    k = parameters + 1
    if n - k - 1 < 1:
        return None
    return n * math.log(sse_ / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def change_in(points: Points, level: float) -> Change | None:
    """The border with the clearest jump, or None where there is none or too few sizes to tell."""
    if len(points) < LEAST_SIZES:
        return None
    borders = range(1, len(points))
    losses = [_loss_of(points, border) for border in borders]
    jumps = [_least(loss) for loss in losses]
    place = min(borders, key=lambda border: losses[border - 1](jumps[border - 1])) - 1
    loss, jump = losses[place], jumps[place]
    least = loss(jump)
    if points.spread_df and points.lack_of_fit_p(least, _PARAMETERS) < 1 - level:
        # Sizes differ by more than their trials do: judged by the means, where this is the noise.
        return change_in(points.of_means(), level)
    if abs(jump) <= math.log(LEAST_FACTOR):
        return None
    p = _p(loss, jump, least, points.n) * len(jumps)
    if p >= 1 - level or not _better_than_smooth(points, least):
        return None
    low, high = profile_ends(loss, jump, least, points.n - _PARAMETERS, level)
    sizes = points.sizes
    return Change(float(sizes[place]), float(sizes[place + 1]), math.exp(jump), math.exp(low), math.exp(high), p)


def _loss_of(points: Points, border: int) -> Callable[[float], float]:
    """log factor → the least sum of squares of USL with this factor on the sizes from number ``border`` on."""
    beyond = (np.arange(len(points)) >= border).astype(float)

    def loss(jump: float) -> float:
        offset = jump * beyond
        parts = rational.fit(points, _USL, offset=offset)
        return points.sse(rational.log_rates(parts, points.sizes) + offset)

    return loss


def _least(loss: Callable[[float], float]) -> float:
    """The log factor of least squares: from a coarse grid, because a law may take part of a jump for its own."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(-_WIDEST, _WIDEST, 15)
    place = int(np.argmin([loss(float(jump)) for jump in grid]))
    ends = (grid[max(place - 1, 0)], grid[min(place + 1, 14)])
    return float(minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-3}).x)


def _p(loss: Callable[[float], float], jump: float, least: float, n: int) -> float:
    """P of the jump if its factor were the least that counts."""
    from iosonde.stats.distributions import f_upper_p

    df = n - _PARAMETERS
    held = loss(math.copysign(math.log(LEAST_FACTOR), jump))
    return f_upper_p(max(held - least, 0.0) / (least / df), 1, df)


def _better_than_smooth(points: Points, least: float) -> bool:
    ours = aicc(least, points.n, _PARAMETERS)
    if ours is None:
        return True
    smooth = [
        aicc(sse(fit(law, points), points), points.n, law.n_parameters) for law in LAWS if law != BY_NAME["linear"]
    ]
    return all(other is None or ours < other for other in smooth)
