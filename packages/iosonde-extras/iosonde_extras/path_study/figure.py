"""Time against size, with the line of each condition of a study of paths: m, p, n, c and d as slopes and heights."""

from collections.abc import Sequence

from iosonde.core.units import format_rate, format_size
from iosonde.layout.figure import Figure
from iosonde.layout.text import escape
from iosonde.layout.vocabulary import (
    INK,
    MUTED,
    SECONDS,
    SERIES,
    SHADES,
    SIZES,
    VERMILION,
    Row,
    Spec,
    build_flat_title,
    build_legend,
    build_number_channel,
    layer,
    list_ticks_inside,
    short,
    truncate_label,
    view,
)

from .drawn import DrawnPaths

_TITLE = "Time against size"
_WIDTH, _HEIGHT = 400, 300  # px
_LIKE = (SERIES[2], SERIES[0], SERIES[5], SERIES[4], SERIES[3], INK, SHADES[6], SHADES[0])


def figure(drawn: Sequence[DrawnPaths]) -> Figure:
    """Draw a panel per direction of each study."""
    title = {"text": _TITLE, "anchor": "start", "frame": "bounds", "fontSize": 14, "offset": 14}
    spec = {**panels(drawn), "title": title}
    return Figure(spec, "", f"{_TITLE} of {', '.join(f'{drawn_paths.direction}s' for drawn_paths in drawn)}.")


def panels(drawn: Sequence[DrawnPaths]) -> Spec:
    """Arrange the panels in two columns."""
    return {
        "concat": [_draw_panel(drawn_paths) for drawn_paths in drawn],
        "columns": 2,
        "spacing": 40,
        "resolve": {"scale": dict.fromkeys(("x", "y", "color"), "independent")},
    }


def _draw_panel(drawn_paths: DrawnPaths) -> Spec:
    sizes = [size for size, _, _, _ in drawn_paths.cells]
    times = [seconds for _, seconds, _, _ in drawn_paths.cells]
    x = build_number_channel(
        "size of an access",
        "x",
        (min(sizes) / 1.3, max(sizes) * 1.3),
        log=True,
        axis={"labelExpr": SIZES, "values": _list_powers(min(sizes), max(sizes))},
    )
    low, high = min(times) / 1.5, max(times) * 1.5
    axis = {
        **build_flat_title("time of an operation"),
        "labelExpr": SECONDS,
        "values": list_ticks_inside(low, high),
    }
    y = build_number_channel("", "y", (low, high), log=True, axis=axis)
    names = [
        name
        for name in drawn_paths.names
        if name in drawn_paths.lines or any(at == name for _, _, at, _ in drawn_paths.cells)
    ]
    colour = build_legend(
        [truncate_label(name) for name in names], [_condition_colour(drawn_paths, name) for name in names], offset=24
    )
    channels: Spec = {"x": x, "y": y, "color": colour}
    lines = [
        layer(
            [{"x": short(size), "y": short(seconds), "series": truncate_label(name)} for size, seconds in points],
            "line",
            channels,
            strokeWidth=1.4,
            clip=True,
        )
        for name, points in drawn_paths.lines.items()
    ]
    cells: list[Row] = [
        {
            "x": short(size),
            "y": short(seconds),
            "series": truncate_label(at),
            "tip": f"{name}, {format_size(size)}: {format_rate(seconds, 's')}, {at}",
        }
        for size, seconds, at, name in drawn_paths.cells
    ]
    points = layer(cells, "point", channels, filled=True, size=26, opacity=0.8, clip=True)
    which = f"{drawn_paths.direction}s" + (f", {drawn_paths.study}" if drawn_paths.study else "")
    caption = "Points: the median of each cell, coloured by the condition nearest to it."
    title = {
        "text": escape(which),
        "subtitle": [caption],
        "anchor": "start",
        "subtitleFontSize": 11,
        "subtitleColor": MUTED,
        "subtitlePadding": 4,
        "limit": 600,
    }
    return view(*lines, points, width=_WIDTH, height=_HEIGHT, title=title)


def _condition_colour(drawn_paths: DrawnPaths, name: str) -> str:
    """Return the colour of a condition's line; grey between two lines, vermilion if slower than all."""
    lines = list(drawn_paths.lines)
    if name in lines:
        return _LIKE[lines.index(name) % len(_LIKE)]
    return VERMILION if name == drawn_paths.names[-1] else MUTED


def _list_powers(least: float, most: float) -> list[int]:
    """Return 1 B, 32 B, 1 KiB, … within the range."""
    return [size for size in (1 << power for power in range(0, 41, 5)) if least <= size <= most]
