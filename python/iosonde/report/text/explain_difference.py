"""A difference as text: what A and B are, the parts one below the other, what is in the rest, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.units import significant

from .layout import WIDTH, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.explain_difference import Difference, Differences


def lines(made: Differences) -> Iterator[str]:
    """The lines of the text, a block for each pair."""
    for number, difference in enumerate(made.differences):
        if number:
            yield ""
        yield from _one(difference)


def _one(made: Difference) -> Iterator[str]:
    a, b = made.split.a, made.split.b
    yield from wrapped(made.headline)
    yield ""
    for label, side, words in (("A", a, made.clocks[0]), ("B", b, made.clocks[1])):
        yield from wrapped(f"{label}  {side.name}: {words}", "   ")
        for note in side.notes:
            yield from wrapped(f"   ({note})", "    ")
    yield ""
    rows = [("A", significant(a.value / a.prefix, 4), "")]
    rows += [(made.what(part), significant(part.end, 4), _format_factor(part.factor)) for part in made.steps]
    rows.append(("B, and the product", significant(b.value / b.prefix, 4), _format_factor(made.split.ratio)))
    yield from table(["part", made.unit, "factor"], rows, "lrr", WIDTH).split("\n")
    yield ""
    for sentence in filter(None, (made.rest, *made.unsaid, made.sentence)):
        yield from wrapped(sentence)


def _format_factor(value: float) -> str:
    return f"{value:.3f}" if value < 100 else significant(value)
