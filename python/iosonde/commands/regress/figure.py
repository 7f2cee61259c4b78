"""The four diagnostic plots of a regression: the fit, residuals by prediction and by order, normal Q–Q."""

from collections.abc import Callable, Sequence

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.vocabulary import (
    BLUE,
    VERMILION,
    Row,
    Spec,
    add_zoom,
    build_flat_title,
    build_line_rows,
    build_number_channel,
    layer,
    share_rows,
    short,
    view,
)

from .answer import LeastSquares
from .content import ModelPlots

_LINE_POINTS = 25
_FEW = 10  # up to this many settings are labelled on the axis
_DOT: Spec = {"shape": "circle", "filled": True, "size": 34, "color": BLUE, "opacity": 0.55, "clip": True}


TITLES = ("Fit", "Residuals by prediction", "Residuals by experiment number", "Normal Q–Q of the residuals")


def figure(answer: LeastSquares, kind: str | None = None) -> Figure:
    """Draw the four diagnostic plots of a regression, or the one of ``kind``.
    Raises InputError for another kind, or if only sums are known.
    """
    if kind is not None and kind not in KINDS:
        raise InputError(
            "unknown-option-value",
            "unknown figure of a regression: '{kind}'",
            "use {kinds}",
            kind=kind,
            kinds=", ".join(KINDS),
        )
    return combine_figures(regression_figures(ModelPlots(**answer.plots()), "", kind), columns=2)


def regression_figures(plots: ModelPlots, unit: str, kind: str | None = None) -> list[Figure]:
    """Return all four plots, or that of ``kind`` (a key of ``KINDS``); ``unit`` is the response's base unit."""
    divisor, display_unit = choose_scale(plots, unit)
    return [KINDS[name](plots, divisor, display_unit) for name in (KINDS if kind is None else [kind])]


def choose_scale(plots: ModelPlots, unit: str) -> tuple[float, str]:
    """Return (divisor, unit) for all values in the response's unit."""
    return choose_human_scale(float(abs(plots.y).mean()) if len(plots.y) else 0.0, unit)


def _draw_fit(plots: ModelPlots, divisor: float, unit: str) -> Figure:
    """Draw the points, the line, the confidence band of its mean, and the prediction band."""
    levels = sorted(set(plots.x.tolist()))
    ticks = {"values": [short(level) for level in levels]} if len(levels) <= _FEW and plots.low is not None else {}
    # Without bands, x is the prediction, in the response's unit.
    scale, x_title = (1.0, plots.x_name) if plots.low is not None else (divisor, f"{plots.x_name}, {unit}".rstrip(", "))
    x = build_number_channel(
        x_title, axis={**ticks, "labelExpr": "format(datum.value, '.5~r')"} if ticks else {}, room=8
    )
    y = build_number_channel("", "y", axis=build_flat_title(unit or plots.response), room=8)
    spec = view(
        *_draw_bands(plots, divisor, x, y),
        _draw_line(build_line_rows(_thin_line(plots.line_x) / scale, _thin_line(plots.line), divisor), x, y),
        _draw_points(plots, plots.x / scale, plots.y, divisor, unit, x, y),
    )
    bands = f"\n{100 * plots.level:g} % bands: mean; dashed: one new trial" if plots.low is not None else ""
    return Figure(
        add_zoom(spec),
        f"{TITLES[0]}: {_describe_caveats(plots)}{bands}",
        f"{plots.response} against {plots.x_name}: points, line and bands.",
    )


def _describe_caveats(plots: ModelPlots) -> str:
    """Return R², and whether the fit is not significant."""
    chance = ", not significant" if plots.f_p is not None and plots.f_p > 1 - plots.level else ""
    return f"R² = {plots.r2:.2f}{chance}"


def _draw_bands(plots: ModelPlots, divisor: float, x: Spec, y: Spec) -> list[Spec]:
    if plots.mean_low is None or plots.mean_high is None or plots.low is None or plots.high is None:
        return []
    mean, new = (
        [
            {"x": short(at), "low": short(low / divisor), "high": short(high / divisor)}
            for at, low, high in zip(_thin_line(plots.line_x), *map(_thin_line, pair), strict=True)
        ]
        for pair in [(plots.mean_low, plots.mean_high), (plots.low, plots.high)]
    )
    area = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    return [
        layer(mean, "area", area, color=VERMILION, opacity=0.22, clip=True),
        share_rows(
            *(
                layer(
                    new,
                    "line",
                    {"x": x, "y": {**y, "field": end}},
                    color=VERMILION,
                    strokeWidth=1.1,
                    strokeDash=[4, 4],
                    clip=True,
                )
                for end in ("low", "high")
            )
        ),
    ]


def _thin_line(line: np.ndarray) -> np.ndarray:
    """Return enough points of a smooth line to draw it, including both ends."""
    n_points = min(len(line), _LINE_POINTS)
    return line[[round(place * (len(line) - 1) / max(n_points - 1, 1)) for place in range(n_points)]]


def _draw_line(rows: Sequence[Row], x: Spec, y: Spec) -> Spec:
    return layer(rows, "line", {"x": x, "y": y}, color=VERMILION, strokeWidth=1.8, clip=True)


def _draw_residuals_by_prediction(plots: ModelPlots, divisor: float, unit: str) -> Figure:
    axis_title = f"predicted, {unit}" if unit else "predicted"
    return _draw_residuals(plots, plots.predicted / divisor, divisor, unit, TITLES[1], axis_title)


def _draw_residuals(plots: ModelPlots, at: np.ndarray, divisor: float, unit: str, title: str, x_title: str) -> Figure:
    """Draw residuals against ``at``, with the zero line."""
    x, y = (
        build_number_channel(x_title, room=8),
        build_number_channel("", "y", axis=build_flat_title(_format_residual_title(unit)), room=8),
    )
    zero = layer([{"y": 0}], "rule", {"y": y}, color=VERMILION, strokeWidth=1.3, clip=True)
    points = _draw_points(plots, at, plots.residuals, divisor, unit, x, y)
    return Figure(add_zoom(view(points, zero)), title, f"{title} of {plots.response}, around zero.")


def _draw_qq(plots: ModelPlots, divisor: float, unit: str) -> Figure:
    """Draw sorted residuals by normal quantiles, with a line through the quartiles that the tails do not affect."""
    quantiles, ordered = plots.quantiles, plots.ordered_residuals / divisor
    x, y = (
        build_number_channel("normal quantile", room=8),
        build_number_channel("", "y", axis=build_flat_title(_format_residual_title(unit)), room=8),
    )
    rows = [
        {**row, "tip": f"residual {format_significant(row['y'], 4)} {unit}"}
        for row in build_line_rows(quantiles, ordered)
    ]
    quarter, line = len(quantiles) // 4, []
    if len(quantiles) and quantiles[-quarter - 1] > quantiles[quarter]:
        slope = (ordered[-quarter - 1] - ordered[quarter]) / (quantiles[-quarter - 1] - quantiles[quarter])
        ends = [quantiles[0], quantiles[-1]]
        line = build_line_rows(ends, [ordered[quarter] + slope * (end - quantiles[quarter]) for end in ends])
    spec = view(layer(rows, "point", {"x": x, "y": y}, **_DOT), _draw_line(line, x, y))
    return Figure(add_zoom(spec), TITLES[3], f"Residuals of {plots.response} by normal quantiles.")


def _draw_points(
    plots: ModelPlots, at: np.ndarray, values: np.ndarray, divisor: float, unit: str, x: Spec, y: Spec
) -> Spec:
    """Draw a dot per trial; its tooltip has the experiment number, the observation and the prediction."""
    rows = [
        {
            "x": short(place),
            "y": short(value / divisor),
            "tip": f"experiment {order}\nobserved {format_significant(observed / divisor, 4)} {unit}\n"
            f"predicted {format_significant(guess / divisor, 4)} {unit}",
        }
        for place, value, order, observed, guess in zip(at, values, plots.order, plots.y, plots.predicted, strict=True)
    ]
    return layer(rows, "point", {"x": x, "y": y}, **_DOT)


def _format_residual_title(unit: str) -> str:
    return f"residual, {unit}" if unit else "residual"


KINDS: dict[str, Callable[[ModelPlots, float, str], Figure]] = {
    "fit": _draw_fit,
    "residuals": _draw_residuals_by_prediction,
    "order": lambda plots, divisor, unit: _draw_residuals(
        plots, plots.order, divisor, unit, TITLES[2], "experiment number"
    ),
    "qq": _draw_qq,
}
