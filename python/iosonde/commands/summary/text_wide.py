"""A two-way table of a response: a row per setting of the other factors, a column per level of one.
Each cell has a mean and its uncertainty. A table too wide for a terminal is split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core.column_units import titled
from iosonde.core.errors import InputError
from iosonde.core.estimate_text import estimate_short
from iosonde.core.level_text import format_level, format_levels
from iosonde.core.problems import nearest
from iosonde.layout.text import escape, room, table, width
from iosonde.stats.overview.types import Overview, OverviewRow

from .text_cells import scale_of
from .text_layout import format_spread, pivoted

_GAP = 2  # between columns
NOT_MEASURED = "-"
PARTS = " parts to fit the width"


def check_column(overview: Overview, column: str) -> str:
    """Return the factor of this name. Raises InputError if cells do not vary by it."""
    if column not in overview.by:
        raise InputError(
            "unknown-factor",
            "cannot use {spell.columns:{column}}: cells do not vary by it",
            "{suggestion}",
            column=column,
            suggestion=nearest(column, overview.by or ["nothing"]),
        )
    return column


def wide(title: str, rows: Sequence[OverviewRow], overview: Overview, column: str, unit: str | None) -> Iterator[str]:
    """Yield the lines of one response, under 80 columns unless a single column is wider. Raises InputError."""
    divisor, in_unit = scale_of(rows, unit)
    rest = [factor for factor in overview.by if factor != column]
    laid = pivoted(
        [tuple(row.by.get(factor) for factor in overview.by) for row in rows], rows, overview.by.index(column)
    )
    level_texts = [format_levels(rest, dict(zip(rest, key, strict=True)), overview.units) for key in laid.rows]
    heads = [format_level(level, overview.units.get(column, "")) for level in laid.columns]
    columns = [[_format_cell(laid.cells.get((key, level)), divisor) for key in laid.rows] for level in laid.columns]
    widths = [max(map(width, [head, *cells])) for head, cells in zip(heads, columns, strict=True)]
    before = sum(max(map(width, [name, *(row[at] for row in level_texts)])) + _GAP for at, name in enumerate(rest))
    parts = _split_columns(widths, before)
    title = titled(rows[0].metric, in_unit) if not rows[0].operation else f"{title}, {in_unit}" if in_unit else title
    several = f", in {len(parts)}{PARTS}" if len(parts) > 1 else ""
    yield escape(f"{title}: by {column}{several}")
    for number, part in enumerate(parts):
        yield from [""] if number else []
        grid = [[*row, *(columns[at][place] for at in part)] for place, row in enumerate(level_texts)]
        headers = [*rest, *(heads[at] for at in part)]
        yield from table(headers, grid, "r" * len(headers), limit=10**6).splitlines()
    yield f"  {format_spread([row.n for row in rows], [row.cv for row in rows])}"


def _format_cell(row: OverviewRow | None, divisor: float) -> str:
    return NOT_MEASURED if row is None else estimate_short(row.mean, divisor)


def _split_columns(widths: Sequence[int], before: int) -> list[list[int]]:
    """Split the columns into parts that fit after the ``before`` columns of the settings."""
    parts: list[list[int]] = [[]]
    for place, wide in enumerate(widths):
        if parts[-1] and before + sum(widths[at] + _GAP for at in parts[-1]) + wide > room():
            parts.append([])
        parts[-1].append(place)
    return parts
