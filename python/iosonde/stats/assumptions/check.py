"""The check of one assumption: its outcome, and what it does to a claim."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum

from iosonde.core.verdict import DOUBTS, UncheckedClaim, VerdictState

from .dependence import discount_p


class CheckOutcome(StrEnum):
    """The outcome of a check."""

    HOLDS = "holds"
    DOUBTFUL = "doubtful"  # the verdict carries the doubt
    FAILS = "fails"  # the verdict carries the doubt, and a claim that rests on the assumption does not follow
    NOT_APPLICABLE = "not applicable"  # such data cannot violate it, as a published mean has no order


@dataclass(frozen=True)
class AssumptionCheck:
    """The check of an ``assumption``, a code of ``DOUBTS``. ``subject``: the names that it concerns; none: every claim
    about these data. ``instead``: the state of a claim that does not follow. ``why``: the sentence that says so.
    ``cause``: the column that explains the same, if one does. ``worth``: the independent trials that one is worth."""

    assumption: str
    outcome: CheckOutcome
    subject: tuple[str, ...] = ()
    instead: VerdictState | None = None
    why: str = ""
    cause: str = ""
    worth: float = 1.0

    def __post_init__(self) -> None:
        """Raise AssertionError for a code without a meaning, or an outcome that contradicts ``instead``."""
        if self.assumption not in DOUBTS or (self.outcome is CheckOutcome.FAILS) != (self.instead is not None):
            raise AssertionError(f"no such check: {self}")

    @property
    def is_doubt(self) -> bool:
        """Return whether a verdict carries its code as a doubt."""
        return self.outcome in (CheckOutcome.DOUBTFUL, CheckOutcome.FAILS)

    def concerns(self, subject: Collection[str]) -> bool:
        """Return whether a claim about ``subject`` rests on it: on one of its columns, or a level (``fs[nfs]``)."""
        return not self.subject or any(
            name == own or name.startswith(f"{own}[") for own in self.subject for name in subject
        )

    def soften(self) -> "AssumptionCheck":
        """Return the same check for a claim that does not rest on the assumption: a failure is only a doubt."""
        is_failure = self.outcome is CheckOutcome.FAILS
        return replace(self, outcome=CheckOutcome.DOUBTFUL, instead=None) if is_failure else self

    def apply_to(self, claim: UncheckedClaim) -> "AssumptionCheck":
        """Return the check for this claim: a dependence fails if it takes the significance of the claim away."""
        if claim.state is not VerdictState.DIFFERENT or claim.p is None or claim.estimate is None:
            return self
        if discount_p(claim.p, self.worth) < 1 - claim.estimate.level or self.worth >= 1:
            return self
        return replace(self, outcome=CheckOutcome.FAILS, instead=VerdictState.INCONCLUSIVE)


def holds(*assumptions: str) -> tuple[AssumptionCheck, ...]:
    """Return the checks of assumptions that hold."""
    return tuple(AssumptionCheck(assumption, CheckOutcome.HOLDS) for assumption in assumptions)


def not_applicable(*assumptions: str) -> tuple[AssumptionCheck, ...]:
    """Return the checks of assumptions that such data cannot violate."""
    return tuple(AssumptionCheck(assumption, CheckOutcome.NOT_APPLICABLE) for assumption in assumptions)


def doubtful(assumption: str, why: str = "", subject: tuple[str, ...] = (), worth: float = 1.0) -> AssumptionCheck:
    """Return the check of an assumption that may not hold; the claim stays."""
    return AssumptionCheck(assumption, CheckOutcome.DOUBTFUL, subject, why=why, worth=worth)


def fails(
    assumption: str,
    instead: VerdictState,
    why: str = "",
    subject: tuple[str, ...] = (),
    cause: str = "",
) -> AssumptionCheck:
    """Return the check of an assumption that does not hold; the claim becomes ``instead``."""
    return AssumptionCheck(assumption, CheckOutcome.FAILS, subject, instead, why, cause)
