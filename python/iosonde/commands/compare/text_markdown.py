"""Comparisons as a Markdown table, to be pasted into a pull request."""

from collections.abc import Iterator

from iosonde.layout.markdown import escape_markdown, format_row

from . import text_against as against
from .against import PairVerdicts
from .compared import Comparisons
from .text import (
    choose_side_columns,
    describe_base,
    describe_common_setting,
    explain_signs,
    format_decisive_estimate,
    format_means,
    format_setting_cells,
    format_verdict,
    select_distinguishing_columns,
)


def format_markdown(answer: Comparisons | PairVerdicts) -> Iterator[str]:
    """Yield the lines of the table and the remarks below; for preregistered pairs, the verdicts."""
    if not isinstance(answer, Comparisons):
        yield from _format_pairs(answer)
        return
    if not answer.items:
        yield "Nothing to compare: no cell has both sides."
        return
    for sentence in () if answer.judged is None else answer.judged.sentences:
        yield from [escape_markdown(sentence), ""]
    yield f"{escape_markdown(describe_base(answer))}. {100 * answer.level:g} % intervals."
    yield ""
    columns = select_distinguishing_columns([item.cell for item in answer.items])
    sides = choose_side_columns(answer)
    yield format_row([*columns, *sides, "A → B", "n", "B ÷ A", "interval", ""])
    yield "|" + "---|" * (len(columns) + len(sides)) + "---:|---:|---:|---:|---|"
    for item in answer.items:
        comparison = item.comparison
        numbers = [format_means(item), f"{comparison.a.side.n}+{comparison.b.side.n}", *format_decisive_estimate(item)]
        yield format_row([*format_setting_cells(item, columns, sides), *numbers, format_verdict(item)])
    yield ""
    yield escape_markdown(explain_signs(answer)) + "."
    common = describe_common_setting(answer) if len(answer.items) > 1 else ""
    notes = [
        *filter(None, [common]),
        *(overall.sentence for overall in answer.overall),
        *answer.warnings,
        *(f"left out: {reason}" for reason in answer.exclusions),
    ]
    if len(answer.items) == 1:
        notes.insert(0, answer.items[0].sentence)
    for text in notes:
        yield from ["", escape_markdown(text)]


def _format_pairs(pair_verdicts: PairVerdicts) -> Iterator[str]:
    """Format the verdict first: it is what readers look for."""
    for sentence in [*pair_verdicts.sentences, *(pair_verdicts.judged.remarks if pair_verdicts.judged else ())]:
        yield from [escape_markdown(sentence), ""]
    if pair_verdicts.items:
        headers, rows, sides = against.build_grid(pair_verdicts)
        yield format_row(headers)
        yield "|" + "".join("---:|" if side == "r" else "---|" for side in sides)
        for row in rows:
            yield format_row(["" if cell is None else str(cell) for cell in row])
        yield ""
    rule = pair_verdicts.rule
    yield escape_markdown(
        f"A: {rule.a}, B: {rule.b}. {100 * rule.level:g} % intervals over pairs. {against.explain_marks()}."
    )
    for warning in pair_verdicts.warnings:
        yield from ["", escape_markdown(warning)]
