"""The scaling laws behind one form: fit, the rate at any size, and the least sum of squares with one value fixed (for a
profile likelihood)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import ceilings, rational
from .points import Array, Points

# Values that can be fixed: the rate at a size (λ is the rate at 1, the ceiling C the rate at infinity), or these.
ALPHA, KAPPA, PEAK, KNEE, SHARE = "contention", "coherency", "peak", "knee", "server_share"
_NO_SHARE = 1e-9
LAMBDA, CEILING = "rate_of_one", "ceiling"


@dataclass(frozen=True)
class Law:
    """A scaling law. ``shapes`` are the parameters besides λ; ``bounded``: whether the rate has a ceiling."""

    name: str
    formula: str
    shapes: tuple[str, ...]
    bounded: bool

    @property
    def n_parameters(self) -> int:
        """The number of parameters: λ and ``shapes``."""
        return 1 + len(self.shapes)

    @property
    def least_sizes(self) -> int:
        """The number of parameters plus one, so that the law can fail; at least three, as a line fits any two
        points."""
        return max(3, self.n_parameters + 1)


LAWS = (
    Law("linear", "X = λN", (), False),
    Law("amdahl", "X = λN ÷ (1 + α(N − 1))", (ALPHA,), True),
    Law("usl", "X = λN ÷ (1 + α(N − 1) + κN(N − 1))", (ALPHA, KAPPA), False),
    Law("min", "X = min(λN, C)", (KNEE,), True),
    Law("queue", "X of N clients and one server (M/M/1//N)", (SHARE,), True),
)
BY_NAME = {law.name: law for law in LAWS}
_TERMS = {"linear": (0,), "amdahl": (0, 1), "usl": (0, 1, 2)}
_BENDS = {"min": ceilings.MIN_LAW, "queue": ceilings.QUEUE}


@dataclass(frozen=True)
class LawFit:
    """A fitted law. ``numbers`` are its own: (a, b, c) of N ÷ X, or (λ, θ)."""

    law: Law
    numbers: Array

    def log_rates(self, sizes: Array) -> Array:
        """log X at each size (infinity: the ceiling)."""
        sizes = np.asarray(sizes, dtype=float)
        if self.law.name in _BENDS:
            shape: Array = _BENDS[self.law.name].log_shape(sizes, self.numbers[1:])[0]
            return shape + math.log(self.numbers[0])
        finite = np.isfinite(sizes)
        logs = rational.compute_log_rates(self.numbers, np.where(finite, sizes, 1.0))
        limit = -math.log(self.numbers[1]) if self.numbers[1] > 0 and self.numbers[2] == 0 else math.inf
        return np.where(finite, logs, -math.inf if self.numbers[2] > 0 else limit)

    def rate(self, size: float) -> float:
        """X at one size."""
        return float(np.exp(self.log_rates(np.array([size]))[0]))

    def parameter(self, name: str) -> float:
        """Return one parameter by name; the peak of a law without one is infinite."""
        if name in (LAMBDA, CEILING):
            return self.rate(1.0 if name == LAMBDA else math.inf)
        if name in (KNEE, SHARE):
            return float(self.numbers[1]) if self.numbers[1] > _NO_SHARE else 0.0
        a, b, c = self.numbers
        if name == PEAK:
            return max(1.0, math.sqrt(max(a - b, 0.0) / c)) if c > 0 else math.inf
        return float((b if name == ALPHA else c) / a) if a > 0 else math.inf


def fit_law(law: Law, points: Points) -> LawFit:
    """Fit the law by least squares in logs."""
    return (
        LawFit(law, ceilings.fit_knee_law(_BENDS[law.name], points))
        if law.name in _BENDS
        else LawFit(law, rational.fit_rational_law(points, _TERMS[law.name]))
    )


def compute_law_sse(fitted: LawFit, points: Points) -> float:
    """Return the sum of squared log residuals, including the variation of the trials."""
    return points.sse(fitted.log_rates(points.sizes))


def build_profile_loss(law: Law, points: Points, name: str, size: float | None = None) -> Callable[[float], float]:
    """Return a function from value to the least sum of squares with the parameter ``name`` (or the rate at ``size``)
    fixed at it."""
    at = 1.0 if name == LAMBDA else math.inf if name == CEILING else size
    if law.name in _BENDS:
        bend = _BENDS[law.name]
        if at is not None:
            return lambda value: compute_law_sse(
                LawFit(law, ceilings.fit_knee_law(bend, points, (at, math.log(value)))), points
            )
        return lambda value: compute_law_sse(LawFit(law, ceilings.fit_knee_law(bend, points, theta=value)), points)
    terms = _TERMS[law.name]
    return lambda value: compute_law_sse(
        LawFit(law, rational.fit_rational_law(points, terms, _build_constraint(name, at, value))), points
    )


def _build_constraint(name: str, at: float | None, value: float) -> rational.LinearConstraint:
    if at is not None and math.isinf(at):
        return rational.LinearConstraint((0.0, 1.0, 0.0), 1 / value)
    if at is not None:
        return rational.LinearConstraint((1.0, at - 1, at * (at - 1)), at / value)
    if name == PEAK:
        return rational.LinearConstraint((1.0, -1.0, -value * value), 0.0)
    return rational.LinearConstraint((-value, 1.0, 0.0) if name == ALPHA else (-value, 0.0, 1.0), 0.0)
