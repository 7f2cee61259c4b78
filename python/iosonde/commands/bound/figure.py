"""Figures of a bound: the roofline, a panel per operation and setting, or the waterfall of lost time."""

import math

from iosonde.core.errors import InputError
from iosonde.core.units import choose_human_scale
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.text import format_estimate
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    SERIES,
    SIZES,
    VERMILION,
    Row,
    build_flat_title,
    build_legend,
    build_line_rows,
    build_name_channel,
    build_number_channel,
    choose_colours,
    draw_intervals,
    get_interval_ends,
    layer,
    list_ticks_inside,
    number_duplicates,
    short,
    view,
)
from iosonde.model.bound.roofline import RooflineMark

from .answer import Bounds
from .content import Roofline, WaterfallBars

_FEW = 12  # up to this many positions are labelled on the axis
_BOUND, _BELOW, _ABOVE = "bound", "measured", "above the bound"
_ROW = 24  # px
_KINDS = {
    "bound": ("at the bound", MUTED),
    "lost": ("lost", VERMILION),
    "won": ("won", BLUE),
    "delivered": ("delivered", ORANGE),
}
MOST_PANELS = 12
KINDS = ("roofline", "waterfall")


def roofline_figure(item: Roofline) -> Figure:
    """Draw the ceilings dashed, the bound solid, and measurements with intervals, on logarithmic axes."""
    divisor, unit = choose_human_scale(max(item.s), "bytes/s")
    names = number_duplicates(name.replace("_", " ") for name in item.ceilings)
    # Blue and vermilion are reserved for the measurements.
    colours = [colour for colour in choose_colours(len(SERIES) * (1 + len(names))) if colour not in (BLUE, VERMILION)]
    series = [name for name, above in ((_BELOW, False), (_ABOVE, True)) if any(p.above is above for p in item.points)]
    domain = [_BOUND, *names, *series]
    points = {_BELOW: BLUE, _ABOVE: VERMILION}
    colour = build_legend(domain, [INK, *colours[: len(names)], *(points[name] for name in series)])
    x = build_number_channel(
        item.x_name,
        domain=(item.xs[0] / 1.1, item.xs[-1] * 1.1),
        log=True,
        axis={"values": _list_ticks(item), **({"labelExpr": SIZES} if item.sizes else {})},
    )
    low, high = _compute_rate_range(item, divisor)
    y = build_number_channel(
        unit, "y", (low, high), log=True, axis={**build_flat_title(unit), "values": list_ticks_inside(low, high)}
    )
    channels = {"x": x, "y": y, "color": colour}
    ceilings = [
        row
        for name, values in zip(names, item.ceilings.values(), strict=True)
        for row in build_line_rows(item.xs, values, divisor, series=name)
    ]
    rows = [_build_row(point, divisor) for point in item.points if point.measured.value]
    spec = view(
        layer(ceilings, "line", channels, strokeWidth=1.6, strokeDash=[5, 4], clip=True),
        layer(build_line_rows(item.xs, item.s, divisor, series=_BOUND), "line", channels, strokeWidth=3, clip=True),
        *(
            part
            for name in series
            for part in draw_intervals([row for row in rows if row["series"] == name], x, y, color=points[name], cap=6)
        ),
        layer(rows, "point", channels, filled=True, shape="circle", size=52, opacity=1, clip=True),
        width=380,
        height=250,
    )
    return Figure(spec, item.title, f"Roofline of {item.title} against {item.x_name}: ceilings and measurements.")


def _build_row(point: RooflineMark, divisor: float) -> Row:
    low, high = get_interval_ends(point.measured, divisor) or (None, None)
    return {
        "x": short(point.x),
        "y": short((point.measured.value or 0.0) / divisor),
        "high": high,
        "low": None if low is None or high is None else max(low, high * 1e-6),
        "series": _ABOVE if point.above else _BELOW,
        "tip": "\n".join(
            filter(None, (format_estimate(point.measured, "bytes/s"), point.setting, _ABOVE if point.above else ""))
        ),
    }


def _compute_rate_range(item: Roofline, divisor: float) -> tuple[float, float]:
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


def waterfall_figure(item: WaterfallBars) -> Figure:
    """Draw a bar per part, each starting where the previous one ended, with the interval of its end."""
    total = item.delivered.value or 0.0
    divisor, unit = choose_human_scale(total, "s")
    labels = number_duplicates([*(name for name, _ in item.parts), "delivered"])
    at, rows = 0.0, []
    for place, (name, (_, estimate)) in enumerate(zip(labels, (*item.parts, ("", item.delivered)), strict=True)):
        last = place == len(item.parts)
        value, begin = (estimate.value or 0.0) / divisor, 0.0 if last else at
        kind = "delivered" if last else "bound" if place == 0 else "won" if value < 0 else "lost"
        low, high = (
            (None, None)
            if estimate.low is None or estimate.high is None
            else (estimate.low / divisor, estimate.high / divisor)
        )
        share = f"\n{100 * (estimate.value or 0.0) / total:.1f} % of the delivered time" if total else ""
        rows.append(
            {
                "y": name,
                "x": short(begin),
                "end": short(begin + value),
                "series": _KINDS[kind][0],
                "low": None if low is None else short(begin + low),
                "high": None if high is None else short(begin + high),
                "tip": f"{name}\n{format_estimate(estimate, 's')}{share}",
            }
        )
        at += value
    kinds = [kind for kind in _KINDS.values() if any(row["series"] == kind[0] for row in rows)]
    x = build_number_channel(unit, axis={"grid": True}, zero=True)
    y = build_name_channel("", labels, "y", {"domain": False})
    colour = build_legend([name for name, _ in kinds], [colour for _, colour in kinds], offset=8)
    spec = view(
        layer(
            rows, "bar", {"x": x, "x2": {"field": "end"}, "y": y, "color": colour}, height={"band": 0.7}, opacity=0.85
        ),
        *draw_intervals(rows, y, x, across=True, cap=6, strokeWidth=1.3),
        width=360,
        height=_ROW * len(rows),
    )
    title = f"{item.title}: {format_estimate(item.delivered, 's')}"
    return Figure(spec, title, f"Where the time of {item.title} went, from the bound to the delivered time.")


def figure(answer: Bounds, kind: str = "roofline", against: str = "clients") -> Figure:
    """Draw the first 12 panels of the roofline against clients, servers or request, or of the waterfall. Raises
    InputError."""
    if kind not in KINDS:
        raise InputError(
            "unknown-option-value",
            "unknown figure of a bound: '{kind}'",
            "use {kinds}",
            kind=kind,
            kinds=" or ".join(KINDS),
        )
    if kind == "waterfall":
        items = [waterfall_figure(WaterfallBars.of(fall)) for fall in answer.falls[:MOST_PANELS]]
    else:
        items = [roofline_figure(Roofline(**vars(roofline))) for roofline in answer.rooflines(against)[:MOST_PANELS]]
    if not items:
        raise InputError(
            "losses-not-computed", "no losses were computed", "ask for the waterfall of a store: waterfall=True"
        )
    return combine_figures(items, columns=2)
