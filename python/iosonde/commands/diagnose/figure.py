"""Operations by class: duration over operation number, and the density of log duration on the same axis.
Below, over time: the share of time of each class, and where in the file and on which rank it occurs.
"""

from collections.abc import Sequence
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.units import format_rate, format_size
from iosonde.core.words import format_count, format_share
from iosonde.layout.figure import Figure
from iosonde.layout.text import escape
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    MUTED,
    SECONDS,
    SERIES,
    VERMILION,
    Row,
    Spec,
    build_flat_title,
    build_legend,
    build_number_channel,
    layer,
    list_decades,
    number_duplicates,
    short,
    truncate_label,
    view,
)

from .answer import DiagnosedOperations, OperationCauses
from .figure_panels import draw_panels

_TITLE = "Operations by how long they took"
_MOST = 6  # groups of operations that are drawn
_WIDTH, _PANEL_GAP, _HEIGHT, _BETWEEN = 480, 130, 230, 14  # px
_MIDDLE = (SERIES[2], SERIES[4], SERIES[3], SERIES[5])


def figure(operation_causes: OperationCauses) -> Figure:
    """Draw a row per operation with several classes, by descending cost; else a row for the first operation.
    If ``operation_causes`` has a study of paths, draw time against size above. Raises DataError without operations.
    """
    if not operation_causes.groups and not operation_causes.study:
        raise DataError(
            "no-recorded-operations",
            "counters have no single operations to draw",
            "of a log of Darshan with DXT, import the trace",
        )
    groups = [group for group in operation_causes.groups if len(group.classes) > 1][:_MOST] or list(
        operation_causes.groups[:1]
    )
    names = ", ".join(_format_name(group) for group in groups)
    study = operation_causes.study
    spec = {
        "vconcat": [*([study.panels()] if study else []), *(_draw_row(group) for group in groups)],
        "spacing": 34,
        "title": {"text": _TITLE, "anchor": "start", "frame": "bounds", "fontSize": 14, "offset": 14},
        "resolve": {"scale": dict.fromkeys(("x", "y", "color"), "independent")},
    }
    return Figure(spec, "", f"{_TITLE}: {names}.")


def _format_name(group: DiagnosedOperations) -> str:
    size = f" of {format_size(group.group.size)}" if group.group.size else ""
    setting = f", {group.group.setting_words}" if group.group.setting_words else ""
    return f"{group.group.operation}{size}{setting}"


def _draw_row(group: DiagnosedOperations) -> Spec:
    ends = (group.classes[0].low_s, group.classes[-1].high_s)
    axis = {
        **build_flat_title("duration"),
        "labelExpr": SECONDS,
        "values": [short(tick) for tick in list_decades(*ends) if ends[0] <= tick <= ends[1]],
    }
    y = build_number_channel("", "y", (ends[0] / 1.15, ends[1] * 1.15), log=True, axis=axis)
    names, series = build_class_legend(group)
    trial = "its operations" if group.trials == 1 else f"the last of {format_count(group.trials, 'trial')}"
    title = {
        "text": escape(_format_name(group)),
        "subtitle": [f"Left: {trial}, in bins. Right: the density of all. Below: the trial over its time."],
        "anchor": "start",
        "subtitleFontSize": 11,
        "subtitleColor": MUTED,
        "subtitlePadding": 4,
    }
    above: Spec = {
        "spacing": _BETWEEN,
        "hconcat": [_draw_cells(group, y, series, names), _draw_density(group, y, names, series)],
        "resolve": {"scale": {"y": "shared", "color": "shared"}},
    }
    below: Spec = {"spacing": 40, "hconcat": draw_panels(group.drawn, names, series, _WIDTH + _BETWEEN + _PANEL_GAP)}
    return {"title": title, "spacing": 16, "vconcat": [above, below], "resolve": {"scale": {"color": "shared"}}}


def build_class_legend(group: DiagnosedOperations, offset: int = 16) -> tuple[list[str], Spec]:
    """Return (names of the classes with likely causes, the colour channel with its legend ``offset`` px above)."""
    names = number_duplicates(
        [
            f"{operation_class.called}: {format_share(operation_class.shares.share.value)}, "
            f"{format_share(operation_class.shares.time_share.value)} of the time"
            + (f", {operation_class.cause}" if operation_class.cause else "")
            for operation_class in group.classes
        ]
    )
    return names, build_legend(
        [truncate_label(name) for name in names], _assign_class_colours(group), columns=1, offset=offset, labelLimit=560
    )


def _assign_class_colours(group: DiagnosedOperations) -> list[str]:
    last = len(group.classes) - 1
    return [
        BLUE if place == group.density.fast else VERMILION if place == last else _MIDDLE[place % len(_MIDDLE)]
        for place in range(len(group.classes))
    ]


def _draw_cells(group: DiagnosedOperations, y: Spec, series: Spec, names: Sequence[str]) -> Spec:
    drawn = group.drawn
    x = build_number_channel("operation of its rank", domain=(0.0, float(drawn.longest)))
    rows: list[Row] = [
        {
            "x": short(at),
            "y": short(took),
            "series": truncate_label(names[place]),
            "tip": f"{group.classes[place].called}: {format_rate(took, 's')} around operation {at:,.0f}",
        }
        for at, took, place, _ in drawn.cells
    ]
    channels: dict[str, Any] = {"x": x, "y": y, "color": series}
    return view(layer(rows, "square", channels, size=9, opacity=0.75, clip=True), width=_WIDTH, height=_HEIGHT)


def _draw_density(group: DiagnosedOperations, y: Spec, names: Sequence[str], series: Spec) -> Spec:
    top = max((height for _, height, _ in group.drawn.curve), default=1.0)
    quiet = {**y, "axis": {"labels": False, "title": None, "values": y["axis"]["values"]}}
    x = build_number_channel("density (root)", domain=(0.0, 1.02), axis={"labels": False, "ticks": False})
    # The root of the density keeps a peak of a thousandth of the operations visible.
    rows: list[Row] = [
        {"x": short((height / top) ** 0.5), "y": short(took), "series": truncate_label(names[place])}
        for took, height, place in group.drawn.curve
    ]
    bounds: list[Row] = [{"y": short(operation_class.low_s)} for operation_class in group.classes[1:]]
    layers = [
        layer(rows, "line", {"x": x, "y": quiet, "color": series, "order": {"field": "y"}}, strokeWidth=1.6, clip=True)
    ]
    if bounds:
        layers.append(layer(bounds, "rule", {"y": quiet}, color=INK, strokeDash=[3, 3], strokeWidth=0.8))
    return view(*layers, width=_PANEL_GAP, height=_HEIGHT)
