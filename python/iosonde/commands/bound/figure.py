"""Figures of a bound: the roofline, a panel per operation and setting, or the waterfall of lost time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.errors import InputError
from iosonde.layout.figure import Figure, together

from .content import Roofline, WaterfallBars
from .figure_roofline import roofline_figure
from .figure_waterfall import waterfall_figure

if TYPE_CHECKING:
    from .answer import Bounds

MOST_PANELS = 12
KINDS = ("roofline", "waterfall")


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
    return together(items, columns=2)
