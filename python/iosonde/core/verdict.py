"""A claim that a command makes in the end, in one of five states: the same type for every command.

The words of a claim may become better; its state, direction and estimate are what JSON holds and what ``tests/truth``
scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .types import Estimate


class VerdictState(StrEnum):
    """What the data say of a question."""

    DIFFERENT = "different"  # the effect is significant after the correction of its family
    EQUAL = "equal"  # any effect is smaller than the margin
    INCONCLUSIVE = "inconclusive"  # tested, and the data allow both; or an assumption does not hold
    NOT_TESTED = "not tested"  # there is no error to test against: one trial a setting, one bring-up
    NOT_SEPARABLE = "not separable"  # it goes together with another column, so that the data cannot tell them apart


class Direction(StrEnum):
    """Which way a difference goes: of two sides B against A, of a factor with rising levels."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True)
class Verdict:
    """One claim about a response.

    ``question``: ``difference`` (of two sides), ``effect`` (of a factor, or of a block of factors that go together),
    ``slope`` (of a term), ``limit`` (whether a curve has one), ``best`` (a setting that is advised or called best),
    ``model`` (whether it beats the mean), ``change`` (over time), ``cause``, ``gate``. ``subject``: what the claim is
    about: (A, B), the factors, the series, the class. ``claim``: what is named: the best setting, the law, the cause.
    ``estimate``: the number behind it; ``family``: how many tests it was corrected with; ``doubts``: stable codes of
    the assumptions that do not hold or could not be checked (``DOUBTS``).
    """

    question: str
    response: str
    subject: tuple[str, ...]
    state: VerdictState
    direction: Direction | None = None
    claim: str = ""
    estimate: Estimate | None = None
    p: float | None = None
    family: int = 1
    doubts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "question": self.question, "response": self.response, "subject": list(self.subject),
            "state": str(self.state), "direction": None if self.direction is None else str(self.direction),
            "claim": self.claim, "estimate": None if self.estimate is None else self.estimate.to_json(), "p": self.p,
            "family": self.family, "doubts": list(self.doubts),
        }  # fmt: skip


DOUBTS = {
    "varies-besides": "a column that was not asked about varies, too",
    "goes-together": "another column always changes with it",
    "order": "the sides were measured one after the other, so that time is in the difference",
    "drift": "values drift with the order in which they were measured",
    "dependent": "neighbouring trials are alike, so that n counts too many",
    "subsamples": "several rows belong to one trial",
    "few-trials": "a side has too few trials for its spread to be known",
    "missing-values": "values are missing, and more on one side",
    "selected": "only extreme units of one side are paired, so that regression to the mean is in the difference",
    "coarse-clock": "the clock's tick is as large as the spread",
    "cells-differ": "the effect is not the same in all cells",
    "lack-of-fit": "the model misses the means by more than the noise",
    "extrapolated": "beyond what was measured",
    "leverage": "one row alone decides",
    "impossible": "a value is beyond what the hardware can do",
    "bring-ups": "only one bring-up of each, so that theirs is in the difference",
    "within-run": "iterations within one run, and no trials",
    "not-corrected": "not corrected for the other tests",
}
