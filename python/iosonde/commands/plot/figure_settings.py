"""Every metric by the settings that varied: lines along sizes and numbers, bars along names, comparable panels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from iosonde.core.factor_levels import FactorLevels
from iosonde.core.words import format_count
from iosonde.layout.figure import Figure
from iosonde.layout.text import escape, format_estimate, wrapped
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    MUTED,
    PAPER,
    SHADES,
    SIZES,
    Row,
    Spec,
    build_flat_title,
    build_legend,
    build_name_channel,
    build_number_channel,
    choose_colours,
    get_interval_ends,
    layer,
    number_duplicates,
    share_rows,
    short,
    truncate_label,
    view,
)

from .figure_bars import PanelScale, choose_panel_scales
from .settings_plot import SettingPoint, SettingsPanel, SettingsPlot

# Panels in a row → width and height of each, px.
_SIZES = {1: (440, 250), 2: (320, 205), 3: (235, 165), 4: (185, 135), 5: (150, 115)}
_MOST_ACROSS = 5
_BAR, _LONGEST = 17, 6.2  # px of a horizontal bar, of a character
_TITLE = 8.2  # px of a character of the title
_MOST_HIGH = 420
_MOST_TICKS, _MOST_LEVELS = 9, 24  # ticks on an axis; levels up to which ticks are at levels
_MOST_DOTS = 3000
_MOST_JOINED = 120  # points on a line
_MANY = 300  # points beyond which they are drawn smaller
_LABELS = {"sizes": SIZES, "nines": "'p' + format(100 - 100 / datum.value, '.6~r')"}
_LEGEND = {"titleOrient": "left", "titleFontWeight": "normal", "titleColor": INK, "titleFontSize": 11}
_MOST_APART = 6  # up to this many colours, points are drawn side by side
_DODGE = 0.011  # share of the axis between points of two colours


@dataclass(frozen=True)
class _Drawn:
    """Shared properties of all panels.
    ``names`` are the levels along x, ``visible_names`` those that are shown, ``visible_colors`` the indices of the
    colours. Bars are horizontal if ``lying``.
    """

    plot: SettingsPlot
    names: tuple[str, ...]
    visible_names: tuple[str, ...]
    visible_colors: tuple[int, ...]
    colors: tuple[str, ...]
    width: int
    height: int
    lying: bool

    @property
    def bars(self) -> bool:
        """Return whether the levels along x are names."""
        return not self.plot.x.numbers

    @cached_property
    def is_overlaid(self) -> bool:
        """Return whether several points have the same place, because factors without one differ: bars would hide each
        other."""
        return any(
            len({(point.x, point.color) for point in panel.points}) < len(panel.points) for panel in self.plot.panels
        )

    def has_bars(self, scale: PanelScale) -> bool:
        """Return whether a panel with this scale shows bars, not points."""
        return self.bars and not scale.log and not self.is_overlaid


def settings_figure(plot: SettingsPlot) -> Figure:
    """Draw all panels as one figure."""
    across = count_panels_per_row(plot)
    drawn = _prepare_drawn(plot, across)
    scales = choose_panel_scales(plot.panels, drawn.bars and not drawn.is_overlaid)
    panels = [_draw_panel(panel, scales[panel.scale], _adapt_to_panel(panel, drawn)) for panel in plot.panels]
    return combine_panels(plot, panels, across, drawn.width, _describe_plot(plot))


def combine_panels(plot: SettingsPlot, panels: Sequence[Spec], across: int, width: int, how: str) -> Figure:
    """Combine panels under one title and legend; ``how`` describes the figure, followed by its omissions."""
    room = max(60, int(across * (width + 60) / 5.6))
    lines = [line for text in (how, *plot.omissions) for line in wrapped(escape(_to_sentence(text)), limit=room)]
    spec: dict[str, Any] = {
        "title": {
            "text": _break_lines(plot.title, across * (width + 60) / _TITLE),
            "subtitle": lines,
            "anchor": "start",
            "frame": "bounds",
            "fontSize": 14,
            "offset": 14,
            "limit": 1000,
            "subtitleFontSize": 11,
            "subtitlePadding": 5,
            "subtitleColor": MUTED,
            "subtitleLineHeight": 14,
        },
        "concat": list(panels),
        "columns": across,
        "spacing": 26,
        "resolve": {"scale": {"x": "independent", "y": "independent", "color": "shared"}},
    }
    return Figure(spec, "", " ".join([_to_sentence(plot.title), *map(_to_sentence, plot.sentences)]))


def list_subtitle_lines(plot: SettingsPlot) -> list[str]:
    """Return the lines below the title: how to read the figure, and what it omits."""
    return [_to_sentence(text) for text in (_describe_plot(plot), *plot.omissions)]


def count_panels_per_row(plot: SettingsPlot) -> int:
    """Return the number of panels per row."""
    count = len(plot.panels)
    if plot.across:
        return min(plot.across, _MOST_ACROSS)
    return count if count <= 3 else 2 if count == 4 else 3 if count <= 9 else 4


def _prepare_drawn(plot: SettingsPlot, across: int) -> _Drawn:
    width, height = _SIZES[across]
    x = tuple(number_duplicates(plot.x.texts))
    colors = tuple(number_duplicates(plot.color.texts)) if plot.color else ()
    lying = not plot.x.numbers and sum(len(text) * _LONGEST + 8 for text in x) > width
    if lying:
        height = _compute_height(len(x), max(1, len(colors)))
    return _Drawn(plot, x, x, tuple(range(len(colors))), colors, width, height, lying)


def _has_few_trials(plot: SettingsPlot) -> bool:
    """Return whether the trials are few enough to be drawn individually."""
    return sum(len(point.trials) for panel in plot.panels for point in panel.points) <= _MOST_DOTS


def _adapt_to_panel(panel: SettingsPanel, drawn: _Drawn) -> _Drawn:
    """Restrict bars to the levels and colours of the panel: those of other metrics would be empty rows."""
    if not drawn.bars:
        return drawn
    levels = tuple(drawn.names[x] for x in sorted({point.x for point in panel.points}))
    colors = tuple(sorted({point.color for point in panel.points})) if drawn.colors else ()
    height = _compute_height(len(levels), max(1, len(colors))) if drawn.lying else drawn.height
    return replace(drawn, visible_names=levels, visible_colors=colors, height=height)


def _compute_height(levels: int, series: int) -> int:
    return min(_MOST_HIGH, int(levels * (_BAR * series + 8)) + 10)


def _draw_panel(panel: SettingsPanel, scale: PanelScale, drawn: _Drawn) -> Spec:
    channels = _build_channels(panel, scale, drawn)
    rows = [_build_row(point, panel, scale, drawn) for point in panel.points if point.mean.value is not None]
    points = panel.points if _has_few_trials(drawn.plot) else ()
    trials = [
        _build_placed(point, drawn, short(trial / scale.divisor))
        for point in points
        if len(point.trials) > 1
        for trial in point.trials
    ]
    means, alone = ([row for row in rows if (row["low"] is None) is hollow] for hollow in (False, True))
    colour: dict[str, str] = {} if drawn.colors else {"color": BLUE}
    marks = _draw_bars(means, alone, channels, drawn) if drawn.has_bars(scale) else _draw_points(means, alone, channels)
    line = drawn.plot.joined and not drawn.bars and len(drawn.plot.x) <= _MOST_JOINED
    sorted_rows = sorted(rows, key=lambda row: row["x"]) if line else []
    spec = view(
        *_draw_key(channels, drawn),
        *([layer(sorted_rows, "line", channels, strokeWidth=1.7, clip=True, **colour)] if line else []),
        *([] if drawn.has_bars(scale) else [_draw_dots(trials, channels, colour)]),
        *marks,
        *_draw_whiskers(means, channels, drawn),
        *([_draw_dots(trials, channels, {"color": INK})] if drawn.has_bars(scale) else []),
        width=drawn.width,
        height=drawn.height,
    )
    return {**build_panel_title(panel, drawn.plot, drawn.width), **spec}


def build_panel_title(panel: SettingsPanel, plot: SettingsPlot, width: int) -> Spec:
    """Return the title of a panel; in two lines if any panel's does not fit in one."""
    lines = [text for text in (panel.title, panel.setting) if text]
    if not lines:
        return {}
    if (
        max(len(f"{settings_panel.title}, {settings_panel.setting}") for settings_panel in plot.panels) * _LONGEST
        < width + 30
    ):
        lines = [", ".join(lines)]
    room = (width + 50) / _LONGEST
    return {
        "title": {
            "text": [part for line in lines for part in _break_lines(line, room)],
            "fontSize": 11.5,
            "offset": 8,
            "limit": width + 50,
        }
    }


def _break_lines(text: str, characters: float) -> list[str]:
    return wrapped(text, limit=max(20, int(characters)))


def _build_channels(panel: SettingsPanel, scale: PanelScale, drawn: _Drawn) -> dict[str, Any]:
    place, value = ("y", "x") if drawn.lying else ("x", "y")
    title = ", ".join(filter(None, (truncate_label(panel.metric), scale.unit)))
    axis: dict[str, Any] = (
        {"grid": True, "domain": False, "ticks": False} if drawn.lying else dict(build_flat_title(title))
    )
    if scale.ticks:
        axis["values"] = [short(tick) for tick in scale.ticks]
    channels: dict[str, Any] = {
        place: _build_place_channel(drawn, place),
        value: dict(build_number_channel(title, value, (scale.low, scale.high), scale.log, axis=axis)),
    }
    if drawn.bars:
        channels[value]["stack"] = None  # side by side
    if drawn.colors:
        assert drawn.plot.color is not None
        channels["color"] = build_legend(
            drawn.colors,
            choose_level_colours(drawn.plot.color),
            offset=14,
            title=truncate_label(drawn.plot.color.title),
            **_LEGEND,
        )
    if drawn.colors and drawn.bars:
        channels[f"{place}Offset"] = {
            "field": "aside",
            "type": "ordinal",
            "sort": None,
            "scale": {"domain": list(drawn.visible_colors)},
        }
    return channels


def _draw_key(channels: Mapping[str, Any], drawn: _Drawn) -> list[Spec]:
    """Draw the legend of bar colours in a layer of its own.
    Next to an offset their order would become an expression with text from data.
    """
    if not (drawn.bars and drawn.colors):
        return []
    rows = [{"series": name} for name in drawn.colors]
    return [layer(rows, "point", {"color": channels["color"]}, filled=True, opacity=0, size=1)]


def choose_level_colours(factor: FactorLevels) -> list[str]:
    """Return a colour per level: hues, or ordered shades if there are too few hues."""
    if len(factor) <= len(choose_colours(6)):
        return choose_colours(len(factor))
    return [SHADES[round(at * (len(SHADES) - 1) / (len(factor) - 1))] for at in range(len(factor))]


def _build_place_channel(drawn: _Drawn, field: str) -> Spec:
    factor = drawn.plot.x
    if drawn.bars:
        return build_name_channel(factor.title, drawn.visible_names, field, {"labelLimit": 190 if drawn.lying else 110})
    low, high = factor.numbers[0], factor.numbers[-1]
    axis: dict[str, Any] = {"labelExpr": _LABELS.get(factor.kind, "format(datum.value, '.10~r')")}
    if factor.kind == "nines":
        axis["values"] = [short(at) for at in factor.numbers if at == 2 or round(math.log10(at), 6).is_integer()]
    elif len(factor) <= _MOST_LEVELS:
        axis["values"] = [short(at) for at in factor.numbers[:: -(-len(factor) // _MOST_TICKS)]]
    elif factor.kind == "sizes":
        powers = range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
        axis["values"] = [2**power for power in powers[:: -(-len(powers) // _MOST_TICKS)]]
    room = (high / low) ** 0.05 if factor.logarithmic else (high - low or abs(high) or 1.0) * 0.05
    reach = (low / room, high * room) if factor.logarithmic else (low - room, high + room)
    return build_number_channel(factor.title, field, reach, factor.logarithmic, axis=axis)


def _get_point_position(point: SettingPoint, drawn: _Drawn) -> Any:
    """Return the position of a point, slightly offset by colour."""
    factor = drawn.plot.x
    if drawn.bars:
        return drawn.names[point.x]
    at, low, high = factor.numbers[point.x], factor.numbers[0], factor.numbers[-1]
    middle = (max(1, len(drawn.colors)) - 1) / 2
    aside = (point.color - middle) * _DODGE if len(drawn.colors) <= _MOST_APART else 0.0
    return short(at * (high / low) ** aside if factor.logarithmic else at + (high - low) * aside)


def _build_row(point: SettingPoint, panel: SettingsPanel, scale: PanelScale, drawn: _Drawn) -> Row:
    low, high = get_interval_ends(point.mean, scale.divisor) or (None, None)
    if scale.log and low is not None:
        low = max(low, scale.low)
    mean_text = format_estimate(point.mean, panel.unit, (scale.divisor, scale.unit))
    tip = f"{point.setting_text}\n{mean_text}\n{format_count(point.mean.n, 'trial')}"
    value = short((point.mean.value or 0.0) / scale.divisor)
    return {**_build_placed(point, drawn, value), "low": low, "high": high, "tip": tip}


def _build_placed(point: SettingPoint, drawn: _Drawn, value: float | None) -> Row:
    place, along = ("y", "x") if drawn.lying else ("x", "y")
    row = {place: _get_point_position(point, drawn), along: value}
    return {**row, "series": drawn.colors[point.color], "aside": point.color} if drawn.colors else row


# Marks


def _draw_bars(
    bounded_rows: Sequence[Row], alone: Sequence[Row], channels: Mapping[str, Any], drawn: _Drawn
) -> list[Spec]:
    size = {"height" if drawn.lying else "width": {"band": 0.86 if drawn.colors else 0.62}}
    edges = {"stroke": channels["color"]} if drawn.colors else {}  # a hollow bar shows only its edge
    colour = {} if drawn.colors else {"color": BLUE, "stroke": BLUE}
    return [
        layer(
            rows,
            "bar",
            {**channels, **edges},
            fillOpacity=0.0 if hollow else 0.45,
            strokeWidth=1.2,
            clip=True,
            **({"filled": True} | size | colour),
        )
        for rows, hollow in ((bounded_rows, False), (alone, True))
        if rows
    ]


def _draw_points(rows: Sequence[Row], alone: Sequence[Row], channels: Mapping[str, Any]) -> list[Spec]:
    colour = {} if "color" in channels else {"color": BLUE}
    if len(rows) + len(alone) > _MANY:
        return [layer([*rows, *alone], "point", channels, filled=True, size=9, opacity=0.7, **colour)]
    return [
        *([layer(rows, "point", channels, filled=True, size=34, opacity=1, **colour)] if rows else []),
        *(
            [layer(alone, "point", channels, filled=False, fill=PAPER, size=34, opacity=1, strokeWidth=1.4, **colour)]
            if alone
            else []
        ),
    ]


def _draw_dots(rows: Sequence[Row], channels: Mapping[str, Any], colour: Mapping[str, str]) -> Spec:
    point_channels = {name: channel for name, channel in channels.items() if name != "color" or not colour}
    return layer(rows, "point", point_channels, filled=True, shape="circle", size=14, opacity=0.5, clip=True, **colour)


def _draw_whiskers(rows: Sequence[Row], channels: Mapping[str, Any], drawn: _Drawn) -> list[Spec]:
    """Draw intervals: dark on bars, else in the colour of their points."""
    if not rows:
        return []
    place, along = ("y", "x") if drawn.lying else ("x", "y")
    rule_channels = {name: channel for name, channel in channels.items() if name not in (place, along)}
    colour = {} if drawn.colors and not drawn.bars else {"color": INK if drawn.bars else BLUE}
    if drawn.bars:
        rule_channels.pop("color", None)
    value, look = channels[along], {"clip": True, "opacity": 1, **colour}
    rule = {**rule_channels, place: channels[place], along: {**value, "field": "low"}, f"{along}2": {"field": "high"}}
    ticks = (
        layer(
            rows,
            "tick",
            {**rule_channels, place: channels[place], along: {**value, "field": end}},
            size=6,
            thickness=1.3,
            orient="vertical" if drawn.lying else "horizontal",
            **look,
        )
        for end in ("low", "high")
    )
    return [share_rows(layer(rows, "rule", rule, strokeWidth=1.3, **look), *ticks)]


# Words


def _describe_plot(plot: SettingsPlot) -> str:
    points = [point for panel in plot.panels for point in panel.points]
    if not any(point.mean.low is not None for point in points):
        return "Single trials: no intervals" if points else "Nothing to draw"
    counts = sorted({point.mean.n for point in points})
    if counts == [1]:
        dots = "; dots: single iterations" if _has_few_trials(plot) else ""
        return f"Means of the iterations of one run with {100 * plot.level:g} % intervals{dots}"
    of = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    hollow = "; hollow: one trial" if any(point.mean.low is None for point in points) else ""
    dots = "; dots: single trials" if _has_few_trials(plot) else ""
    apart = len({panel.scale for panel in plot.panels}) > len({panel.metric for panel in plot.panels})
    scales = "; scales differ between panels" if apart else ""
    return f"Means of {of} trials with {100 * plot.level:g} % intervals{dots}{hollow}{scales}"


def _to_sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
