"""Classes of operations over the time of a trial: their shares, offsets in the file, and ranks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.units import choose_human_scale, format_rate, format_size
from iosonde.core.words import format_share
from iosonde.explain.seen.drawn import ClassTimes, DrawnOperations
from iosonde.layout.vocabulary import (
    SIZES,
    Row,
    Spec,
    build_flat_title,
    build_number_channel,
    layer,
    short,
    truncate_label,
    view,
)

HEIGHT, _GAP = 130, 60  # px


def build_time_axis(end_s: float) -> tuple[Spec, float]:
    """Return (the time axis of a trial, seconds per unit of the axis)."""
    divisor, unit = choose_human_scale(end_s, "s")
    return build_number_channel(f"{unit} after the first start", domain=(0.0, end_s / divisor)), divisor


@dataclass(frozen=True)
class ClassPanel:
    """Shared properties of the panels of a trial.
    ``names`` and ``colour`` are those of its classes. The time axis ``x`` has units of ``over`` seconds and starts
    ``after_s`` seconds before the first operation.
    """

    names: Sequence[str]
    colour: Spec
    x: Spec
    over: float
    after_s: float = 0.0

    def layer(self, rows: Sequence[Row], mark: str, y: Spec, **more: Any) -> Spec:
        """Return a layer of these rows: rectangles, which need ``end`` and ``high``, or points."""
        ends = {"x2": {"field": "end"}, "y2": {"field": "high"}} if mark == "rect" else {}
        return layer(rows, mark, {"x": self.x, "y": y, **ends, "color": self.colour}, clip=True, **more)

    def at(self, begin_s: float) -> float | None:
        """Return the position of a moment on the time axis."""
        return short((self.after_s + begin_s) / self.over)

    def series(self, of: int) -> str:
        """Return the name of class ``of`` as the colour legend spells it."""
        return truncate_label(self.names[of])

    def word(self, of: int) -> str:
        """Return the short name of class ``of``: ``slow``."""
        return self.names[of].split(":")[0]


def draw_class_shares(times: Sequence[ClassTimes], panel: ClassPanel) -> Spec:
    """Draw the share of operation time of each class, stacked."""
    rows: list[Row] = []
    for part in times:
        low = 0.0
        for of, (share, operation_share) in enumerate(zip(part.time_shares, part.shares, strict=True)):
            if share:
                rows.append(
                    {
                        "x": panel.at(part.begin_s),
                        "end": panel.at(part.end_s),
                        "low": short(low),
                        "high": short(low + share),
                        "series": panel.series(of),
                        "tip": f"{panel.word(of)}: {format_share(share)} of the time of operations, "
                        f"{format_share(operation_share)} of them",
                    }
                )
            low += share
    title = "share of the time of operations"
    y = build_number_channel(
        "", "low", (0.0, 1.0), axis={**build_flat_title(title), "format": ".0%", "values": [0, 0.5, 1]}
    )
    return panel.layer(rows, "rect", y)


def draw_offsets(drawn: DrawnOperations, panel: ClassPanel) -> Spec:
    """Draw offsets against time."""
    reach = max((offset for _, offset, _, _ in drawn.places), default=1.0)
    step = 2 ** math.floor(math.log2(max(reach, 2.0) / 2))
    axis: dict[str, Any] = {
        **build_flat_title("offset"),
        "labelExpr": SIZES,
        "values": list(range(0, int(reach) + 1, step)),
    }
    rows: list[Row] = [
        {
            "x": panel.at(at),
            "y": short(offset),
            "series": panel.series(of),
            "tip": f"{panel.word(of)} around {format_size(round(offset))}, {format_rate(at, 's')}",
        }
        for at, offset, of, _ in sorted(drawn.places, key=lambda place: place[2])
    ]
    return panel.layer(
        rows, "square", build_number_channel("", "y", (0.0, reach * 1.02), axis=axis), size=7, opacity=0.8
    )


def draw_ranks(drawn: DrawnOperations, panel: ClassPanel) -> Spec:
    """Draw a line per rank, coloured by the class that took most of its time."""
    first = [rank for _, _, rank, _, _ in drawn.ranks]
    low, high = min(first), max(first) + drawn.ranks_a_line
    title = "rank" if drawn.ranks_a_line == 1 else f"rank, {drawn.ranks_a_line} in a line"
    y = build_number_channel(
        "",
        "low",
        (low, high),
        axis={**build_flat_title(title), "values": list(range(low, high, max(1, (high - low) // 6)))},
    )
    y = {**y, "scale": {**y["scale"], "reverse": True}}
    rows: list[Row] = [
        {
            "x": panel.at(begin),
            "end": panel.at(end),
            "low": rank,
            "high": rank + 0.9 * drawn.ranks_a_line,
            "series": panel.series(of),
            "tip": f"rank {rank}: {panel.word(of)}, {format_share(share)} of the time of operations",
        }
        for begin, end, rank, of, share in drawn.ranks
    ]
    return panel.layer(rows, "rect", y)


def draw_panels(drawn: DrawnOperations, names: Sequence[str], colour: Spec, width: int) -> list[Spec]:
    """Return the available panels, to be placed side by side."""
    panel = ClassPanel(names, colour, *build_time_axis(drawn.times[-1].end_s if drawn.times else 1.0))
    panel_specs = [draw_class_shares(drawn.times, panel)]
    if drawn.places:
        panel_specs.append(draw_offsets(drawn, panel))
    if drawn.ranks:
        panel_specs.append(draw_ranks(drawn, panel))
    each = (width - _GAP * (len(panel_specs) - 1)) // len(panel_specs)
    return [view(spec, width=each, height=HEIGHT) for spec in panel_specs]
