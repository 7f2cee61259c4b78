"""The plan of a race, sealed in its experiment before the first trial."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core import decision
from iosonde.core.types import Better, Experiment

from .standing import RaceRule

MOST = 100  # blocks by default


@dataclass(frozen=True)
class RacePlan:
    """A race for the best ``metric`` ('': by the rule of ``deciding``). It ends within ``margin`` of the best with
    ``confidence``, or after ``most`` blocks."""

    metric: str
    margin: float
    confidence: float
    most: int = MOST

    def sealed(self) -> dict[str, Any]:
        """Return the plan as stored in a decision."""
        return asdict(self)

    def build_rule(self, better: Better) -> RaceRule:
        """Return the rule for a metric of this direction."""
        return RaceRule(better, self.margin, self.confidence)


def build_race_plan(experiment: Experiment) -> RacePlan | None:
    """Return the sealed plan of an experiment, or None if it is no race."""
    sealed: Mapping[str, Any] = experiment.settings.get(decision.KEY) or {}
    return RacePlan(**sealed["race"]) if sealed.get("race") else None
