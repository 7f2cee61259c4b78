"""Figures of a survey: capacity as areas, sizes and ages as lines, estimates as bars."""

import math
from collections.abc import Sequence

from iosonde.core.units import choose_human_scale, format_size
from iosonde.core.words import format_share, format_share_interval
from iosonde.layout.figure import Figure
from iosonde.layout.text import escape, format_estimate
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    PAPER,
    SIZES,
    VERMILION,
    Row,
    build_legend,
    build_name_channel,
    build_number_channel,
    choose_colours,
    draw_intervals,
    get_interval_ends,
    layer,
    number_duplicates,
    short,
    view,
)

from .for_page import Cumulative, EstimateBars, SharedOut

_WIDTH, _HEIGHT = 680, 300  # of areas, px
_LABELLED = (64, 26)  # px; smaller areas have no label
_CHARACTER = 7
_LINE = 22  # px of a horizontal bar
_TICKS = [32**power for power in range(12)]  # 1 B, 32 B, 1 KiB, …
_OF = ("of the files", "of the capacity")
Box = tuple[float, float, float, float]


def areas_figure(shares: SharedOut) -> Figure:
    """Draw a treemap: an area per part."""
    values = [value for _, value in shares.parts]
    total, names = sum(values), number_duplicates(name for name, _ in shares.parts)
    rows = []
    boxes = squarify_areas(values, (0.0, 0.0, float(_WIDTH), float(_HEIGHT)))
    for name, value, colour, (x, y, width, height) in zip(
        names, values, choose_colours(len(values)), boxes, strict=True
    ):
        size = f"{format_size(value)}, " if shares.unit == "bytes" else ""
        fits = width >= _LABELLED[0] and height >= _LABELLED[1]
        text = name if len(name) * _CHARACTER <= width else f"{name[: max(1, int(width / _CHARACTER) - 1)]}…"
        rows.append(
            {
                "x": short(x),
                "x2": short(x + width),
                "y": short(y),
                "y2": short(y + height),
                "fill": colour,
                "said": text if fits else "",
                "middle": short(x + width / 2),
                "centre": short(y + height / 2),
                "tip": f"{name}: {size}{format_share(value / total)}",
            }
        )
    across, down = (
        {"field": field, "type": "quantitative", "axis": None, "scale": {"domain": [0, end], "nice": False}}
        for field, end in (("x", _WIDTH), ("y", _HEIGHT))
    )
    fill = {"field": "fill", "type": "nominal", "scale": None, "legend": None}
    spec = view(
        layer(
            rows,
            "rect",
            {"x": across, "x2": {"field": "x2"}, "y": down, "y2": {"field": "y2"}, "fill": fill},
            fillOpacity=0.4,
            stroke=PAPER,
            strokeWidth=2,
        ),
        layer(
            [row for row in rows if row["said"]],
            "text",
            {"x": {**across, "field": "middle"}, "y": {**down, "field": "centre"}, "text": {"field": "said"}},
            fontSize=11,
            color=INK,
        ),
        width=_WIDTH,
        height=_HEIGHT,
    )
    return Figure(
        spec, shares.title, f"{shares.title}: areas, the largest {names[0]} with {format_share(values[0] / total)}."
    )


def squarify_areas(values: Sequence[float], box: Box) -> list[Box]:
    """Fill a box with rectangles (x, y, width, height) of these areas, as square as possible.
    ``values`` descend (Bruls, Huizing and van Wijk, *Squarified Treemaps*, VisSym 2000).
    """
    boxes: list[Box] = []
    remaining, scale = list(values), box[2] * box[3] / (sum(values) or 1.0)
    while remaining:
        short_side, row = min(box[2], box[3]), [remaining.pop(0) * scale]
        while remaining and _compute_worst_aspect([*row, remaining[0] * scale], short_side) <= _compute_worst_aspect(
            row, short_side
        ):
            row.append(remaining.pop(0) * scale)
        boxes += _place_row(row, box)
        deep = sum(row) / short_side if short_side else 0.0
        x, y, width, height = box
        box = (
            (x + deep, y, max(0.0, width - deep), height)
            if width >= height
            else (x, y + deep, width, max(0.0, height - deep))
        )
    return boxes


def _compute_worst_aspect(row: Sequence[float], side: float) -> float:
    """Return the largest aspect ratio in a row of areas along a side."""
    total = sum(row)
    if not side or not min(row):
        return math.inf
    return max(side**2 * max(row) / total**2, total**2 / (side**2 * min(row)))


def _place_row(row: Sequence[float], box: Box) -> list[Box]:
    x, y, width, height = box
    side = min(width, height)
    deep, at, boxes = (sum(row) / side if side else 0.0), 0.0, []
    for area in row:
        long = area / deep if deep else 0.0
        boxes.append((x, y + at, deep, long) if width >= height else (x + at, y, long, deep))
        at += long
    return boxes


def cumulative_figure(cumulative: Cumulative) -> Figure:
    """Draw cumulative shares of the files and of the capacity: their distance shows how heavy the tail is."""
    ticks = [_format_upper_age(up_to, cumulative.unit) for up_to, _, _ in cumulative.rows]
    rows = [
        {
            "x": max(1, up_to or 0) if cumulative.unit == "bytes" else tick,
            "y": short(100 * share),
            "series": name,
            "tip": f"{format_share(share)} {name}: {tick}",
        }
        for (up_to, files, capacity), tick in zip(cumulative.rows, ticks, strict=True)
        for name, share in zip(_OF, (files, capacity), strict=True)
    ]
    along = (
        build_number_channel("size up to", log=True, axis={"labelExpr": SIZES, "values": _TICKS})
        if cumulative.unit == "bytes"
        else build_name_channel("modified", ticks, axis={"labelAngle": -40})
    )
    channels = {
        "x": along,
        "y": build_number_channel("%", "y", (0, 100)),
        "color": build_legend(_OF, (BLUE, VERMILION)),
    }
    spec = view(
        layer(rows, "line", channels, interpolate="linear", strokeWidth=2),
        layer(rows, "point", channels, filled=True, size=24),
    )
    return Figure(spec, cumulative.title, f"{cumulative.title}: shares of the files and of the capacity up to there.")


def _format_upper_age(up_to: int | None, unit: str) -> str:
    if unit == "bytes":
        return "any size" if up_to is None else f"up to {format_size(up_to)}"
    if up_to is None:
        return "ever"
    if up_to < 0:
        return "in the future"
    return f"in {up_to // 365} y" if up_to >= 365 and up_to % 365 == 0 else f"in {up_to} d"


def estimates_figure(estimate_bars: EstimateBars) -> Figure:
    """Draw horizontal bars with their intervals."""
    labels = number_duplicates(name for name, _ in estimate_bars.bars)
    largest = max((abs(estimate.value or 0.0) for _, estimate in estimate_bars.bars), default=0.0)
    divisor, unit = (0.01, "%") if estimate_bars.unit == "share" else choose_human_scale(largest, estimate_bars.unit)
    rows: list[Row] = []
    for name, (_, estimate) in zip(labels, estimate_bars.bars, strict=True):
        low, high = get_interval_ends(estimate, divisor) or (None, None)
        text = (
            format_share_interval(estimate)
            if estimate_bars.unit == "share"
            else format_estimate(estimate, estimate_bars.unit)
        )
        rows.append(
            {
                "y": name,
                "x": short((estimate.value or 0.0) / divisor),
                "low": low,
                "high": high,
                "tip": f"{name}: {text}",
            }
        )
    place, value = (
        build_name_channel("", labels, "y", axis={"labelLimit": 220}),
        build_number_channel(unit, "x", zero=True),
    )
    spec = view(
        layer(
            rows,
            "bar",
            {"y": place, "x": value},
            fill=BLUE,
            fillOpacity=0.4,
            stroke=BLUE,
            strokeWidth=1,
            height={"band": 0.62},
        ),
        *draw_intervals(rows, place, value, across=True),
        height=max(40, _LINE * len(rows)),
    )
    return Figure(spec, estimate_bars.title, f"{estimate_bars.title}, with intervals: {escape(', '.join(labels))}.")
