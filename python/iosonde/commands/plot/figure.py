"""Figures by kind: a panel per metric, operation or phase; the activity of each rank in a phase of a trial."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from iosonde.core.units import choose_human_scale, format_significant
from iosonde.layout.figure import Figure, combine_figures
from iosonde.layout.figure_files import create_file_names
from iosonde.layout.vocabulary import (
    BLUE,
    ORANGE,
    VERMILION,
    Row,
    build_legend,
    build_name_channel,
    build_number_channel,
    layer,
    short,
    view,
)

from .content import Drawn, RankSpan, Timeline
from .figure_bars import bars_figure
from .figure_factors import factors_figure
from .figure_heatmap import heatmap_figure
from .figure_latency import latency_figure
from .figure_over_time import over_time_figure
from .figure_settings import settings_figure
from .settings import Fits

_MOST_FIELDS = 60  # rows of a heat map
_ROW, _LEAST, _MOST = 15, 34, 480  # px
_MAX_LABELS = 24  # ranks on the axis
_KINDS = {"": ("on time", BLUE), "late": ("started late", ORANGE), "last": ("finished last", VERMILION)}


def get_level_room(kind: str) -> Fits:
    """Return how many levels a figure of metrics by settings has room for."""
    return Fits(hues=_MOST_FIELDS, shades=_MOST_FIELDS) if kind == "heatmap" else Fits()


def list_figure_makers(drawn: Drawn) -> list[tuple[str, Callable[[], Figure]]]:
    """Return (kind, a function that draws its figure); the function raises InputError if it cannot."""
    by_kind = groupby(drawn.figures, key=lambda drawn_item: drawn_item[0])
    return [(kind, partial(_draw_kind, kind, [item for _, item in items], drawn)) for kind, items in by_kind]


def list_single_bar_figures(drawn: Drawn) -> list[tuple[str, Callable[[], Figure]]]:
    """Return (file name, a function that draws the bars of one operation)."""
    items = [item for _, item in drawn.figures]
    names = create_file_names([bars.operation for bars in items])
    return [(name, partial(bars_figure, bars, drawn.axis)) for name, bars in zip(names, items, strict=True)]


def _draw_kind(kind: str, items: Sequence[Any], drawn: Drawn) -> Figure:
    match kind:
        case "bars":
            return combine_figures([bars_figure(item, drawn.axis) for item in items], columns=3)
        case "latency":
            return combine_figures([latency_figure(item, drawn.axis) for item in items], columns=2)
        case "timeline":
            return combine_figures([timeline_figure(item) for item in items], columns=2)
        case "factors":
            return factors_figure(items, drawn.columns)
        case "time":
            return over_time_figure(items[0])
        case _:
            draw = heatmap_figure if kind == "heatmap" else settings_figure
            return combine_figures([draw(plot) for plot in items[0].every], columns=1)


def timeline_figure(timeline: Timeline) -> Figure:
    """Draw a row per rank, first rank on top, with late starters and the last finisher highlighted."""
    divisor, unit = choose_human_scale(max((span.end_s for span in timeline.spans), default=1.0), "s")
    ranks = [str(span.rank) for span in timeline.spans]
    every = max(1, math.ceil(len(ranks) / _MAX_LABELS))
    marks = [mark for mark in _KINDS if any(span.mark == mark for span in timeline.spans)]
    since = "after the first start" if timeline.comparable else "since its own start"
    rows = [_build_row(span, divisor, unit) for span in timeline.spans]
    most = max((row["end"] for row in rows), default=1.0)
    channels = {
        "x": build_number_channel(f"{unit} {since}", domain=(0, most), axis={"grid": True}),
        "x2": {"field": "end"},
        "color": build_legend([_KINDS[mark][0] for mark in marks], [_KINDS[mark][1] for mark in marks], offset=8),
        "y": build_name_channel("rank", ranks, "y", {"values": ranks[::every], "domain": False}),
    }
    height = min(max(_ROW * len(ranks), _LEAST), _MOST)
    spec = view(layer(rows, "bar", channels, height={"band": 0.72}, clip=True), height=height)
    return Figure(spec, timeline.title, f"When each rank worked in {timeline.title}.")


def _build_row(span: RankSpan, divisor: float, unit: str) -> Row:
    start, end = span.start_s / divisor, span.end_s / divisor
    kind = _KINDS[span.mark][0]
    when = (
        f"{format_significant(start, 4)}–{format_significant(end, 4)} {unit}, for "
        f"{format_significant(end - start, 4)} {unit}"
    )
    tip = f"rank {span.rank} on {span.host}\n{when}" + (f"\n{kind}" if span.mark else "")
    return {"x": short(start), "end": short(end), "y": str(span.rank), "series": kind, "tip": tip}
