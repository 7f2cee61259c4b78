"""A caveat of a comparison: its sentence and the check behind it; and a comparison whose claim checks may override."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.gate import GateVerdict
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.stats.assumptions import AssumptionCheck, find_deciding_check, judge, not_applicable
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, Comparison
from iosonde.stats.estimate.compare_words import Wording


@dataclass(frozen=True)
class Caveat:
    """A caveat of a comparison. ``text`` is a Message; ``check`` is None for a remark that doubts nothing."""

    text: str
    check: AssumptionCheck | None = None


def list_checks(caveats: Iterable[Caveat]) -> tuple[AssumptionCheck, ...]:
    """Return the checks behind the caveats, each once."""
    return tuple(dict.fromkeys(caveat.check for caveat in caveats if caveat.check is not None))


def state_of_interval(verdict: str) -> VerdictState:
    """Return the state of the claim that A and B differ, by the verdict of its interval."""
    if verdict == CANNOT_TELL:
        return VerdictState.INCONCLUSIVE
    return VerdictState.DIFFERENT if verdict == DIFFERENT else VerdictState.EQUAL


@dataclass(frozen=True)
class QualifiedComparison(ABC):
    """The sides of a ``comparison``, in words, and its claim."""

    comparison: Comparison

    @property
    @abstractmethod
    def response(self) -> str:
        """Return the name of what is compared."""

    @property
    @abstractmethod
    def words(self) -> Wording:
        """Return the input of its wording."""

    @property
    @abstractmethod
    def checks(self) -> tuple[AssumptionCheck, ...]:
        """Return the checks of its assumptions."""

    @property
    def sides(self) -> tuple[str, str]:
        """Return the display names of A and B: ``before``, but ``nodes=1``."""
        return self.words.called(self.comparison.a.name), self.words.called(self.comparison.b.name)

    @property
    def claimed_state(self) -> VerdictState:
        """Return the state by the interval, unless Holm's correction removes a difference."""
        comparison = self.comparison
        if comparison.decided.low is None and comparison.df < 1:
            return VerdictState.NOT_TESTED
        if comparison.depends:
            return VerdictState.DIFFERENT
        is_chance = comparison.verdict == DIFFERENT and comparison.by_chance
        return state_of_interval(CANNOT_TELL if is_chance else comparison.verdict)

    @property
    def is_untested(self) -> bool:
        """Return whether nothing can be tested, as a side has one trial."""
        return self.claimed_state is VerdictState.NOT_TESTED

    @property
    def claim(self) -> UncheckedClaim:
        """Return the claim that its sides differ; a difference has a direction, unless that depends on the cell."""
        comparison, state = self.comparison, self.claimed_state
        has_direction = state is VerdictState.DIFFERENT and not comparison.depends
        direction = (Direction.UP if comparison.above else Direction.DOWN) if has_direction else None
        p = next((p for p in (comparison.p_depends, comparison.p_holm, comparison.p) if p is not None), None)
        estimate = comparison.decided
        return UncheckedClaim("difference", self.response, self.sides, state, direction, estimate=estimate, p=p)

    @property
    def overriding(self) -> AssumptionCheck | None:
        """Return the check that overrides the interval's claim."""
        if self.comparison.decided.value is None or self.comparison.decided.low is None:
            return None
        claim = self.claim
        return find_deciding_check(claim.state, [check.apply_to(claim) for check in self.checks])


def judge_gate(gate: GateVerdict, checks: Mapping[str, Sequence[AssumptionCheck]]) -> tuple[Verdict, ...]:
    """Return the verdicts of a gate, by the ``checks`` of its comparisons by name. What fails for a comparison is a
    doubt here: the gate has taken it into account, and asks for no cause."""
    nothing = not_applicable(*REQUIRED["gate"])
    return tuple(
        judge(claim, [check.soften() for check in checks.get(claim.response, nothing)]) for claim in gate.claims
    )
