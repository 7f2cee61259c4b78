"""Phases of a trial over time: the rate above, durations of operations and their classes below."""

from collections.abc import Sequence
from typing import Any

from iosonde.commands.diagnose.figure import build_class_legend
from iosonde.commands.diagnose.figure_panels import ClassPanel, draw_class_shares
from iosonde.core.units import choose_human_scale, format_rate, format_significant
from iosonde.layout.figure import Figure
from iosonde.layout.text import escape, wrapped
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    ORANGE,
    SECONDS,
    VERMILION,
    Row,
    Spec,
    build_flat_title,
    build_legend,
    build_number_channel,
    layer,
    list_ticks_inside,
    short,
    view,
)
from iosonde.stats.overview.fault_effect import UNDONE, WELL

from .over_time import ClassesOverTime, OverTimePlot, PhaseOverTime

_TITLE = "Rate and latency over time"
_SMALL = {"subtitleFontSize": 11, "subtitleColor": MUTED, "subtitleLineHeight": 14, "subtitlePadding": 4}
_WIDTH, _RATE, _LATENCY, _CLASSES = 430, 120, 120, 90  # px
_CHARACTERS = 80  # in a line below a title
_LEGEND = 24  # px above a panel
_FEW = 40  # up to this many bins, points are drawn too
_LINE, _DASHES = (1, 0), {UNDONE: (5, 3), WELL: (1, 3)}
_LINES = (("maximum", ORANGE), ("p99", VERMILION), ("p50", BLUE))


def over_time_figure(plot: OverTimePlot) -> Figure:
    """Draw two panels per phase, one above the other, on one time axis."""
    names = ", ".join(phase.title for phase in plot.phases)
    spec = {
        "concat": [_draw_phase(phase) for phase in plot.phases],
        "columns": 2,
        "spacing": 30,
        "title": {
            "text": _TITLE,
            "subtitle": [escape(f"{plot.setting}.")],
            "anchor": "start",
            "frame": "bounds",
            "fontSize": 14,
            "offset": 14,
            "limit": 1000,
            **_SMALL,
        },
        "resolve": {"scale": dict.fromkeys(("x", "y", "color"), "independent")},
    }
    return Figure(spec, "", f"{_TITLE} in {names}; {plot.setting}.")


def _draw_phase(phase: PhaseOverTime) -> Spec:
    over_time = phase.over_time
    divisor, unit = choose_human_scale(over_time.end_s, "s")
    since = (
        "after the first start" if phase.comparable else "after each rank's own start: the clocks are not comparable"
    )
    x = build_number_channel(f"{unit} {since}", domain=(0.0, over_time.end_s / divisor))
    hidden = {**x, "axis": {"labels": False, "ticks": False, "title": None}}
    lines = [line for text in _describe_bins(phase) for line in wrapped(text, limit=_CHARACTERS)]
    title = {"text": escape(phase.title), "subtitle": lines, "anchor": "start", **_SMALL}
    rates = _draw_rates(phase, hidden, divisor)
    if phase.classes is None:
        return {"title": title, "spacing": 12, "vconcat": [rates, _draw_latencies(phase, x, divisor)]}
    panels = [rates, _draw_latencies(phase, hidden, divisor), _draw_classes(phase, phase.classes, x, divisor)]
    return {"title": title, "spacing": 12, "vconcat": panels, "resolve": {"scale": {"color": "independent"}}}


def _draw_classes(phase: PhaseOverTime, classes: ClassesOverTime, x: Spec, over: float) -> Spec:
    names, colour = build_class_legend(classes.diagnosis, _LEGEND)
    stack = draw_class_shares(classes.diagnosis.drawn.times, ClassPanel(names, colour, x, over, classes.after_s))
    return view(stack, *_draw_marks(phase, x, over), width=_WIDTH, height=_CLASSES)


def _describe_bins(phase: PhaseOverTime) -> list[str]:
    """Describe what is drawn, the width of the bins, and what is excluded."""
    over_time = phase.over_time
    divisor, unit = choose_human_scale(over_time.width_s * (1 + 1e-9), "s")
    thin = "; thin: each rank" if over_time.by_rank else ""
    notes = [
        f"Bins of {over_time.width_s / divisor:g} {unit}{thin}. Durations of {over_time.slow_kind}, by the bin in "
        "which they began."
    ]
    if phase.marks:
        mark_texts = ", ".join(f"{mark.what} at {format_significant(mark.at_s)} s" for mark in phase.marks)
        notes.append(f"Red: {mark_texts} (a line, dashes, dots).")
    if over_time.recorded < over_time.n_operations:
        notes.append(
            f"A sample of {over_time.recorded:,} of {over_time.n_operations:,} operations: rates are scaled to "
            "all, longer "
            "durations may not have been recorded."
        )
    if over_time.failed:
        notes.append(f"{over_time.failed:,} operations failed and are left out.")
    return notes


def _draw_rates(phase: PhaseOverTime, x: Spec, over: float) -> Spec:
    over_time = phase.over_time
    divisor, unit = choose_human_scale(max(over_time.rate, default=0.0), over_time.unit)
    top = max(over_time.rate, default=0.0) / divisor * 1.06 or 1.0
    y = build_number_channel(
        f"{unit} of {over_time.kind}",
        "y",
        (0.0, top),
        axis={**build_flat_title(f"{unit} of {over_time.kind}"), "tickCount": 4},
    )
    channels: dict[str, Any] = {"x": x, "y": y}
    ranks = [
        layer(
            _build_steps(phase, rate, over, divisor, unit, f"rank {rank_of}: "),
            "line",
            channels,
            color=MUTED,
            strokeWidth=0.7,
            opacity=0.6,
            interpolate="step-after",
            clip=True,
        )
        for rank_of, rate in over_time.by_rank.items()
    ]
    total_layer = layer(
        _build_steps(phase, over_time.rate, over, divisor, unit, ""),
        "line",
        channels,
        color=BLUE,
        strokeWidth=1.6,
        interpolate="step-after",
        clip=True,
    )
    return view(*ranks, total_layer, *_draw_marks(phase, x, over), width=_WIDTH, height=_RATE)


def _draw_marks(phase: PhaseOverTime, x: Spec, over: float) -> list[Spec]:
    """Mark when a fault began, when it was undone, and when the file system was healthy again."""
    dashes: dict[tuple[int, ...], list[Row]] = {}
    for mark in phase.marks:
        at = mark.at_s / over
        row: Row = {"x": short(at), "tip": f"{mark.what}, {format_significant(at)}"}
        dashes.setdefault(_DASHES.get(mark.what, _LINE), []).append(row)
    return [
        layer(mine, "rule", {"x": x}, color=VERMILION, strokeWidth=1.2, strokeDash=list(dash))
        for dash, mine in dashes.items()
    ]


def _build_steps(
    phase: PhaseOverTime, rate: Sequence[float], over: float, divisor: float, unit: str, who: str
) -> list[Row]:
    """Return a row at the start of each bin, and one at the end of the last."""
    rows = [
        {
            "x": short(at / over),
            "y": short(value / divisor),
            "tip": f"{who}{format_significant(value / divisor)} {unit}",
        }
        for at, value in zip(phase.over_time.starts_s, rate, strict=True)
    ]
    return [*rows, {**rows[-1], "x": short(phase.over_time.end_s / over)}]


def _draw_latencies(phase: PhaseOverTime, x: Spec, over: float) -> Spec:
    over_time = phase.over_time
    of = {"maximum": over_time.longest, "p99": over_time.p99, "p50": over_time.p50}
    durations = [value for values in of.values() for value in values if value]
    lines = [(name, colour) for name, colour in _LINES if any(of[name])]
    low, high = (min(durations) / 1.3, max(durations) * 1.3) if durations else (1e-6, 1.0)
    axis = {
        **build_flat_title(f"duration of {over_time.slow_kind}"),
        "labelExpr": SECONDS,
        "values": list_ticks_inside(low, high),
    }
    channels: dict[str, Any] = {
        "x": x,
        "y": build_number_channel("", "y", (low, high), log=True, axis=axis),
        "color": build_legend([name for name, _ in lines], [colour for _, colour in lines], offset=_LEGEND),
    }
    middle = [
        (at + end) / 2 for at, end in zip(over_time.starts_s, (*over_time.starts_s[1:], over_time.end_s), strict=True)
    ]
    rows: list[Row] = [
        {
            "x": short(at / over),
            "y": short(value),
            "series": name,
            "tip": "" if value is None else f"{name}: {format_rate(value, 's')}",
        }
        for name, _ in lines
        for at, value in zip(middle, of[name], strict=True)
    ]
    points = [row for row in rows if row["y"] is not None]
    return view(
        layer(rows, "line", channels, strokeWidth=1.4, clip=True),
        *(
            [layer(points, "point", channels, filled=True, size=12, opacity=1)]
            if len(over_time.starts_s) <= _FEW
            else []
        ),
        *_draw_marks(phase, x, over),
        width=_WIDTH,
        height=_LATENCY,
    )
