"""The roofline of a file system and the loss waterfall: lays out what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.units import format_size, human_scale

from .bound_content import Roofline, WaterfallBars
from .figures import BLUE, ORANGE, SERIES, VERMILION, panels
from .text import escape, estimate_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 12


def roofline_figure(items: Sequence[Roofline]) -> Figure:
    """One panel for each, both axes logarithmic."""
    return panels(items, _draw_roofline, columns=2, wider=1.5)


def waterfall_figure(items: Sequence[WaterfallBars]) -> Figure:
    """One panel for each, from the bound at the top to what was delivered."""
    return panels(items, _draw_waterfall, columns=2, wider=1.6)


def _draw_roofline(axes: Axes, item: Roofline) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", nonpositive="clip")
    divisor, unit = human_scale(max(item.s), "bytes/s")
    colours = iter(SERIES[2:] + SERIES[:2])
    for name, values in item.ceilings.items():
        axes.plot(item.xs, [v / divisor for v in values], "--", linewidth=1, color=next(colours, "#777777"), label=name)
    axes.plot(item.xs, [v / divisor for v in item.s], color="#1c1d1f", linewidth=1.8, label="bound")
    for point in item.points:
        if point.measured.value is None:
            continue
        value, low, high = (
            None if v is None else v / divisor for v in (point.measured.value, point.measured.low, point.measured.high)
        )
        colour = VERMILION if point.above else BLUE
        axes.plot(point.x, value, "o", color=colour, markersize=4)
        if value is not None and low is not None and high is not None:
            axes.errorbar(point.x, value, [[value - low], [high - value]], color=colour, capsize=2, linewidth=1.2)
    _ticks(axes, item)
    axes.set_title(escape(item.title))
    axes.set(xlabel=escape(item.x_name), ylabel=unit)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _ticks(axes: Axes, item: Roofline) -> None:
    """Plain numbers: the axes' own powers are mathematics, which is not read."""
    from matplotlib.ticker import FuncFormatter

    axes.minorticks_off()
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_size(x) if item.sizes else f"{x:g}"))
    ticks = sorted({point.x for point in item.points})
    if 1 < len(ticks) <= _FEW:
        axes.set_xticks(ticks)


def _draw_waterfall(axes: Axes, item: WaterfallBars) -> None:
    total = item.delivered.value or 0.0
    divisor, unit = human_scale(total, "s")
    at = 0.0
    for y, (_, estimate) in enumerate(item.parts):
        value = (estimate.value or 0.0) / divisor
        colour = "#999999" if y == 0 else VERMILION if value >= 0 else BLUE
        axes.barh(y, value, 0.68, left=at, color=colour + "cc")
        if estimate.low is not None and estimate.high is not None:
            low, high = estimate.low / divisor, estimate.high / divisor
            axes.plot([at + low, at + high], [y, y], color="#1c1d1f", linewidth=1.2)
        at += value
    axes.barh(len(item.parts), total / divisor, 0.68, color=ORANGE + "cc")
    axes.set_yticks(range(len(item.parts) + 1), [*(escape(name) for name, _ in item.parts), "delivered"])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_title(f"{escape(item.title)}: {estimate_text(item.delivered, 's')}")
    axes.set(xlabel=unit)
