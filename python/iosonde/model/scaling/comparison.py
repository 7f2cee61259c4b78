"""Which laws the points rule out, and which they do not.

Laws are compared by AICc only where every fitted law has one: a criterion that only the law with the fewest parameters
has would be a walkover. AICc charges a law for its parameters, and for few points so much that a right law loses by the
charge alone. So a law is ruled out only if it also misses the points by more than chance: its sum of squares is beyond
what the profile of the best law allows. The linear law is a case of every other: it is ruled out by the F test of their
parameters, with or without a criterion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .intervals import threshold
from .laws import LawFit, sse
from .points import Points

_LEAST_DELTA = 4.0  # of AICc: a law that is behind by more has little support (Burnham and Anderson 2002)
LINEAR = "linear"


@dataclass(frozen=True)
class LawComparison:
    """By name of law: ``criteria`` is its AICc (None where n does not allow it), ``deltas`` how far this is behind the
    best of the ``remaining`` (None where not every law has one). ``remaining``: not ruled out, the best first."""

    criteria: dict[str, float | None]
    deltas: dict[str, float | None]
    remaining: tuple[str, ...]


def compare_laws(fits: Mapping[str, LawFit], points: Points, level: float) -> LawComparison:
    """The fitted laws compared on these points."""
    losses = {name: sse(fitted, points) for name, fitted in fits.items()}
    sizes = {name: fitted.law.n_parameters for name, fitted in fits.items()}
    criteria = {name: aicc(losses[name], points.n, sizes[name]) for name in fits}
    values = {name: value for name, value in criteria.items() if value is not None}
    remaining = [name for name in fits if name != LINEAR or not _linear_is_out(fits, losses, points, level)]
    if not remaining or len(values) < len(fits):
        order = sorted(remaining, key=lambda name: points.n * math.log(losses[name]) + 2 * sizes[name])
        return LawComparison(criteria, dict.fromkeys(fits), tuple(order))
    best = min(remaining, key=lambda name: values[name])
    deltas = {name: values[name] - values[best] for name in fits}
    allowed = threshold(fits[best].law, points, losses[best], level)
    supported = [name for name in remaining if deltas[name] <= _LEAST_DELTA or losses[name] <= allowed]
    return LawComparison(criteria, {**deltas}, tuple(sorted(supported, key=lambda name: deltas[name])))


def aicc(sse_: float, n: int, parameters: int) -> float | None:
    """The corrected criterion of Akaike (Hurvich and Tsai 1989, Biometrika 76, 297-307) of normal residuals, of which
    the variance is a parameter too; None where n does not allow it."""
    k = parameters + 1
    if n - k - 1 < 1:
        return None
    return n * math.log(sse_ / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _linear_is_out(fits: Mapping[str, LawFit], losses: Mapping[str, float], points: Points, level: float) -> bool:
    """Whether some law with more parameters fits better than the linear one by more than chance (F test)."""
    from iosonde.stats.estimate.distributions import f_upper_p

    for name, fitted in fits.items():
        extra, df = fitted.law.n_parameters - 1, points.n - fitted.law.n_parameters
        if LINEAR not in fits or not extra or df < 1:
            continue
        gain = max(losses[LINEAR] - losses[name], 0.0) / extra / (losses[name] / df)
        if f_upper_p(gain, extra, df) < 1 - level:
            return True
    return False
