"""Verdicts on a published document as text: its numbers, the order of settings, its slips, and the counts."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from iosonde.agreement.cells import JudgedCell, JudgedRanking
from iosonde.agreement.judge import PublishedOutcome
from iosonde.core.headlines import format_metric
from iosonde.core.level_text import format_assignments
from iosonde.core.types import Estimate, FactorValue
from iosonde.core.units import format_percent, format_significant
from iosonde.importers.published_figures import REPETITION
from iosonde.layout.text import format_fitting_table, paragraphs, wrapped

from .published import PublishedVerdicts


def lines(answer: PublishedVerdicts) -> Iterator[str]:
    """Yield the lines of the text."""
    publication = answer.publication
    other = "" if publication.is_same_hardware else "; its hardware is another: orders and shares are compared"
    yield from wrapped(f"{publication.document}: {publication.title}{other}")
    beside = f"beside {answer.data}; " if answer.data else ""
    yield from wrapped(f"{beside}{100 * answer.level:g} % intervals over trials", indent="  ")
    yield ""
    reached_cells = [cell for cell in answer.cells if not _is_unreached(cell)]
    if reached_cells:
        common = find_common_settings([cell.number.written_settings for cell in reached_cells])
        yield from wrapped(f"all: {', '.join(format_assignments(common, {}))}", indent="  ") if common else ()
        headers = ["", "published", "measured", "verdict"]
        yield from format_fitting_table(headers, [_format_row(cell, common) for cell in reached_cells], "LrrL", 1)
        yield ""
    yield from paragraphs(map(_describe_ranking, answer.rankings))
    yield from _format_slips(answer)
    yield from _format_unmeasured(answer)
    yield from wrapped(answer.sentence)
    if answer.is_gated:
        yield "fail_if contradicted: " + ("failed" if answer.problem else "passed")


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
    published = f"{relation}{_format(cell.published, scale)} {unit}".rstrip() + shares[0]
    measured = "~" if cell.measured is None else _format(cell.measured, scale) + shares[1]
    if number.follows is not None:
        published = f"{number.value:.10g} {unit}".rstrip()
        measured = f"{number.follows:.7g} computed"
    return [format_number(cell, common), published, measured, _format_verdict(cell)]


def _format(estimate: Estimate, scale: float) -> str:
    if estimate.value is None:
        return "~"
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    interval = f" ({'–'.join(format_significant(end / scale) for end in ends)})" if len(ends) == 2 else ""
    return f"{format_significant(estimate.value / scale)}{interval}"


def _format_verdict(cell: JudgedCell) -> str:
    p = "" if cell.verdict.p is None else f", p = {cell.verdict.p:.2g}"
    return f"{cell.verdict.outcome}{p}"


def _describe_ranking(ranking: JudgedRanking) -> str:
    verdict = ranking.verdict
    p = (
        ""
        if verdict.p is None or verdict.rho is None
        else f": ρ = {verdict.rho:.2f}, p = {verdict.p:.2g} of all orders"
    )
    return f"Order of {ranking.n_settings} settings, {ranking.operation}: {verdict.outcome}{p}."


def _format_slips(answer: PublishedVerdicts) -> Iterator[str]:
    for cell in answer.cells:
        if (slip := cell.number.slip) is not None:
            right = "" if slip.should_be is None else f", right is {slip.should_be}"
            yield from wrapped(
                f"! the document is wrong, {cell.number.where}: {cell.number.value:.10g}{right}: {slip.why}",
                indent="  ",
            )
    for statement in answer.wrong_statements:
        if (slip := statement.slip) is not None:
            right = "" if slip.should_be is None else f", right is {slip.should_be}"
            words = " … ".join(statement.words)
            yield from wrapped(f"! the document is wrong, {statement.where}: '{words}'{right}: {slip.why}", indent="  ")


def _format_unmeasured(answer: PublishedVerdicts) -> Iterator[str]:
    for group in answer.unmeasured:
        names = "; ".join(format_number(cell) for cell in group.cells[:3]) + ("; …" if len(group.cells) > 3 else "")
        yield from wrapped(f"not measured, {group.reason}: {group.n} ({names})")
