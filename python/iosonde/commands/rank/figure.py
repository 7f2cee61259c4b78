"""Importance of factors: S1 inside ST, each with its interval, and the S1 that a factor without effect may reach."""

from dataclasses import dataclass

from iosonde.core.types import Estimate
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.text import CANNOT_TELL
from iosonde.layout.vocabulary import (
    BLUE,
    VERMILION,
    Row,
    build_legend,
    build_name_channel,
    build_number_channel,
    draw_intervals,
    get_interval_ends,
    layer,
    number_duplicates,
    short,
    view,
)

from .answer import Rankings

_MOST = 20  # factors in one panel
_ROW = 30  # px
_TOTAL, _FIRST = "ST: with all its interactions", "S1: by itself"
_DUMMY = "S1 that a factor without effect may reach"
_LIGHT = "#b2d4e8"


@dataclass(frozen=True)
class Bar:
    """A factor: its first-order and total share, and the S1 that a dummy factor rarely exceeds."""

    name: str
    s1: Estimate
    st: Estimate
    zero_line: float | None


@dataclass(frozen=True)
class Importance:
    """Factors of one response, the most important first."""

    title: str
    bars: tuple[Bar, ...]


def figure(answer: Rankings) -> Figure:
    """Draw a panel per response."""
    items = [
        Importance(r.response, tuple(Bar(f.name, f.over_all.s1, f.over_all.st, f.zero_line) for f in r.factors))
        for r in answer.rankings
    ]
    return combine_figures([importance_figure(item) for item in items], columns=2)


def importance_figure(item: Importance) -> Figure:
    """Draw a row per factor: shares of the variance from 0 to 1."""
    bars = item.bars[:_MOST]
    bar_names = number_duplicates(bar.name for bar in bars)
    x = build_number_channel("share of the variance", domain=(0, 1), axis={"grid": True})
    y = build_name_channel("", bar_names, "y", {"domain": False})
    rows = [_build_rows(bar, name) for bar, name in zip(bars, bar_names, strict=True)]
    total, first = ([row[place] for row in rows if row[place]["x"] is not None] for place in (0, 1))
    zero = [
        {"y": name, "x": short(min(bar.zero_line, 1.0)), "series": _DUMMY}
        for bar, name in zip(bars, bar_names, strict=True)
        if bar.zero_line is not None
    ]
    channels = {"x": x, "y": y, "color": build_legend([_FIRST, _TOTAL, _DUMMY], [BLUE, _LIGHT, VERMILION], offset=8)}
    spec = view(
        layer(total, "bar", channels, height={"band": 0.74}, clip=True),
        layer(first, "bar", channels, height={"band": 0.42}, clip=True),
        *draw_intervals(total, y, x, across=True, cap=5, yOffset=-8, strokeWidth=1.3),
        *draw_intervals(first, y, x, across=True, cap=5, strokeWidth=1.3),
        layer(zero, "tick", channels, thickness=2, size=22, opacity=1, clip=True),
        width=360,
        height=max(2, len(bar_names)) * _ROW,
    )
    return Figure(spec, item.title, f"Shares of the variance of {item.title} by factor: S1 inside ST.")


def _build_rows(bar: Bar, name: str) -> tuple[Row, Row]:
    """Return (the row of ST, the row of S1)."""
    tip = f"{name}\nS1 {_format_share(bar.s1)}\nST {_format_share(bar.st)}"
    total, first = (
        {"y": name, "x": short(estimate.value), "series": series, "tip": tip, "low": low, "high": high}
        for estimate, series in ((bar.st, _TOTAL), (bar.s1, _FIRST))
        for low, high in [get_interval_ends(estimate) or (None, None)]
    )
    return total, first


def _format_share(estimate: Estimate) -> str:
    value, interval_text = format_share_parts(estimate)
    return f"{value} ({interval_text})" if estimate.value is not None else value


def format_share_parts(estimate: Estimate) -> tuple[str, str]:
    """Format (value, interval) with two decimals, as ``rank`` prints them."""
    if estimate.value is None:
        return CANNOT_TELL, CANNOT_TELL
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}", CANNOT_TELL
    return f"{estimate.value:.2f}", f"{estimate.low:.2f}–{estimate.high:.2f}"
