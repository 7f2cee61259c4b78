"""A published document against DATA: the verdict on each printed number, and on the order of settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from iosonde.agreement.cells import (
    JudgedCell,
    JudgedRanking,
    MeasuredNumber,
    UnmeasuredGroup,
    count_outcomes,
    describe_counts,
    group_unmeasured,
    judge_publication,
)
from iosonde.agreement.judge import PublishedOutcome
from iosonde.answers.answer import Answer, build_level_columns
from iosonde.commands.summary.answer import summary
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.where import Condition
from iosonde.core.words import format_count
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source, StoredSource
from iosonde.foreign.reach import check_reachable
from iosonde.importers.columns_map import parse_unit
from iosonde.importers.published import NAME as PUBLISHED_TOOL
from iosonde.importers.published_figures import PrintedNumber, Publication, Statement, read_publication_file

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
    schema: ClassVar[int] = 1

    @property
    def sentence(self) -> str:
        """Count the verdicts."""
        return describe_counts(count_outcomes(self.cells))

    @property
    def unmeasured(self) -> list[UnmeasuredGroup]:
        """Return the numbers that were not measured, by reason."""
        return group_unmeasured(self.cells)

    @property
    def wrong_statements(self) -> tuple[Statement, ...]:
        """Return the claims in words that are wrong by the document itself."""
        return tuple(item for item in self.publication.statements if item.slip is not None)

    @property
    def problem(self) -> bool:
        """Return whether the condition of ``fail_if`` holds."""
        verdicts = [*(cell.verdict for cell in self.cells), *(ranking.verdict for ranking in self.rankings)]
        outcomes = {verdict.outcome for verdict in verdicts}
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
                for item in self.wrong_statements
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
    """Judge each number of a document by what DATA has at its setting; without DATA by the document alone."""
    find = _build_finder(source, query)
    cells, rankings = judge_publication(publication, find, query.level)
    name = "" if source is None else source.name
    return PublishedVerdicts(publication, name, query.level, tuple(cells), tuple(rankings), is_gated, is_strict)


def _build_finder(source: Source | None, query: ResponseQuery) -> Callable[[PrintedNumber], MeasuredNumber]:
    if source is None:
        return lambda number: MeasuredNumber()
    if isinstance(source, StoredSource) and any(run.factors.get("tool") == PUBLISHED_TOOL for run in source.runs):
        source = source.narrow([Condition("tool", "!=", PUBLISHED_TOOL)], None)
    return lambda number: _find_measurement(source, query, number)


def _find_measurement(source: Source, query: ResponseQuery, number: PrintedNumber) -> MeasuredNumber:
    """Return the mean over the trials at the setting of a number; settings that differ otherwise are not averaged."""
    settings = {name: level for name, level in number.settings.items() if name != "repetition"}
    unknown = [name for name in settings if not source.table.has_column(name)]
    if unknown:
        what = Message("unknown-setting", "DATA has no column {names}", names=", ".join(unknown))
        return MeasuredNumber(missing=what)
    conditions = [Condition(name, "=", str(level)) for name, level in settings.items()]
    names = [f"{number.operation} {number.metric}"] if source.knows_factors else [number.operation, number.metric]
    missing = ""
    for name in names:
        try:
            answer = summary(source.narrow(conditions, None), replace(query, response=(name,)))
        except IosondeError as error:
            missing = missing or error.message
            continue
        return _read_groups(answer.overview.to_json()["groups"], number, query.level)
    return MeasuredNumber(missing=missing)


def _read_groups(groups: Sequence[dict[str, Any]], number: PrintedNumber, level: float) -> MeasuredNumber:
    of_unit = [group for group in groups if _find_scale(group["unit"], number) is not None]
    if not of_unit:
        units = ", ".join(sorted({str(group["unit"]) for group in groups})) or "no unit"
        template = "it is measured in {units}, not in {unit}"
        return MeasuredNumber(missing=Message("other-unit", template, units=units, unit=number.unit_name))
    if len(of_unit) > 1:
        differing = [name for name in of_unit[0]["by"] if len({group["by"].get(name) for group in of_unit}) > 1]
        template = "DATA has {settings} there, by {names}: state which"
        settings = format_count(len(of_unit), "setting")
        return MeasuredNumber(
            missing=Message("ambiguous-setting", template, settings=settings, names=", ".join(differing))
        )
    (group,) = of_unit
    scale = _find_scale(group["unit"], number) or 1.0
    mean, low, high = (
        None if group[name] is None else scale * group[name] for name in ("mean", "mean_low", "mean_high")
    )
    note = Message("single-trial-measured", "one trial has no interval") if low is None else ""
    return MeasuredNumber(Estimate(mean, low, high, level, group["n"]), note)


def _find_scale(unit: str, number: PrintedNumber) -> float | None:
    """Return the factor from a column's unit to the base unit of a number; None between unlike units."""
    if unit == number.unit.base:
        return 1.0
    try:
        parsed = parse_unit(unit)
    except InputError:
        return None
    return parsed.to_base(1.0) if parsed.base == number.unit.base else None
