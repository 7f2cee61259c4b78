"""Predicted and measured run time of an application, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.level_text import format_levels, setting_text
from iosonde.core.units import format_seconds
from iosonde.core.words import listed
from iosonde.layout.text import WIDTH, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.model.bound.application import PredictedTime

    from .application import PredictedTimes

_MOST_ROWS = 60
_EXPLANATION = (
    "It is C + Dr/Sr + Dw/Sw, with S the bound of the cluster; at its low end some ranks compute while others move "
    "data. It includes neither the time of opening and syncing nor the savings of a cache."
)


def lines(predicted_times: PredictedTimes) -> Iterator[str]:
    """Yield a table of the settings, the parts of the prediction, and a sentence."""
    if all(not row.measured.n for row in predicted_times.rows):
        value, interval = estimate_parts(predicted_times.rows[0].predicted)
        yield from wrapped(
            f"It should take {value} ({interval}) s: {_format_parts(predicted_times.rows[0])}. {_EXPLANATION}"
        )
        return
    names = list(dict.fromkeys(name for row in predicted_times.rows for name in row.by))
    yield f"seconds; {100 * predicted_times.level:g} % intervals"
    yield ""
    rows = [
        [
            *format_levels(names, row.by, row.units),
            *estimate_parts(row.predicted),
            str(row.measured.n),
            *estimate_parts(row.measured),
            *estimate_parts(row.ratio),
        ]
        for row in predicted_times.rows[:_MOST_ROWS]
    ]
    header = [*names, "predicted", "interval", "n", "measured", "interval", "ratio", "interval"]
    yield from table(header, rows, "l" * len(names) + "rrrrrrr", WIDTH).splitlines()
    if len(predicted_times.rows) > _MOST_ROWS:
        yield f"and {len(predicted_times.rows) - _MOST_ROWS} more (--json has all)"
    yield ""
    first = predicted_times.rows[0]
    at = setting_text(first.by, first.units)
    yield from wrapped(f"Predicted{f' at {at}' if at else ''}: {_format_parts(first)}. {_EXPLANATION}")
    for warning in predicted_times.warnings:
        yield from wrapped(f"~ {warning}", "  ")
    yield from wrapped(predicted_times.sentence)


def _format_parts(time: PredictedTime) -> str:
    return listed([f"{name} {format_seconds(seconds)}" for name, seconds in time.parts.items()])
