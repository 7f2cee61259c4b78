"""A series as a small line in a row of a table: its points, its changes, and one marked point, in px."""

from collections.abc import Sequence
from dataclasses import dataclass

from .overview import SeriesOverview

WIDTH, HEIGHT = 150, 28
_MARGIN = 3
_LEAST_RANGE = 0.1  # of the largest value: less is noise, and is drawn as such


@dataclass(frozen=True)
class Sparkline:
    """``line``: the points of a polyline. ``changes``: (x, is for the worse). ``mark``: the marked point, None without
    one. ``description``: what is drawn, for readers who cannot see it."""

    line: str
    changes: Sequence[tuple[float, bool]]
    mark: tuple[float, float] | None
    description: str


def draw_sparkline(series: SeriesOverview, place: int | None = None) -> Sparkline | None:
    """Draw a series with the point at ``place`` marked; None for fewer than two points."""
    values = [point.value for point in series.points]
    if len(values) < 2:
        return None
    low, high = min(values), max(values)
    missing = max(0.0, _LEAST_RANGE * max(abs(low), abs(high)) - (high - low)) / 2
    low, high = low - missing, high + missing
    step = (WIDTH - 2 * _MARGIN) / (len(values) - 1)
    span = (high - low) or 1.0
    dots = [
        (round(_MARGIN + at * step, 1), round(HEIGHT - _MARGIN - (value - low) / span * (HEIGHT - 2 * _MARGIN), 1))
        for at, value in enumerate(values)
    ]
    changes = [
        (round(_MARGIN + (change.place - 0.5) * step, 1), change.is_worse)
        for change in series.changes
        if change.place > 0
    ]
    first, last = series.points[0].started_at[:10], series.points[-1].started_at[:10]
    description = f"{series.name}: {len(values)} points from {first} to {last}"
    return Sparkline(
        " ".join(f"{x},{y}" for x, y in dots), changes, None if place is None else dots[place], description
    )
