"""A class of operations: its durations, costs, and explanations."""

from dataclasses import dataclass
from typing import Any

from iosonde.core.verdict import VerdictState
from iosonde.explain.causes.target import Suspect
from iosonde.explain.classes import DensityClasses
from iosonde.explain.cost import ClassShares
from iosonde.explain.places import ClassPlaces
from iosonde.explain.readings import Reading
from iosonde.explain.seen.in_memory import Reason

FAST, SLOW, UNEXPECTED, FASTER = "fast", "slow", "unexpectedly slow", "faster still"


@dataclass(frozen=True)
class OperationClass:
    """A class of operations, from ``low_s`` to ``high_s`` with the median ``typical_s``. ``label``: one of the words
    above, ``name``: given by the user. ``reasons``: common properties, the most explanatory first. ``reading``: their
    interpretation, or None. ``explanations``: the causes that explain it about equally well; several cannot be
    separated."""

    label: str
    low_s: float
    high_s: float
    typical_s: float
    n: int
    shares: ClassShares
    where: ClassPlaces
    reasons: tuple[Reason, ...]
    reading: Reading | None
    explanations: tuple[str, ...] = ()
    name: str | None = None

    @property
    def called(self) -> str:
        """Return its name, else the label."""
        return self.name or self.label

    @property
    def suspect(self) -> Suspect | None:
        """Return the most explanatory property; None if nothing was found."""
        return self.reasons[0].suspect if self.reasons else None

    @property
    def state(self) -> VerdictState:
        """Return whether one cause explains it: not separable if several do as well, inconclusive if none does or only
        little of it (``low``)."""
        if self.suspect is None or self.suspect.agreement.confidence == "low":
            return VerdictState.INCONCLUSIVE
        return VerdictState.DIFFERENT if len(self.explanations) == 1 else VerdictState.NOT_SEPARABLE

    @property
    def cause(self) -> str | None:
        """Return the likely cause, in a few words; None if nothing was found."""
        return self.suspect.cause if self.suspect else None

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        return {
            "label": self.label,
            "name": self.name,
            "low": self.low_s,
            "high": self.high_s,
            "typical": self.typical_s,
            "n": self.n,
            "share": self.shares.share.to_json(),
            "time_share": self.shares.time_share.to_json(),
            "cost_s": self.shares.cost_s.to_json(),
            "cause": self.cause,
            "mechanism": self.reading.mechanism if self.reading else None,
            "reading": self.reading.words if self.reading else None,
            "explanations": list(self.explanations),
            "where": {
                "run": list(self.where.run),
                "offset": list(self.where.offset),
                "ranks": {str(rank): share for rank, share in self.where.ranks.items()},
                "words": self.where.words,
            },
            "findings": [reason.to_json() for reason in self.reasons],
        }

    def flat(self) -> dict[str, Any]:
        """The form in tables."""
        return {
            "class": self.called,
            "low_s": self.low_s,
            "high_s": self.high_s,
            "typical_s": self.typical_s,
            "n": self.n,
            **self.shares.share.flat("share"),
            **self.shares.time_share.flat("time_share"),
            **self.shares.cost_s.flat("cost_s"),
            "cause": self.cause,
            "mechanism": self.reading.mechanism if self.reading else None,
            "code": self.suspect.code if self.suspect else None,
            "kappa": self.suspect.agreement.kappa if self.suspect else None,
        }


def get_class_label(density: DensityClasses, place: int) -> str:
    """Return the label of the class at this place."""
    if place == density.unexpected:
        return UNEXPECTED
    return FAST if place == density.fast else FASTER if place < density.fast else SLOW
