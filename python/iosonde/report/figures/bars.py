"""One metric by number of nodes: bars from zero with their intervals and the trials as dots."""

from __future__ import annotations

from iosonde.core.units import significant
from iosonde.report.content import Bars, Cell, counted, plural
from iosonde.report.headline import MOST_STRETCH, scale_of
from iosonde.report.text import estimate_parts, estimate_text

from .figure import Figure
from .vocabulary import BLUE, INK, PAPER, Row, ends, flat, interval, layer, names, number, short, view

_LABELLED = 5  # bars with their value upon them
_ROOM = 1.14  # above the highest


def bars_figure(bars: Bars, axis: str) -> Figure:
    """Mean by node count with its interval and the trials as dots. No interval: a hollow bar."""
    divisor, unit = scale_of(bars)
    rows = [_row(cell, bars.unit, axis, divisor) for cell in bars.cells if cell.estimate.value is not None]
    places = names(plural(axis), [str(cell.nodes) for cell in bars.cells])
    values = number(unit, "y", (0, bars_top(bars) / divisor * _ROOM), axis={**flat(unit), "tickCount": 4})
    trials = [
        {"x": str(cell.nodes), "y": short(trial / divisor), "tip": f"trial: {significant(trial / divisor, 4)} {unit}"}
        for cell in bars.cells for trial in cell.trials
    ]  # fmt: skip
    channels = {"x": places, "y": values}
    said = layer(rows, "text", {**channels, "text": {"field": "said"}}, align="right", dx=-7, dy=-8, fontSize=12,
                 fontWeight=600, color=INK)  # fmt: skip
    spec = view(
        *(layer([row for row in rows if (row["low"] is None) is hollow], "bar", channels, fill=BLUE, stroke=BLUE,
                fillOpacity=0.0 if hollow else 0.4, strokeWidth=1.2, width={"band": 0.62}, clip=True)
          for hollow in (False, True)),
        *interval(rows, places, values),
        layer(trials, "point", channels, shape="circle", filled=True, fill=PAPER, stroke=INK, strokeWidth=0.8, size=22,
              opacity=0.75, xOffset=9, clip=True),
        *([said] if len(bars.cells) <= _LABELLED else []),
    )  # fmt: skip
    return Figure(spec, bars.title, f"{bars.title} by number of {plural(axis)}: means with intervals, and the trials.")


def _row(cell: Cell, unit: str, axis: str, divisor: float) -> Row:
    estimate = cell.estimate
    low, high = ends(estimate, divisor) or (None, None)
    tip = f"{counted(cell.nodes, axis)}: {estimate_text(estimate, unit)}\n{counted(estimate.n, 'trial')}"
    return {
        "x": str(cell.nodes), "y": short((estimate.value or 0.0) / divisor), "low": low, "high": high,
        "said": estimate_parts(estimate, divisor)[0], "tip": tip,
    }  # fmt: skip


def bars_top(bars: Bars) -> float:
    """The end of the axis: room for the whiskers, but a hopeless interval leaves the frame and not the bars."""
    seen = [value for c in bars.cells for value in (c.estimate.value, *c.trials) if value is not None]
    highs = [c.estimate.high for c in bars.cells if c.estimate.high is not None]
    most = max(seen, default=0.0) or 1.0
    return min(max([most, *highs]), MOST_STRETCH * most)
