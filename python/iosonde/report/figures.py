"""The same figures for a paper or a slide: Matplotlib, to PNG, SVG or PDF. Lays out what it is given.

Files are reproducible (no date, fixed ids), text in SVG and PDF stays text, and nothing from data is read as
mathematics (``$``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .charts import bars_top, decades, seconds_text
from .content import Bars, Latency, Timeline, plural
from .headline import scale_of
from .text import escape, estimate_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
# Okabe and Ito (2008): told apart by colour-blind readers.
BLUE, VERMILION, ORANGE = "#0072b2", "#d55e00", "#e69f00"
SERIES = (BLUE, VERMILION, "#009e73", "#cc79a7", ORANGE, "#56b4e9")
_INK, _MUTED, _GRID = "#1c1d1f", "#5c6066", "#e4e4e0"
_STYLE = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#999999",
    "axes.labelcolor": _MUTED,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "text.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": _GRID,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "iosonde",
}
_DATES = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_MARKERS = {"p50": "o", "p99": "s", "p99.9": "D"}
_PANEL_IN = (3.4, 2.3)


def bars_figure(items: Sequence[Bars], axis: str) -> Figure:
    """One panel per metric, each with its own scale from zero."""
    return panels(items, lambda axes, bars: _draw_bars(axes, bars, axis), columns=3)


def latency_figure(items: Sequence[Latency], axis: str) -> Figure:
    """One panel per operation: outlines over log time, percentiles with intervals below."""
    return panels(items, lambda axes, latency: _draw_latency(axes, latency, axis), columns=2, wider=1.4)


def timeline_figure(items: Sequence[Timeline]) -> Figure:
    """One panel per phase, one row per rank."""
    return panels(items, _draw_timeline, columns=2, wider=1.4)


def image(figure: Figure, kind: str) -> bytes:
    """The figure as a file's content; ``kind`` is one of FORMATS."""
    import io

    out = io.BytesIO()
    with _style():
        figure.savefig(out, format=kind, dpi=160, metadata=_DATES[kind])
    return out.getvalue()


def panels(
    items: Sequence[Any], draw: Callable[[Any, Any], None], columns: int, wider: float = 1.0,
    size: tuple[float, float] | None = None,
) -> Figure:  # fmt: skip
    """One panel for each item, in the house's style; ``draw(axes, item)`` fills it. ``size``: of a panel, inches."""
    from matplotlib.figure import Figure

    across = min(columns, len(items))
    down = math.ceil(len(items) / across)
    with _style():
        width, height = size or (_PANEL_IN[0] * wider, _PANEL_IN[1])
        figure = Figure(figsize=(width * across, height * down), layout="constrained")
        panels = figure.subplots(down, across, squeeze=False).ravel()
        for axes, item in zip(panels, items, strict=False):
            draw(axes, item)
        for axes in panels[len(items) :]:
            axes.remove()
    return figure


@contextmanager
def _style() -> Iterator[None]:
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def _draw_bars(axes: Axes, bars: Bars, axis: str) -> None:
    divisor, unit = scale_of(bars)
    for x, cell in enumerate(bars.cells):
        estimate = cell.estimate
        if estimate.value is None:
            continue
        known = estimate.low is not None and estimate.high is not None
        value = estimate.value / divisor
        axes.bar(x, value, 0.62, color=BLUE + ("66" if known else "00"), edgecolor=BLUE, linewidth=1)
        if estimate.low is not None and estimate.high is not None:
            ends = [[value - estimate.low / divisor], [estimate.high / divisor - value]]
            axes.errorbar(x, value, ends, color=_INK, capsize=3, linewidth=1.3)
        axes.plot(
            [x + 0.2] * len(cell.trials),
            [trial / divisor for trial in cell.trials],
            "o",
            markersize=3,
            markerfacecolor="white",
            markeredgecolor=_INK,
            markeredgewidth=0.6,
        )
        axes.annotate(
            estimate_parts(estimate, divisor)[0],
            (x - 0.17, value),
            (0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            fontweight="bold",
        )
    axes.set_title(escape(bars.title))
    axes.set_xticks(range(len(bars.cells)), [str(cell.nodes) for cell in bars.cells])
    axes.set(xlabel=plural(axis), ylabel=unit, xlim=(-0.6, len(bars.cells) - 0.4))
    axes.set_ylim(0, bars_top(bars) / divisor * 1.22)
    axes.grid(False, axis="x")


def _draw_latency(axes: Axes, latency: Latency, axis: str) -> None:
    peak = max((max(series.shares, default=0.0) for series in latency.series), default=0.0) or 1.0
    axes.set_xscale("log")
    ends: list[float] = []
    for index, series in enumerate(latency.series):
        colour, row = SERIES[index % len(SERIES)], -peak * 0.13 * (index + 1)
        if series.shares:
            axes.stairs(
                series.shares,
                series.edges_s,
                color=colour,
                linewidth=1.2,
                baseline=0,
                label=f"{series.nodes} {axis if series.nodes == 1 else plural(axis)}",
            )
            axes.stairs(series.shares, series.edges_s, color=colour, fill=True, alpha=0.15)
            ends += [series.edges_s[0], series.edges_s[-1]]
        for name, estimate in series.percentiles.items():
            if estimate.value is None:
                continue
            if estimate.low is not None and estimate.high is not None:
                axes.plot([estimate.low, estimate.high], [row, row], color=colour, linewidth=3, alpha=0.5)
            axes.plot(estimate.value, row, _MARKERS.get(name, "^"), color=colour, markersize=4)
    axes.set_title(escape(latency.title))
    axes.set_yticks([])
    axes.set_xlabel("height: share of the operations; below: p50 ●, p99 ■, p99.9 ◆", fontsize=7)
    if ends:
        axes.set_xlim(min(ends) * 0.8, max(ends) * 1.25)
        ticks = [tick for tick in decades(min(ends), max(ends)) if min(ends) <= tick <= max(ends)]
        axes.set_xticks(ticks, [seconds_text(tick) for tick in ticks])
        axes.minorticks_off()
        axes.legend(fontsize=8)


def _draw_timeline(axes: Axes, timeline: Timeline) -> None:
    from iosonde.core.units import human_scale

    divisor, unit = human_scale(max((span.end_s for span in timeline.spans), default=1.0), "s")
    colours = {"": BLUE + "99", "late": ORANGE, "last": VERMILION}
    for y, span in enumerate(timeline.spans):
        start, length = span.start_s / divisor, (span.end_s - span.start_s) / divisor
        axes.barh(y, length, 0.72, left=start, color=colours[span.mark])
    every = max(1, math.ceil(len(timeline.spans) / 16))
    axes.set_yticks(range(0, len(timeline.spans), every), [str(s.rank) for s in timeline.spans[::every]])
    axes.invert_yaxis()
    axes.set_title(escape(timeline.title))
    axes.set(
        xlabel=f"{unit} after the first start" if timeline.comparable else f"{unit} since its own start", ylabel="rank"
    )
    axes.grid(False, axis="y")
