"""The figures of a survey: what holds the capacity as areas, sizes and ages as lines, estimates as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iosonde.answers.survey.page import Cumulative, EstimateBars, SharedOut
from iosonde.core.units import format_size, human_scale
from iosonde.core.words import percent, percent_interval
from iosonde.report.text import escape, estimate_text

from .figure import Figure
from .vocabulary import (
    BLUE,
    INK,
    PAPER,
    SIZES,
    VERMILION,
    Row,
    colours_of,
    ends,
    interval,
    layer,
    legend,
    names,
    number,
    short,
    unique,
    view,
)

_WIDTH, _HEIGHT = 680, 300  # of areas, px
_LABELLED = (64, 26)  # px: an area that is smaller has no words in it
_CHARACTER = 7
_LINE = 22  # of a bar that lies, px
_TICKS = [32**power for power in range(12)]  # 1 B, 32 B, 1 KiB, …
_OF = ("of the files", "of the capacity")
Box = tuple[float, float, float, float]


def areas_figure(one: SharedOut) -> Figure:
    """A treemap: each part an area."""
    values = [value for _, value in one.parts]
    whole, shown = sum(values), unique(name for name, _ in one.parts)
    rows = []
    boxes = squarified(values, (0.0, 0.0, float(_WIDTH), float(_HEIGHT)))
    for name, value, colour, (x, y, width, height) in zip(shown, values, colours_of(len(values)), boxes, strict=True):
        size = f"{format_size(value)}, " if one.unit == "bytes" else ""
        fits = width >= _LABELLED[0] and height >= _LABELLED[1]
        said = name if len(name) * _CHARACTER <= width else f"{name[: max(1, int(width / _CHARACTER) - 1)]}…"
        rows.append({"x": short(x), "x2": short(x + width), "y": short(y), "y2": short(y + height), "fill": colour,
                     "said": said if fits else "", "middle": short(x + width / 2), "centre": short(y + height / 2),
                     "tip": f"{name}: {size}{percent(value / whole)}"})  # fmt: skip
    across, down = ({"field": field, "type": "quantitative", "axis": None, "scale": {"domain": [0, end], "nice": False}}
            for field, end in (("x", _WIDTH), ("y", _HEIGHT)))  # fmt: skip
    fill = {"field": "fill", "type": "nominal", "scale": None, "legend": None}
    spec = view(
        layer(rows, "rect", {"x": across, "x2": {"field": "x2"}, "y": down, "y2": {"field": "y2"}, "fill": fill},
              fillOpacity=0.4, stroke=PAPER, strokeWidth=2),
        layer([row for row in rows if row["said"]], "text",
              {"x": {**across, "field": "middle"}, "y": {**down, "field": "centre"}, "text": {"field": "said"}},
              fontSize=11, color=INK),
        width=_WIDTH, height=_HEIGHT,
    )  # fmt: skip
    return Figure(spec, one.title, f"{one.title}: areas, the largest {shown[0]} with {percent(values[0] / whole)}.")


def squarified(values: Sequence[float], box: Box) -> list[Box]:
    """Rectangles (x, y, width, height) of these areas that fill a box, as square as they get: values from large to
    small (Bruls, Huizing and van Wijk, *Squarified Treemaps*, VisSym 2000)."""
    found: list[Box] = []
    left, scale = list(values), box[2] * box[3] / (sum(values) or 1.0)
    while left:
        short_side, row = min(box[2], box[3]), [left.pop(0) * scale]
        while left and _worst([*row, left[0] * scale], short_side) <= _worst(row, short_side):
            row.append(left.pop(0) * scale)
        found += _row(row, box)
        deep = sum(row) / short_side if short_side else 0.0
        x, y, width, height = box
        box = (x + deep, y, max(0.0, width - deep), height) if width >= height else (
            x, y + deep, width, max(0.0, height - deep))  # fmt: skip
    return found


def _worst(row: Sequence[float], side: float) -> float:
    """The largest quotient of sides of a row of areas along a side."""
    total = sum(row)
    if not side or not min(row):
        return math.inf
    return max(side**2 * max(row) / total**2, total**2 / (side**2 * min(row)))


def _row(row: Sequence[float], box: Box) -> list[Box]:
    x, y, width, height = box
    side = min(width, height)
    deep, at, found = (sum(row) / side if side else 0.0), 0.0, []
    for area in row:
        long = area / deep if deep else 0.0
        found.append((x, y + at, deep, long) if width >= height else (x + at, y, long, deep))
        at += long
    return found


def cumulative_figure(one: Cumulative) -> Figure:
    """Two lines, of the files and of the capacity: how far they are apart is how heavy the tail is."""
    ticks = [_up_to(up_to, one.unit) for up_to, _, _ in one.rows]
    rows = [
        {"x": max(1, up_to or 0) if one.unit == "bytes" else tick, "y": short(100 * share), "series": name,
         "tip": f"{percent(share)} {name}: {tick}"}
        for (up_to, files, capacity), tick in zip(one.rows, ticks, strict=True)
        for name, share in zip(_OF, (files, capacity), strict=True)
    ]  # fmt: skip
    along = (number("size up to", log=True, axis={"labelExpr": SIZES, "values": _TICKS}) if one.unit == "bytes"
             else names("modified", ticks, axis={"labelAngle": -40}))  # fmt: skip
    channels = {"x": along, "y": number("%", "y", (0, 100)), "color": legend(_OF, (BLUE, VERMILION))}
    spec = view(layer(rows, "line", channels, interpolate="linear", strokeWidth=2),
                layer(rows, "point", channels, filled=True, size=24))  # fmt: skip
    return Figure(spec, one.title, f"{one.title}: shares of the files and of the capacity up to there.")


def _up_to(up_to: int | None, unit: str) -> str:
    if unit == "bytes":
        return "any size" if up_to is None else f"up to {format_size(up_to)}"
    if up_to is None:
        return "ever"
    if up_to < 0:
        return "in the future"
    return f"in {up_to // 365} y" if up_to >= 365 and up_to % 365 == 0 else f"in {up_to} d"


def estimates_figure(one: EstimateBars) -> Figure:
    """Bars that lie, with their intervals."""
    shown = unique(name for name, _ in one.bars)
    largest = max((abs(found.value or 0.0) for _, found in one.bars), default=0.0)
    divisor, unit = (0.01, "%") if one.unit == "share" else human_scale(largest, one.unit)
    rows: list[Row] = []
    for name, (_, found) in zip(shown, one.bars, strict=True):
        low, high = ends(found, divisor) or (None, None)
        said = percent_interval(found) if one.unit == "share" else estimate_text(found, one.unit)
        rows.append({"y": name, "x": short((found.value or 0.0) / divisor), "low": low, "high": high,
                     "tip": f"{name}: {said}"})  # fmt: skip
    place, value = names("", shown, "y", axis={"labelLimit": 220}), number(unit, "x", zero=True)
    spec = view(layer(rows, "bar", {"y": place, "x": value}, fill=BLUE, fillOpacity=0.4, stroke=BLUE, strokeWidth=1,
                      height={"band": 0.62}),
                *interval(rows, place, value, across=True), height=max(40, _LINE * len(rows)))  # fmt: skip
    return Figure(spec, one.title, f"{one.title}, with intervals: {escape(', '.join(shown))}.")
