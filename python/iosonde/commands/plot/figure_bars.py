"""A metric by number of nodes: bars from zero with their intervals, and the trials as dots. Axes of panels that are to
be compared: one unit and one range per scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.words import format_count, pluralize
from iosonde.layout.figure import Figure
from iosonde.layout.text import format_estimate, format_estimate_parts
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    LOG_BEYOND,
    PAPER,
    Row,
    build_flat_title,
    build_name_channel,
    build_number_channel,
    draw_intervals,
    get_interval_ends,
    layer,
    list_decades,
    short,
    view,
)

from .content import Bars, Cell
from .settings_plot import SettingsPanel

_LABELLED = 5  # bars with their value upon them
_ROOM = 1.14  # above the highest
MOST_STRETCH = 2.0  # of the highest mean: a longer interval is cut
_HEADROOM = 1.06  # of the highest value of panels that share an axis
_FLAT = 100.0  # ratio of means beyond which all bars but the largest are flat
WIDE = 60.0  # ratio of largest to smallest value beyond which the axis is logarithmic


def bars_figure(bars: Bars, axis: str) -> Figure:
    """Draw the mean by node count with its interval, and the trials as dots. A bar without an interval is hollow."""
    divisor, unit = choose_scale(bars)
    rows = [_build_row(cell, bars.unit, axis, divisor) for cell in bars.cells if cell.estimate.value is not None]
    places = build_name_channel(pluralize(axis), [str(cell.nodes) for cell in bars.cells])
    values = build_number_channel(
        unit,
        "y",
        [end / divisor * _ROOM for end in compute_axis_ends(bars)],
        axis={**build_flat_title(unit), "tickCount": 4},
    )
    trials = [
        {
            "x": str(cell.nodes),
            "y": short(trial / divisor),
            "tip": f"trial: {format_significant(trial / divisor, 4)} {unit}",
        }
        for cell in bars.cells
        for trial in cell.trials
    ]
    channels = {"x": places, "y": values}
    value_labels = layer(
        rows,
        "text",
        {**channels, "text": {"field": "said"}},
        align="right",
        dx=-7,
        dy=-8,
        fontSize=12,
        fontWeight=600,
        color=INK,
    )
    spec = view(
        *(
            layer(
                [row for row in rows if (row["low"] is None) is hollow],
                "bar",
                channels,
                fill=BLUE,
                stroke=BLUE,
                fillOpacity=0.0 if hollow else 0.4,
                strokeWidth=1.2,
                width={"band": 0.62},
                clip=True,
            )
            for hollow in (False, True)
        ),
        *draw_intervals(rows, places, values),
        layer(
            trials,
            "point",
            channels,
            shape="circle",
            filled=True,
            fill=PAPER,
            stroke=INK,
            strokeWidth=0.8,
            size=22,
            opacity=0.75,
            xOffset=9,
            clip=True,
        ),
        *([value_labels] if len(bars.cells) <= _LABELLED else []),
    )
    return Figure(
        spec, bars.title, f"{bars.title} by number of {pluralize(axis)}: means with intervals, and the trials."
    )


def _build_row(cell: Cell, unit: str, axis: str, divisor: float) -> Row:
    estimate = cell.estimate
    low, high = get_interval_ends(estimate, divisor) or (None, None)
    return {
        "x": str(cell.nodes),
        "y": short((estimate.value or 0.0) / divisor),
        "low": low,
        "high": high,
        "said": format_estimate_parts(estimate, divisor)[0],
        "tip": f"{format_count(cell.nodes, axis)}: {format_estimate(estimate, unit)}\n"
        f"{format_count(estimate.n, 'trial')}",
    }


def compute_axis_ends(bars: Bars) -> tuple[float, float]:
    """Return the ends of the axis, which include 0 and all values.
    The axis leaves room for whiskers. An interval longer than ``MOST_STRETCH`` times the mean is cut off.
    """
    values = [value for c in bars.cells for value in (c.estimate.value, *c.trials) if value is not None]
    least, most = min([0.0, *values]), max([0.0, *values])
    if least == most:
        return 0.0, 1.0
    lows = [c.estimate.low for c in bars.cells if c.estimate.low is not None] if least else []
    highs = [c.estimate.high for c in bars.cells if c.estimate.high is not None] if most else []
    return max(min([least, *lows]), MOST_STRETCH * least), min(max([most, *highs]), MOST_STRETCH * most)


def choose_scale(bars: Bars) -> tuple[float, str]:
    """Return (divisor, unit) for all values of a metric: that of the smallest, so that none has a leading zero.
    Where values lie more than ``LOG_BEYOND`` apart it is that of the largest.
    """
    values = [abs(cell.estimate.value) for cell in bars.cells if cell.estimate.value]
    if not values:
        return choose_human_scale(0.0, bars.unit)
    return choose_human_scale(max(values) if max(values) / min(values) > LOG_BEYOND else min(values), bars.unit)


@dataclass(frozen=True)
class PanelScale:
    """Axis of values in ``unit`` after division by ``divisor``, from ``low`` to ``high``; ``log`` if logarithmic."""

    divisor: float
    unit: str
    low: float
    high: float
    log: bool = False

    @property
    def ticks(self) -> list[float] | None:
        """Return round values for a logarithmic axis."""
        return (
            [tick for tick in list_decades(self.low, self.high) if self.low <= tick <= self.high] if self.log else None
        )


def choose_panel_scales(panels: Sequence[SettingsPanel], bars: bool) -> dict[str, PanelScale]:
    """Return scale → the axis of its panels. ``bars`` start at zero, unless the means span decades: then all but the
    largest would be flat, and points replace them."""
    names = dict.fromkeys(panel.scale for panel in panels)
    return {name: _build_scale([panel for panel in panels if panel.scale == name], bars) for name in names}


def _build_scale(panels: Sequence[SettingsPanel], bars: bool) -> PanelScale:
    points = [point for panel in panels for point in panel.points]
    values = [value for point in points for value in (point.mean.value, *point.trials) if value is not None]
    means = [point.mean.value or 0.0 for point in points]
    divisor, unit = choose_human_scale(max(map(abs, means), default=0.0), panels[0].unit)  # as in the table
    is_wide = max(means) / min(means) > WIDE if means and min([*values, *means]) > 0 else False
    if is_wide and (not bars or max(means) >= _FLAT * min(means)):
        divisor, unit = choose_human_scale(math.sqrt(min(means) * max(means)), panels[0].unit)
        return PanelScale(divisor, unit, min(values) / divisor / 1.3, max(values) / divisor * 1.3, True)
    low, high = min([0.0, *values]), max([0.0, *values])
    highs = [point.mean.high for point in points if point.mean.high is not None]
    most = min(max([high, *highs]), MOST_STRETCH * high) if high > 0 else high
    return PanelScale(divisor, unit, low / divisor * _HEADROOM, (most or 1.0) / divisor * _HEADROOM)
