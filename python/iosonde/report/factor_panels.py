"""Responses against factors: one panel for each pair, or all responses in one. Lays out what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.core.types import Estimate

from .figures import SERIES, panels
from .text import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLE_CHARACTERS = 62
_LINE_POINTS = 7.5


@dataclass(frozen=True)
class Held:
    """A slope of the regression on all factors: that of one factor, with the ``others`` held."""

    slope: Estimate
    others: tuple[str, ...]


@dataclass(frozen=True)
class Series:
    """One response: its trials as (x, y), the mean of each level with its interval, and a fitted line (empty: none).

    ``said`` are the sentences about it. ``slope`` is that of the line, ``held`` the one with all other factors held;
    None where there is none.
    """

    name: str
    trials: Sequence[tuple[float, float]]
    means: Sequence[tuple[float, Estimate]]
    line: Sequence[tuple[float, float]]
    said: Sequence[str]
    slope: Estimate | None = None
    held: Held | None = None


@dataclass(frozen=True)
class FactorPanel:
    """One factor. ``ticks`` are its levels by place; ``logarithmic``: places are apart by their ratios. Values in
    ``unit``, after division by ``divisor``."""

    factor: str
    ticks: Sequence[tuple[float, str]]
    logarithmic: bool
    unit: str
    divisor: float
    series: Sequence[Series]


def factor_figure(items: Sequence[FactorPanel], columns: int) -> Figure:
    """The panels, row by row."""
    return panels(items, _draw, columns=columns, wider=1.25)


def _draw(axes: Axes, panel: FactorPanel) -> None:
    several = len(panel.series) > 1
    if panel.logarithmic:
        axes.set_xscale("log", base=2)
    for place, series in enumerate(panel.series):
        colour = SERIES[place % len(SERIES)]
        _draw_series(axes, series, panel.divisor, colour, label=several)
    axes.set_xticks([x for x, _ in panel.ticks], [escape(text) for _, text in panel.ticks])
    axes.minorticks_off()
    axes.set_xlabel(escape(panel.factor))
    axes.set_ylabel(escape(panel.unit))
    said = [f"{one.name}: {text}" if several else text for one in panel.series for text in one.said]
    name = [] if several else [panel.series[0].name]
    axes.set_title("\n".join(_cut(escape(text)) for text in (*name, *said)), fontsize=_LINE_POINTS,
                   fontweight="normal")  # fmt: skip
    if several:
        axes.legend(fontsize=_LINE_POINTS)
    if all(y >= 0 for series in panel.series for _, y in series.trials):
        axes.set_ylim(bottom=0)


def _draw_series(axes: Axes, series: Series, divisor: float, colour: str, label: bool) -> None:
    axes.plot([x for x, _ in series.trials], [y / divisor for _, y in series.trials], "o", markersize=2.5, alpha=0.35,
              color=colour, markeredgewidth=0, rasterized=len(series.trials) > 5000)  # fmt: skip
    if series.line:
        axes.plot([x for x, _ in series.line], [y / divisor for _, y in series.line], "-", linewidth=1, color=colour,
                  alpha=0.8)  # fmt: skip
    for place, (x, mean) in enumerate(series.means):
        if mean.value is None:
            continue
        known = mean.low is not None and mean.high is not None
        ends = [[mean.value - mean.low], [mean.high - mean.value]] if known else [[0.0], [0.0]]  # type: ignore[operator]
        axes.errorbar(x, mean.value / divisor, [[ends[0][0] / divisor], [ends[1][0] / divisor]], fmt="s",
                      markersize=4.5, capsize=3 if known else 0, linewidth=1.3, color=colour,
                      markerfacecolor=colour if known else "white",
                      label=escape(series.name) if label and not place else None)  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= _TITLE_CHARACTERS else f"{text[: _TITLE_CHARACTERS - 1]}…"
