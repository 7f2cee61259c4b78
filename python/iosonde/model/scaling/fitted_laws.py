"""The laws of one regime with their parameters, and the laws that are not ruled out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate

from .laws import Law, LawFit


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
