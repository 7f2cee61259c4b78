"""How a trial's phases went over their time: the rate above, the durations of operations, and the classes of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde.answers.plot.over_time import OverTimePlot, PhaseOverTime
from iosonde.answers.plot.over_time_classes import ClassesOverTime
from iosonde.core.units import format_rate, human_scale, significant
from iosonde.report.text import escape, wrapped
from iosonde.stats.overview.fault_effect import UNDONE, WELL

from .class_panels import ClassPanel, shares
from .diagnose import class_series
from .figure import Figure
from .vocabulary import (
    BLUE,
    MUTED,
    ORANGE,
    SECONDS,
    VERMILION,
    Row,
    Spec,
    decades,
    flat,
    layer,
    legend,
    number,
    short,
    view,
)

_TITLE = "Rate and latency over time"
_SMALL = {"subtitleFontSize": 11, "subtitleColor": MUTED, "subtitleLineHeight": 14, "subtitlePadding": 4}
_WIDTH, _RATE, _LATENCY, _CLASSES = 430, 120, 120, 90  # px
_CHARACTERS = 80  # in a line below a title
_LEGEND = 24  # px above a panel
_FEW = 40  # bins whose points are drawn, too
_LINE, _DASHES = (1, 0), {UNDONE: (5, 3), WELL: (1, 3)}
_LINES = (("maximum", ORANGE), ("p99", VERMILION), ("p50", BLUE))


def over_time_figure(plot: OverTimePlot) -> Figure:
    """Two panels for each phase, one above the other, on one axis of time."""
    names = ", ".join(one.title for one in plot.phases)
    title = {"text": _TITLE, "subtitle": [escape(f"{plot.setting}.")], "anchor": "start", "frame": "bounds",
             "fontSize": 14, "offset": 14, "limit": 1000, **_SMALL}  # fmt: skip
    spec = {"concat": [_phase(one) for one in plot.phases], "columns": 2, "spacing": 30, "title": title,
            "resolve": {"scale": dict.fromkeys(("x", "y", "color"), "independent")}}  # fmt: skip
    return Figure(spec, "", f"{_TITLE} in {names}; {plot.setting}.")


def _phase(one: PhaseOverTime) -> Spec:
    made = one.made
    divisor, unit = human_scale(made.end_s, "s")
    since = "after the first start" if one.comparable else "after each rank's own start: the clocks are not comparable"
    x = number(f"{unit} {since}", domain=(0.0, made.end_s / divisor))
    hidden = {**x, "axis": {"labels": False, "ticks": False, "title": None}}
    lines = [line for text in _how(one) for line in wrapped(text, limit=_CHARACTERS)]
    title = {"text": escape(one.title), "subtitle": lines, "anchor": "start", **_SMALL}
    rates = _rates(one, hidden, divisor)
    if one.classes is None:
        return {"title": title, "spacing": 12, "vconcat": [rates, _latencies(one, x, divisor)]}
    panels = [rates, _latencies(one, hidden, divisor), _classes(one, one.classes, x, divisor)]
    return {"title": title, "spacing": 12, "vconcat": panels, "resolve": {"scale": {"color": "independent"}}}


def _classes(one: PhaseOverTime, classes: ClassesOverTime, x: Spec, over: float) -> Spec:
    """What share of the operations' time each class took."""
    names, colour = class_series(classes.made, _LEGEND)
    stack = shares(classes.made.drawn.times, ClassPanel(names, colour, x, over, classes.after_s))
    return view(stack, *_marks(one, x, over), width=_WIDTH, height=_CLASSES)


def _how(one: PhaseOverTime) -> list[str]:
    """What is drawn, how wide the bins are, and what lies outside."""
    made = one.made
    divisor, unit = human_scale(made.width_s * (1 + 1e-9), "s")
    thin = "; thin: each rank" if made.by_rank else ""
    said = [f"Bins of {made.width_s / divisor:g} {unit}{thin}. Durations of {made.slow_kind}, of what began in a bin."]
    if one.marks:
        told = ", ".join(f"{mark.what} at {significant(mark.at_s)} s" for mark in one.marks)
        said.append(f"Red: {told} (a line, dashes, dots).")
    if made.recorded < made.made:
        said.append(f"A sample of {made.recorded:,} of {made.made:,} operations: rates are scaled to all, longer "
                    "durations may not have been recorded.")  # fmt: skip
    if made.failed:
        said.append(f"{made.failed:,} operations failed and are left out.")
    return said


def _rates(one: PhaseOverTime, x: Spec, over: float) -> Spec:
    made = one.made
    divisor, unit = human_scale(max(made.rate, default=0.0), made.unit)
    top = max(made.rate, default=0.0) / divisor * 1.06 or 1.0
    y = number(f"{unit} of {made.kind}", "y", (0.0, top),
               axis={**flat(f"{unit} of {made.kind}"), "tickCount": 4})  # fmt: skip
    channels: dict[str, Any] = {"x": x, "y": y}
    ranks = [layer(_steps(one, rate, over, divisor, unit, f"rank {rank_of}: "), "line", channels, color=MUTED,
                   strokeWidth=0.7, opacity=0.6, interpolate="step-after", clip=True)
             for rank_of, rate in made.by_rank.items()]  # fmt: skip
    whole = layer(_steps(one, made.rate, over, divisor, unit, ""), "line", channels, color=BLUE, strokeWidth=1.6,
                  interpolate="step-after", clip=True)  # fmt: skip
    return view(*ranks, whole, *_marks(one, x, over), width=_WIDTH, height=_RATE)


def _marks(one: PhaseOverTime, x: Spec, over: float) -> list[Spec]:
    """A line where a fault began, was undone, and where all was well again."""
    dashes: dict[tuple[int, ...], list[Row]] = {}
    for mark in one.marks:
        at = mark.at_s / over
        row: Row = {"x": short(at), "tip": f"{mark.what}, {significant(at)}"}
        dashes.setdefault(_DASHES.get(mark.what, _LINE), []).append(row)
    return [layer(mine, "rule", {"x": x}, color=VERMILION, strokeWidth=1.2, strokeDash=list(dash))
            for dash, mine in dashes.items()]  # fmt: skip


def _steps(one: PhaseOverTime, rate: Sequence[float], over: float, divisor: float, unit: str, who: str) -> list[Row]:
    """A row where each bin begins, and one where the last ends."""
    rows = [{"x": short(at / over), "y": short(value / divisor), "tip": f"{who}{significant(value / divisor)} {unit}"}
            for at, value in zip(one.made.starts_s, rate, strict=True)]  # fmt: skip
    return [*rows, {**rows[-1], "x": short(one.made.end_s / over)}]


def _latencies(one: PhaseOverTime, x: Spec, over: float) -> Spec:
    made = one.made
    of = {"maximum": made.longest, "p99": made.p99, "p50": made.p50}
    known = [value for values in of.values() for value in values if value]
    shown = [(name, colour) for name, colour in _LINES if any(of[name])]
    low, high = (min(known) / 1.3, max(known) * 1.3) if known else (1e-6, 1.0)
    axis = {**flat(f"duration of {made.slow_kind}"), "labelExpr": SECONDS,
            "values": [short(tick) for tick in decades(low, high) if low <= tick <= high]}  # fmt: skip
    channels: dict[str, Any] = {
        "x": x, "y": number("", "y", (low, high), log=True, axis=axis),
        "color": legend([name for name, _ in shown], [colour for _, colour in shown], offset=_LEGEND),
    }  # fmt: skip
    middle = [(at + end) / 2 for at, end in zip(made.starts_s, (*made.starts_s[1:], made.end_s), strict=True)]
    rows: list[Row] = [
        {"x": short(at / over), "y": short(value), "series": name,
         "tip": "" if value is None else f"{name}: {format_rate(value, 's')}"}
        for name, _ in shown for at, value in zip(middle, of[name], strict=True)
    ]  # fmt: skip
    points = [row for row in rows if row["y"] is not None]
    return view(
        layer(rows, "line", channels, strokeWidth=1.4, clip=True),
        *([layer(points, "point", channels, filled=True, size=12, opacity=1)] if len(made.starts_s) <= _FEW else []),
        *_marks(one, x, over),
        width=_WIDTH, height=_LATENCY,
    )  # fmt: skip
