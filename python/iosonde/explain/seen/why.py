"""What the operations of a class have in common, over the trials: a reason is one that most of them show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.explain import causes
from iosonde.explain.causes.target import Suspect, Target
from iosonde.explain.classes import DensityClasses
from iosonde.explain.operations import Operations


@dataclass(frozen=True)
class Reason:
    """What was found, and in how many of the trials in which the class has operations enough."""

    suspect: Suspect
    n_matching: int
    of: int

    def to_json(self) -> dict[str, Any]:
        """A Finding with the confidence, the cause in a few words, and what would confirm it (``action``)."""
        return {
            **self.suspect.finding.to_json(),
            "cause": self.suspect.cause,
            "confidence": self.suspect.agreement.confidence,
            "trials": self.n_matching,
            "of_trials": self.of,
        }


def trial_suspects(
    operations: Operations, of: npt.NDArray[np.uint8], classes: DensityClasses
) -> dict[int, list[Suspect]]:
    """Of every class that is slower than the fast one; nothing tells its operations from others where these are all."""
    slow = {place: of == place for place in range(classes.fast + 1, classes.count)}
    return {
        place: [] if mine.all() else causes.suspects(Target(operations, mine, place)) for place, mine in slow.items()
    }


def reasons(trials: Sequence[Sequence[Suspect]], between: Sequence[Suspect] = ()) -> list[Reason]:
    """Those that at least half of the trials show, by the agreement of the middle one; and what tells trials apart."""
    by_key: dict[tuple[str, str], list[Suspect]] = {}
    for trial in trials:
        for suspect in trial:
            by_key.setdefault((suspect.code, str(suspect.key)), []).append(suspect)
    usual = [
        sorted(several, key=lambda member: member.agreement.kappa)
        for several in by_key.values()
        if 2 * len(several) >= len(trials)
    ]
    reasons = [Reason(several[len(several) // 2], len(several), len(trials)) for several in usual]
    reasons += [Reason(extra, 1, 1) for extra in between]
    return sorted(reasons, key=lambda reason: -reason.suspect.agreement.kappa)
