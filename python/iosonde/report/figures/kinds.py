"""The figures of a store by their kind: a panel for each metric, operation or phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from iosonde.answers.plot.settings import Fits
from iosonde.answers.plot.settings_plot import SettingsPlot

from .bars import bars_figure
from .figure import Figure, together
from .heatmap import heatmap_figure
from .latency import latency_figure
from .settings import settings_figure
from .timeline import timeline_figure

if TYPE_CHECKING:
    from iosonde.answers.page.content.tables import Section

OVER_TIME = "time"
KINDS = ("bars", "latency", "timeline")
BY_SETTINGS = ("settings", "heatmap", "percentiles")
_MOST_FIELDS = 60  # of a heat map, one above the other


def panels(kind: str, items: Sequence[Any], axis: str) -> Figure:
    """All items of one kind; ``axis`` is the noun that bars and latencies go by."""
    if kind == "bars":
        return together([bars_figure(item, axis) for item in items], columns=3)
    if kind == "latency":
        return together([latency_figure(item, axis) for item in items], columns=2)
    return together([timeline_figure(item) for item in items], columns=2)


def fits(kind: str) -> Fits:
    """What a figure of BY_SETTINGS has room for."""
    return Fits(hues=_MOST_FIELDS, shades=_MOST_FIELDS) if kind == "heatmap" else Fits()


def by_settings(kind: str, plot: SettingsPlot) -> Figure:
    """A figure of BY_SETTINGS. Raises InputError where it cannot be drawn."""
    return heatmap_figure(plot) if kind == "heatmap" else settings_figure(plot)


def chosen(items: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Those with something to draw, of the operations or metrics named."""
    ready = [item for item in items if not getattr(item, "empty", False)]
    if not names:
        return ready
    return [item for item in ready if {_operation(item), getattr(item, "metric", "")} & set(names)]


def why_missing(kind: str, section: Section[Any], names: Sequence[str]) -> str:
    """Why there is no figure of a kind, in a sentence."""
    there = ", ".join(dict.fromkeys(_operation(item) for item in section.items))
    why = f"there are: {there}" if names and there else " ".join(section.missing) or "nothing to draw"
    return f"no figure of kind {kind}: {why}"


def _operation(item: Any) -> str:
    return str(getattr(item, "operation", None) or item.phase)
