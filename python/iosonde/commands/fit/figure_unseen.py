"""A model on unseen rows: predicted against observed, sorted rows, errors, the learning curve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.units import choose_common_scale, format_significant
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    PLAIN,
    VERMILION,
    Row,
    Spec,
    add_zoom,
    build_flat_title,
    build_legend,
    build_name_channel,
    build_number_channel,
    choose_colours,
    draw_intervals,
    layer,
    list_decades,
    number_duplicates,
    short,
    view,
)

Array = Sequence[float] | np.ndarray[Any, np.dtype[np.float64]]

_WIDE = 30  # ratio of largest to smallest value beyond which the axis is logarithmic
_LEAST_STEP = 1.3  # least ratio of two ticks on the axis of rows
_ROW = 26  # px for each model
_DOT: Spec = {"shape": "circle", "filled": True, "size": 32, "color": BLUE, "opacity": 0.45, "clip": True}


@dataclass(frozen=True)
class Predicted:
    """Unseen rows: predictions of the model against observations, in ``unit``."""

    response: str
    model: str
    observed: Array
    predicted: Array
    unit: str = ""

    def scale(self) -> tuple[float, str]:
        """Return the readable (divisor, unit) of the response."""
        return choose_common_scale(self.observed, self.unit)


@dataclass(frozen=True)
class ModelErrors:
    """Errors (error, low, high) per model, with the noise of repetitions and the mean model as lines."""

    response: str
    names: Sequence[str]
    values: Sequence[tuple[float, float | None, float | None]]
    noise: float | None
    mean: float | None
    unit: str = ""


@dataclass(frozen=True)
class LearningCurve:
    """Model → (rows to learn from, error); ``noise`` is the error that repetitions leave to any model."""

    response: str
    lines: Mapping[str, Sequence[tuple[int, float | None]]]
    noise: float | None = None
    unit: str = ""


def predicted_figure(item: Predicted) -> Figure:
    """Draw points around the identity line; axes are logarithmic if the observed span a wide range."""
    divisor, unit = item.scale()
    values = [float(value) for value in (*item.observed, *item.predicted)]
    log = bool(values) and min(values) > 0 and max(item.observed) > _WIDE * min(item.observed)
    ends = [short(min(values) / divisor), short(max(values) / divisor)] if values else []
    x, y = (
        _build_measured_channel(f"observed{_format_unit_suffix(unit)}", "x", log, ends),
        _build_measured_channel(f"predicted{_format_unit_suffix(unit)}", "y", log, ends),
    )
    rows = [
        {
            "x": short(observed / divisor),
            "y": short(guess / divisor),
            "tip": f"observed {format_significant(observed / divisor, 4)} {unit}\npredicted "
            f"{format_significant(guess / divisor, 4)} {unit}",
        }
        for observed, guess in zip(item.observed, item.predicted, strict=True)
    ]
    line = layer(
        [{"x": end, "y": end} for end in ends], "line", {"x": x, "y": y}, color=VERMILION, strokeWidth=1.4, clip=True
    )
    spec = view(layer(rows, "point", {"x": x, "y": y}, **_DOT), line, height=220)
    title = f"{item.response}: {item.model}, unseen rows"
    return Figure(add_zoom(spec), title, f"Predicted against observed {item.response}, around the identity line.")


def sorted_figure(item: Predicted) -> Figure:
    """Draw rows sorted by observation: the observed as a line, the predicted as points."""
    divisor, unit = item.scale()
    unit_text = unit or item.response
    x, y = (
        build_number_channel("rows, sorted by observed value", room=6),
        build_number_channel(unit_text, "y", axis=build_flat_title(unit_text), room=6),
    )
    observed, predicted = (
        [{"x": place, "y": short(value / divisor), "series": name} for place, value in enumerate(values, 1)]
        for name, values in [("observed", item.observed), ("predicted", item.predicted)]
    )
    channels = {"x": x, "y": y, "color": build_legend(["observed", "predicted"], [VERMILION, BLUE])}
    spec = view(
        layer(predicted, "point", channels, **{**_DOT, "color": None, "size": 22}),
        layer(observed, "line", channels, strokeWidth=1.8, clip=True),
        height=220,
    )
    return Figure(add_zoom(spec), "Unseen rows", f"{item.response}: predicted and observed, sorted.")


def errors_figure(item: ModelErrors) -> Figure:
    """Draw errors as bars with intervals, with lines for the noise of repetitions and the mean model."""
    lines = [
        (name, value)
        for name, value in (("noise of repeats", item.noise), ("mean of everything", item.mean))
        if value is not None
    ]
    divisor, unit = choose_common_scale([value for value, _, _ in item.values], item.unit)
    labels = number_duplicates(item.names)
    rows = [
        {
            "y": name,
            "x": short(value / divisor),
            "low": None if low is None else short(low / divisor),
            "high": None if high is None else short(high / divisor),
        }
        for name, (value, low, high) in zip(labels, item.values, strict=True)
    ]
    x = build_number_channel(f"mean |error|{_format_unit_suffix(unit)}", zero=True, axis={"grid": True})
    y = build_name_channel("", labels, "y", {"domain": False})
    marked = [{"x": short(value / divisor), "series": name} for name, value in lines]
    dash = {
        "field": "series",
        "type": "nominal",
        "sort": None,
        "legend": {
            "offset": 8,
            "symbolStrokeColor": VERMILION,
            "columns": 2,
            "symbolType": "stroke",
            "symbolSize": 200,
        },
        "scale": {
            "domain": [name for name, _ in lines],
            "range": [[1, 0] if name.startswith("noise") else [4, 3] for name, _ in lines],
        },
    }
    spec = view(
        layer(rows, "bar", {"x": x, "y": y}, color=BLUE, opacity=0.55, height={"band": 0.7}),
        *draw_intervals(rows, y, x, across=True),
        *([layer(marked, "rule", {"x": x, "strokeDash": dash}, color=VERMILION, strokeWidth=1.4)] if marked else []),
        height=max(3, len(labels)) * _ROW,
    )
    return Figure(spec, "Errors on unseen rows", f"Mean absolute error of models of {item.response}.")


def curve_figure(item: LearningCurve) -> Figure:
    """Draw errors by rows to learn from; dashed: the noise of repetitions.
    The axis is logarithmic if errors on few rows are much larger than on many.
    """
    errors = [error for points in item.lines.values() for _, error in points if error is not None]
    divisor, unit = choose_common_scale(errors, item.unit)
    log = min(errors, default=0.0) > 0 and max(errors) > _WIDE * min(errors)
    titles = dict(zip(item.lines, number_duplicates(item.lines), strict=True))
    ticks = _thin_ticks(n for points in item.lines.values() for n, _ in points)
    x = build_number_channel("rows to learn from", log=True, axis={"values": ticks}, room=8)
    what = f"mean |error|{_format_unit_suffix(unit)}"
    y = build_number_channel(
        "", "y", log=log, zero=not log, axis={**build_flat_title(what), **_build_log_ticks(log, errors, divisor)}
    )
    rows = [
        {
            "x": n,
            "y": short(error / divisor),
            "series": titles[name],
            "tip": f"{titles[name]}\n{n} rows: {format_significant(error / divisor)} {unit}",
        }
        for name, points in item.lines.items()
        for n, error in points
        if error is not None
    ]
    noise = [] if item.noise is None else [{"y": short(item.noise / divisor), "series": "noise of repeats"}]
    series = [*titles.values(), *(row["series"] for row in noise)]
    colours = [
        MUTED if name == "mean of everything" else colour
        for name, colour in zip(titles.values(), _choose_model_colours(len(titles)), strict=True)
    ]
    colour = build_legend([str(name) for name in series], [*colours, VERMILION][: len(series)])
    channels = {"x": x, "y": y, "color": colour}
    spec = view(
        layer(rows, "line", channels, strokeWidth=1.8),
        layer(rows, "point", channels, filled=True, size=40, opacity=1),
        *([layer(noise, "rule", {"y": y, "color": colour}, strokeDash=[4, 4], strokeWidth=1.4)] if noise else []),
        height=220,
    )
    return Figure(spec, "Learning curve", f"Error of models of {item.response} by the number of rows to learn from.")


def _choose_model_colours(count: int) -> list[str]:
    return [colour for colour in choose_colours(2 * count + 2) if colour != VERMILION][:count]


def _format_unit_suffix(unit: str) -> str:
    return f", {unit}" if unit else ""


def _build_measured_channel(title: str, field: str, log: bool, ends: Sequence[float | None]) -> Spec:
    axis: Mapping[str, Any] = build_flat_title(title) if field == "y" else {}
    if log and ends and ends[0] is not None and ends[1] is not None:
        axis = {**axis, "values": [short(tick) for tick in list_decades(ends[0], ends[1])]}
    return build_number_channel(title, field, log=log, axis=axis, room=8)


def _build_log_ticks(log: bool, values: Sequence[float], divisor: float) -> Row:
    ticks = list_decades(min(values) / divisor, max(values) / divisor) if log else []
    return {"values": [short(tick) for tick in ticks], "labelExpr": PLAIN} if log else {}


def _thin_ticks(sizes: Iterable[int]) -> list[int]:
    ticks: list[int] = []
    for n in sorted(set(sizes)):
        if not ticks or n > _LEAST_STEP * ticks[-1]:
            ticks.append(n)
    return ticks
