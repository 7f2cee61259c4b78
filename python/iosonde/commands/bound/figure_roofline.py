"""Rooflines in one panel: each limit is a line with its name at its end, drawn once, whatever shares it; measurements
are dots with their intervals, a colour per operation and setting.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.units import choose_human_scale
from iosonde.layout.figure import Figure
from iosonde.layout.text import format_estimate
from iosonde.layout.vocabulary import (
    INK,
    MUTED,
    PAPER,
    SERIES,
    SIZES,
    Row,
    Spec,
    build_flat_title,
    build_legend,
    build_line_rows,
    build_number_channel,
    draw_intervals,
    get_interval_ends,
    layer,
    list_ticks_inside,
    number_duplicates,
    short,
    truncate_label,
    view,
)
from iosonde.model.bound.roofline import RooflineMark

from .content import Roofline

_FEW = 12  # up to this many positions are labelled on the axis
_BOUND, _MEASURED, _ABOVE = "bound", "measured", "above the bound"
_MOST_LINES = 8  # limits of one panel
_SIZE = (420, 280)  # px
_DODGE = 0.015  # of the axis, between dots at one place
_MARGIN = 0.04  # of the axis, at its ends
_LEAST_GAP = 13  # px between the middles of two names


@dataclass(frozen=True)
class _Limit:
    """A line that one or several rooflines share: its ``name``, its values, and what it is drawn for. ``of``: the
    settings or the operation, if several lines have this name."""

    name: str
    of: str
    xs: tuple[float, ...]
    values: tuple[float, ...]
    members: tuple[Roofline, ...]


def share_panels(items: Sequence[Roofline]) -> list[list[Roofline]]:
    """Return the rooflines of each panel: all in one if their axis is the same and their lines are few."""
    has_common_axis = len({item.x_name for item in items}) == 1 and len(items) <= len(SERIES)
    return [list(items)] if has_common_axis and len(_list_limits(items)) <= _MOST_LINES else [[item] for item in items]


def roofline_figure(items: Sequence[Roofline]) -> Figure:
    """Draw the limits dashed, the bound solid, and measurements with intervals, on logarithmic axes."""
    divisor, unit = choose_human_scale(max(value for item in items for value in item.s), "bytes/s")
    low, high = _compute_rate_range(items, divisor)
    first, last = min(item.xs[0] for item in items), max(item.xs[-1] for item in items)
    margin = max(1.1, (last / first) ** _MARGIN)
    x = build_number_channel(
        _name_axis(items),
        domain=(first / margin, last * margin),
        log=True,
        axis={"values": _list_ticks(items), **({"labelExpr": SIZES} if items[0].sizes else {})},
    )
    y = build_number_channel(
        unit, "y", (low, high), log=True, axis={**build_flat_title(unit), "values": list_ticks_inside(low, high)}
    )
    spec = view(
        *_draw_limits(items, divisor, {"x": x, "y": y}, (low, high)),
        *_draw_points(items, divisor, {"x": x, "y": y}, low),
        width=_SIZE[0],
        height=_SIZE[1],
    )
    names = ", ".join(item.title for item in items)
    return Figure(spec, format_title(items), f"Roofline of {names} against {items[0].x_name}: limits and measurements.")


def format_title(items: Sequence[Roofline]) -> str:
    """Return the title of a panel, which explains hollow marks; several rooflines are named by its legend."""
    title = items[0].title if len(items) == 1 else f"Bandwidth against {_name_axis(items)}"
    return f"{title} (hollow: {_ABOVE})" if any(point.above for item in items for point in item.points) else title


def _name_axis(items: Sequence[Roofline]) -> str:
    return "size of a request" if items[0].sizes else items[0].x_name


def _draw_limits(items: Sequence[Roofline], divisor: float, channels: Spec, ends: tuple[float, float]) -> list[Spec]:
    limits = [limit for limit in _list_limits(items) if min(limit.values) / divisor <= ends[1]]
    rows = {
        is_bound: [
            {**row, "name": str(place)}
            for place, limit in enumerate(limits)
            if (limit.name == _BOUND) is is_bound
            for row in build_line_rows(limit.xs, limit.values, divisor)
        ]
        for is_bound in (False, True)
    }
    lines = {**channels, "detail": {"field": "name", "type": "nominal"}}
    return [
        layer(rows[False], "line", lines, strokeWidth=1.4, strokeDash=[5, 4], color=MUTED, clip=True),
        layer(rows[True], "line", lines, strokeWidth=2.6, color=INK, clip=True),
        layer(
            _place_names(limits, divisor, ends),
            "text",
            {**channels, "text": {"field": "name", "type": "nominal"}},
            align="left",
            dx=14,
            fontSize=11,
            color=MUTED,
        ),
    ]


def _list_limits(items: Sequence[Roofline]) -> list[_Limit]:
    """Return each line once: the limits of the items, then their bounds. A name that several lines have gets the
    settings in which they differ."""
    members: dict[tuple[str, tuple[float, ...], tuple[float, ...]], list[Roofline]] = {}
    for item in items:
        for name, values in item.ceilings.items():
            members.setdefault((name.replace("_", " "), item.xs, values), []).append(item)
    for item in items:
        members.setdefault((_BOUND, item.xs, item.s), []).append(item)
    names = [name for name, _, _ in members]
    limits = []
    for (name, xs, values), some in members.items():
        of = _describe_members(some) if names.count(name) > 1 else ""
        limits.append(_Limit(name, of, xs, values, tuple(some)))
    return limits


def _describe_members(items: Sequence[Roofline]) -> str:
    """Return the settings that all measurements of these rooflines have, else what they measure: ``read``."""
    titles = list(dict.fromkeys(item.title for item in items))
    return _describe_shared_setting(items) or _find_common_start(titles) or " and ".join(titles[:2])


def _find_common_start(titles: Sequence[str]) -> str:
    """Return the part before the first comma, if it is that of all."""
    starts = {title.split(",")[0] for title in titles}
    return starts.pop() if len(starts) == 1 else ""


def _describe_shared_setting(items: Sequence[Roofline]) -> str:
    """Return the settings that all measurements of these rooflines have: ``nodes=2``."""
    settings = [point.setting.split(", ") for item in items for point in item.points]
    return ", ".join(part for part in (settings[0] if settings else []) if all(part in some for some in settings))


def _place_names(limits: Sequence[_Limit], divisor: float, ends: tuple[float, float]) -> list[Row]:
    """Return the names at the right ends of the lines, apart from each other. Lines that end at the same place share
    one."""
    scale = _SIZE[1] / math.log(ends[1] / ends[0])
    names: dict[float, dict[str, list[str]]] = {}
    for limit in limits:
        at = round(scale * math.log(min(limit.values[-1] / divisor, ends[1]) / ends[0]), 1)
        names.setdefault(at, {}).setdefault(limit.of, []).append(limit.name)
    right = short(max(limit.xs[-1] for limit in limits))
    rows: list[Row] = []
    before = -math.inf
    for at in sorted(names):
        place = max(at, before + _LEAST_GAP)
        before = place
        texts = [
            ", ".join(filter(None, (" = ".join(sorted(some, key=lambda name: name != _BOUND)), of)))
            for of, some in names[at].items()
        ]
        text = truncate_label(" = ".join(texts))
        rows.append({"x": right, "y": short(ends[0] * math.exp(place / scale)), "name": text})
    return rows


def _draw_points(items: Sequence[Roofline], divisor: float, channels: Spec, bottom: float) -> list[Spec]:
    titles = [_MEASURED] if len(items) == 1 else number_duplicates(item.title for item in items)
    span = max(item.xs[-1] for item in items) / min(item.xs[0] for item in items)
    rows = [
        _build_row(point, span ** (_DODGE * (place - (len(items) - 1) / 2)), divisor, title, bottom)
        for place, (title, item) in enumerate(zip(titles, items, strict=True))
        for point in item.points
        if point.measured.value
    ]
    colours = dict(zip(titles, SERIES, strict=False))
    series = [name for name in colours if any(row["series"] == name for row in rows)]
    colour = build_legend(series, [colours[name] for name in series])
    intervals = [
        part
        for name in series
        for part in draw_intervals(
            [row for row in rows if row["series"] == name], channels["x"], channels["y"], color=colours[name], cap=6
        )
    ]
    look: dict[str, Any] = {"shape": "circle", "size": 52, "opacity": 1}
    return [
        *intervals,
        *(
            layer(some, "point", {**channels, "color": colour}, filled=not above, **look, **hollow)
            for above, hollow in ((False, {}), (True, {"fill": PAPER, "strokeWidth": 1.6}))
            if (some := [row for row in rows if row["above"] is above])
        ),
    ]


def _build_row(point: RooflineMark, shift: float, divisor: float, title: str, bottom: float) -> Row:
    low, high = get_interval_ends(point.measured, divisor) or (None, None)
    return {
        "x": short(point.x * shift),
        "y": short((point.measured.value or 0.0) / divisor),
        "high": high,
        # An interval that reaches 0 is open: its end is below the axis, where it is not drawn.
        "low": None if low is None else max(low, bottom / 10),
        "series": title,
        "above": bool(point.above),
        "tip": "\n".join(
            filter(
                None, (title, format_estimate(point.measured, "bytes/s"), point.setting, _ABOVE if point.above else "")
            )
        ),
    }


def _compute_rate_range(items: Sequence[Roofline], divisor: float) -> tuple[float, float]:
    """Return the range that holds the bounds and the measurements with their intervals; limits above are cut off."""
    points = [point.measured for item in items for point in item.points if point.measured.value]
    ends = [end for point in points for end in (point.value, point.low, point.high) if end]
    means = [point.value for point in points if point.value]
    bounds = [value for item in items for value in item.s]
    least = max(min([*ends, *bounds]), min([*means, *bounds]) / 10)
    return least / divisor / 1.5, max([*ends, *bounds]) / divisor * 1.5


def _list_ticks(items: Sequence[Roofline]) -> list[Any]:
    """Return ticks at the measured positions, else at powers of two."""
    measured = sorted({point.x for item in items for point in item.points})
    if 1 < len(measured) <= _FEW:
        return measured
    ends = min(item.xs[0] for item in items), max(item.xs[-1] for item in items)
    first, last = math.ceil(math.log2(ends[0])), math.floor(math.log2(ends[1]))
    step = max(1, (last - first) // 8)
    return sorted({*measured[: _FEW if len(measured) == 1 else 0], *(2.0**n for n in range(first, last + 1, step))})
