"""Rates by number of nodes, with the laws that are not ruled out."""

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    VERMILION,
    Row,
    Spec,
    build_flat_title,
    build_legend,
    build_line_rows,
    build_number_channel,
    choose_colours,
    layer,
    list_ticks_inside,
    number_duplicates,
    short,
    view,
)

from .answer import ScaledSeries, ScalingLaws

_MOST_PANELS = 12  # more would not be readable
_MOST_SIZES = 9  # labels on the axis
_LINEAR = "linear from the first"


@dataclass(frozen=True)
class Curve:
    """A law from its first to its last size; measurements end at ``measured``, a scenario begins at ``scenario``."""

    name: str
    sizes: Sequence[float]
    rates: Sequence[float]
    measured: float
    scenario: float


@dataclass(frozen=True)
class ScalingPlot:
    """A series: ``trials`` are (size, rate), ``predictions`` (size, low, high), all rates in ``unit``.
    ``borders`` are where the regime changes; ``linear`` is the rate per node at the smallest size.
    """

    title: str
    on: str
    unit: str
    trials: Sequence[tuple[float, float]]
    curves: Sequence[Curve]
    predictions: Sequence[tuple[float, float, float]]
    borders: list[float]
    linear: float


def figure(answer: ScalingLaws) -> Figure:
    """Draw a panel per series. Raises InputError if they are too many to read."""
    if len(answer.items) > _MOST_PANELS:
        raise InputError(
            "too-many-series",
            "cannot draw {n_series} series in one figure: they are too many",
            "select some with {spell.where}",
            n_series=len(answer.items),
        )
    return combine_figures([scaling_figure(_build_content(item)) for item in answer.items], columns=2)


def _build_content(scaled: ScaledSeries) -> ScalingPlot:
    series, scaling = scaled.series, scaled.scaling
    divisor, unit = choose_human_scale(max(size.rate.value or 0.0 for size in scaling.sizes), series.unit)
    settings = ", ".join(f"{name}={value}" for name, value in series.by.items())
    first = scaling.sizes[0]
    return ScalingPlot(
        title=f"{series.response}{', ' + settings if settings else ''}",
        on=series.on,
        unit=unit,
        trials=[(size, rate / divisor) for size in series.sizes for rate in series.trials[size]],
        curves=[
            Curve(c.name, c.sizes, [rate / divisor for rate in c.rates], c.measured, c.scenario)
            for c in scaled.curves()
        ],
        predictions=[
            (p.size, p.rate.low / divisor, p.rate.high / divisor)
            for p in scaling.predictions
            if p.rate.low is not None and p.rate.high is not None
        ],
        borders=[(change.last * change.first) ** 0.5 for change in scaling.changes],
        linear=(first.rate.value or 0.0) / first.size / divisor,
    )


def scaling_figure(plot: ScalingPlot) -> Figure:
    """Draw the trials, each law (dashed beyond its scenario), and predictions as intervals, on logarithmic axes."""
    names = list(dict.fromkeys(curve.name for curve in plot.curves))
    titles = dict(zip(names, number_duplicates(names), strict=True))
    x, y = _build_axes(plot)
    channels = {
        "x": x,
        "y": y,
        "color": build_legend([*titles.values(), _LINEAR], [*choose_colours(len(names), 1), MUTED]),
    }
    spec = view(
        layer(_build_linear(plot), "line", channels, strokeDash=[2, 3], strokeWidth=1.2, clip=True),
        *_draw_curves(plot, titles, channels),
        *_draw_borders(plot, x),
        layer(
            [
                {
                    "x": short(size),
                    "low": short(low),
                    "high": short(high),
                    "tip": f"{size:g}: predicted {format_significant(low)}–{format_significant(high)} {plot.unit}",
                }
                for size, low, high in plot.predictions
            ],
            "rule",
            {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            color=VERMILION,
            strokeWidth=4,
            opacity=0.45,
            clip=True,
        ),
        layer(
            [
                {
                    "x": short(size),
                    "y": short(rate),
                    "tip": f"{size:g}: {format_significant(rate)} {plot.unit}, one trial",
                }
                for size, rate in plot.trials
            ],
            "point",
            {"x": x, "y": y},
            filled=True,
            shape="circle",
            size=36,
            color=BLUE,
            opacity=0.7,
            clip=True,
        ),
        width=360,
        height=240,
    )
    return Figure(spec, plot.title, f"{plot.title} by {plot.on}: trials and the laws that are not ruled out.")


def _build_axes(plot: ScalingPlot) -> tuple[Spec, Spec]:
    sizes = sorted({size for size, _ in plot.trials})
    reach = [*sizes, *(curve.sizes[-1] for curve in plot.curves)]
    beyond = [size for size, _, _ in plot.predictions if size > sizes[-1]]
    x = build_number_channel(
        plot.on,
        domain=(min(reach) / 1.08, max(reach) * 1.08),
        log=True,
        axis={"values": [short(size) for size in [*sizes[:: -(-len(sizes) // _MOST_SIZES)], *beyond]]},
    )
    rates = [rate for _, rate in plot.trials] + [rate for curve in plot.curves for rate in curve.rates]
    rates = [rate for rate in rates if rate > 0]
    low, high = min(rates) / 1.3, max([*rates, *(high for _, _, high in plot.predictions)]) * 1.3
    unit = plot.unit or "rate"
    return x, build_number_channel(
        unit, "y", (low, high), log=True, axis={**build_flat_title(unit), "values": list_ticks_inside(low, high)}
    )


def _build_linear(plot: ScalingPlot) -> list[Row]:
    ends = [size for size, _ in plot.trials] + [curve.sizes[-1] for curve in plot.curves]
    return build_line_rows(
        (min(ends), max(ends)), [plot.linear * size for size in (min(ends), max(ends))], series=_LINEAR
    )


def _draw_curves(plot: ScalingPlot, titles: dict[str, str], channels: Spec) -> list[Spec]:
    """Draw each law solid within its range and dashed beyond."""
    solid: list[Row] = []
    dashed: list[Row] = []
    for number_, curve in enumerate(plot.curves):
        measured = sum(size <= curve.scenario for size in curve.sizes)
        for rows, part in ((solid, slice(0, measured)), (dashed, slice(max(measured - 1, 0), None))):
            rows += build_line_rows(curve.sizes[part], curve.rates[part], series=titles[curve.name], line=number_)
    lines = {**channels, "detail": {"field": "line", "type": "nominal"}}
    return [
        layer(solid, "line", lines, clip=True, strokeWidth=1.7),
        layer(dashed, "line", lines, clip=True, strokeWidth=1.3, strokeDash=[5, 3]),
    ]


def _draw_borders(plot: ScalingPlot, x: Spec) -> list[Spec]:
    if not plot.borders:
        return []
    rows = [{"x": short(border), "said": "change of regime"} for border in plot.borders]
    text = {"x": x, "y": {"value": 4}, "text": {"field": "said"}}
    return [
        layer(rows, "rule", {"x": x}, color=VERMILION, strokeDash=[6, 2, 1, 2], strokeWidth=1.2),
        layer(rows, "text", text, angle=270, align="right", dy=-6, fontSize=10, color=MUTED),
    ]
