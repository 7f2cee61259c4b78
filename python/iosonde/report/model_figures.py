"""The four diagnostic plots of a regression, together or one alone. Lays out what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .figures import BLUE, VERMILION, panels
from .model_content import ModelPlots
from .text import escape

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Array = np.ndarray[Any, np.dtype[np.float64]]


_FEW = 10  # so many settings are each named on the axis


def model_figure(plots: ModelPlots, kind: str | None = None) -> Figure:
    """All four in one figure, or the one of ``kind``: fit, residuals, order, qq."""
    drawn = list(KINDS.values()) if kind is None else [KINDS[kind]]
    return panels(drawn, lambda axes, draw: draw(axes, plots), columns=2, wider=1.25)


def _draw_fit(axes: Axes, plots: ModelPlots) -> None:
    axes.plot(plots.x, plots.y, "o", color=BLUE, markersize=3, alpha=0.6)
    axes.plot(plots.line_x, plots.line, color=VERMILION, linewidth=1.4)
    if plots.low is not None and plots.high is not None and plots.mean_low is not None and plots.mean_high is not None:
        percent = f"{100 * plots.level:g} %"
        axes.fill_between(plots.line_x, plots.mean_low, plots.mean_high, color=VERMILION, alpha=0.25, linewidth=0,
                          label=f"mean, {percent}")  # fmt: skip
        axes.plot(
            plots.line_x, plots.low, "--", color=VERMILION, linewidth=0.8, label=f"one new observation, {percent}"
        )
        axes.plot(plots.line_x, plots.high, "--", color=VERMILION, linewidth=0.8)
        axes.legend(fontsize=7, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.2)
    levels = sorted(set(plots.x.tolist()))
    if len(levels) <= _FEW:
        axes.set_xticks(levels)
    axes.set(xlabel=escape(plots.x_name), ylabel=escape(plots.response), title="Fit")


def _draw_residuals(axes: Axes, plots: ModelPlots) -> None:
    _residuals(axes, plots.predicted, plots)
    axes.set(xlabel="predicted", ylabel="residual", title="Residuals by prediction")


def _draw_order(axes: Axes, plots: ModelPlots) -> None:
    _residuals(axes, plots.order, plots)
    axes.set(xlabel="row", ylabel="residual", title="Residuals by order of the rows")


def _residuals(axes: Axes, x: Array, plots: ModelPlots) -> None:
    axes.axhline(0, color=VERMILION, linewidth=1)
    axes.plot(x, plots.residuals, "o", color=BLUE, markersize=3, alpha=0.6)


def _draw_qq(axes: Axes, plots: ModelPlots) -> None:
    quarter, half = len(plots.quantiles) // 4, len(plots.quantiles) // 2
    axes.plot(plots.quantiles, plots.ordered_residuals, "o", color=BLUE, markersize=3, alpha=0.6)
    # Through the quartiles: the tails, which are to be judged, do not pull it.
    axes.axline(
        (plots.quantiles[quarter], plots.ordered_residuals[quarter]),
        (plots.quantiles[-quarter - 1], plots.ordered_residuals[-quarter - 1]) if half else (1.0, 1.0),
        color=VERMILION,
        linewidth=1,
    )
    axes.set(xlabel="normal quantile", ylabel="residual", title="Normal Q–Q")


KINDS: dict[str, Callable[[Axes, ModelPlots], None]] = {
    "fit": _draw_fit,
    "residuals": _draw_residuals,
    "order": _draw_order,
    "qq": _draw_qq,
}
