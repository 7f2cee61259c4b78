"""Rates by number of nodes with the laws that are not ruled out. Lays out what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .figures import BLUE, SERIES, VERMILION, panels
from .text import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_SIZES = 9  # named on the axis


@dataclass(frozen=True)
class Curve:
    """A law from its first to its last size; what was measured ends at ``measured``, a scenario begins at
    ``scenario``."""

    name: str
    sizes: Sequence[float]
    rates: Sequence[float]
    measured: float
    scenario: float


@dataclass(frozen=True)
class ScalingPlot:
    """One series: ``trials`` and ``predictions`` are (size, rate) and (size, low, high); ``borders`` are where the
    regime changes, ``linear`` the rate of one on the line through the smallest size. Rates in ``unit``."""

    title: str
    on: str
    unit: str
    trials: Sequence[tuple[float, float]]
    curves: Sequence[Curve]
    predictions: Sequence[tuple[float, float, float]]
    borders: list[float]
    linear: float


def scaling_figure(plots: Sequence[ScalingPlot]) -> Figure:
    """One panel for each series."""
    return panels(plots, _draw, columns=2, wider=1.4)


def _draw(axes: Axes, plot: ScalingPlot) -> None:
    ends = [size for size, _ in plot.trials] + [curve.sizes[-1] for curve in plot.curves]
    reach = [min(ends), max(ends)]
    axes.plot(
        reach, [plot.linear * size for size in reach], ":", color="#999999", linewidth=1, label="linear from the first"
    )
    names = list(dict.fromkeys(curve.name for curve in plot.curves))
    labelled: set[str] = set()
    for curve in plot.curves:
        colour = SERIES[(names.index(curve.name) + 1) % len(SERIES)]
        label = None if curve.name in labelled else escape(curve.name)
        labelled.add(curve.name)
        axes.plot(*_until(curve, curve.scenario), "-", color=colour, linewidth=1.2, label=label)
        axes.plot(*_from(curve, curve.scenario), "--", color=colour, linewidth=1.0)
    axes.plot(*zip(*plot.trials, strict=True), "o", color=BLUE, markersize=3.5, alpha=0.7)
    for size, low, high in plot.predictions:
        axes.plot([size, size], [low, high], color=VERMILION, linewidth=3, alpha=0.4)
    for border in plot.borders:
        axes.axvline(border, color=VERMILION, linewidth=1, linestyle="-.")
        axes.annotate("change of regime", (border, 1), xycoords=("data", "axes fraction"), rotation=90, fontsize=7,
                      ha="right", va="top")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel=escape(plot.on), ylabel=escape(plot.unit or "rate"))
    axes.set_title(escape(plot.title))
    _ticks(axes, sorted({size for size, _ in plot.trials}))
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


def _ticks(axes: Axes, sizes: Sequence[float]) -> None:
    """Sizes that were measured below, 1, 2 and 5 at the side: as plain numbers, for text here is never mathematics."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    shown = sizes[:: -(-len(sizes) // _MOST_SIZES)]
    axes.set_xticks(shown, [f"{size:g}" for size in shown])
    axes.minorticks_off()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _until(curve: Curve, size: float) -> tuple[list[float], list[float]]:
    pairs = [pair for pair in zip(curve.sizes, curve.rates, strict=True) if pair[0] <= size]
    return [x for x, _ in pairs], [y for _, y in pairs]


def _from(curve: Curve, size: float) -> tuple[list[float], list[float]]:
    pairs = [pair for pair in zip(curve.sizes, curve.rates, strict=True) if pair[0] >= size]
    return [x for x, _ in pairs], [y for _, y in pairs]
