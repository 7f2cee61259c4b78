"""Building blocks of every figure: colours, axes in readable units, intervals, points, the theme.
Colours are those of light paper; ``adapt_to_page`` replaces them by the page's variables. Field names are fixed;
expressions are constants of this module.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from iosonde.core.types import Estimate
from iosonde.layout.text import escape

Spec = Mapping[str, Any]
Row = dict[str, Any]

# Okabe and Ito (2008): distinguishable by colour-blind readers.
BLUE, VERMILION, ORANGE = "#0072b2", "#d55e00", "#e69f00"
SERIES = (BLUE, VERMILION, "#009e73", "#cc79a7", ORANGE, "#56b4e9")
# Viridis (Smith and van der Walt 2015) without its lightest end: ordered in greyscale too.
SHADES = ("#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#a5cf2f", "#d0c827")
INK, MUTED, RULE, GRID, PAPER = "#1c1d1f", "#5c6066", "#c9cac6", "#ecece8", "#ffffff"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif"

WIDTH, HEIGHT = 300, 190
LOG_BEYOND = 20.0  # ratio of largest to smallest value beyond which no single unit suits both
_LARGE = 1e15  # beyond, integers are not exact
_DIGITS = 6
_LEGEND_CHARACTERS = 52  # in one line of a legend
_MOST_LABEL = 60
# Tick labels with their own units; for other units the axis title names it.
PLAIN = "format(datum.value, '.4~r')"
SECONDS = (
    "datum.value >= 0.9995 ? format(datum.value, '.3~r') + ' s' : "
    "datum.value >= 9.995e-4 ? format(datum.value * 1e3, '.3~r') + ' ms' : "
    "datum.value >= 9.995e-7 ? format(datum.value * 1e6, '.3~r') + ' µs' : format(datum.value * 1e9, '.3~r') + ' ns'"
)
SIZES = (
    "datum.value >= 1099511627776 ? format(datum.value / 1099511627776, '.4~r') + ' TiB' : "
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.4~r') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '.4~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '.4~r') + ' KiB' : format(datum.value, '.4~r') + ' B'"
)

CONFIG: Spec = {
    "font": FONT,
    "background": "transparent",
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "group",
        "fontSize": 12,
        "fontWeight": 600,
        "color": INK,
        "offset": 10,
        "lineHeight": 15,
        "limit": 460,
        "aria": False,
    },
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": "normal",
        "titleFontSize": 11,
        "labelFontSize": 11,
        "domainColor": RULE,
        "tickColor": RULE,
        "gridColor": GRID,
        "tickSize": 4,
        "titlePadding": 6,
        "labelLimit": 180,
        "titleLimit": 320,
        "aria": False,
    },
    "axisX": {"grid": False, "labelOverlap": "greedy", "labelSeparation": 4},
    "axisY": {"domain": False, "ticks": False, "labelPadding": 5},
    "legend": {
        "orient": "top",
        "direction": "horizontal",
        "title": None,
        "labelColor": MUTED,
        "labelFontSize": 11,
        "symbolSize": 70,
        "labelLimit": 220,
        "columnPadding": 14,
        "rowPadding": 3,
        "offset": 27,
        "symbolOpacity": 1,
        "aria": False,
        "layout": {"top": {"direction": "vertical", "anchor": "start", "margin": 4}},
    },
    "mark": {"aria": False},
    "concat": {"spacing": 34},
}


def short(value: float | None) -> float | None:
    """Round ``value`` to the digits needed for drawing, integers without ``.0``; None if it is not a finite number."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < _LARGE else rounded


def view(*layers: Spec, width: int = WIDTH, height: int = HEIGHT, **more: Any) -> Spec:
    """Overlay layers."""
    defaults: dict[str, Any] = {}
    return {
        "width": width,
        "height": height,
        "layer": [_drop_repeated_scales(layer, defaults) for layer in layers],
        **more,
    }


def _drop_repeated_scales(layer_spec: Any, defaults: dict[str, Any]) -> Spec:
    """Remove scales, axes and legends that a layer below already defines: layers share them."""
    if "layer" in layer_spec:
        return {**layer_spec, "layer": [_drop_repeated_scales(inner, defaults) for inner in layer_spec["layer"]]}
    channels = {}
    for name, channel in layer_spec["encoding"].items():
        scales = {key: channel[key] for key in ("scale", "axis", "legend") if key in channel}
        again = scales and defaults.setdefault(name, scales) == scales and defaults[name] is not scales
        channels[name] = {key: channel[key] for key in channel if key not in scales} if again else channel
    return {**layer_spec, "encoding": channels}


def layer(rows: Iterable[Row], mark: str, channels: Spec, **properties: Any) -> Spec:
    """Return a layer of one kind of mark with its own rows; ``tip`` in a row is its tooltip."""
    values, encoding = list(rows), dict(channels)
    if any("tip" in row for row in values):
        encoding["tooltip"] = {"field": "tip", "type": "nominal"}
    fields = {channel["field"] for channel in encoding.values() if "field" in channel}
    return {
        "data": {"values": [_select_fields(row, fields) for row in values]},
        "mark": {"type": mark, **properties},
        "encoding": encoding,
    }


def _select_fields(row: Row, fields: set[str]) -> Row:
    fields_drawn = {key: value for key, value in row.items() if key in fields}
    return (
        {**fields_drawn, "tip": "\n".join(map(escape, row["tip"].split("\n")))}
        if "tip" in fields_drawn
        else fields_drawn
    )


def share_rows(*layers: Spec) -> Spec:
    """Return layers of the same rows, with the rows stored once."""
    rows: list[Row] = [
        {key: value for part in parts for key, value in part.items()}
        for parts in zip(*(layer["data"]["values"] for layer in layers), strict=True)
    ]
    without = [{key: value for key, value in layer.items() if key != "data"} for layer in layers]
    return {"data": {"values": rows}, "layer": without}


def truncate_label(text: str) -> str:
    """Return a text as a label, truncated if long."""
    text_escaped = escape(text)
    return text_escaped if len(text_escaped) <= _MOST_LABEL else text_escaped[: _MOST_LABEL - 1] + "…"


def build_number_channel(
    title: str,
    field: str = "x",
    domain: Sequence[float] | None = None,
    log: bool = False,
    zero: bool = False,
    axis: Mapping[str, Any] | None = None,
    room: int = 0,
) -> Spec:
    """Return a quantitative channel with the unit in ``title``; ``room`` is the padding at its ends, px."""
    scale: dict[str, Any] = {"type": "log"} if log else {"type": "linear", "zero": zero}
    scale["nice"] = domain is None and not log and not room
    if room:
        scale["padding"] = room
    if domain is not None:
        scale["domain"] = [short(end) for end in domain]
    ticks: dict[str, Any] = {"title": truncate_label(title) or None, "tickCount": 5}
    if log:
        ticks["labelExpr"] = PLAIN
    return {"field": field, "type": "quantitative", "scale": scale, "axis": {**ticks, **(axis or {})}}


def list_decades(least: float, most: float) -> list[float]:
    """Return round values for a logarithmic axis: powers of ten, with 2 and 5 between if there are few."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps = (1.0,) if math.log10(most / least) > 2.5 else (1.0, 2.0, 5.0)
    return [float(f"{step}e{power}") for power in powers for step in steps]


def list_ticks_inside(low: float, high: float) -> list[float | None]:
    """Return the round values of a logarithmic axis that are inside its domain."""
    return [short(tick) for tick in list_decades(low, high) if low <= tick <= high]


def build_flat_title(title: str) -> Spec:
    """Return the title of a vertical axis, horizontal and above the axis."""
    return {
        "title": truncate_label(title) or None,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleBaseline": "bottom",
        "titleAnchor": "end",
        "titleX": 0,
        "titleY": -7,
    }


def build_name_channel(
    title: str, domain: Sequence[str], field: str = "x", axis: Mapping[str, Any] | None = None
) -> Spec:
    """Return a channel of names in the order of ``domain``, each in its own band."""
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": list(domain)},
        "sort": None,
        "axis": {"title": truncate_label(title) or None, "labelAngle": 0, "ticks": False, **(axis or {})},
    }


def number_duplicates(texts: Iterable[str]) -> list[str]:
    """Make names distinguishable: duplicates get a number."""
    counts: dict[str, int] = {}
    labels = []
    for text in map(escape, texts):
        counts[text] = counts.get(text, 0) + 1
        labels.append(text if counts[text] == 1 else f"{text} ({counts[text]})")
    return labels


def build_legend(domain: Sequence[str], colours: Sequence[str], **more: Any) -> Spec:
    """Return the colour channel of named series, with a legend above the figure that fits."""
    columns = max(1, min(len(domain), _LEGEND_CHARACTERS // (max((len(name) for name in domain), default=0) + 4)))
    options = {"columns": columns, **more} if len(domain) > 0 else None
    return {
        "field": "series",
        "type": "nominal",
        "sort": None,
        "legend": options,
        "scale": {"domain": list(domain), "range": list(colours)},
    }


def choose_colours(count: int, first: int = 0) -> list[str]:
    """Return ``count`` colours of series, cycling if they run out."""
    return [SERIES[(first + place) % len(SERIES)] for place in range(count)]


def get_interval_ends(estimate: Estimate, divisor: float = 1.0) -> tuple[float, float] | None:
    """Return (low, high) of an interval, or None without one."""
    low, high = short(estimate.low), short(estimate.high)
    if low is None or high is None:
        return None
    return float(f"{low / divisor:.{_DIGITS}g}"), float(f"{high / divisor:.{_DIGITS}g}")


def draw_intervals(
    rows: Iterable[Row], place: Spec, value: Spec, across: bool = False, cap: int = 8, **properties: Any
) -> list[Spec]:
    """Draw bars from ``low`` to ``high`` with caps, horizontal if ``across``; ``place`` is the channel of their
    position."""
    bounded_rows = [{key: row[key] for key in row if key != "tip"} for row in rows if row.get("low") is not None]
    if not bounded_rows:
        return []
    at, along = ("y", "x") if across else ("x", "y")
    channels: dict[str, Any] = {at: place, along: {**value, "field": "low"}, f"{along}2": {"field": "high"}}
    look = {"color": INK, "strokeWidth": 1.6, "clip": True, "opacity": 1, **properties}
    parts = [layer(bounded_rows, "rule", channels, **look)]
    if cap:
        thick = {"size": cap, "thickness": look.pop("strokeWidth"), "orient": "vertical" if across else "horizontal"}
        parts += [
            layer(bounded_rows, "tick", {at: place, along: {**value, "field": end}}, **look, **thick)
            for end in ("low", "high")
        ]
    return [share_rows(*parts)]


def build_line_rows(xs: Iterable[float], ys: Iterable[float | None], divisor: float = 1.0, **more: Any) -> list[Row]:
    """Return the rows of a line, without unknown values."""
    return [
        {"x": short(x), "y": short(y / divisor), **more}
        for x, y in zip(xs, ys, strict=True)
        if y is not None and short(y) is not None
    ]


def add_zoom(spec: Spec) -> Spec:
    """Make axes draggable and zoomable by Ctrl and the wheel; a double click resets them.
    The wheel alone scrolls the page.
    """
    select = {"type": "interval", "encodings": ["x", "y"], "zoom": "wheel![event.ctrlKey || event.metaKey]"}
    first, *others = spec["layer"]
    return {**spec, "layer": [{**first, "params": [{"name": "zoom", "select": select, "bind": "scales"}]}, *others]}


def adapt_to_page(spec: Spec, fixed: bool = False) -> Any:
    """Adapt a specification to the page: full width, unless ``fixed``, and the page's colour variables.
    Data is unchanged.
    """
    wide = {} if fixed else {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {**_apply_variables(spec), **wide}


_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
    VERMILION: "var(--last)",
    ORANGE: "var(--late)",
    BLUE: "var(--bar)",
    SERIES[2]: "var(--series-2)",
    SERIES[3]: "var(--series-3)",
    SERIES[5]: "var(--series-5)",
}


def _apply_variables(value: Any) -> Any:
    if isinstance(value, Mapping):
        text_keys = ("values", "text", "title", "domain")
        return {key: item if key in text_keys else _apply_variables(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_apply_variables(item) for item in value]
    return _VARIABLES.get(value, value) if isinstance(value, str) else value


def page_config() -> Any:
    """Return the theme with the page's variables."""
    return _apply_variables(CONFIG)
