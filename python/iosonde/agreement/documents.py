"""The claims of a document, judged: which numbers and statements each is about, and what it makes of their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from iosonde.importers.published_figures import PrintedNumber

from .cells import JudgedCell
from .claims import JudgedClaim
from .judge import PublishedOutcome

# Outcomes of a comparison with measurements that agree with the document.
AGREEING = (
    PublishedOutcome.SAME_SIGN,
    PublishedOutcome.SAME_RANKING,
    PublishedOutcome.INSIDE_INTERVAL,
    PublishedOutcome.SAME_SHARE,
    PublishedOutcome.NO_EFFECT,
    PublishedOutcome.KEPT,
)
# Of several verdicts on a number the first of these counts.
_WORST = (PublishedOutcome.CONTRADICTED, PublishedOutcome.NOT_COMPARABLE, PublishedOutcome.INCONCLUSIVE)
# Reasons that a comparison does not change: the number goes into others.
_INPUT = "input"


@dataclass(frozen=True)
class DocumentClaim:
    """A claim of a question, answered by ``command``. ``numbers``: what it selects in the document; ``statement``: the
    place of its words, None without. ``derivation``: how the compared value follows from them. ``file``: the name
    of the file with the question. ``is_stated``: the document's own numbers were asked."""

    question: str
    command: str
    numbers: tuple[PrintedNumber, ...]
    statement: int | None
    judged: JudgedClaim
    derivation: str = ""
    file: str = ""
    is_stated: bool = False

    @property
    def outcome(self) -> PublishedOutcome:
        """The verdict."""
        return self.judged.verdict.outcome


def apply_claims(cells: Iterable[JudgedCell], claims: Sequence[DocumentClaim]) -> list[JudgedCell]:
    """Give each number that was not measured by itself the worst verdict of its claims."""
    return [_apply_claim(cell, claims) for cell in cells]


def _apply_claim(cell: JudgedCell, claims: Sequence[DocumentClaim]) -> JudgedCell:
    is_open = cell.verdict.outcome is PublishedOutcome.NOT_MEASURED and cell.number.unmeasured != _INPUT
    is_slip = cell.verdict.outcome is PublishedOutcome.DOCUMENT_WRONG
    own = [claim for claim in claims if cell.number in claim.numbers and (is_open or claim.is_stated)]
    if not own or not (is_open or is_slip):
        return cell
    worst = min(own, key=lambda claim: _WORST.index(claim.outcome) if claim.outcome in _WORST else len(_WORST))
    return replace(cell, verdict=worst.judged.verdict, note="")


def count_claims(claims: Iterable[DocumentClaim]) -> dict[str, int]:
    """Count the claims that measurements judge: ``agree``, then each other verdict."""
    counts = Counter(claim.outcome for claim in claims if not claim.is_stated)
    names = {outcome: "agree" if outcome in AGREEING else str(outcome) for outcome in PublishedOutcome}
    groups = Counter({"agree": 0})
    for outcome in PublishedOutcome:
        groups[names[outcome]] += counts[outcome]
    return {name: n for name, n in groups.items() if n}
