"""Figures of a bound: the roofline, or the waterfall of lost time."""

from iosonde.core.errors import InputError
from iosonde.core.units import choose_human_scale
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.text import format_estimate
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    ORANGE,
    VERMILION,
    build_legend,
    build_name_channel,
    build_number_channel,
    draw_intervals,
    layer,
    number_duplicates,
    short,
    view,
)

from .answer import Bounds
from .content import Roofline, WaterfallBars
from .figure_roofline import roofline_figure, share_panels

_ROW = 24  # px
_KINDS = {
    "bound": ("at the bound", MUTED),
    "lost": ("lost", VERMILION),
    "won": ("won", BLUE),
    "delivered": ("delivered", ORANGE),
}
MOST_PANELS = 12
KINDS = ("roofline", "waterfall")


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


def figure(answer: Bounds, kind: str = "roofline", against: str | None = None) -> Figure:
    """Draw the first 12 panels of the roofline against clients, servers or request, or of the waterfall. Few rooflines
    are one panel; None: against that on which the cells differ. Raises InputError."""
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
        lines = [Roofline(**vars(roofline)) for roofline in answer.rooflines(against)]
        items = [roofline_figure(panel) for panel in share_panels(lines)[:MOST_PANELS]]
    if not items:
        raise InputError(
            "losses-not-computed", "no losses were computed", "ask for the waterfall of a store: waterfall=True"
        )
    return combine_figures(items, columns=2)
