"""A series of a store's history: its points in time order, the level between changes, and the changes."""

from collections.abc import Iterator, Sequence

from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.words import format_count
from iosonde.layout.figure import Figure
from iosonde.layout.text import format_estimate
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    SERIES,
    VERMILION,
    Row,
    build_flat_title,
    build_legend,
    build_number_channel,
    get_interval_ends,
    layer,
    short,
    view,
)

from .change import SeriesChange
from .figure_axis import Place, build_axis
from .series import WatchedSeries

_WORSE, _BETTER = ("change for the worse", VERMILION), ("change for the better", SERIES[2])
_CHANGED = ("change", VERMILION)  # whose better direction is unknown
_DATE = 16  # characters of an ISO date, to the minute


def history_figure(series: WatchedSeries, changes: Sequence[SeriesChange], by_commit: bool = False) -> Figure:
    """Draw a series with its ``changes``, in time order. The axis is that of ``build_axis``."""
    divisor, unit = choose_human_scale(
        float(abs(series.values).max()) if series.values.size else 1.0, series.metric.unit
    )
    (places,), where = build_axis([series.runs], by_commit)
    value = build_number_channel(unit, "y", axis=build_flat_title(unit))
    points = [_build_point(series, place, x, divisor, unit) for place, x in enumerate(places)]
    levels = [
        {"x": places[first], "x2": places[last], **_build_level(level_estimate, end, divisor, unit)}
        for level_estimate, end, first, last in _iterate_stretches(changes)
        if level_estimate.value is not None
    ]
    breaks = [_build_break(change, places[_find_place(series, change.first_after.id)], divisor) for change in changes]
    kinds = [kind for kind in (_WORSE, _BETTER, _CHANGED) if any(row["series"] == kind[0] for row in breaks)]
    colour = build_legend([name for name, _ in kinds], [hue for _, hue in kinds])
    wide = {"x": where, "x2": {"field": "x2"}}
    spec = view(
        layer(breaks, "rule", {"x": where, "color": colour}, strokeWidth=2, strokeDash=[4, 3]),
        layer(
            [row for row in levels if row["low"] is not None],
            "rect",
            {**wide, "y": {**value, "field": "low"}, "y2": {"field": "high"}},
            fill=INK,
            opacity=0.12,
        ),
        layer(levels, "rule", {**wide, "y": value, "y2": {"field": "y2"}}, color=INK, strokeWidth=1.6),
        layer(points, "point", {"x": where, "y": value}, shape="circle", filled=True, fill=BLUE, size=26, opacity=0.8),
    )
    caption = (
        f"{series.title} over {format_count(series.values.size, 'point')}, with {format_count(len(changes), 'change')}."
    )
    return Figure(spec, series.title, caption)


def _build_point(series: WatchedSeries, place: int, x: Place, divisor: float, unit: str) -> Row:
    run = series.runs[place]
    value_text = format_significant(series.values[place] / divisor, 4)
    tip = [f"{value_text} {unit}", run.started_at[:_DATE], f"experiment {run.experiment}" if series.nightly else run.id]
    tip += [f"commit {run.subject_commit[:12]}"] if run.subject_commit else []
    return {"x": x, "y": short(series.values[place] / divisor), "tip": "\n".join(tip)}


def _build_level(estimate: Estimate, end: Estimate | None, divisor: float, unit: str) -> Row:
    """Build the line of a level, or of a drift to ``end``, which has no band."""
    low, high = (None, None) if end else get_interval_ends(estimate, divisor) or (None, None)
    tip = f"from {format_estimate(estimate, unit)} to {format_estimate(end, unit)}" if end else ""
    return {
        "y": short((estimate.value or 0.0) / divisor),
        "y2": short(((end or estimate).value or 0.0) / divisor),
        "low": low,
        "high": high,
        "tip": f"{tip or f'mean {format_estimate(estimate, unit)}'}\n{format_count(estimate.n, 'point')}",
    }


def _iterate_stretches(changes: Sequence[SeriesChange]) -> Iterator[tuple[Estimate, Estimate | None, int, int]]:
    """Yield (level, the one to which it drifts, first point, last point) between changes, up to a return; nothing
    without a change."""
    if changes and changes[0].drift is None:
        yield changes[0].levels.before, None, 0, changes[0].places[1] - 1
    for change in changes:
        _, at, end = change.places
        if change.drift:
            yield change.levels.before, change.levels.after, at, end - 1
        else:
            yield change.levels.after, None, at, end - 1


def _find_place(series: WatchedSeries, run: str) -> int:
    return next(place for place, series_run in enumerate(series.runs) if series_run.id == run)


def _build_break(change: SeriesChange, x: Place, divisor: float) -> Row:
    kind = {"worse": _WORSE, "better": _BETTER}.get(change.heading, _CHANGED)
    p = format_significant(change.split.p, 2)
    return {"x": x, "series": kind[0], "tip": f"{change.word}, p = {p}\n{change.cause}"}
