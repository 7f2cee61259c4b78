"""A table of settings of two or more factors: columns by one of them, rows by the others, a block per response."""

from collections.abc import Iterator, Sequence

from iosonde.core.column_units import format_column_title
from iosonde.core.errors import InputError
from iosonde.core.estimate_text import format_short_estimate
from iosonde.core.level_text import format_level, format_levels
from iosonde.core.problems import suggest_replacement
from iosonde.core.table import Cell
from iosonde.layout.text import WIDTH, escape, format_estimate_parts, get_columns, table, width
from iosonde.stats.overview.types import Overview, OverviewRow

from .text_cells import choose_scale
from .text_layout import Key, choose_column_factor, format_spread, pivot_items

_GAP = 2  # between columns
NOT_MEASURED = "-"
PARTS = " parts to fit the width"


def choose_column_name(overview: Overview) -> str | None:
    """Return the factor whose levels become columns, or None."""
    place = choose_column_factor(_list_settings(overview.rows, overview))
    return None if place is None else overview.by[place]


def format_response(
    title: str, rows: Sequence[OverviewRow], overview: Overview, column: str, unit_option: str | None = None
) -> list[str]:
    """Return the lines of one response: its title, the table, and n and cv of its cells.
    Lines may exceed a terminal if unavoidable. ``unit_option`` is the unit of rates of bytes.
    """
    rest = [name for name in overview.by if name != column]
    divisor, unit = choose_scale(rows, unit_option)
    laid = pivot_items(_list_settings(rows, overview), rows, overview.by.index(column))
    grid = [
        [
            *format_levels(rest, dict(zip(rest, key, strict=True)), overview.units),
            *(part for level in laid.columns for part in _format_parts(laid.cells.get((key, level)), divisor)),
        ]
        for key in laid.rows
    ]
    headers = [*rest, *_format_heads(column, laid.columns, overview)]
    lines = table(headers, grid, "r" * len(headers), limit=10**6).splitlines()
    if not rows[0].operation:
        title = format_column_title(rows[0].metric, unit)
    elif unit:
        title = f"{title}, {unit}"
    return [escape(title), *lines, _format_spread_line(rows)]


def is_within_terminal(lines: Sequence[str]) -> bool:
    """Return whether all lines fit on a terminal."""
    return all(len(line) <= WIDTH for line in lines)


def _list_settings(rows: Sequence[OverviewRow], overview: Overview) -> list[Key]:
    return [tuple(row.by.get(name) for name in overview.by) for row in rows]


def _format_heads(factor: str, levels: Sequence[Cell], overview: Overview) -> list[str]:
    titles = [f"{factor}={format_level(level, overview.units.get(factor, ''))}" for level in levels]
    return [text for head in titles for text in (head, "interval")]


def _format_parts(row: OverviewRow | None, divisor: float) -> Iterator[str]:
    if row is None:
        yield from ("", "")
        return
    yield from format_estimate_parts(row.mean, divisor)


def _format_spread_line(rows: Sequence[OverviewRow]) -> str:
    return f"  {format_spread([row.n for row in rows], [row.cv for row in rows])}"


def check_column(overview: Overview, column: str) -> str:
    """Return the factor of this name. Raises InputError if cells do not vary by it."""
    if column not in overview.by:
        raise InputError(
            "unknown-factor",
            "cannot use {spell.columns:{column}}: cells do not vary by it",
            "{suggestion}",
            column=column,
            suggestion=suggest_replacement(column, overview.by or ["nothing"]),
        )
    return column


def format_wide_response(
    title: str, rows: Sequence[OverviewRow], overview: Overview, column: str, unit: str | None
) -> Iterator[str]:
    """Yield the lines of one response, under 80 columns unless a single column is wider. Raises InputError."""
    divisor, in_unit = choose_scale(rows, unit)
    rest = [factor for factor in overview.by if factor != column]
    laid = pivot_items(
        [tuple(row.by.get(factor) for factor in overview.by) for row in rows], rows, overview.by.index(column)
    )
    level_texts = [format_levels(rest, dict(zip(rest, key, strict=True)), overview.units) for key in laid.rows]
    heads = [format_level(level, overview.units.get(column, "")) for level in laid.columns]
    columns = [[_format_cell(laid.cells.get((key, level)), divisor) for key in laid.rows] for level in laid.columns]
    widths = [max(map(width, [head, *cells])) for head, cells in zip(heads, columns, strict=True)]
    before = sum(max(map(width, [name, *(row[at] for row in level_texts)])) + _GAP for at, name in enumerate(rest))
    parts = _split_columns(widths, before)
    title = (
        format_column_title(rows[0].metric, in_unit)
        if not rows[0].operation
        else f"{title}, {in_unit}"
        if in_unit
        else title
    )
    several = f", in {len(parts)}{PARTS}" if len(parts) > 1 else ""
    yield escape(f"{title}: by {column}{several}")
    for number, part in enumerate(parts):
        yield from [""] if number else []
        grid = [[*row, *(columns[at][place] for at in part)] for place, row in enumerate(level_texts)]
        headers = [*rest, *(heads[at] for at in part)]
        yield from table(headers, grid, "r" * len(headers), limit=10**6).splitlines()
    yield f"  {format_spread([row.n for row in rows], [row.cv for row in rows])}"


def _format_cell(row: OverviewRow | None, divisor: float) -> str:
    return NOT_MEASURED if row is None else format_short_estimate(row.mean, divisor)


def _split_columns(widths: Sequence[int], before: int) -> list[list[int]]:
    """Split the columns into parts that fit after the ``before`` columns of the settings."""
    parts: list[list[int]] = [[]]
    for place, wide in enumerate(widths):
        if parts[-1] and before + sum(widths[at] + _GAP for at in parts[-1]) + wide > get_columns():
            parts.append([])
        parts[-1].append(place)
    return parts
