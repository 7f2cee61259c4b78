"""Comparisons as a Markdown table, to be pasted into a pull request."""

from collections.abc import Iterator, Sequence

from iosonde.layout.text import escape

from . import text_against as against
from .against import PairVerdicts
from .compared import Comparisons
from .text import cells_of, decided_parts, legend, means, side_columns, sides_of, telling, word

_SPECIAL = "\\`*_[]<>#|~"


def markdown(answer: Comparisons | PairVerdicts) -> Iterator[str]:
    """Yield the lines of the table and the remarks below; for preregistered pairs, the verdicts."""
    if not isinstance(answer, Comparisons):
        yield from _format_pairs(answer)
        return
    if not answer.items:
        yield "Nothing to compare: no cell has both sides."
        return
    yield f"{plain(sides_of(answer))}. {100 * answer.level:g} % intervals."
    yield ""
    columns = telling([item.cell for item in answer.items])
    sides = side_columns(answer)
    yield _format_row([*columns, *sides, "A → B", "n", "B ÷ A", "interval", ""])
    yield "|" + "---|" * (len(columns) + len(sides)) + "---:|---:|---:|---:|---|"
    for item in answer.items:
        comparison = item.comparison
        numbers = [means(item), f"{comparison.a.side.n}+{comparison.b.side.n}", *decided_parts(item)]
        yield _format_row([*cells_of(item, columns, sides), *numbers, word(item)])
    yield ""
    yield plain(legend(answer)) + "."
    notes = [
        *(overall.sentence for overall in answer.overall),
        *answer.warnings,
        *(f"left out: {reason}" for reason in answer.exclusions),
    ]
    notes += [] if answer.judged is None else answer.judged.sentences
    if len(answer.items) == 1:
        notes.insert(0, answer.items[0].sentence)
    for text in notes:
        yield from ["", plain(text)]


def _format_pairs(pair_verdicts: PairVerdicts) -> Iterator[str]:
    """Format the verdict first: it is what readers look for."""
    for sentence in [*pair_verdicts.sentences, *(pair_verdicts.judged.sentences if pair_verdicts.judged else ())]:
        yield from [plain(sentence), ""]
    if pair_verdicts.items:
        headers, rows, sides = against.grid(pair_verdicts)
        yield _format_row(headers)
        yield "|" + "".join("---:|" if side == "r" else "---|" for side in sides)
        for row in rows:
            yield _format_row(["" if cell is None else str(cell) for cell in row])
        yield ""
    rule = pair_verdicts.rule
    yield plain(f"A: {rule.a}, B: {rule.b}. {100 * rule.level:g} % intervals over pairs. {against.legend()}.")
    for warning in pair_verdicts.warnings:
        yield from ["", plain(warning)]


def _format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(plain(cell) for cell in cells)} |"


def plain(text: str) -> str:
    """Return the text as literal Markdown on one line."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in escape(text))
