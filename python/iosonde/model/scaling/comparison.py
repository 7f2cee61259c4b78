"""Comparison of the laws: which ones the points rule out.

Laws are compared by AICc only if every fitted law has one; otherwise the law with the fewest parameters would win by
default. AICc penalises parameters, and with few points so much that a right law loses by the penalty alone. So a law is
ruled out only if it also misses the points by more than chance. Its sum of squares must exceed the limit of the best
law's profile. The linear law is a case of every other: the F test of their parameters rules it out, with or without
AICc.
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
    """Comparison by name of law.

    ``criteria`` is its AICc (None if n does not allow it). ``deltas`` is its distance behind the best of the
    ``remaining`` (None unless every law has an AICc). ``remaining``: not ruled out, the best first."""

    criteria: dict[str, float | None]
    deltas: dict[str, float | None]
    remaining: tuple[str, ...]


def compare_laws(fits: Mapping[str, LawFit], points: Points, level: float) -> LawComparison:
    """Compare the fitted laws on these points."""
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
    """Return Akaike's corrected criterion (Hurvich and Tsai 1989, Biometrika 76, 297-307) for normal residuals. Their
    variance counts as a parameter. None if n does not allow it."""
    k = parameters + 1
    return None if n - k - 1 < 1 else n * math.log(sse_ / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _linear_is_out(fits: Mapping[str, LawFit], losses: Mapping[str, float], points: Points, level: float) -> bool:
    """Return whether some law with more parameters fits significantly better than the linear one (F test)."""
    from iosonde.stats.estimate.distributions import f_upper_p

    for name, fitted in fits.items():
        extra, df = fitted.law.n_parameters - 1, points.n - fitted.law.n_parameters
        if LINEAR not in fits or not extra or df < 1:
            continue
        gain = max(losses[LINEAR] - losses[name], 0.0) / extra / (losses[name] / df)
        if f_upper_p(gain, extra, df) < 1 - level:
            return True
    return False
