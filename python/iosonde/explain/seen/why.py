"""Common properties of a class over the trials: a reason is one that most of them show."""

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
    """A suspect, and the number of matching trials out of those with enough operations of the class."""

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
    """Find the suspects of every class slower than the fast one; none if it has all operations, as there is nothing to
    compare with."""
    slow = {place: of == place for place in range(classes.fast + 1, classes.count)}
    return {
        place: [] if mine.all() else causes.suspects(Target(operations, mine, place)) for place, mine in slow.items()
    }


def reasons(trials: Sequence[Sequence[Suspect]], between: Sequence[Suspect] = ()) -> list[Reason]:
    """Select the suspects in at least half of the trials, each with its median agreement, and add those between
    trials."""
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
