"""A comparison as a figure: B ÷ A of each cell with its interval, against 1 and the negligible margin."""

from iosonde.core.units import format_percent, format_ratio
from iosonde.core.words import format_count
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import (
    BLUE,
    INK,
    MUTED,
    Row,
    build_name_channel,
    build_number_channel,
    draw_intervals,
    get_interval_ends,
    layer,
    number_duplicates,
    short,
    view,
)

from .compared import ComparedCell, Comparisons

_MOST = 40  # cells
_ROW = 26  # px


def ratios_figure(comparisons: Comparisons) -> Figure | None:
    """Draw a row per cell with a ratio; None if no cell has one. Cells beyond the first 40 are only counted."""
    several = len({item.sides for item in comparisons.items}) > 1
    items = [item for item in comparisons.items if item.comparison.ratio and item.comparison.ratio.value is not None]
    if not items:
        return None
    drawn_items, margin = items[:_MOST], items[0].comparison.margin
    cell_names = number_duplicates(item.name(several) for item in drawn_items)
    rows = [_build_row(item, name) for item, name in zip(drawn_items, cell_names, strict=True)]
    x = build_number_channel("B ÷ A", axis={"grid": True}, room=12)
    y = build_name_channel("", cell_names, "y", {"domain": False, "labelLimit": 320})
    same = [{"x": short(1 - margin), "x2": short(1 + margin), "tip": f"± {format_percent(margin)}: negligible"}]
    spec = view(
        layer(same, "rect", {"x": x, "x2": {"field": "x2"}}, fill=MUTED, opacity=0.15),
        layer([{"x": 1, "tip": "no difference"}], "rule", {"x": x}, color=INK),
        *draw_intervals(rows, y, x, across=True, color=BLUE),
        layer(rows, "point", {"x": x, "y": y}, shape="circle", filled=True, fill=BLUE, size=60),
        width=420,
        height=_ROW * len(rows),
    )
    rest = f"; {format_count(len(items) - _MOST, 'more cell')} not drawn" if len(items) > _MOST else ""
    return Figure(spec, "", f"B ÷ A with its interval, of {format_count(len(drawn_items), 'cell')}{rest}.")


def _build_row(item: ComparedCell, name: str) -> Row:
    ratio = item.comparison.ratio
    assert ratio is not None and ratio.value is not None
    low, high = get_interval_ends(ratio) or (None, None)
    span = f" ({format_ratio(low)} to {format_ratio(high)})" if low is not None and high is not None else ""
    return {
        "y": name,
        "x": short(ratio.value),
        "low": low,
        "high": high,
        "tip": f"{format_ratio(ratio.value)}{span}\n{item.sentence}",
    }
