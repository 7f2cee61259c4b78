"""Where the time of a phase went: from the time at the bound, loss by loss, to the delivered time."""

from __future__ import annotations

from iosonde.core.units import human_scale
from iosonde.layout.figure import Figure
from iosonde.layout.text import estimate_text
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    ORANGE,
    VERMILION,
    interval,
    layer,
    legend,
    names,
    number,
    short,
    unique,
    view,
)

from .content import WaterfallBars

_ROW = 24  # px
_KINDS = {
    "bound": ("at the bound", MUTED),
    "lost": ("lost", VERMILION),
    "won": ("won", BLUE),
    "delivered": ("delivered", ORANGE),
}


def waterfall_figure(item: WaterfallBars) -> Figure:
    """Draw a bar per part, each starting where the previous one ended, with the interval of its end."""
    total = item.delivered.value or 0.0
    divisor, unit = human_scale(total, "s")
    labels = unique([*(name for name, _ in item.parts), "delivered"])
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
                "tip": f"{name}\n{estimate_text(estimate, 's')}{share}",
            }
        )
        at += value
    kinds = [kind for kind in _KINDS.values() if any(row["series"] == kind[0] for row in rows)]
    x = number(unit, axis={"grid": True}, zero=True)
    y = names("", labels, "y", {"domain": False})
    colour = legend([name for name, _ in kinds], [colour for _, colour in kinds], offset=8)
    spec = view(
        layer(
            rows, "bar", {"x": x, "x2": {"field": "end"}, "y": y, "color": colour}, height={"band": 0.7}, opacity=0.85
        ),
        *interval(rows, y, x, across=True, cap=6, strokeWidth=1.3),
        width=360,
        height=_ROW * len(rows),
    )
    title = f"{item.title}: {estimate_text(item.delivered, 's')}"
    return Figure(spec, title, f"Where the time of {item.title} went, from the bound to the delivered time.")
