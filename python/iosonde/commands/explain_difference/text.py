"""A difference as text: the sides A and B, the parts one below the other, the remainder, and a sentence."""

from collections.abc import Iterator

from iosonde.core.units import format_significant
from iosonde.layout.text import WIDTH, paragraphs, table, wrapped

from .answer import Difference, Differences


def lines(differences: Differences) -> Iterator[str]:
    """Yield the lines of the text, a block per pair."""
    for number, difference in enumerate(differences.differences):
        if number:
            yield ""
        yield from _format_difference(difference)


def _format_difference(difference: Difference) -> Iterator[str]:
    a, b = difference.split.a, difference.split.b
    yield from wrapped(difference.headline)
    yield ""
    for label, side, words in (("A", a, difference.clocks[0]), ("B", b, difference.clocks[1])):
        yield from wrapped(f"{label}  {side.name}: {words}", "   ")
        yield from paragraphs((f"   ({note})" for note in side.notes), "    ")
    yield ""
    rows = [("A", format_significant(a.value / a.prefix, 4), "")]
    rows += [
        (difference.what(part), format_significant(part.end, 4), _format_factor(part.factor))
        for part in difference.steps
    ]
    rows.append(
        ("B, and the product", format_significant(b.value / b.prefix, 4), _format_factor(difference.split.ratio))
    )
    yield from table(["part", difference.unit, "factor"], rows, "lrr", WIDTH).split("\n")
    yield ""
    yield from paragraphs(filter(None, (difference.rest, *difference.unsaid, difference.sentence)))


def _format_factor(value: float) -> str:
    return f"{value:.3f}" if value < 100 else format_significant(value)
