"""Importance of factors: the share of each with its interval; with all estimators S1 inside ST, and the S1 that a
factor without effect may reach."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.estimate_text import format_explained_share
from iosonde.core.types import Estimate
from iosonde.layout.figure import Figure, combine_figures
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
    """A factor: its share of the variation; or its first-order and total share, and the S1 that a dummy factor rarely
    exceeds."""

    name: str
    share: Estimate
    st: Estimate | None = None
    zero_line: float | None = None


_Bars = Sequence[tuple[str, Bar]]


@dataclass(frozen=True)
class Importance:
    """Factors of one response, the most important first."""

    title: str
    bars: tuple[Bar, ...]


def figure(answer: Rankings) -> Figure:
    """Draw a panel per response."""
    items = [
        Importance(
            ranking.response,
            tuple(
                Bar(f.name, f.over_all.s1, f.over_all.st, f.zero_line) if answer.is_complete else Bar(f.name, f.share)
                for f in ranking.factors
            ),
        )
        for ranking in answer.rankings
    ]
    return combine_figures([importance_figure(item) for item in items], columns=2)


def importance_figure(item: Importance) -> Figure:
    """Draw a row per factor: shares of the variation from 0 to 1."""
    names = number_duplicates(bar.name for bar in item.bars[:_MOST])
    bars = list(zip(names, item.bars, strict=False))
    y = build_name_channel("", names, "y", {"domain": False})
    marks, text = _draw_sensitivities(bars, y) if any(bar.st for _, bar in bars) else _draw_shares(bars, y)
    spec = view(*marks, width=360, height=max(2, len(names)) * _ROW)
    return Figure(spec, item.title, text.format(title=item.title))


def _draw_shares(bars: _Bars, y: Mapping[str, Any]) -> tuple[list[Any], str]:
    x = build_number_channel("share of the variation", domain=(0, 1), axis={"grid": True})
    rows = _build_rows([(name, bar.share) for name, bar in bars], "share")
    return [
        layer(rows, "bar", {"x": x, "y": y, "color": {"value": BLUE}}, height={"band": 0.6}, clip=True),
        *draw_intervals(rows, y, x, across=True, cap=5, strokeWidth=1.3),
    ], "Shares of the variation of {title} by factor."


def _draw_sensitivities(bars: _Bars, y: Mapping[str, Any]) -> tuple[list[Any], str]:
    x = build_number_channel("share of the variance", domain=(0, 1), axis={"grid": True})
    total = _build_rows([(name, bar.st) for name, bar in bars if bar.st is not None], _TOTAL)
    first = _build_rows([(name, bar.share) for name, bar in bars], _FIRST)
    zero = [
        {"y": name, "x": short(min(bar.zero_line, 1.0)), "series": _DUMMY}
        for name, bar in bars
        if bar.zero_line is not None
    ]
    channels = {"x": x, "y": y, "color": build_legend([_FIRST, _TOTAL, _DUMMY], [BLUE, _LIGHT, VERMILION], offset=8)}
    return [
        layer(total, "bar", channels, height={"band": 0.74}, clip=True),
        layer(first, "bar", channels, height={"band": 0.42}, clip=True),
        *draw_intervals(total, y, x, across=True, cap=5, yOffset=-8, strokeWidth=1.3),
        *draw_intervals(first, y, x, across=True, cap=5, strokeWidth=1.3),
        layer(zero, "tick", channels, thickness=2, size=22, opacity=1, clip=True),
    ], "Shares of the variance of {title} by factor: S1 inside ST."


def _build_rows(shares: Iterable[tuple[str, Estimate]], series: str) -> list[Row]:
    rows: list[Row] = []
    for name, share in shares:
        if share.value is None:
            continue
        low, high = get_interval_ends(share) or (None, None)
        value, interval = format_explained_share(share)
        tip = f"{name}\n{series.partition(':')[0]} {value}" + (f" ({interval})" if interval else "")
        rows.append({"y": name, "x": short(share.value), "series": series, "tip": tip, "low": low, "high": high})
    return rows
