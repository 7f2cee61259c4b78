"""Predicted against observed and the learning curve on the page, as Bokeh models (see charts.py for colours)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.core.units import human_scale

from .charts import add, empty_figure, hover
from .factor_content import Influence, Judged

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_HEIGHT = 250
_WIDE = 30  # more than this factor between the least and the largest: a logarithmic axis
_LEAST_STEP = 1.3  # between two numbers on the axis of rows


def factor_charts(one: Influence) -> list[Figure]:
    """Predicted against observed, then the learning curve where there is one."""
    if one.judged is None:
        return []
    divisor, unit = scale_of(one)
    charts = [_observed(one.judged, divisor, unit)]
    return [*charts, _curve(one.judged, divisor, unit)] if one.judged.curve else charts


def scale_of(one: Influence) -> tuple[float, str]:
    """(divisor, unit) for everything that is in the response's unit."""
    if one.judged is not None and one.judged.observed:
        return human_scale(sum(map(abs, one.judged.observed)) / len(one.judged.observed), one.unit)
    return 1.0, one.unit


def _observed(judged: Judged, divisor: float, unit: str) -> Figure:
    """Points about the line of no error; logarithmic where the observed span a wide range."""
    from bokeh import models

    known = [*judged.observed, *judged.predicted]
    scale = "log" if min(known) > 0 and max(judged.observed) > _WIDE * min(judged.observed) else "linear"
    chart = empty_figure(height=_HEIGHT, x_axis_type=scale, y_axis_type=scale)
    of = f", {unit}" if unit else ""
    chart.xaxis.axis_label, chart.yaxis.axis_label = f"observed{of}", f"predicted{of}"
    ends = [min(known) / divisor, max(known) / divisor]
    line = models.Line(x="x", y="y", line_width=1.5)
    add(chart, models.ColumnDataSource({"x": ends, "y": ends}), line, line_color="--last")
    source = models.ColumnDataSource(
        {"x": [v / divisor for v in judged.observed], "y": [v / divisor for v in judged.predicted]}
    )
    dots = models.Scatter(x="x", y="y", size=5.5, fill_alpha=0.35, line_width=0.8)
    hover(chart, [add(chart, source, dots, fill_color="--bar", line_color="--bar")], "observed @x", "predicted @y")
    return chart


def _curve(judged: Judged, divisor: float, unit: str) -> Figure:
    """The model's error and the mean's by the rows to learn from; dashed: the noise of repeats. Logarithmic where few
    rows make a model err very much more than many do."""
    from bokeh import models

    errors = [error for point in judged.curve for error in (point.model, point.mean) if error is not None]
    scale = "log" if min(errors, default=0.0) > 0 and max(errors) > _WIDE * min(errors) else "linear"
    chart = empty_figure(height=_HEIGHT, x_axis_type="log", y_axis_type=scale)
    chart.xaxis.axis_label = "rows to learn from"
    chart.yaxis.axis_label = f"mean |error|, {unit}" if unit else "mean |error|"
    for values, colour in (
        ([(p.n_train, p.model) for p in judged.curve], "--bar"),
        ([(p.n_train, p.mean) for p in judged.curve], "--muted"),
    ):
        known = [(n, error / divisor) for n, error in values if error is not None]
        source = models.ColumnDataSource({"x": [n for n, _ in known], "y": [error for _, error in known]})
        add(chart, source, models.Line(x="x", y="y", line_width=2), line_color=colour)
        dots = models.Scatter(x="x", y="y", size=6, line_width=0)
        hover(chart, [add(chart, source, dots, fill_color=colour)], "@x rows: @y")
    if judged.noise is not None:
        dashed = models.Span(location=judged.noise / divisor, dimension="width", line_width=1.5, line_dash=[4, 4],
                             tags=["line_color=--last"])  # fmt: skip
        chart.add_layout(dashed)
    ticks: list[int] = []
    for n in sorted({point.n_train for point in judged.curve}):
        if not ticks or n > _LEAST_STEP * ticks[-1]:
            ticks.append(n)
    chart.xaxis.ticker = models.FixedTicker(ticks=ticks)
    chart.xaxis.major_label_overrides = {tick: str(tick) for tick in ticks}
    if scale == "linear":
        chart.y_range.start = 0
    return chart
