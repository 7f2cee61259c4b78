"""All responses of a summary as one table, for three or more: a row per response and setting of the other factors, with
columns by the levels of one factor, or one column. It takes the first layout that fits a terminal: value and interval
in columns of their own, the response in its row or on a line above its rows; value and interval in one column; these in
parts, one below the other.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from iosonde.core.estimate_text import format_estimate_parts, format_short_estimate, is_symmetric
from iosonde.core.level_text import format_level, format_levels
from iosonde.core.table import Cell
from iosonde.layout.text import escape, get_columns, table, width
from iosonde.stats.overview.types import Overview, OverviewRow

from .answer import Summary
from .text_cells import Response, choose_scale, format_response_title, format_titled_table, group_by_response
from .text_layout import SEVERAL, Key, choose_column_factor, format_spread, is_crossed, is_mostly_filled, pivot_items

_MOST_LEVELS = 12  # of a factor that varies alone
_UNIT, _NUMBER, _SHORT = 5, 9, 13  # typical columns of a unit, a number or an interval, and both in one cell
_GAP = 2  # between columns
_Format = Callable[[OverviewRow | None, float, bool], tuple[str, ...]]


@dataclass(frozen=True)
class _Line:
    """A row: its response, the levels of the factors that are not columns, and its cells by column."""

    title: str
    unit: str
    levels: tuple[str, ...]
    cells: tuple[OverviewRow | None, ...]
    divisor: float
    is_first: bool


@dataclass(frozen=True)
class _Grid:
    """The table before its layout. ``name`` is what all responses measure, '' if they differ; ``rest`` are the factors
    that are not columns, ``columns`` the headings of the levels."""

    name: str
    rest: tuple[str, ...]
    columns: tuple[str, ...]
    lines: tuple[_Line, ...]


@dataclass(frozen=True)
class _Columns:
    """The factor at ``place`` of the cells' factors, whose ``levels`` are the columns; ``rest`` are the others."""

    overview: Overview
    place: int
    rest: tuple[str, ...]
    levels: tuple[Cell, ...]

    def list_settings(self, key: Key) -> list[Key]:
        """Return the setting of each column at these levels of the other factors."""
        if self.place < 0:
            return [key]
        return [(*key[: self.place], level, *key[self.place :]) for level in self.levels]


def format_one_table(answer: Summary, unit: str | None) -> list[str]:
    """Return the lines of the table; none if there are few responses, no factor for the columns, or no room. ``unit``:
    of all rates of bytes."""
    overview, responses = answer.overview, group_by_response(answer.overview)
    place = _choose_place(overview)
    if len(responses) < SEVERAL or place is None:
        return []
    lines = _lay_out(_build_grid(answer, responses, place, unit))
    spread = format_spread([row.n for row in overview.rows], [row.cv for row in overview.rows])
    return [*lines, f"  {spread}"] if lines else []


def _choose_place(overview: Overview) -> int | None:
    """Return the index of the factor whose levels become columns, -1 if there is no factor, None if none suits."""
    settings = _list_settings(overview.rows, overview)
    if len(overview.by) > 1:
        place = choose_column_factor(settings)
        return place if place is not None and is_crossed(settings, place) else None
    if not overview.by:
        return -1
    responses = len({(row.operation, row.metric) for row in overview.rows})
    is_suitable = 2 <= len(set(settings)) <= _MOST_LEVELS and is_mostly_filled(len(overview.rows), responses, settings)
    return 0 if is_suitable else None


def _list_settings(rows: Sequence[OverviewRow], overview: Overview) -> list[Key]:
    return list(dict.fromkeys(_get_setting(row, overview) for row in rows))


def _get_setting(row: OverviewRow, overview: Overview) -> Key:
    return tuple(row.by.get(name) for name in overview.by)


def _build_grid(answer: Summary, responses: Sequence[Response], place: int, unit: str | None) -> _Grid:
    overview = answer.overview
    rest = tuple(name for at, name in enumerate(overview.by) if at != place)
    name, titles = _shorten_titles(answer, responses)
    keys, levels = _list_keys(_list_settings(overview.rows, overview), place)
    columns: tuple[str, ...] = ("mean",)
    if overview.by:
        factor = overview.by[place]
        columns = tuple(f"{factor}={format_level(level, overview.units.get(factor, ''))}" for level in levels)
    lines = (
        line
        for title, (_, rows) in zip(titles, responses, strict=True)
        for line in _build_lines(title, rows, keys, _Columns(overview, place, rest, levels), unit)
    )
    return _Grid(name, rest, columns, tuple(lines))


def _build_lines(
    title: str, rows: Sequence[OverviewRow], keys: Sequence[Key], columns: _Columns, unit: str | None
) -> Iterator[_Line]:
    """Yield a line per setting in ``keys`` in which the response was measured."""
    divisor, text = choose_scale(rows, unit)
    by_setting = {_get_setting(row, columns.overview): row for row in rows}
    is_first = True
    for key in keys:
        cells = tuple(map(by_setting.get, columns.list_settings(key)))
        if any(cell is not None for cell in cells):
            names = format_levels(columns.rest, dict(zip(columns.rest, key, strict=True)), columns.overview.units)
            yield _Line(title, text, tuple(names), cells, divisor, is_first)
            is_first = False


def _list_keys(settings: Sequence[Key], place: int) -> tuple[tuple[Key, ...], tuple[Cell, ...]]:
    """Return the settings of the factors that are not columns, and the levels of the one that is."""
    if place < 0:
        return ((),), ()
    laid = pivot_items(settings, settings, place)
    return laid.rows, laid.columns


def _shorten_titles(answer: Summary, responses: Sequence[Response]) -> tuple[str, list[str]]:
    """Return (metric, titles): what follows the operation in every title is said once."""
    titles = [format_response_title(operation, metric, "", answer) for (operation, metric), _ in responses]
    operations = [operation for (operation, _), _ in responses]
    metrics = {title.removeprefix(name).strip() for title, name in zip(titles, operations, strict=True)}
    return (metrics.pop(), operations) if len(metrics) == 1 and all(operations) else ("", titles)


def _lay_out(grid: _Grid) -> list[str]:
    """Return the lines of the first layout that fits."""
    if _has_room(grid):
        return _format_rows(grid, _format_parts)
    if grid.rest:
        candidates = (_format_below_titles(grid, form) for form in (_format_parts, _format_short))
        return next((lines for lines in candidates if _fits(lines)), [])
    return _format_in_parts(grid)


def _fits(lines: Sequence[str]) -> bool:
    return all(width(line) <= get_columns() for line in lines) and not any("…" in line for line in lines)


def _has_room(grid: _Grid) -> bool:
    """Return whether numbers of typical width fit. Names are truncated if numbers are wider, so that a campaign always
    has the same table."""
    before = [*_measure_heads(grid), _UNIT]
    numbers = [width for head in grid.columns for width in (max(len(head), _NUMBER), _NUMBER)]
    return sum(before) + sum(numbers) + _GAP * (len(before) + len(numbers) - 1) <= get_columns()


def _measure_heads(grid: _Grid) -> list[int]:
    texts = [(line.title, *line.levels) for line in grid.lines]
    return [max(width(row[at]) for row in [(grid.name, *grid.rest), *texts]) for at in range(1 + len(grid.rest))]


def _format_rows(grid: _Grid, form: _Format, columns: Sequence[int] | None = None) -> list[str]:
    """Format with the response in its row; ``columns`` are the indices of those that are shown, by default all."""
    places = range(len(grid.columns)) if columns is None else columns
    headers = [grid.name, *grid.rest, "", *_list_headers(grid, form, places)]
    rows = [
        [line.title if line.is_first else "", *line.levels, line.unit, *_format_cells(line, form, places)]
        for line in grid.lines
    ]
    sides = "l" + "r" * len(grid.rest) + "L" + "r" * (len(headers) - 2 - len(grid.rest))
    return table(headers, rows, sides).splitlines()


def _format_below_titles(grid: _Grid, form: _Format) -> list[str]:
    """Format with the response and its unit on a line above its rows."""
    places = range(len(grid.columns))
    titles = {
        at: f"{line.title}, {line.unit}" if line.unit else line.title
        for at, line in enumerate(grid.lines)
        if line.is_first
    }
    rows = [[*line.levels, *_format_cells(line, form, places)] for line in grid.lines]
    lines = list(format_titled_table([*grid.rest, *_list_headers(grid, form, places)], rows, titles))
    return [escape(grid.name), *lines] if grid.name else lines


def _format_in_parts(grid: _Grid) -> list[str]:
    """Format as many columns side by side as fit, and the others below; none if a column does not fit. As many columns
    of typical width as fit are tried first, so that a campaign always has the same table."""
    before = sum(_measure_heads(grid)) + _UNIT + _GAP
    typical = [_GAP + max(len(head), _SHORT) for head in grid.columns]
    widths = [
        max(usual, _GAP + max(width(_format_cells(line, _format_short, [at])[0]) for line in grid.lines))
        for at, usual in enumerate(typical)
    ]
    for parts in (_split_evenly(typical, get_columns() - before), _split_evenly(widths, get_columns() - before)):
        texts = [_format_rows(grid, _format_short, part) for part in parts]
        if all(map(_fits, texts)):
            return [line for number, lines in enumerate(texts) for line in ([""] if number else []) + lines]
    return []


def _split_evenly(widths: Sequence[int], room: int) -> list[range]:
    """Return the fewest runs of columns, of like length, that have room; single columns if nothing has."""
    for size in range(len(widths), 0, -1):
        n_parts = math.ceil(len(widths) / size)
        even = math.ceil(len(widths) / n_parts)
        parts = [range(at, min(at + even, len(widths))) for at in range(0, len(widths), even)]
        if all(sum(widths[place] for place in part) <= room for part in parts):
            return parts
    return [range(at, at + 1) for at in range(len(widths))]


def _list_headers(grid: _Grid, form: _Format, places: Sequence[int]) -> list[str]:
    more = ["interval"] if form is _format_parts else []
    return [text for at in places for text in (grid.columns[at], *more)]


def _format_cells(line: _Line, form: _Format, places: Sequence[int]) -> list[str]:
    symmetric = all(row is None or is_symmetric(row.mean) for row in line.cells)
    return [text for at in places for text in form(line.cells[at], line.divisor, symmetric)]


def _format_parts(row: OverviewRow | None, divisor: float, _symmetric: bool) -> tuple[str, ...]:
    return ("", "") if row is None else format_estimate_parts(row.mean, divisor)


def _format_short(row: OverviewRow | None, divisor: float, symmetric: bool) -> tuple[str, ...]:
    return ("" if row is None else format_short_estimate(row.mean, divisor, symmetric),)
