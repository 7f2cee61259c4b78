"""The page's interactive figures, as Bokeh models: what is drawn where, and nothing about colour.

Colours are the page's (light, dark, print): every model that has one carries tags ``property=--css-variable``,
and assets/page.js paints them. Text that came from data reaches Bokeh only as PlainText or as a column for a
tooltip: a ``$$`` in a host name must not become mathematics.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from iosonde.core.units import human_scale

from .content import Bars, Latency, LatencySeries, Timeline, counted, plural
from .headline import MOST_STRETCH, scale_of
from .text import escape, estimate_parts, estimate_text

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

SERIES_COLOURS = 6
_ROW_PX = 15
_LABELLED_BARS = 5
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif"
_MARKERS = {"p50": "circle", "p99": "square", "p99.9": "diamond"}


def bars_chart(bars: Bars, axis: str) -> Figure:
    """Mean by node count with its interval and the trials as dots. No interval: a hollow bar."""
    from bokeh import models

    divisor, unit = scale_of(bars)
    names = [str(cell.nodes) for cell in bars.cells]
    chart = empty_figure(
        height=180, x_range=models.FactorRange(factors=names), y_range=(0, bars_top(bars) / divisor * 1.22)
    )
    keys = ("x", "value", "low", "high", "side", "short", "text", "label", "n", "alpha")
    rows: dict[str, list[Any]] = {key: [] for key in keys}
    for name, cell in zip(names, bars.cells, strict=True):
        estimate = cell.estimate
        if estimate.value is None:
            continue
        low, high = estimate.low, estimate.high
        known = low is not None and high is not None
        rows["x"].append(name)
        rows["value"].append(estimate.value / divisor)
        rows["low"].append(low / divisor if known else math.nan)
        rows["high"].append(high / divisor if known else math.nan)
        rows["side"].append((name, -0.17))
        rows["short"].append(estimate_parts(estimate, divisor)[0])
        rows["text"].append(estimate_text(estimate, bars.unit))
        rows["label"].append(counted(cell.nodes, axis))
        rows["n"].append(counted(estimate.n, "trial"))
        rows["alpha"].append(0.4 if known else 0.0)
    source = models.ColumnDataSource(rows)
    bar = models.VBar(x="x", top="value", width=0.62, fill_alpha="alpha", line_width=1.5)
    box = add(chart, source, bar, fill_color="--bar", line_color="--bar")
    _trial_dots(chart, bars, names, divisor)
    stem = models.Segment(x0="x", y0="low", x1="x", y1="high", line_width=2)
    caps = [models.Scatter(x="x", y=end, marker="dash", size=9, line_width=2) for end in ("low", "high")]
    for part in (stem, *caps):
        add(chart, source, part, line_color="--ink")
    if len(names) <= _LABELLED_BARS:
        add(chart, source, _label(), text_color="--ink")
    hover(chart, [box], "@label", "@text", "@n")
    chart.xaxis.axis_label = plural(axis)
    chart.yaxis.axis_label = unit
    chart.yaxis.ticker.desired_num_ticks = 4
    chart.xgrid.visible = False
    return chart


def _label() -> Any:
    """The value, left of the whisker, upon its bar."""
    from bokeh.models import Text

    return Text(
        x="side",
        y="value",
        text="short",
        y_offset=-4,
        text_align="center",
        text_font={"value": _FONT},
        text_font_size="12px",
        text_font_style="bold",
    )


def bars_top(bars: Bars) -> float:
    """The end of the axis: room for the whiskers, but a hopeless interval leaves the frame and not the bars."""
    seen = [value for c in bars.cells for value in (c.estimate.value, *c.trials) if value is not None]
    highs = [c.estimate.high for c in bars.cells if c.estimate.high is not None]
    most = max(seen, default=0.0) or 1.0
    return min(max([most, *highs]), MOST_STRETCH * most)


def _trial_dots(chart: Figure, bars: Bars, names: list[str], divisor: float) -> None:
    from bokeh.models import ColumnDataSource, Scatter

    points = [
        ((name, 0.2), value / divisor) for name, cell in zip(names, bars.cells, strict=True) for value in cell.trials
    ]
    if points:
        x, y = zip(*points, strict=True)
        dots = Scatter(x="x", y="y", size=5, fill_alpha=0.55, line_width=0.8)
        source = ColumnDataSource({"x": list(x), "y": list(y)})
        add(chart, source, dots, fill_color="--paper", line_color="--ink")


def latency_chart(latency: Latency, axis: str) -> Figure:
    """Outline of each distribution over log time; below it, per node count, the percentiles with intervals."""
    from bokeh import models

    peak = max((max(series.shares, default=0.0) for series in latency.series), default=0.0) or 1.0
    step = peak * 0.13
    chart = empty_figure(
        height=200 + 16 * len(latency.series),
        x_axis_type="log",
        y_range=(-step * (len(latency.series) + 0.6), peak * 1.08),
    )
    rows = []
    for index, series in enumerate(latency.series):
        colour = f"--series-{index % SERIES_COLOURS}"
        x, y = _outline(series)
        area = models.Patch(x="x", y="y", fill_alpha=0.16, line_width=1.6)
        add(chart, models.ColumnDataSource({"x": x, "y": y}), area, fill_color=colour, line_color=colour)
        rows.append(_percentile_row(chart, series, -step * (index + 1), colour, axis))
    hover(chart, [row for row in rows if row], "@name", "@text", "@n")
    _seconds_axis(chart, latency)
    chart.yaxis.visible = False
    chart.ygrid.visible = False
    return chart


def _outline(series: LatencySeries) -> tuple[list[float], list[float]]:
    """The staircase around a histogram, from the first bucket that is not empty to the last."""
    filled = [i for i, share in enumerate(series.shares) if share > 0]
    if not filled:
        return [], []
    x, y = [series.edges_s[filled[0]]], [0.0]
    for i in range(filled[0], filled[-1] + 1):
        x += [series.edges_s[i], series.edges_s[i + 1]]
        y += [series.shares[i], series.shares[i]]
    return [*x, x[-1]], [*y, 0.0]


def _percentile_row(chart: Figure, series: LatencySeries, y: float, colour: str, axis: str) -> Any:
    """Its markers, for the tooltip; None where no percentile is known."""
    from bokeh import models

    known = [(name, e) for name, e in series.percentiles.items() if e.value is not None]
    if not known:
        return None
    values = [estimate.value for _, estimate in known]
    sure = [e for _, e in known if e.low is not None and e.high is not None]
    lines = models.Segment(x0="from", y0=y, x1="to", y1=y, line_width="width", line_alpha="alpha")
    ends = models.ColumnDataSource(
        {
            "from": [min(values), *(e.low for e in sure)],
            "to": [max(values), *(e.high for e in sure)],
            "width": [1, *(5 for _ in sure)],
            "alpha": [1.0, *(0.45 for _ in sure)],
        }
    )
    add(chart, ends, lines, line_color=colour)
    source = models.ColumnDataSource(
        {
            "x": values,
            "marker": [_MARKERS.get(name, "triangle") for name, _ in known],
            "size": [11 if name == "p99.9" else 9 for name, _ in known],
            "name": [f"{name}, {counted(series.nodes, axis)}" for name, _ in known],
            "text": [estimate_text(estimate, "s") for _, estimate in known],
            "n": [counted(estimate.n, "trial") for _, estimate in known],
        }
    )
    dots = models.Scatter(x="x", y=y, marker={"field": "marker"}, size="size", line_width=1.2)
    return add(chart, source, dots, fill_color=colour, line_color="--paper")


def _seconds_axis(chart: Figure, latency: Latency) -> None:
    from bokeh.models import FixedTicker

    edges = [edge for series in latency.series for edge in series.edges_s]
    edges += [e.value for series in latency.series for e in series.percentiles.values() if e.value]
    ticks = decades(min(edges), max(edges))
    chart.x_range.start, chart.x_range.end = min(edges) * 0.8, max(edges) * 1.25
    chart.xaxis.ticker = FixedTicker(ticks=ticks)
    chart.xaxis.major_label_overrides = {tick: seconds_text(tick) for tick in ticks}
    chart.xgrid.ticker = chart.xaxis[0].ticker


def decades(least: float, most: float) -> list[float]:
    """Round durations for a logarithmic axis: powers of ten, between them 2 and 5 where there are few."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps = (1.0,) if math.log10(most / least) > 2.5 else (1.0, 2.0, 5.0)
    return [float(f"{step}e{power}") for power in powers for step in steps]


def seconds_text(seconds: float) -> str:
    """``200 µs``."""
    divisor, unit = human_scale(seconds * 1.0001, "s")
    return f"{seconds / divisor:.0f} {unit}"


def timeline_chart(timeline: Timeline) -> Figure:
    """One row per rank, first rank on top; late starters and the last finisher stand out."""
    from bokeh.models import ColumnDataSource, FixedTicker, PlainText

    spans = timeline.spans
    divisor, unit = human_scale(max((span.end_s for span in spans), default=1.0), "s")
    rows = list(range(len(spans)))
    height = min(max(_ROW_PX * len(spans), 30), 480) + 58
    chart = empty_figure(height=height, y_range=(len(spans) - 0.4, -0.6))
    source = ColumnDataSource(
        {
            "y": rows,
            "start": [span.start_s / divisor for span in spans],
            "end": [span.end_s / divisor for span in spans],
            "who": [f"rank {span.rank} on {escape(span.host)}" for span in spans],
            "when": [f"{span.start_s / divisor:.6g}–{span.end_s / divisor:.6g} {unit}" for span in spans],
            "mark": [{"late": "started late", "last": "finished last"}.get(span.mark, "") for span in spans],
        }
    )
    parts = [
        _spans(chart, source, [i for i, s in enumerate(spans) if s.mark == mark], colour)
        for mark, colour in (("", "--bar"), ("late", "--late"), ("last", "--last"))
        if any(span.mark == mark for span in spans)
    ]
    hover(chart, parts, "@who", "@when", "@mark")
    every = max(1, math.ceil(len(spans) / 24))
    chart.yaxis.ticker = FixedTicker(ticks=rows[::every])
    chart.yaxis.major_label_overrides = {i: PlainText(text=str(spans[i].rank)) for i in rows[::every]}
    chart.yaxis.axis_label = "rank"
    chart.xaxis.axis_label = f"{unit} after the first start" if timeline.comparable else f"{unit} since its own start"
    chart.ygrid.visible = False
    chart.x_range.start = 0
    return chart


def _spans(chart: Figure, source: Any, rows: list[int], colour: str) -> Any:
    from bokeh.models import CDSView, HBar, IndexFilter

    bar = HBar(y="y", left="start", right="end", height=0.72, line_width=0)
    return add(chart, source, bar, CDSView(filter=IndexFilter(rows)), fill_color=colour, line_color=colour)


def empty_figure(**options: Any) -> Figure:
    """Axes in the house's style, without tools."""
    from bokeh.plotting import figure

    chart = figure(sizing_mode="stretch_width", toolbar_location=None, tools="", min_width=160, **options)
    chart.outline_line_color = None
    _tag(chart, background_fill_color="--paper", border_fill_color="--paper")
    for line in chart.axis:
        line.minor_tick_line_color = None
        line.axis_label_text_font_style = "normal"
        line.axis_label_text_font_size = line.major_label_text_font_size = "12px"
        line.axis_label_text_font = line.major_label_text_font = _FONT
        line.axis_label_standoff = 4
        _tag(
            line,
            axis_line_color="--rule",
            major_tick_line_color="--rule",
            major_label_text_color="--muted",
            axis_label_text_color="--muted",
        )
    for line in chart.grid:
        _tag(line, grid_line_color="--grid")
    return chart


def add(chart: Figure, source: Any, glyph: Any, view: Any = None, **colours: str) -> Any:
    """Add a glyph without the copies for selected, muted and hovered that ``chart.vbar(…)`` makes."""
    _tag(glyph, **colours)
    return chart.add_glyph(source, glyph, **({"view": view} if view else {}))


def hover(chart: Figure, renderers: list[Any], *fields: str) -> None:
    """A tooltip with one line a field."""
    from bokeh.models import HoverTool

    html = "".join(f"<div>{field}</div>" for field in fields)  # Bokeh escapes what it fills in
    chart.add_tools(HoverTool(renderers=renderers, tooltips=html))


def _tag(model: Any, **colours: str) -> None:
    model.tags = [*model.tags, *(f"{name}={variable}" for name, variable in colours.items())]
