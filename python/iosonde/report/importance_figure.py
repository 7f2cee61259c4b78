"""Importance of factors as bars: S1 inside ST, each with its interval, and the zero line that a dummy reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.core.types import Estimate

from .figures import BLUE, VERMILION, panels
from .text import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 20  # factors in one panel


@dataclass(frozen=True)
class Bar:
    """One factor: its first-order and its total share, and the S1 that a dummy rarely passes."""

    name: str
    s1: Estimate
    st: Estimate
    zero_line: float | None


@dataclass(frozen=True)
class Importance:
    """The factors of one response, the most important first."""

    title: str
    bars: tuple[Bar, ...]


def importance_figure(items: Sequence[Importance]) -> Figure:
    """One panel a response."""
    return panels(items, _draw, columns=2, wider=1.25)


def _draw(axes: Axes, item: Importance) -> None:
    shown = item.bars[:_MOST]
    for y, bar in enumerate(shown):
        for estimate, height, fill in ((bar.st, 0.72, BLUE + "33"), (bar.s1, 0.42, BLUE + "cc")):
            if estimate.value is not None:
                axes.barh(y, estimate.value, height, color=fill, edgecolor=BLUE, linewidth=0.8)
        for estimate, offset in ((bar.st, 0.26), (bar.s1, 0.0)):
            if estimate.value is not None and estimate.low is not None and estimate.high is not None:
                ends = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
                axes.errorbar(estimate.value, y + offset, xerr=ends, color="#1c1d1f", capsize=2, linewidth=1)
        if bar.zero_line is not None:
            axes.plot([bar.zero_line] * 2, [y - 0.36, y + 0.36], color=VERMILION, linewidth=1.2, linestyle=":")
    axes.set_yticks(range(len(shown)), [escape(bar.name) for bar in shown])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_title(escape(item.title))
    axes.set_xlabel("share of the variance: S1 inside ST; dots: what a dummy reaches", fontsize=7)
    axes.grid(False, axis="y")
