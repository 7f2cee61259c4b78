"""Figures by kind: a panel per metric, operation or phase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from iosonde.layout.figure import Figure, together
from iosonde.layout.figure_files import names_of_files

from .drawn import Drawn
from .figure_bars import bars_figure
from .figure_factors import factors_figure
from .figure_heatmap import heatmap_figure
from .figure_latency import latency_figure
from .figure_over_time import over_time_figure
from .figure_settings import settings_figure
from .figure_timeline import timeline_figure
from .settings import Fits

_MOST_FIELDS = 60  # rows of a heat map


def fits(kind: str) -> Fits:
    """Return how many levels a figure of metrics by settings has room for."""
    return Fits(hues=_MOST_FIELDS, shades=_MOST_FIELDS) if kind == "heatmap" else Fits()


def figures(drawn: Drawn) -> list[tuple[str, Callable[[], Figure]]]:
    """Return (kind, a function that draws its figure); the function raises InputError if it cannot."""
    by_kind = groupby(drawn.figures, key=lambda drawn_item: drawn_item[0])
    return [(kind, partial(_draw_kind, kind, [item for _, item in items], drawn)) for kind, items in by_kind]


def bars_alone(drawn: Drawn) -> list[tuple[str, Callable[[], Figure]]]:
    """Return (file name, a function that draws the bars of one operation)."""
    items = [item for _, item in drawn.figures]
    names = names_of_files([bars.operation for bars in items])
    return [(name, partial(bars_figure, bars, drawn.axis)) for name, bars in zip(names, items, strict=True)]


def _draw_kind(kind: str, items: Sequence[Any], drawn: Drawn) -> Figure:
    match kind:
        case "bars":
            return together([bars_figure(item, drawn.axis) for item in items], columns=3)
        case "latency":
            return together([latency_figure(item, drawn.axis) for item in items], columns=2)
        case "timeline":
            return together([timeline_figure(item) for item in items], columns=2)
        case "factors":
            return factors_figure(items, drawn.columns)
        case "time":
            return over_time_figure(items[0])
        case _:
            return heatmap_figure(items[0]) if kind == "heatmap" else settings_figure(items[0])
