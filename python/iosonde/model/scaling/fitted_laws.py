"""The laws of one regime with their parameters, and those of them that are not ruled out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate

from .laws import Law, LawFit


@dataclass(frozen=True)
class FittedLaw:
    """A law with its parameters. ``why`` says what it lacks where it could not be fitted; ``delta`` is how far its AICc
    is behind the best, None where the laws are not compared; ``misfit_p`` is that of the lack of fit."""

    law: Law
    parameters: dict[str, Estimate]
    fit: LawFit | None
    aicc: float | None
    delta: float | None
    misfit_p: float | None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"law": self.law.name, "formula": self.law.formula, "identifiable": self.fit is not None,
                "why": self.why,
                "parameters": {name: value.to_json() for name, value in self.parameters.items()}, "aicc": self.aicc,
                "delta_aicc": self.delta, "misfit_p": self.misfit_p}  # fmt: skip


@dataclass(frozen=True)
class Regime:
    """The sizes from ``low`` to ``high`` and the laws fitted to them. ``possible`` are those that the data do not rule
    out, the best first; none where they are too few. ``unit_of_noise``: trials, or sizes where these differ more."""

    low: float
    high: float
    n: int
    laws: tuple[FittedLaw, ...]
    possible: tuple[FittedLaw, ...]
    unit_of_noise: str

    @property
    def lacks_fit(self) -> bool:
        """Whether every law misses the means by more than the noise of the trials."""
        return self.unit_of_noise == "sizes"

    @property
    def is_compared(self) -> bool:
        """Whether every law has a criterion, so that they were compared."""
        return any(law.delta is not None for law in self.laws)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"low": self.low, "high": self.high, "n": self.n, "unit_of_noise": self.unit_of_noise,
                "laws": [law.to_json() for law in self.laws],
                "possible": [law.law.name for law in self.possible]}  # fmt: skip
