"""The roofline of a file system: ceilings, the bound, and the measurements below it."""

from __future__ import annotations

import math

from iosonde.core.units import human_scale
from iosonde.layout.figure import Figure
from iosonde.layout.text import estimate_text
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    SERIES,
    SIZES,
    VERMILION,
    Row,
    colours_of,
    ends,
    flat,
    interval,
    layer,
    legend,
    line_of,
    number,
    short,
    ticks_inside,
    unique,
    view,
)
from iosonde.model.bound.roofline import RooflineMark

from .content import Roofline

_FEW = 12  # up to this many positions are labelled on the axis
_BOUND, _BELOW, _ABOVE = "bound", "measured", "above the bound"


def roofline_figure(item: Roofline) -> Figure:
    """Draw the ceilings dashed, the bound solid, and measurements with intervals, on logarithmic axes."""
    divisor, unit = human_scale(max(item.s), "bytes/s")
    names = unique(name.replace("_", " ") for name in item.ceilings)
    # Blue and vermilion are reserved for the measurements.
    colours = [colour for colour in colours_of(len(SERIES) * (1 + len(names))) if colour not in (BLUE, VERMILION)]
    series = [name for name, above in ((_BELOW, False), (_ABOVE, True)) if any(p.above is above for p in item.points)]
    domain = [_BOUND, *names, *series]
    points = {_BELOW: BLUE, _ABOVE: VERMILION}
    colour = legend(domain, [INK, *colours[: len(names)], *(points[name] for name in series)])
    x = number(
        item.x_name,
        domain=(item.xs[0] / 1.1, item.xs[-1] * 1.1),
        log=True,
        axis={"values": _list_ticks(item), **({"labelExpr": SIZES} if item.sizes else {})},
    )
    low, high = _rate_range(item, divisor)
    ticks = ticks_inside(low, high)
    y = number(unit, "y", (low, high), log=True, axis={**flat(unit), "values": ticks})
    channels = {"x": x, "y": y, "color": colour}
    ceilings = [
        row
        for name, values in zip(names, item.ceilings.values(), strict=True)
        for row in line_of(item.xs, values, divisor, series=name)
    ]
    rows = [_build_row(point, divisor) for point in item.points if point.measured.value]
    spec = view(
        layer(ceilings, "line", channels, strokeWidth=1.6, strokeDash=[5, 4], clip=True),
        layer(line_of(item.xs, item.s, divisor, series=_BOUND), "line", channels, strokeWidth=3, clip=True),
        *(
            part
            for name in series
            for part in interval([row for row in rows if row["series"] == name], x, y, color=points[name], cap=6)
        ),
        layer(rows, "point", channels, filled=True, shape="circle", size=52, opacity=1, clip=True),
        width=380,
        height=250,
    )
    return Figure(spec, item.title, f"Roofline of {item.title} against {item.x_name}: ceilings and measurements.")


def _build_row(point: RooflineMark, divisor: float) -> Row:
    low, high = ends(point.measured, divisor) or (None, None)
    tip = "\n".join(
        filter(None, (estimate_text(point.measured, "bytes/s"), point.setting, _ABOVE if point.above else ""))
    )
    return {
        "x": short(point.x),
        "y": short((point.measured.value or 0.0) / divisor),
        "high": high,
        "low": None if low is None or high is None else max(low, high * 1e-6),
        "series": _ABOVE if point.above else _BELOW,
        "tip": tip,
    }


def _rate_range(item: Roofline, divisor: float) -> tuple[float, float]:
    """Return the range from half the lowest measurement to twice the bound; higher ceilings are cut off."""
    rates = [point.measured.value for point in item.points if point.measured.value]
    return min([*rates, *item.s]) / divisor / 2, max([*rates, *item.s]) / divisor * 2


def _list_ticks(item: Roofline) -> list[float]:
    """Return ticks at the measured positions, else at powers of two."""
    measured = sorted({point.x for point in item.points})
    if 1 < len(measured) <= _FEW:
        return measured
    first, last = math.ceil(math.log2(item.xs[0])), math.floor(math.log2(item.xs[-1]))
    step = max(1, (last - first) // 8)
    return sorted({*measured[: _FEW if len(measured) == 1 else 0], *(2.0**n for n in range(first, last + 1, step))})
