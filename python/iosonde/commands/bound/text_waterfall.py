"""Loss waterfalls as text: a table per cell, and its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.table import show
from iosonde.core.units import human_scale
from iosonde.explain.waterfall import TITLES
from iosonde.layout.text import WIDTH, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.explain.waterfall import Waterfall

    from .answer import Bounds


def lines(bounds: Bounds) -> Iterator[str]:
    """Yield a table per cell, and its sentences."""
    for fall, sentences in zip(bounds.falls, bounds.fall_sentences, strict=True):
        by = ", ".join(f"{name}={show(value)}" for name, value in fall.by.items())
        trials = f"{fall.delivered.n} trial{'' if fall.delivered.n == 1 else 's'}"
        of = f"{fall.operation}{f', {by}' if by else ''}; mean of {trials}, {100 * bounds.level:g} % intervals"
        yield ""
        yield from wrapped(of)
        yield ""
        yield from _format_table(fall)
        yield ""
        for sentence in sentences:
            yield from wrapped(sentence)


def _format_table(waterfall: Waterfall) -> Iterator[str]:
    total = waterfall.delivered.value or 0.0
    divisor, unit = human_scale(total, "s")
    rows = []
    for name, estimate in [*waterfall.parts.items(), ("delivered", waterfall.delivered)]:
        value, interval = estimate_parts(estimate, divisor)
        share = f"{100 * (estimate.value or 0.0) / total:.1f} %" if total else "~"
        rows.append([TITLES.get(name, name), value, interval, share])
    yield from table(["", unit, "interval", "share"], rows, "lrrr", WIDTH).splitlines()
