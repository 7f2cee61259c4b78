"""The laws of one regime with their parameters, and their comparison: which ones the points rule out.

Laws are compared by AICc only if every fitted law has one; otherwise the law with the fewest parameters would win by
default. AICc penalises parameters, and with few points so much that a right law loses by the penalty alone. So a law is
ruled out only if it also misses the points by more than chance. Its sum of squares must exceed the limit of the best
law's profile. The linear law is a case of every other: the F test of their parameters rules it out, with or without
AICc.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate

from .intervals import compute_accepted_sum_of_squares
from .laws import Law, LawFit, compute_law_sse
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
    losses = {name: compute_law_sse(fitted, points) for name, fitted in fits.items()}
    sizes = {name: fitted.law.n_parameters for name, fitted in fits.items()}
    criteria = {name: compute_aicc(losses[name], points.n, sizes[name]) for name in fits}
    values = {name: value for name, value in criteria.items() if value is not None}
    remaining = [name for name in fits if name != LINEAR or not _is_linear_law_rejected(fits, losses, points, level)]
    if not remaining or len(values) < len(fits):
        order = sorted(remaining, key=lambda name: points.n * math.log(losses[name]) + 2 * sizes[name])
        return LawComparison(criteria, dict.fromkeys(fits), tuple(order))
    best = min(remaining, key=lambda name: values[name])
    deltas = {name: values[name] - values[best] for name in fits}
    allowed = compute_accepted_sum_of_squares(fits[best].law, points, losses[best], level)
    return LawComparison(
        criteria,
        {**deltas},
        tuple(
            sorted(
                [name for name in remaining if deltas[name] <= _LEAST_DELTA or losses[name] <= allowed],
                key=lambda name: deltas[name],
            )
        ),
    )


def compute_aicc(sse_: float, n: int, parameters: int) -> float | None:
    """Return Akaike's corrected criterion (Hurvich and Tsai 1989, Biometrika 76, 297-307) for normal residuals. Their
    variance counts as a parameter. None if n does not allow it."""
    k = parameters + 1
    return None if n - k - 1 < 1 else n * math.log(sse_ / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _is_linear_law_rejected(
    fits: Mapping[str, LawFit], losses: Mapping[str, float], points: Points, level: float
) -> bool:
    """Return whether some law with more parameters fits significantly better than the linear one (F test)."""
    from iosonde.stats.estimate.distributions import f_upper_p

    for name, fitted in fits.items():
        extra, df = fitted.law.n_parameters - 1, points.n - fitted.law.n_parameters
        if LINEAR in fits and extra and df >= 1:
            gain = max(losses[LINEAR] - losses[name], 0.0) / extra / (losses[name] / df)
            if f_upper_p(gain, extra, df) < 1 - level:
                return True
    return False


@dataclass(frozen=True)
class FittedLaw:
    """A law with its parameters. ``why`` explains why it could not be fitted. ``delta`` is its AICc behind the best,
    None if the laws are not compared; ``misfit_p`` is that of the lack of fit."""

    law: Law
    parameters: dict[str, Estimate]
    fit: LawFit | None
    aicc: float | None
    delta: float | None
    misfit_p: float | None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "law": self.law.name,
            "formula": self.law.formula,
            "identifiable": self.fit is not None,
            "why": self.why,
            "parameters": {name: value.to_json() for name, value in self.parameters.items()},
            "aicc": self.aicc,
            "delta_aicc": self.delta,
            "misfit_p": self.misfit_p,
        }


@dataclass(frozen=True)
class Regime:
    """The sizes from ``low`` to ``high`` and the laws fitted to them. ``possible`` are the laws not ruled out, the best
    first; empty with too few sizes. ``unit_of_noise``: trials, or sizes if these differ more."""

    low: float
    high: float
    n: int
    laws: tuple[FittedLaw, ...]
    possible: tuple[FittedLaw, ...]
    unit_of_noise: str

    @property
    def lacks_fit(self) -> bool:
        """True if every law misses the means significantly."""
        return self.unit_of_noise == "sizes"

    @property
    def is_compared(self) -> bool:
        """True if the laws were compared: every law has an AICc."""
        return any(law.delta is not None for law in self.laws)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "unit_of_noise": self.unit_of_noise,
            "laws": [law.to_json() for law in self.laws],
            "possible": [law.law.name for law in self.possible],
        }
