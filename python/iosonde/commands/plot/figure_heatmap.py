"""Every metric by two factors at once: a cell per setting, darker where the mean is higher."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.words import format_count
from iosonde.layout.figure import Figure
from iosonde.layout.text import format_estimate, format_estimate_parts
from iosonde.layout.vocabulary import (
    INK,
    MUTED,
    PAPER,
    SHADES,
    Row,
    Spec,
    build_name_channel,
    layer,
    number_duplicates,
    short,
    view,
)

from .figure_bars import WIDE, PanelScale, choose_panel_scales
from .figure_settings import build_panel_title, combine_panels, count_panels_per_row
from .settings_plot import SettingPoint, SettingsPanel, SettingsPlot

_FIELD = {1: (62, 34), 2: (52, 32), 3: (46, 30), 4: (38, 26), 5: (34, 24)}  # px, by panels in a row
_MOST = {1: 640, 2: 330, 3: 240, 4: 185, 5: 150}  # px wide
_READABLE = 30  # px of a cell that has room for its value
_SCALE = 70  # px of a panel's colour scale
_CHARACTER, _LINE = 6.2, 12  # px of a label
_DARK = 0.5  # share of the colour range beyond which text is light


def heatmap_figure(plot: SettingsPlot) -> Figure:
    """Draw all panels as one figure. Raises InputError unless there are two factors."""
    if plot.color is None or not plot.joined:
        raise InputError(
            "missing-factors",
            "cannot draw a heat map without two factors",
            "name them with {spell.x} and {spell.color}, or draw {spell.kind:settings}",
        )
    across, scales = count_panels_per_row(plot), choose_panel_scales(plot.panels, True)
    width, _ = _compute_size(plot, across)
    reaches = {
        name: _compute_value_range(
            [settings_panel for settings_panel in plot.panels if settings_panel.scale == name], scales[name]
        )
        for name in scales
    }
    panels = [_draw_panel(panel, plot, scales[panel.scale], reaches[panel.scale]) for panel in plot.panels]
    figure = combine_panels(plot, panels, across, width + _SCALE, _describe_numbers(plot, across))
    return Figure(
        {**figure.spec, "resolve": {"scale": dict.fromkeys("xy", "independent") | {"color": "independent"}}},
        figure.title,
        figure.description,
    )


def _compute_size(plot: SettingsPlot, across: int) -> tuple[int, int]:
    assert plot.color is not None
    wide, high = _FIELD[across]
    return min(_MOST[across], wide * len(plot.x)), min(460, high * len(plot.color))


def _has_room(plot: SettingsPlot, across: int) -> bool:
    assert plot.color is not None
    width, height = _compute_size(plot, across)
    return width / len(plot.x) > _READABLE and height / len(plot.color) > _READABLE * 0.75


def _describe_numbers(plot: SettingsPlot, across: int) -> str:
    means = [point.mean for panel in plot.panels for point in panel.points]
    if not any(mean.low is not None for mean in means):
        return "Single trials: no intervals" if means else "Nothing to draw"
    counts = sorted({mean.n for mean in means})
    if counts == [1]:
        return "Means of the iterations of one run" + (
            f", ± half of the {100 * plot.level:g} % interval" if _has_room(plot, across) else ""
        )
    of = f"{counts[0]} to {counts[-1]} trials" if len(counts) > 1 else format_count(counts[0], "trial")
    return f"Means of {of}" + (f", ± half of the {100 * plot.level:g} % interval" if _has_room(plot, across) else "")


@dataclass(frozen=True)
class _Reach:
    """Range of values of the colour scale, in all panels of one scale; ``log`` if it is logarithmic."""

    least: float
    most: float
    log: bool

    def needs_light_text(self, value: float) -> bool:
        """Return whether text on the colour of ``value`` has to be light."""
        if self.log:
            return math.log(value / self.least) > _DARK * math.log(self.most / self.least)
        return value - self.least > _DARK * (self.most - self.least)


def _compute_value_range(panels: Sequence[SettingsPanel], scale: PanelScale) -> _Reach:
    means = [
        point.mean.value / scale.divisor for panel in panels for point in panel.points if point.mean.value is not None
    ] or [0.0]
    return _Reach(min(means), max(means), min(means) > 0 and max(means) / min(means) > WIDE)


def _draw_panel(panel: SettingsPanel, plot: SettingsPlot, scale: PanelScale, reach: _Reach) -> Spec:
    assert plot.color is not None
    across = count_panels_per_row(plot)
    width, height = _compute_size(plot, across)
    x, y = number_duplicates(plot.x.texts), number_duplicates(plot.color.texts)
    points = [point for point in panel.points if point.mean.value is not None]
    means = [(point.mean.value or 0.0) / scale.divisor for point in points]
    rows = [_build_row(point, panel, scale, (x, y)) for point in points]
    places = {
        "x": build_name_channel(plot.x.title, x, "x", _build_axis_options(x, width)),
        "y": build_name_channel(
            plot.color.title, y[::-1], "y", _build_label_options(y[::-1], height) | {"labelLimit": 110}
        ),
    }
    fields = layer(rows, "rect", {**places, "color": _build_colour_channel(scale.unit, reach, height)}, stroke=PAPER)
    texts = (
        [
            _draw_texts(
                [row for row, mean in zip(rows, means, strict=True) if reach.needs_light_text(mean) is dark],
                places,
                PAPER if dark else INK,
            )
            for dark in (True, False)
        ]
        if _has_room(plot, across)
        else []
    )
    spec = view(fields, *(text_layer for two in texts for text_layer in two), width=width, height=height)
    return {**build_panel_title(panel, plot, width), **spec}


def _build_axis_options(texts: Sequence[str], width: int) -> dict[str, Any]:
    """Rotate labels that do not fit side by side, and keep all of them.
    Vega would drop a label whose box, which is larger than the rotated text, touches another.
    """
    if max(map(len, texts), default=0) * _CHARACTER <= width / max(1, len(texts)):
        return {"labelOverlap": False}
    return _build_label_options(texts, width) | {"labelAngle": -90, "labelAlign": "right", "labelBaseline": "middle"}


def _build_label_options(texts: Sequence[str], room: int) -> dict[str, Any]:
    """Show every label, or if they are too many every second, third, …"""
    return {"labelOverlap": False, "values": list(texts[:: max(1, math.ceil(_LINE * len(texts) / max(1, room)))])}


def _build_colour_channel(unit: str, reach: _Reach, height: int) -> Spec:
    return {
        "field": "value",
        "type": "quantitative",
        "legend": {
            "title": unit,
            "orient": "right",
            "direction": "vertical",
            "gradientLength": max(60, min(height, 160)),
            "titleFontWeight": "normal",
            "tickCount": 4,
            "offset": 8,
            "titleColor": MUTED,
        },
        "scale": {
            "domain": [short(reach.least), short(reach.most)],
            "range": list(SHADES[::-1]),
            **({"type": "log"} if reach.log else {"type": "linear", "zero": False}),
        },
    }


def _build_row(point: SettingPoint, panel: SettingsPanel, scale: PanelScale, texts: tuple[list[str], list[str]]) -> Row:
    value_text, half = format_estimate_parts(point.mean, scale.divisor)[0], ""
    if point.mean.low is not None and point.mean.high is not None and point.mean.value:
        half = f"± {50 * (point.mean.high - point.mean.low) / abs(point.mean.value):.0f} %"
    interval = format_estimate(point.mean, panel.unit, (scale.divisor, scale.unit))
    return {
        "x": texts[0][point.x],
        "y": texts[1][point.color],
        "said": value_text,
        "half": half,
        "tip": f"{point.setting_text}\n{interval}\n{format_count(point.mean.n, 'trial')}",
        "value": short((point.mean.value or 0.0) / scale.divisor),
    }


def _draw_texts(rows: Sequence[Row], places: dict[str, Any], colour: str) -> list[Spec]:
    plain = [{key: row[key] for key in row if key != "tip"} for row in rows]
    if not plain:
        return []
    look: dict[str, Any] = {"color": colour, "fontSize": 10.5, "fontWeight": 600}
    specs = []
    for has_half in (True, False):  # with the half-width of the interval below, or alone in the middle
        some = [row for row in plain if bool(row["half"]) is has_half]
        if some:
            specs.append(layer(some, "text", {**places, "text": {"field": "said"}}, **look, dy=-5 if has_half else 0))
    halves = [row for row in plain if row["half"]]
    if halves:
        specs.append(layer(halves, "text", {**places, "text": {"field": "half"}}, color=colour, fontSize=8.5, dy=7))
    return specs
