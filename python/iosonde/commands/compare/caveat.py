"""A caveat of a comparison: its sentence, and the check of the assumption behind it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.gate import GateVerdict
from iosonde.core.types import Estimate
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.stats.assumptions import AssumptionCheck, judge, not_applicable
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT


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


def build_difference_claim(
    response: str, sides: tuple[str, str], state: VerdictState, up: bool, estimate: Estimate
) -> UncheckedClaim:
    """Build the claim on a difference of two sides; it has a direction if it claims a difference."""
    direction = (Direction.UP if up else Direction.DOWN) if state is VerdictState.DIFFERENT else None
    return UncheckedClaim("difference", response, sides, state, direction, estimate=estimate)


def judge_gate(gate: GateVerdict, checks: Mapping[str, Sequence[AssumptionCheck]]) -> tuple[Verdict, ...]:
    """Return the verdicts of a gate, by the ``checks`` of its comparisons by name. What fails for a comparison is a
    doubt here: the gate has taken it into account, and asks for no cause."""
    nothing = not_applicable(*REQUIRED["gate"])
    return tuple(
        judge(claim, [check.soften() for check in checks.get(claim.response, nothing)]) for claim in gate.claims
    )
