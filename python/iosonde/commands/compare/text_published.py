"""Verdicts on a published document as text: its numbers, the order of settings, its slips, and the counts."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from iosonde.agreement.cells import JudgedCell, JudgedRanking
from iosonde.agreement.judge import PublishedOutcome
from iosonde.commands.report.text_document import describe_rules, format_claims, format_slips, name_number
from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_assignments
from iosonde.core.types import Estimate, FactorValue
from iosonde.core.units import format_percent, format_significant
from iosonde.core.words import format_count
from iosonde.importers.published_figures import REPETITION
from iosonde.layout.text import format_fitting_table, paragraphs, wrapped

from .published import PublishedVerdicts


def lines(answer: PublishedVerdicts) -> Iterator[str]:
    """Yield the lines of the text."""
    publication = answer.publication
    other = (
        ""
        if publication.is_same_hardware
        else "; its hardware is another: signs, orders and shares are compared, never seconds"
    )
    yield from wrapped(f"{publication.document}: {publication.title}{other}")
    source = f"beside {answer.data}; " if answer.data else ""
    yield from wrapped(f"{source}{100 * answer.level:g} % intervals over trials", indent="  ")
    yield ""
    if answer.claims:
        yield from wrapped(answer.sentence)
        yield ""
    yield from paragraphs(answer.substitutes, "  ", "here: ")
    yield from paragraphs(publication.notes, "  ", "~ ")
    yield from paragraphs(describe_rules(answer.claims), "  ")
    yield from [""] if answer.claims or publication.notes else []
    yield from format_slips(publication)
    yield from format_claims(answer.claims)
    yield from _format_cells(answer)
    yield from paragraphs(map(_describe_ranking, answer.rankings))
    yield from _format_unmeasured(answer)
    yield from wrapped(answer.tally if answer.claims else answer.sentence)
    if answer.is_gated:
        yield "fail_if contradicted: " + ("failed" if answer.problem else "passed")


def _format_cells(answer: PublishedVerdicts) -> Iterator[str]:
    """Yield the numbers that were compared with a measurement at their own setting, or follow from others."""
    claimed = [number for claim in answer.claims if not claim.is_stated for number in claim.numbers]
    listed = [cell for cell in answer.cells if not _is_unreached(cell) and cell.number not in claimed]
    stated = [cell for cell in listed if cell.verdict.outcome is PublishedOutcome.RECOMPUTED]
    if answer.claims and stated:
        yield from wrapped(f"Follow from the document's own numbers ({len(stated)})")
        yield from wrapped("; ".join(name_number(cell.number) for cell in stated), "    ", "  ")
        yield ""
        listed = [cell for cell in listed if cell not in stated]
    if listed:
        common = find_common_settings([cell.number.written_settings for cell in listed])
        places = "; ".join(dict.fromkeys(cell.number.where for cell in listed))
        shared = f"all: {', '.join(format_assignments(common, {}))}; " if common else ""
        yield from wrapped(f"{shared}from {places}", indent="  ")
        headers = ["", "published", "measured", "verdict"]
        yield from format_fitting_table(headers, [_format_row(cell, common) for cell in listed], "LrrL", 1)
        yield ""


def _is_unreached(cell: JudgedCell) -> bool:
    return cell.verdict.outcome in (PublishedOutcome.NOT_MEASURED, PublishedOutcome.DOCUMENT_WRONG)


def find_common_settings(settings: Sequence[Mapping[str, FactorValue]]) -> dict[str, FactorValue]:
    """Return the settings that several numbers share; of a single number none."""
    first, *others = settings
    return {
        name: level for name, level in first.items() if others and all(other.get(name) == level for other in others)
    }


def format_number(cell: JudgedCell, common: Collection[str] = ()) -> str:
    """Name a printed number: its operation, metric and setting, without the ``common`` settings."""
    number = cell.number
    settings = {name: level for name, level in number.written_settings.items() if name not in (REPETITION, *common)}
    what = number.statistic.replace("_", " ") or format_metric(number.metric, number.operation, ())
    return ", ".join([f"{number.operation} {what}", *format_assignments(settings, {})])


def _format_row(cell: JudgedCell, common: Collection[str]) -> list[object]:
    """Return a row in the unit of the document."""
    number = cell.number
    scale, unit = number.unit.to_base(1), number.unit_name
    relation = {"at_least": "≥ ", "at_most": "≤ "}.get(number.relation, "")
    shares = [
        "" if estimate is None or estimate.value is None else f" = {format_percent(estimate.value / scale / bound)}"
        for estimate, bound in zip((cell.published, cell.measured), number.bound or (), strict=False)
    ] or ["", ""]
    is_plain = len(cell.numbers) == 1 and cell.published.low is None
    value = f"{number.value:.10g}" if is_plain else _format(cell.published, scale)
    published = f"{relation}{value} {unit}".rstrip() + shares[0]
    measured = "~" if cell.measured is None else _format(cell.measured, scale) + shares[1]
    if number.follows is not None:
        published = f"{number.value:.10g} {unit}".rstrip()
        measured = f"{number.follows:.7g} computed"
    return [format_number(cell, common), published, measured, _format_verdict(cell)]


def _format(estimate: Estimate, scale: float) -> str:
    if estimate.value is None:
        return "~"
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    interval = f" ({'–'.join(format_significant(end / scale, 4) for end in ends)})" if len(ends) == 2 else ""
    return f"{format_significant(estimate.value / scale, 4)}{interval}"


def _format_verdict(cell: JudgedCell) -> str:
    p = "" if cell.verdict.p is None else f", p = {cell.verdict.p:.2g}"
    note = f": {cell.note}" if cell.note else ""
    return f"{cell.verdict.outcome}{_find_direction(cell)}{p}{note}"


def _find_direction(cell: JudgedCell) -> str:
    """Return on which side of the published value the measurement contradicts it."""
    values = (cell.published.value, None if cell.measured is None else cell.measured.value)
    if cell.verdict.outcome is not PublishedOutcome.CONTRADICTED or None in values or cell.verdict.p is not None:
        return ""
    return ": higher" if (values[1] or 0.0) > (values[0] or 0.0) else ": lower"


def _describe_ranking(ranking: JudgedRanking) -> str:
    verdict = ranking.verdict
    p = (
        ""
        if verdict.p is None or verdict.rho is None
        else f": ρ = {verdict.rho:.2f}, p = {verdict.p:.2g} of all orders"
    )
    return f"Order of {ranking.n_settings} settings, {ranking.operation}: {verdict.outcome}{p}."


def _format_unmeasured(answer: PublishedVerdicts) -> Iterator[str]:
    """Yield the numbers and statements that nothing was compared with, and why."""
    for group in answer.unmeasured:
        names = "; ".join(dict.fromkeys(cell.number.where for cell in group.cells))
        yield from wrapped(f"not compared, {group.reason}: {format_count(group.n, 'number')} ({names})", "  ")
    claimed = {claim.statement for claim in answer.claims}
    statements = answer.publication.statements
    others = [item for place, item in enumerate(statements) if item.slip is None and place not in claimed]
    for statement in others:
        yield from wrapped(
            f"not compared, nothing was measured: '{' … '.join(statement.words)}' ({statement.where})", "  "
        )
