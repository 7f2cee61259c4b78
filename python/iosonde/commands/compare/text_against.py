"""Preregistered pairs as text: a table of the numbers, remarks, and the verdict as the last sentence."""

from collections.abc import Iterator

from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import format_metric
from iosonde.core.units import choose_human_scale, format_percent, format_ratio, format_significant
from iosonde.layout.text import escape, format_fitting_table, paragraphs, wrapped
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, EQUAL, NEGLIGIBLE
from iosonde.stats.estimate.pairs import PairVerdict

from .against import PairVerdicts

_MARKS = {DIFFERENT: "≠", NEGLIGIBLE: "≈", EQUAL: "=", CANNOT_TELL: "~"}


def lines(pair_verdicts: PairVerdicts) -> Iterator[str]:
    """Yield the lines of the text."""
    rule = pair_verdicts.rule
    commands = [(side, command) for side, command in pair_verdicts.commands if command != side]
    sides = "" if commands else f"A: {rule.a}, B: {rule.b}; "
    for side, command in commands:
        yield from wrapped(command, indent="  ", first=escape(f"{side}: "))
    yield escape(
        f"{sides}{100 * rule.level:g} % intervals over pairs, and ± {format_percent(rule.margin)}, sealed before"
    )
    yield ""
    if pair_verdicts.items:
        yield from _format_table(pair_verdicts)
    yield from paragraphs(f"! {text}" for text in pair_verdicts.warnings)
    for place, sentence in enumerate(pair_verdicts.sentences):
        yield from [""] if place or pair_verdicts.items else []
        yield from wrapped(sentence)
    if pair_verdicts.judged is not None:
        yield from paragraphs(pair_verdicts.judged.remarks)


def build_grid(pair_verdicts: PairVerdicts) -> tuple[list[str], list[list[object]], str]:
    """Return (headings, a row per metric, alignment)."""
    columns = list(dict.fromkeys(name for item in pair_verdicts.items for name in item.cell))
    metrics = group_by_key(item.name[:2] for item in pair_verdicts.items)
    rows = [_format_row(item, columns, metrics[item.name[0]]) for item in pair_verdicts.items]
    return ["", "", *columns, "pairs", "A → B", "B ÷ A", "interval", ""], rows, "ll" + "l" * len(columns) + "rLrrL"


def _format_table(pair_verdicts: PairVerdicts) -> Iterator[str]:
    headers, rows, sides = build_grid(pair_verdicts)
    yield from format_fitting_table(headers, rows, sides, len(headers) - 5)
    yield from ["", explain_marks()]
    if len(pair_verdicts.items) > len(pair_verdicts.primary) > 0:
        yield "> decides; the others share another alpha (Bonferroni)"


def explain_marks() -> str:
    """Explain the marks."""
    return "  ".join(f"{mark} {verdict}" for verdict, mark in _MARKS.items())


def _format_row(verdict: PairVerdict, columns: list[str], metrics: list[str]) -> list[object]:
    operation, metric, _ = verdict.name
    ratio, estimate = verdict.ratio, verdict.typical()
    return [
        ">" if verdict.primary else "",
        f"{operation} {metric if metric == 'seconds' else format_metric(metric, operation, metrics)}",
        *(verdict.cell.get(name) for name in columns),
        verdict.n,
        "~" if estimate is None else _format_values(*estimate, verdict.name[2]),
        "~" if ratio.value is None else format_ratio(ratio.value),
        "~" if ratio.low is None or ratio.high is None else f"{format_ratio(ratio.low)}–{format_ratio(ratio.high)}",
        _MARKS[verdict.verdict],
    ]


def _format_values(a: float, b: float, unit: str) -> str:
    scale, name = choose_human_scale(max(a, b), unit)
    return f"{format_significant(a / scale)} → {format_significant(b / scale)} {name}".rstrip()
