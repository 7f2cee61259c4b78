"""Responses against factors: one panel for each pair, or all responses in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde.answers.plot.panel import FactorPanel, PanelSeries
from iosonde.core.types import Estimate
from iosonde.core.units import significant
from iosonde.report.text import escape, estimate_text

from .figure import Figure, together
from .vocabulary import (
    INK,
    PAPER,
    SIZES,
    Row,
    Spec,
    colours_of,
    ends,
    flat,
    interval,
    layer,
    legend,
    names,
    number,
    short,
    unique,
    view,
)

_SAID = 62  # characters of a sentence above a panel


def factors_figure(panels: Sequence[FactorPanel], columns: int) -> Figure:
    """All panels, so many in a row."""
    return together([factor_figure(panel) for panel in panels], columns)


def factor_figure(panel: FactorPanel) -> Figure:
    """Trials as faint points, means of levels with intervals, the line, and what is said about it."""
    several = len(panel.series) > 1
    said = unique(series.name for series in panel.series)
    place, x = _places(panel)
    positive = all(y >= 0 for series in panel.series for _, y in series.trials)
    y = number(panel.unit, "y", zero=positive, axis=flat(panel.unit))
    colour = legend(said, colours_of(len(said))) if several else None
    layers = [
        one for number_, series in enumerate(panel.series)
        for one in _layers(series, said[number_], panel, place, (x, y), colours_of(1, number_)[0])
    ]  # fmt: skip
    if colour:
        keys = [{"series": name} for name in said]
        layers.append(layer(keys, "point", {"color": colour}, filled=True, opacity=0, size=1))
    sentences = [f"{one.name}: {text}" if several else text for one in panel.series for text in one.said]
    name = [] if several else [panel.series[0].name]
    title = {"text": [_cut(escape(text)) for text in name] or [""], "fontSize": 12}
    if sentences:
        title |= {"subtitle": [_cut(escape(text)) for text in sentences], "subtitleFontSize": 10.5,
                  "subtitleFontWeight": "normal", "subtitlePadding": 4, "subtitleColor": INK}  # fmt: skip
    spec = view(*layers, title=title, width=330, height=210)
    return Figure(spec, "", f"{', '.join(said)} against {panel.factor}. {' '.join(sentences)}".strip())


def _places(panel: FactorPanel) -> tuple[dict[float, Any], Spec]:
    """(place → what stands for it in the data, the channel)."""
    if panel.named:
        texts = unique(text for _, text in panel.ticks)
        return ({at: text for (at, _), text in zip(panel.ticks, texts, strict=True)},
                names(panel.factor, texts, axis={"labelLimit": 90}))  # fmt: skip
    axis: dict[str, Any] = {"values": [short(at) for at, _ in panel.ticks]}
    axis["labelExpr"] = SIZES if panel.sizes else "format(datum.value, '.7~r')"
    seen = [at for series in panel.series for at, _ in series.means]
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    room = (high / low) ** 0.04 if panel.logarithmic else (high - low or abs(high) or 1.0) * 0.04
    reach = (low / room, high * room) if panel.logarithmic else (low - room, high + room)
    return {}, number(panel.factor, domain=reach, log=panel.logarithmic, axis=axis)


def _layers(
    series: PanelSeries, name: str, panel: FactorPanel, place: dict[float, Any], axes: tuple[Spec, Spec], colour: str
) -> list[Spec]:  # fmt: skip
    channels = dict(zip("xy", axes, strict=True))
    trials = [
        _point(at, y, place, f"{name}, one trial\n{significant(y, 4)} {panel.unit}")
        for at, y in ((at, value / panel.divisor) for at, value in series.trials)
    ]
    line = [_point(at, value / panel.divisor, place) for at, value in series.line]
    means = [_mean(at, mean, panel, place, name) for at, mean in series.means if mean.value is not None]
    known, alone = ([row for row in means if (row["low"] is None) is hollow] for hollow in (False, True))
    dot = {"shape": "square", "size": 52, "opacity": 1, "strokeWidth": 1.4, "stroke": colour}
    return [
        layer(trials, "point", channels, filled=True, shape="circle", size=16, opacity=0.35, color=colour),
        *([layer(line, "line", channels, color=colour, strokeWidth=1.4, opacity=0.85)] if line else []),
        *interval(known, *axes, color=colour),
        *([layer(known, "point", channels, fill=colour, **dot)] if known else []),
        *([layer(alone, "point", channels, fill=PAPER, **dot)] if alone else []),
    ]


def _point(at: float, value: float, place: dict[float, Any], tip: str = "") -> Row:
    row = {"x": place.get(at, short(at)), "y": short(value)}
    return {**row, "tip": tip} if tip else row


def _mean(at: float, mean: Estimate, panel: FactorPanel, place: dict[float, Any], name: str) -> Row:
    low, high = ends(mean, panel.divisor) or (None, None)
    tip = f"{name}, mean of {mean.n}\n{estimate_text(mean, panel.unit, (panel.divisor, panel.unit))}"
    return {**_point(at, (mean.value or 0.0) / panel.divisor, place, tip), "low": low, "high": high}


def _cut(text: str) -> str:
    return text if len(text) <= _SAID else f"{text[: _SAID - 1]}…"
