"""An estimate of a survey, of a whole tree or a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iosonde.stats.sampling.shares import PopulationEstimate


@dataclass(frozen=True)
class SurveyEstimate:
    """An estimate from the sample: ``what`` (``type``, ``compressed``, ``saved``, ``cpu``, ``pack``, ``unpack``,
    ``entropy``, ``zeros``, ``size``, ``age``), the ``name`` of a kind or codec, and ``of`` (``files``, ``capacity``).
    It has a unit and the estimate."""

    what: str
    name: str
    of: str
    unit: str
    inference: PopulationEstimate

    def to_json(self) -> dict[str, Any]:
        """Return the estimate with its design effect, and its value if all missing files had none or all of it."""
        bounded = self.unit == "share"
        return {
            "what": self.what,
            "name": self.name,
            "of": self.of,
            "unit": self.unit,
            **self.inference.estimate.to_json(),
            "design_effect": self.inference.design_effect,
            "if_missing_none": self.inference.if_none if bounded else None,
            "if_missing_all": self.inference.if_all if bounded else None,
        }
