"""The roofline on the page, as a Bokeh model (see charts.py for colours and text)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from iosonde.core.units import format_size, human_scale

from .bound_content import Bound, Roofline
from .charts import SERIES_COLOURS, add, empty_figure, hover
from .text import escape, estimate_text

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_HEIGHT = 260
_FEW = 8  # so many places are each named on the axis


def bound_charts(bound: Bound) -> list[Figure]:
    """One for each roofline."""
    return [_roofline(one) for one in bound.rooflines]


def _roofline(item: Roofline) -> Figure:
    """Both axes logarithmic: the ceilings dashed, the bound solid, measurements with their intervals."""
    from bokeh import models

    divisor, unit = human_scale(max(item.s), "bytes/s")
    chart = empty_figure(height=_HEIGHT, x_axis_type="log", y_axis_type="log")
    whole = models.ColumnDataSource({"x": item.xs, "y": [value / divisor for value in item.s]})
    add(chart, whole, models.Line(x="x", y="y", line_width=3.5), line_color="--ink")
    for place, values in enumerate(item.ceilings.values()):
        source = models.ColumnDataSource({"x": item.xs, "y": [value / divisor for value in values]})
        line = models.Line(x="x", y="y", line_width=1.8, line_dash=[5, 4])
        add(chart, source, line, line_color=f"--series-{place % SERIES_COLOURS}")
    _points(chart, item, divisor)
    _range(chart, item, divisor)
    chart.xaxis.axis_label = models.PlainText(text=escape(item.x_name))
    chart.yaxis.axis_label = unit
    ticks = _ticks(item)
    chart.xaxis.ticker = models.FixedTicker(ticks=ticks)
    chart.xaxis.major_label_overrides = {x: format_size(x) if item.sizes else f"{x:g}" for x in ticks}
    chart.yaxis.formatter = models.NumeralTickFormatter(format="0[.]0[00]")
    return chart


def _points(chart: Figure, item: Roofline, divisor: float) -> None:
    """Dots with intervals; what lies above the bound has another colour."""
    from bokeh import models

    for above, colour in ((False, "--bar"), (True, "--last")):
        found = [one for one in item.points if one.above is above and one.measured.value]
        if not found:
            continue
        ends = [(one.x, *_interval(one.measured.low, one.measured.high, divisor)) for one in found]
        ends = [(x, max(low, high * 1e-6), high) for x, low, high in ends if not math.isnan(high)]
        stems = models.ColumnDataSource({"x": [x for x, _, _ in ends], "low": [low for _, low, _ in ends],
                                         "high": [high for _, _, high in ends]})  # fmt: skip
        add(chart, stems, models.Segment(x0="x", y0="low", x1="x", y1="high", line_width=2), line_color=colour)
        source = models.ColumnDataSource({
            "x": [one.x for one in found], "y": [(one.measured.value or 0.0) / divisor for one in found],
            "text": [estimate_text(one.measured, "bytes/s") for one in found],
            "setting": [escape(one.setting) for one in found],
        })  # fmt: skip
        dots = models.Scatter(x="x", y="y", size=8, line_width=1)
        hover(chart, [add(chart, source, dots, fill_color=colour, line_color="--paper")], "@text", "@setting")


def _interval(low: float | None, high: float | None, divisor: float) -> tuple[float, float]:
    return (math.nan, math.nan) if low is None or high is None else (low / divisor, high / divisor)


def _range(chart: Figure, item: Roofline, divisor: float) -> None:
    """From half of what was measured to twice the bound: a ceiling far above that leaves the frame."""
    seen = [one.measured.value for one in item.points if one.measured.value]
    lowest, highest = min([*seen, *item.s]), max([*seen, *item.s])
    chart.y_range.start, chart.y_range.end = lowest / divisor / 2, highest / divisor * 2
    chart.x_range.start, chart.x_range.end = item.xs[0] / 1.1, item.xs[-1] * 1.1


def _ticks(item: Roofline) -> list[float]:
    """Where something was measured, else powers of two."""
    measured = sorted({one.x for one in item.points})
    if 1 < len(measured) <= _FEW:
        return measured
    first, last = math.ceil(math.log2(item.xs[0])), math.floor(math.log2(item.xs[-1]))
    step = max(1, (last - first) // _FEW)
    return sorted({*measured[: _FEW if len(measured) == 1 else 0], *(2.0**n for n in range(first, last + 1, step))})
