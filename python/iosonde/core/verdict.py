"""A claim at the end of a command, in one of five states: the same type for every command.

The text of a claim may change; its state, direction and estimate are part of JSON and are scored by ``tests/truth``.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .types import Estimate


class VerdictState(StrEnum):
    """The answer of the data to a question."""

    DIFFERENT = "different"  # the effect is significant after correction for its family
    EQUAL = "equal"  # any effect is smaller than the margin
    INCONCLUSIVE = "inconclusive"  # tested, and the data allow both; or an assumption fails
    NOT_TESTED = "not tested"  # no error to test against: one trial per setting, one bring-up
    NOT_SEPARABLE = "not separable"  # the data cannot separate it from another column that changes with it


_STANDINGS = {
    VerdictState.DIFFERENT: "significant",
    VerdictState.EQUAL: "practically none",
    VerdictState.INCONCLUSIVE: "inconclusive",
    VerdictState.NOT_TESTED: "not tested",
    VerdictState.NOT_SEPARABLE: "not separable",
}
# Claims of an effect that is not significant: it is small even at its limit, or it depends on the other factors.
HARDLY_MATTERS, IN_INTERACTION = "hardly matters", "in interaction"


class Direction(StrEnum):
    """The direction of a difference: of B against A, or of a factor with rising levels."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True)
class UncheckedClaim:
    """What an estimator says about a response, before its assumptions are checked.

    ``question`` is ``difference`` (of two sides), ``effect`` (of a factor, or a block of factors that change together),
    ``slope`` (of a term), ``limit`` (does a curve have one), ``best`` (an advised setting), ``model`` (does it beat the
    mean), ``change`` (over time), ``dependence`` (do two vary together), ``cause`` or ``gate``. ``subject`` has the
    objects of the claim: (A, B), the factors, the series, the class. ``claim`` names the best setting, the law, the
    cause. ``estimate`` is the number behind it.
    ``family`` is the number of tests it was corrected for.
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


@dataclass(frozen=True)
class Verdict(UncheckedClaim):
    """A judged claim; only ``stats.assumptions.judge`` makes one.

    ``doubts`` are stable codes of the assumptions that fail or are in doubt, ``checked`` those of all that were checked
    (both of ``DOUBTS``). ``why`` is the sentence of the assumption that decided the state, '' if none did. ``remedy``
    says what would settle an open question, '' if nothing is open.
    """

    doubts: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    why: str = ""
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "question": self.question,
            "response": self.response,
            "subject": list(self.subject),
            "state": str(self.state),
            "direction": None if self.direction is None else str(self.direction),
            "claim": self.claim,
            "estimate": None if self.estimate is None else self.estimate.to_json(),
            "p": self.p,
            "family": self.family,
            "doubts": list(self.doubts),
            "checked": list(self.checked),
            "why": self.why,
            "remedy": self.remedy,
        }


def name_standing(effect: UncheckedClaim) -> str:
    """Return the standing of a factor in one word or two, the same in every command."""
    is_open = effect.state in (VerdictState.EQUAL, VerdictState.INCONCLUSIVE)
    return effect.claim if is_open and effect.claim in (HARDLY_MATTERS, IN_INTERACTION) else _STANDINGS[effect.state]


DOUBTS = {
    "varies-besides": "a column that was not analysed varies as well",
    "goes-together": "another column always changes with it, or determines it",
    "order": "the sides were measured one after the other, so the difference includes time",
    "drift": "values drift with the order in which they were measured",
    "dependent": "neighbouring trials are correlated, so n is too large",
    "subsamples": "several rows belong to one trial",
    "few-trials": "a side has too few trials to estimate its spread",
    "missing-values": "values are missing, more of them on one side",
    "selected": "only extreme units of one side are paired, so the difference includes regression to the mean",
    "coarse-clock": "the clock's tick is as large as the spread",
    "cells-differ": "the effect differs between cells",
    "lack-of-fit": "the model misses the means by more than the noise",
    "extrapolated": "extrapolated beyond the measured range",
    "leverage": "one row alone determines the result",
    "impossible": "a value exceeds the capability of the hardware",
    "bring-ups": "each side has only one bring-up, so the difference includes theirs",
    "within-run": "iterations within one run, not trials",
    "not-corrected": "not corrected for the other tests",
    "other-tests": "significant alone, not among the tests of its family",
}
