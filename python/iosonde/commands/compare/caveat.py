"""A caveat of a comparison: its sentence, its code, and whether the claim still follows from the interval."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iosonde.core.types import Estimate
from iosonde.core.verdict import Direction, Verdict, VerdictState
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT


@dataclass(frozen=True)
class Caveat:
    """A caveat of a comparison. ``text`` is a Message, and ``why`` if it is a reason. ``doubt`` is a code of
    ``DOUBTS``, '' for a remark that doubts nothing. ``instead``: the state of a claim that does not follow; None leaves
    it to the reader. ``why`` completes the sentence of such a claim: why it is inconclusive, or the other cause that
    cannot be separated."""

    text: str
    doubt: str = ""
    instead: VerdictState | None = None
    why: str = ""


def list_doubt_codes(caveats: Iterable[Caveat]) -> tuple[str, ...]:
    """Return their codes, each once."""
    return tuple(dict.fromkeys(caveat.doubt for caveat in caveats if caveat.doubt))


def find_overriding_caveat(verdict: str, caveats: Sequence[Caveat]) -> Caveat | None:
    """Return the caveat that overrides the interval's claim, or explains its absence. A confounded cause overrides a
    difference only."""
    unsure = [caveat for caveat in caveats if caveat.instead is VerdictState.INCONCLUSIVE]
    twins = [caveat for caveat in caveats if caveat.instead is VerdictState.NOT_SEPARABLE]
    return next(iter(unsure or (twins if verdict == DIFFERENT else [])), None)


def determine_state(verdict: str, caveats: Sequence[Caveat]) -> VerdictState:
    """Return the state of the claim that A and B differ, by the verdict of the interval."""
    caveat = find_overriding_caveat(verdict, caveats)
    if caveat is not None and caveat.instead is not None:
        return caveat.instead
    if verdict == CANNOT_TELL:
        return VerdictState.INCONCLUSIVE
    return VerdictState.DIFFERENT if verdict == DIFFERENT else VerdictState.EQUAL


def build_difference_verdict(
    response: str, sides: tuple[str, str], state: VerdictState, up: bool, estimate: Estimate, doubts: tuple[str, ...]
) -> Verdict:
    """Build the verdict on a difference of two sides; it has a direction if it claims a difference."""
    claims = state in (VerdictState.DIFFERENT, VerdictState.NOT_SEPARABLE)
    direction = (Direction.UP if up else Direction.DOWN) if claims else None
    return Verdict("difference", response, sides, state, direction, estimate=estimate, doubts=doubts)
