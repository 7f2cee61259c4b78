"""The four diagnostic plots of a regression on the page, as Bokeh models (see charts.py for colours and text)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from iosonde.core.units import human_scale

from .charts import add, empty_figure, hover
from .model_content import Model, ModelPlots
from .text import escape

if TYPE_CHECKING:
    import numpy as np
    from bokeh.plotting import figure as Figure  # noqa: N812

_FEW = 10  # so many settings are each named on the axis
_HEIGHT = 210
_MOST_LABEL = 40


def model_charts(model: Model) -> list[tuple[str, Figure]]:
    """(title, figure) of the four, in the order of their reading."""
    divisor, unit = scale_of(model)
    return [(title, draw(model.plots, divisor, unit)) for title, draw in _KINDS]


def scale_of(model: Model) -> tuple[float, str]:
    """(divisor, unit) for everything that is in the response's unit."""
    return human_scale(float(abs(model.plots.y).mean()), model.unit)


def _fit(plots: ModelPlots, divisor: float, unit: str) -> Figure:
    """The points, the line, the band of its mean, and that of one new observation."""
    from bokeh import models

    chart = _plain(plots.x_name, unit or plots.response)
    if plots.mean_low is not None and plots.mean_high is not None and plots.low is not None and plots.high is not None:
        bands = {"mean_low": plots.mean_low, "mean_high": plots.mean_high, "low": plots.low, "high": plots.high}
        source = models.ColumnDataSource({"x": plots.line_x, **{name: band / divisor for name, band in bands.items()}})
        area = models.VArea(x="x", y1="mean_low", y2="mean_high", fill_alpha=0.28)
        add(chart, source, area, fill_color="--last")
        for end in ("low", "high"):
            add(chart, source, models.Line(x="x", y=end, line_dash=[4, 4], line_width=1.2), line_color="--last")
    line = models.ColumnDataSource({"x": plots.line_x, "y": plots.line / divisor})
    add(chart, line, models.Line(x="x", y="y", line_width=2), line_color="--last")
    _points(chart, plots, plots.x, plots.y, divisor, unit)
    levels = sorted(set(plots.x.tolist()))
    if plots.low is not None and len(levels) <= _FEW:
        chart.xaxis.ticker = models.FixedTicker(ticks=levels)
        chart.xaxis.major_label_overrides = {level: f"{level:g}" for level in levels}
    return chart


def _by_prediction(plots: ModelPlots, divisor: float, unit: str) -> Figure:
    chart = _residuals(plots, plots.predicted / divisor, divisor, unit)
    chart.xaxis.axis_label = _said(f"predicted, {unit}" if unit else "predicted")
    return chart


def _by_order(plots: ModelPlots, divisor: float, unit: str) -> Figure:
    chart = _residuals(plots, plots.order, divisor, unit)
    chart.xaxis.axis_label = "experiment number"
    return chart


def _residuals(plots: ModelPlots, x: np.ndarray[Any, Any], divisor: float, unit: str) -> Figure:
    from bokeh.models import Span

    chart = _plain("", f"residual, {unit}" if unit else "residual")
    zero = Span(location=0, dimension="width", line_width=1.5, tags=["line_color=--last"])
    chart.add_layout(zero)
    _points(chart, plots, x, plots.residuals, divisor, unit)
    return chart


def _qq(plots: ModelPlots, divisor: float, unit: str) -> Figure:
    """Sorted residuals by normal quantiles; the line goes through the quartiles, so that the tails do not pull it."""
    from bokeh import models

    chart = _plain("normal quantile", f"residual, {unit}" if unit else "residual")
    x, y = plots.quantiles, plots.ordered_residuals / divisor
    quarter = len(x) // 4
    if x[-quarter - 1] > x[quarter]:
        slope = (y[-quarter - 1] - y[quarter]) / (x[-quarter - 1] - x[quarter])
        line = models.Slope(gradient=slope, y_intercept=y[quarter] - slope * x[quarter], line_width=1.5,
                            tags=["line_color=--last"])  # fmt: skip
        chart.add_layout(line)
    dots = models.Scatter(x="x", y="y", size=5.5, fill_alpha=0.5, line_width=0.8)
    add(chart, models.ColumnDataSource({"x": x, "y": y}), dots, fill_color="--bar", line_color="--bar")
    return chart


def _points(
    chart: Figure, plots: ModelPlots, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], divisor: float, unit: str
) -> None:
    """One dot a trial; the tooltip says which, what was observed and what the line says."""
    from bokeh.models import ColumnDataSource, Scatter

    said = [
        f"observed {seen / divisor:.5g} {unit}, predicted {guess / divisor:.5g}"
        for seen, guess in zip(plots.y, plots.predicted, strict=True)
    ]
    source = ColumnDataSource(
        {"x": x, "y": y / divisor, "who": [f"experiment {number}" for number in plots.order], "said": said}
    )
    dots = Scatter(x="x", y="y", size=5.5, fill_alpha=0.5, line_width=0.8)
    hover(chart, [add(chart, source, dots, fill_color="--bar", line_color="--bar")], "@who", "@said")


def _plain(x_label: str, y_label: str) -> Figure:
    chart = empty_figure(height=_HEIGHT)
    chart.xaxis.axis_label, chart.yaxis.axis_label = _said(x_label), _said(y_label)
    chart.yaxis.ticker.desired_num_ticks = 5
    chart.xaxis.ticker.desired_num_ticks = 5
    return chart


def _said(label: str) -> Any:
    """A label that is text and never mathematics, cut where it is long."""
    from bokeh.models import PlainText

    text = escape(label)
    return PlainText(text=text if len(text) <= _MOST_LABEL else text[: _MOST_LABEL - 1] + "…")


_KINDS: tuple[tuple[str, Callable[[ModelPlots, float, str], Any]], ...] = (
    ("Fit", _fit),
    ("Residuals by prediction", _by_prediction),
    ("Residuals by experiment number", _by_order),
    ("Normal Q–Q of the residuals", _qq),
)
TITLES = tuple(title for title, _ in _KINDS)
