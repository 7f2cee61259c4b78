"""Responses against factors: one panel per pair, or all responses in one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.text import escape, format_estimate
from iosonde.layout.vocabulary import (
    INK,
    PAPER,
    SIZES,
    Row,
    Spec,
    build_flat_title,
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

from .content import FactorPanel, PanelSeries

_MAX_COLUMNS = 62  # characters of a sentence above a panel
_WIDTH, _HEIGHT = 330, 210
_WIDE, _HIGH = 420, 260  # of a panel of several responses
_APART = 8.0  # px between the marks of two responses at one place, where there is room
_SHAPES = ("square", "circle", "diamond", "triangle-up", "cross", "triangle-down")


@dataclass(frozen=True)
class _Look:
    """Style of one response among several; ``aside`` is its offset in px."""

    colour: str
    shape: str = "square"
    aside: float = 0.0


def factors_figure(panels: Sequence[FactorPanel], columns: int) -> Figure:
    """Draw all panels in ``columns`` columns; several responses share one legend."""
    explained = min(columns, len(panels)) - 1
    return combine_figures([factor_figure(panel, place == explained) for place, panel in enumerate(panels)], columns)


def factor_figure(panel: FactorPanel, explained: bool = True) -> Figure:
    """Draw trials as faint points, means of levels with intervals, and the line.
    A single response has its sentences above. Several have only their names, in a legend to the right if ``explained``.
    """
    several = len(panel.series) > 1
    series_names = number_duplicates(series.name for series in panel.series)
    looks = _assign_looks(panel)
    place, x = _map_places(panel, max((look.aside for look in looks), default=0.0))
    positive = all(y >= 0 for series in panel.series for _, y in series.trials)
    y = build_number_channel(panel.unit, "y", zero=positive, axis=build_flat_title(panel.unit))
    layers = [
        layer_spec
        for number_, series in enumerate(panel.series)
        for layer_spec in _draw_layers(series, series_names[number_], panel, place, (x, y), looks[number_])
    ]
    if several and explained:
        layers.append(_build_keys(series_names, looks))
    sentences = [
        f"{panel_series.name}: {text}" if several else text
        for panel_series in panel.series
        for text in panel_series.said
    ]
    title: dict[str, Any] = {
        "text": [_truncate_text(escape(text)) for text in _build_title(panel, series_names)],
        "fontSize": 12,
    }
    if sentences and not several:
        title |= {
            "subtitle": [_truncate_text(escape(text)) for text in sentences],
            "subtitleFontSize": 10.5,
            "subtitleFontWeight": "normal",
            "subtitlePadding": 4,
            "subtitleColor": INK,
        }
    width, height = (_WIDE, _HIGH) if several else (_WIDTH, _HEIGHT)
    spec = view(*layers, title=title, width=width, height=height)
    return Figure(spec, "", f"{', '.join(series_names)} against {panel.factor}. {' '.join(sentences)}".strip())


def _build_title(panel: FactorPanel, names: Sequence[str]) -> list[str]:
    if len(names) == 1:
        return [panel.series[0].name]
    names_ = f"{', '.join(names[:-1])} and {names[-1]}"
    against = f"against {panel.label or panel.factor}"
    return [
        f"{names_} {against}" if len(f"{names_} {against}") <= _MAX_COLUMNS else f"{len(names)} responses {against}"
    ]


def _assign_looks(panel: FactorPanel) -> list[_Look]:
    count = len(panel.series)
    colours = choose_colours(count)
    if count == 1:
        return [_Look(colours[0])]
    step = min(_APART, 0.5 * _WIDE / max(max(len(series.means) for series in panel.series), 1) / count)
    around = len(_SHAPES)  # beyond, colours repeat with another shape
    return [
        _Look(colours[at], _SHAPES[(at + at // around) % around], round((at - (count - 1) / 2) * step, 1))
        for at in range(count)
    ]


def _build_keys(names: Sequence[str], looks: Sequence[_Look]) -> Spec:
    colour = build_legend(
        names, [look.colour for look in looks], orient="right", direction="vertical", columns=1, offset=14
    )
    shapes = {**colour, "scale": {"domain": list(names), "range": [look.shape for look in looks]}}
    rows = [{"series": name} for name in names]
    return layer(rows, "point", {"color": colour, "shape": shapes}, filled=True, opacity=0, size=1)


def _map_places(panel: FactorPanel, aside: float) -> tuple[dict[float, Any], Spec]:
    """Return (position → its value in the data, the channel), with room for marks offset by ``aside`` px."""
    title = panel.label or panel.factor
    if panel.named:
        texts = number_duplicates(text for _, text in panel.ticks)
        return (
            {at: text for (at, _), text in zip(panel.ticks, texts, strict=True)},
            build_name_channel(title, texts, axis={"labelLimit": 90}),
        )
    labels = SIZES if panel.sizes else "format(datum.value, '.7~r')"
    positions = [at for series in panel.series for at, _ in series.means]
    low, high = (min(positions), max(positions)) if positions else (0.0, 1.0)
    share = 0.04 + aside / _WIDE
    room = (high / low) ** share if panel.logarithmic else (high - low or abs(high) or 1.0) * share
    reach = (low / room, high * room) if panel.logarithmic else (low - room, high + room)
    axis = {"values": [short(at) for at, _ in panel.ticks], "labelExpr": labels}
    return {}, build_number_channel(title, domain=reach, log=panel.logarithmic, axis=axis)


def _draw_layers(
    series: PanelSeries, name: str, panel: FactorPanel, place: dict[float, Any], axes: tuple[Spec, Spec], look: _Look
) -> list[Spec]:
    channels = dict(zip("xy", axes, strict=True))
    trials = [
        _build_point(at, y, place, f"{name}, one trial\n{format_significant(y, 4)} {panel.unit}")
        for at, y in ((at, value / panel.divisor) for at, value in series.trials)
    ]
    line = [_build_point(at, value / panel.divisor, place) for at, value in series.line]
    means = [_build_mean(at, mean, panel, place, name) for at, mean in series.means if mean.value is not None]
    bounded, alone = ([row for row in means if (row["low"] is None) is hollow] for hollow in (False, True))
    colour = look.colour
    aside: dict[str, Any] = {"xOffset": look.aside} if look.aside else {}
    dot = {"shape": look.shape, "size": 52, "opacity": 1, "strokeWidth": 1.4, "stroke": colour, **aside}
    return [
        layer(trials, "point", channels, filled=True, shape="circle", size=16, opacity=0.35, color=colour, **aside),
        *([layer(line, "line", channels, color=colour, strokeWidth=1.4, opacity=0.85)] if line else []),
        *draw_intervals(bounded, *axes, color=colour, **aside),
        *([layer(bounded, "point", channels, fill=colour, **dot)] if bounded else []),
        *([layer(alone, "point", channels, fill=PAPER, **dot)] if alone else []),
    ]


def _build_point(at: float, value: float, place: dict[float, Any], tip: str = "") -> Row:
    row = {"x": place.get(at, short(at)), "y": short(value)}
    return {**row, "tip": tip} if tip else row


def _build_mean(at: float, mean: Estimate, panel: FactorPanel, place: dict[float, Any], name: str) -> Row:
    low, high = get_interval_ends(mean, panel.divisor) or (None, None)
    tip = f"{name}, mean of {mean.n}\n{format_estimate(mean, panel.unit, (panel.divisor, panel.unit))}"
    return {**_build_point(at, (mean.value or 0.0) / panel.divisor, place, tip), "low": low, "high": high}


def _truncate_text(text: str) -> str:
    return text if len(text) <= _MAX_COLUMNS else f"{text[: _MAX_COLUMNS - 1]}…"
