"""Durations of operations of one kind: distributions over logarithmic time, percentiles below."""

from collections.abc import Sequence

from iosonde.core.types import Estimate
from iosonde.core.words import format_count
from iosonde.layout.figure import Figure
from iosonde.layout.text import format_estimate
from iosonde.layout.vocabulary import (
    MUTED,
    PAPER,
    SECONDS,
    Row,
    Spec,
    build_legend,
    build_number_channel,
    choose_colours,
    layer,
    list_decades,
    share_rows,
    short,
    view,
)

from .content import Latency, LatencySeries

_SHAPES = {"p50": "circle", "p99": "square", "p99.9": "diamond"}
_ROW_OF_PEAK = 0.13  # height of a row of percentiles, as a share of the highest peak


def latency_figure(latency: Latency, axis: str) -> Figure:
    """Draw the outline of each distribution, and below it the percentiles with intervals per node count."""
    peak = max((max(series.shares, default=0.0) for series in latency.series), default=0.0) or 1.0
    step = peak * _ROW_OF_PEAK
    names = [format_count(series.nodes, axis) for series in latency.series]
    x = _build_time_channel(latency)
    reach = [short(-step * (len(names) + 0.6)), short(peak * 1.08)]
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": reach, "zero": False, "nice": False}}
    channels: Spec = {"x": x, "y": y, "color": build_legend(names, choose_colours(len(names)), offset=8)}
    rows = [
        _build_percentile(series.nodes, key, estimate, names[place], -step * (place + 1))
        for place, series in enumerate(latency.series)
        for key, estimate in series.percentiles.items()
    ]
    outlines = [row for series, name in zip(latency.series, names, strict=True) for row in _trace_outline(series, name)]
    lines = [
        row for place, series in enumerate(latency.series) for row in _build_reach(series, names[place], place, step)
    ]
    positive_rows = [row for row in rows if row["x"] is not None]
    shapes = list(dict.fromkeys(row["name"] for row in positive_rows))
    shape = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "legend": {"offset": 4, "symbolFillColor": MUTED, "symbolStrokeColor": MUTED},
        "scale": {"domain": shapes, "range": [_SHAPES.get(name, "triangle-up") for name in shapes]},
    }
    spec = view(
        share_rows(
            layer(
                outlines, "area", {**channels, "y2": {"datum": 0}}, interpolate="step-after", opacity=0.16, clip=True
            ),
            layer(outlines, "line", channels, interpolate="step-after", strokeWidth=1.5, clip=True),
        ),
        layer(lines, "rule", {**channels, "x2": {"field": "end"}}, strokeWidth=1),
        layer(
            [row for row in rows if row["low"] is not None],
            "rule",
            {**channels, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            strokeWidth=5,
            opacity=0.45,
            clip=True,
        ),
        *(
            [
                layer(
                    positive_rows,
                    "point",
                    {**channels, "shape": shape},
                    filled=True,
                    size=70,
                    opacity=1,
                    stroke=PAPER,
                    strokeWidth=1,
                )
            ]
            if positive_rows
            else []
        ),  # a legend without shapes would never finish
        height=190 + 16 * len(names),
        resolve={"legend": {"color": "shared"}},
    )
    return Figure(spec, latency.title, f"Distribution of the latency of {latency.title}, with percentiles.")


def _build_time_channel(latency: Latency) -> Spec:
    edges = [edge for series in latency.series for edge in series.edges_s]
    edges += [e.value for series in latency.series for e in series.percentiles.values() if e.value]
    positive_edges = [value for value in edges if value > 0] or [1e-6, 1.0]
    low, high = min(positive_edges) * 0.8, max(positive_edges) * 1.25
    ticks = [short(tick) for tick in list_decades(min(positive_edges), max(positive_edges)) if low <= tick <= high]
    return build_number_channel(
        "", domain=(low, high), log=True, axis={"values": ticks, "labelExpr": SECONDS, "grid": True}
    )


def _trace_outline(series: LatencySeries, name: str) -> list[Row]:
    """Return steps over the buckets; adjacent buckets of equal height are merged."""
    if not series.shares:
        return []
    rows: list[Row] = []
    for edge, share in zip(series.edges_s, (*series.shares, 0.0), strict=True):
        if not rows or rows[-1]["y"] != short(share):
            rows.append({"x": short(edge), "y": short(share), "series": name})
    return rows


def _build_percentile(nodes: int, key: str, estimate: Estimate, name: str, y: float) -> Row:
    sure = estimate.low is not None and estimate.high is not None and estimate.low > 0
    return {
        "x": short(estimate.value),
        "y": short(y),
        "low": short(estimate.low) if sure else None,
        "high": short(estimate.high) if sure else None,
        "name": key,
        "series": name,
        "tip": f"{key}, {name}: {format_estimate(estimate, 's')}\n{format_count(estimate.n, 'trial')}",
    }


def _build_reach(series: LatencySeries, name: str, place: int, step: float) -> list[Row]:
    """Return the line from the smallest to the largest percentile."""
    values: Sequence[float] = [e.value for e in series.percentiles.values() if e.value]
    if not values:
        return []
    return [{"x": short(min(values)), "end": short(max(values)), "y": short(-step * (place + 1)), "series": name}]
