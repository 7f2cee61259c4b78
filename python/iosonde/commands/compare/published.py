"""A published document against DATA: the verdict on each printed number, and on the order of settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from iosonde.agreement.cells import (
    JudgedCell,
    JudgedRanking,
    UnmeasuredGroup,
    count_outcomes,
    describe_counts,
    group_unmeasured,
    judge_publication,
)
from iosonde.agreement.documents import DocumentClaim, apply_claims, count_claims
from iosonde.agreement.judge import PublishedOutcome
from iosonde.answers.answer import Answer, build_level_columns
from iosonde.commands.report.document_claims import judge_document_claims
from iosonde.commands.summary.measured import build_finder
from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.core.words import format_count
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.foreign.reach import check_reachable
from iosonde.importers.published_figures import Publication, read_publication_file

# With --strict a gate fails on these, too.
_OPEN = (PublishedOutcome.INCONCLUSIVE, PublishedOutcome.NOT_MEASURED)
_GATED = str(PublishedOutcome.CONTRADICTED)


@dataclass(frozen=True)
class PublishedVerdicts(Answer):
    """Verdicts on the numbers of a document. ``is_gated``: a contradiction is a problem; ``is_strict``: so is a number
    that could not be compared."""

    publication: Publication
    data: str
    level: float
    cells: tuple[JudgedCell, ...]
    rankings: tuple[JudgedRanking, ...] = ()
    is_gated: bool = False
    is_strict: bool = False
    claims: tuple[DocumentClaim, ...] = ()
    schema: ClassVar[int] = 1

    @property
    def sentence(self) -> str:
        """Count what the document got wrong and the verdicts on claims; without claims those on numbers."""
        counts = count_claims(self.claims)
        if not counts:
            return self.tally
        n_wrong = count_outcomes(self.cells)[PublishedOutcome.DOCUMENT_WRONG] + len(self.publication.wrong_statements)
        claims = ", ".join(f"{n} {name}" for name, n in counts.items())
        wrong = f"The document is wrong in {format_count(n_wrong, 'place')}. " if n_wrong else ""
        n_claims = sum(counts.values())
        chance = (
            f" Each has its own interval: of {n_claims} about {round((1 - self.level) * n_claims)} may err by chance."
        )
        return f"{wrong}Of {format_count(n_claims, 'claim')} beside measurements: {claims}." + (
            chance if (1 - self.level) * n_claims >= 1 else ""
        )

    @property
    def tally(self) -> str:
        """Count the verdicts on numbers."""
        return describe_counts(count_outcomes(self.cells))

    @property
    def substitutes(self) -> list[str]:
        """Return what was measured in place of the published system, campaign by campaign."""
        return [campaign.here for campaign in self.publication.campaigns if campaign.here]

    @property
    def unmeasured(self) -> list[UnmeasuredGroup]:
        """Return the numbers that were not measured, by reason."""
        return group_unmeasured(self.cells)

    @property
    def problem(self) -> bool:
        """Return whether the condition of ``fail_if`` holds."""
        outcomes = {
            *(cell.verdict.outcome for cell in self.cells),
            *(ranking.verdict.outcome for ranking in self.rankings),
            *(claim.outcome for claim in self.claims),
        }
        wrong = {PublishedOutcome.CONTRADICTED, *(_OPEN if self.is_strict else ())}
        return self.is_gated and bool(outcomes & wrong)

    def content(self) -> dict[str, Any]:
        """As ``iosonde compare --json``. Values are in base units; ``printed`` is in the document's."""
        counts = count_outcomes(self.cells)
        return {
            "document": self.publication.document,
            "title": self.publication.title,
            "data": self.data,
            "level": self.level,
            "figures": [_build_figure(cell) for cell in self.cells],
            "claims": [_build_claim(claim) for claim in self.claims],
            "rankings": [
                {
                    "operation": ranking.operation,
                    "metric": ranking.metric,
                    "settings": ranking.n_settings,
                    "rho": ranking.verdict.rho,
                    "p": ranking.verdict.p,
                    "outcome": str(ranking.verdict.outcome),
                }
                for ranking in self.rankings
            ],
            "wrong_statements": [
                {
                    "where": item.where,
                    "words": list(item.words),
                    "should_be": item.slip and item.slip.should_be,
                    "why": item.slip and item.slip.why,
                }
                for item in self.publication.wrong_statements
            ],
            "counts": {str(outcome): counts[outcome] for outcome in PublishedOutcome if counts[outcome]},
            "sentence": self.sentence,
            "fail_if": {"condition": _GATED, "problem": self.problem} if self.is_gated else None,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per number."""
        return [_build_record(cell) for cell in self.cells]


def _build_figure(cell: JudgedCell) -> dict[str, Any]:
    number = cell.number
    slip = number.slip and {"should_be": number.slip.should_be, "why": number.slip.why}
    return {
        "where": number.where,
        "line": number.line,
        "operation": number.operation,
        "metric": number.metric,
        "statistic": number.statistic,
        "settings": dict(number.settings),
        "unit": number.unit.base,
        "printed": [each.value for each in cell.numbers],
        "published": cell.published.to_json(),
        "measured": None if cell.measured is None else cell.measured.to_json(),
        "outcome": str(cell.verdict.outcome),
        "unmeasured": number.unmeasured,
        "slip": slip,
        "note": str(cell.note),
    }


def _build_claim(claim: DocumentClaim) -> dict[str, Any]:
    return {
        "question": claim.question,
        "command": claim.command,
        "is_stated": claim.is_stated,
        "where": list(dict.fromkeys(number.where for number in claim.numbers)),
        **claim.judged.to_json(),
    }


def _build_record(cell: JudgedCell) -> dict[str, Any]:
    number = cell.number
    measured = cell.measured or Estimate(None, None, None, cell.published.level, 0)
    row = {
        "where": number.where,
        "operation": number.operation,
        "metric": number.metric,
        "statistic": number.statistic,
        "unit": number.unit.base,
        **cell.published.flat("published"),
        **measured.flat("measured"),
        "outcome": str(cell.verdict.outcome),
    }
    return {**build_level_columns(number.settings, row), **row}


def read_document(data: Any) -> Publication | None:
    """Return the document in a file; None for other DATA. Raises InputError, SpecError."""
    if not isinstance(data, (str, Path)) or Path(data).suffix not in (".yaml", ".yml"):
        return None
    check_reachable(Path(data))
    return read_publication_file(Path(data))


def parse_published_gate(conditions: Sequence[str], is_strict: bool) -> bool:
    """Return whether a contradiction is a problem. Raises InputError for any other condition."""
    for text in conditions:
        if text.strip() != _GATED:
            raise InputError(
                "invalid-gate-condition",
                "'{condition}' is not a condition of published numbers",
                "write {spell.fail_if} {word}",
                condition=text,
                word=_GATED,
            )
    if is_strict and not conditions:
        raise InputError(
            "missing-condition",
            "{spell.strict} has no condition",
            "give one with {spell.fail_if}: {example}",
            example=_GATED,
        )
    return bool(conditions)


def compare_published(
    publication: Publication, source: Source | None, query: ResponseQuery, is_gated: bool, is_strict: bool
) -> PublishedVerdicts:
    """Judge each number of a document by what DATA has at its setting; without DATA by its campaigns, then by the
    document alone. Raises InputError, DataError, SpecError."""
    cells, rankings = judge_publication(publication, build_finder(source, query), query.level)
    claims = judge_document_claims(publication, query) if source is None else []
    cells = apply_claims(cells, claims)
    name = "" if source is None else source.name
    return PublishedVerdicts(
        publication, name, query.level, tuple(cells), tuple(rankings), is_gated, is_strict, tuple(claims)
    )
