"""Series of one metric in one figure, such as all numbers of nodes: their points, levels, and changes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.core.level_text import format_setting
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.words import format_count
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import (
    SERIES,
    VERMILION,
    Row,
    build_flat_title,
    build_legend,
    build_number_channel,
    choose_colours,
    layer,
    list_ticks_inside,
    number_duplicates,
    short,
    view,
)

from .answer import Watch
from .figure_axis import Place, build_axis
from .series import WatchedSeries

# The usual names of how much is asked at once.
SCALES = ("nodes", "n", "clients", "ranks", "ranks_per_node", "threads", "jobs", "concurrency")
_LOG_BEYOND = 3.0  # ratio of values beyond which a linear axis hides the changes of the lowest series
_ROOM = 1.04  # factor of the domain beyond the values of a logarithmic axis
_DATE_LENGTH = 16


def choose_scale_factor(series: Sequence[WatchedSeries]) -> str:
    """Return the factor whose levels belong into one figure: the first of SCALES that varies, '' without one."""
    return next((name for name in SCALES if len({repr(item.by.get(name)) for item in series}) > 1), "")


def group_series(series: Sequence[WatchedSeries], factor: str) -> list[list[WatchedSeries]]:
    """Return the series that differ in the ``factor`` alone, in their order; '' groups none."""
    groups: dict[str, list[WatchedSeries]] = {}
    for number, item in enumerate(series):
        others = {name: level for name, level in item.by.items() if name != factor}
        key = repr((item.operation, item.metric.name, item.settings, others)) if factor else str(number)
        groups.setdefault(key, []).append(item)
    return list(groups.values())


def together_figure(watch: Watch, group: Sequence[WatchedSeries], factor: str, by_commit: bool = False) -> Figure:
    """Draw several series of one metric, a colour for each level of the ``factor``. The vertical axis is logarithmic
    where they lie far apart."""
    values = np.concatenate([item.values for item in group])
    divisor, unit = choose_human_scale(float(np.abs(values).max()), group[0].metric.unit)
    places, where = build_axis([item.runs for item in group], by_commit)
    names = number_duplicates(format_setting({factor: item.by.get(factor)}, item.units) for item in group)
    colour = build_legend(names, choose_colours(len(names)))
    value = _build_value_channel(values / divisor, unit)
    points = [
        row
        for item, xs, name in zip(group, places, names, strict=True)
        for row in _iterate_points(item, xs, name, divisor, unit)
    ]
    breaks = [row for item, xs in zip(group, places, strict=True) for row in _iterate_breaks(watch, item, xs)]
    hues = {"worse": VERMILION, "better": SERIES[2]}
    channels: Mapping[str, Any] = {"x": where, "y": value, "color": colour}
    spec = view(
        layer(points, "line", channels, strokeWidth=1, opacity=0.6),
        layer(points, "point", channels, shape="circle", filled=True, size=18, opacity=0.9),
        *(
            layer(
                [row for row in breaks if row["verdict"] == verdict], "rule", {"x": where}, color=hue, strokeDash=[4, 3]
            )
            for verdict, hue in hues.items()
            if any(row["verdict"] == verdict for row in breaks)
        ),
        height=230,
    )
    title = _describe_group(group, factor)
    caption = (
        f"{title} at {format_count(len(group), 'level')} of {factor}, with {format_count(len(breaks), 'change')}: "
        "red for the worse, green for the better."
    )
    return Figure(spec, title, caption)


def _describe_group(group: Sequence[WatchedSeries], factor: str) -> str:
    first = group[0]
    others = format_setting({name: level for name, level in first.by.items() if name != factor}, first.units)
    setting = ", ".join(part for part in (others, first.settings) if part)
    return f"{first.operation} {first.metric.name}" + (f" ({setting})" if setting else "")


def _build_value_channel(values: np.ndarray[Any, np.dtype[np.float64]], unit: str) -> Mapping[str, Any]:
    low, high = float(values.min()), float(values.max())
    if not 0 < low * _LOG_BEYOND < high:
        return build_number_channel(unit, "y", axis=build_flat_title(unit))
    domain = (low / _ROOM, high * _ROOM)
    axis = {**build_flat_title(unit), "values": list_ticks_inside(*domain)}
    return build_number_channel(unit, "y", domain, log=True, axis=axis)


def _iterate_points(
    series: WatchedSeries, places: Sequence[Place], name: str, divisor: float, unit: str
) -> Iterator[Row]:
    for value, x, run in zip(series.values, places, series.runs, strict=True):
        tip = [name, f"{format_significant(value / divisor, 4)} {unit}", run.started_at[:_DATE_LENGTH], run.experiment]
        tip += [f"commit {run.subject_commit[:12]}"] if run.subject_commit else []
        yield {"x": x, "y": short(value / divisor), "series": name, "tip": "\n".join(tip)}


def _iterate_breaks(watch: Watch, series: WatchedSeries, places: Sequence[Place]) -> Iterator[Row]:
    for change in watch.changes:
        if change.series is series:
            tip = f"{format_setting(dict(series.by), series.units)}: {change.word}\n{change.cause}"
            yield {"x": places[change.places[1]], "verdict": change.verdict, "tip": tip}
