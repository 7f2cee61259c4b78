"""Activity of each rank in one phase of one trial."""

from __future__ import annotations

import math

from iosonde.core.units import human_scale, significant
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import BLUE, ORANGE, VERMILION, Row, layer, legend, names, number, short, view

from .timeline_content import RankSpan, Timeline

_ROW, _LEAST, _MOST = 15, 34, 480  # px
_MAX_LABELS = 24  # ranks on the axis
_KINDS = {"": ("on time", BLUE), "late": ("started late", ORANGE), "last": ("finished last", VERMILION)}


def timeline_figure(timeline: Timeline) -> Figure:
    """Draw a row per rank, first rank on top, with late starters and the last finisher highlighted."""
    divisor, unit = human_scale(max((span.end_s for span in timeline.spans), default=1.0), "s")
    ranks = [str(span.rank) for span in timeline.spans]
    every = max(1, math.ceil(len(ranks) / _MAX_LABELS))
    marks = [mark for mark in _KINDS if any(span.mark == mark for span in timeline.spans)]
    since = "after the first start" if timeline.comparable else "since its own start"
    rows = [_build_row(span, divisor, unit) for span in timeline.spans]
    most = max((row["end"] for row in rows), default=1.0)
    channels = {
        "x": number(f"{unit} {since}", domain=(0, most), axis={"grid": True}),
        "x2": {"field": "end"},
        "color": legend([_KINDS[mark][0] for mark in marks], [_KINDS[mark][1] for mark in marks], offset=8),
        "y": names("rank", ranks, "y", {"values": ranks[::every], "domain": False}),
    }
    height = min(max(_ROW * len(ranks), _LEAST), _MOST)
    spec = view(layer(rows, "bar", channels, height={"band": 0.72}, clip=True), height=height)
    return Figure(spec, timeline.title, f"When each rank worked in {timeline.title}.")


def _build_row(span: RankSpan, divisor: float, unit: str) -> Row:
    start, end = span.start_s / divisor, span.end_s / divisor
    kind = _KINDS[span.mark][0]
    when = f"{significant(start, 4)}–{significant(end, 4)} {unit}, for {significant(end - start, 4)} {unit}"
    tip = f"rank {span.rank} on {span.host}\n{when}" + (f"\n{kind}" if span.mark else "")
    return {"x": short(start), "end": short(end), "y": str(span.rank), "series": kind, "tip": tip}
