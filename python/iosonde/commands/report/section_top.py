"""The first table of the page: the settings as ``summary`` lays them out, and strips of their intervals.
Every metric is a row, a table per unit; with several factors a row per metric and setting, with columns by one of the
factors. One or two metrics, or very many rows, have a table each. If that is not possible either, the cells are the
first table (``build_summary_table``). All strips of a table share one axis; all axes of the page are from zero, or
logarithmic if values of any table lie more than twenty-fold apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from iosonde.commands.plot.figure_bars import MOST_STRETCH
from iosonde.commands.regress.content import ResponseSummary, SummaryRow
from iosonde.commands.summary.text_layout import (
    SEVERAL,
    Key,
    choose_column_factor,
    format_spread,
    is_crossed,
    pivot_items,
)
from iosonde.core.column_units import format_column_title
from iosonde.core.estimate_text import CANNOT_TELL, format_estimate_parts
from iosonde.core.grouping import group_by_key
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_count, pluralize
from iosonde.page.strip import STRIP_HEIGHT, Mark, StripAxis, needs_log_scale

from .content import Page

MOST_ROWS = 30  # rows of all unfolded tables
_MOST_FACTORS = 6
_MOST_LEVELS = 6  # levels of one factor, as columns
Part = TypeVar("Part")
_SCORE = "score"
_UNITS = {_SCORE: "Score", "bytes/s": "Bandwidth", "operations/s": "Operation rate", "s": "Time"}


@dataclass(frozen=True)
class Number:
    """A value and its interval as text; ``sort`` is the base-unit value, for sorting."""

    value: str
    interval: str
    sort: float | None


@dataclass(frozen=True)
class TopRow:
    """A metric, a setting of the factors that are not columns, or both; ``is_again``: the metric is that of the row
    above."""

    heads: tuple[str, ...]
    unit: str
    numbers: tuple[Number, ...]
    scaling: Number | None
    marks: tuple[Mark, ...]
    is_again: bool = False


@dataclass(frozen=True)
class TopTable:
    """A table; ``heads`` name the columns before the numbers, ``columns`` the numbers.
    ``ticks`` are (px, text) of the axis of strips; ``below`` is n and cv of its cells. ``scaling`` explains the
    efficiency, '' without any.
    """

    title: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[TopRow, ...]
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool
    below: str
    scaling: str = ""

    @property
    def unsure(self) -> bool:
        """Return whether any value is unknown."""
        return any(
            CANNOT_TELL in (number.value, number.interval)
            for row in self.rows
            for number in (*row.numbers, *([row.scaling] if row.scaling else []))
        )

    @property
    def is_cut(self) -> bool:
        """Return whether an interval exceeds its strip."""
        return any(mark.cut for row in self.rows for mark in row.marks)

    @property
    def units(self) -> bool:
        """Return whether rows have units of their own."""
        return any(row.unit for row in self.rows)


@dataclass(frozen=True)
class _Frame:
    """Shared context of the rows of a table: its cells, their unit, and the page."""

    cells: Sequence[SummaryRow]
    unit: str
    page: Page
    logarithmic: bool = False

    @cached_property
    def range(self) -> tuple[float, float] | None:
        """Return the ends of the strips; very long intervals exceed them, to keep values distinguishable."""
        values = [row.mean.value for row in self.cells if row.mean.value is not None and row.mean.value > 0]
        if not values:
            return None
        ends = [end for row in self.cells for end in (row.mean.low, row.mean.high) if end is not None]
        return min(values), min(max([*values, *ends]), MOST_STRETCH * max(values))

    @cached_property
    def axis(self) -> StripAxis | None:
        """Return the axis of the strips."""
        return None if self.range is None else StripAxis(*self.range, self.logarithmic)


def build_top_tables(page: Page) -> list[TopTable]:
    """Return the tables of a page; none if its cells are the first table."""
    groups = group_by_key((response.by, response) for response in page.summary)
    tables = [_build_tables_of_factors(group, page) for group in groups.values()]
    return [table for some in tables for table in some] if all(tables) else []


def _build_tables_of_factors(every: Sequence[ResponseSummary], page: Page) -> list[TopTable]:
    """Return the tables of responses that have the same factors."""
    by, settings = every[0].by, list(dict.fromkeys(row.setting for response in every for row in response.rows))
    if len(by) <= 1:
        alone = len(every) > 1 if not by else len(every) >= SEVERAL and 2 <= len(settings) <= _MOST_LEVELS
        return _build_tables(_group_by_unit(every), 0 if by else None, page) if alone else []
    place = choose_column_factor(settings)
    if place is None or len(by) > _MOST_FACTORS or not is_crossed(settings, place):
        return []
    together = _build_tables(_group_by_unit(every), place, page) if len(every) >= SEVERAL else []
    if together and all(len(table.rows) <= MOST_ROWS for table in together):
        return together
    tables = _build_tables([[response] for response in every], place, page)
    return tables if all(len(table.rows) <= MOST_ROWS for table in tables) else []


def count_unfolded_tables(tables: Sequence[TopTable]) -> int:
    """Return how many tables are unfolded."""
    rows = list(accumulate(len(table.rows) for table in tables))
    return max(1, sum(count <= MOST_ROWS for count in rows))


def _group_by_unit(every: Sequence[ResponseSummary]) -> list[list[ResponseSummary]]:
    """Group the responses by unit: a score, which rates everything below it, is the first."""
    groups = group_by_key((_SCORE if _is_score(response) else response.unit, response) for response in every)
    order = [*_UNITS, *groups]
    return [groups[unit] for unit in sorted(groups, key=order.index)]


def _is_score(response: ResponseSummary) -> bool:
    return not response.unit and response.title.startswith(_SCORE)


def _build_tables(groups: Sequence[Sequence[ResponseSummary]], place: int | None, page: Page) -> list[TopTable]:
    """Return a table per group of responses of one unit. All strips are linear, or all are logarithmic."""
    frames = [_Frame([row for response in group for row in response.rows], group[0].unit, page) for group in groups]
    logarithmic = needs_log_scale(frame.range for frame in frames if frame.range is not None)
    return [
        _build_group_table(group, place, replace(frame, logarithmic=logarithmic))
        for group, frame in zip(groups, frames, strict=True)
    ]


def _build_group_table(group: Sequence[ResponseSummary], place: int | None, frame: _Frame) -> TopTable:
    """Return a row per response and setting of the factors that are not columns. The columns are the levels of the
    factor at ``place``, or one column. The title has the name and the unit of a response that is alone."""
    by, page = group[0].by, frame.page
    rest = () if place is None else _drop_place(by, place)
    is_alone = bool(rest) and len(group) == 1
    lines = _list_lines(frame.cells, place)
    rows = [row for response in group for row in _build_rows(response, lines, place, is_alone, frame)]
    counts = page.node_counts()
    columns, scaling = [format_count(counts[-1], page.axis) if counts else "mean"], ""
    if place is not None:
        texts = {row.setting[place]: row.levels[place] for row in frame.cells}
        columns = [_format_column_heading(by[place], texts[key[place]], page) for key in lines[0]]
        if _is_axis(by[place], page) and any(row.scaling for row in rows):
            scaling = f"Efficiency: throughput per {page.axis} at {columns[-1]}, against {columns[0]}"
    return TopTable(
        _format_title(group, is_alone, page),
        rest if is_alone else ("metric", *rest) if rest else (),
        tuple(columns),
        tuple(rows),
        frame.axis.ticks(frame.unit) if frame.axis else (),
        bool(frame.axis and frame.axis.logarithmic),
        format_spread([row.mean.n for row in frame.cells], [row.cv for row in frame.cells]),
        scaling,
    )


def _format_title(group: Sequence[ResponseSummary], is_alone: bool, page: Page) -> str:
    if is_alone:
        title, unit = group[0].title, _choose_response_scale(group[0])[1]
        return f"{title}, {unit}" if title.endswith(" IOPS") else format_column_title(title, unit)  # a name, no unit
    unit = _SCORE if _is_score(group[0]) else group[0].unit
    return page.metric[:1].upper() + page.metric[1:] or _UNITS.get(unit) or unit or "Without a unit"


def _list_lines(cells: Sequence[SummaryRow], place: int | None) -> list[list[Key]]:
    """Return the settings of each line of a response, in the order of the columns."""
    settings = list(dict.fromkeys(row.setting for row in cells))
    if place is None:
        return [settings]
    laid = pivot_items(settings, settings, place)
    return [[(*key[:place], level, *key[place:]) for level in laid.columns] for key in laid.rows]


def _build_rows(
    response: ResponseSummary, lines: Sequence[Sequence[Key]], place: int | None, is_alone: bool, frame: _Frame
) -> Iterator[TopRow]:
    """Yield a row per line in which the response was measured."""
    cells, (divisor, unit) = {row.setting: row for row in response.rows}, _choose_response_scale(response)
    is_again = False
    for line in lines:
        row = next((cells[key] for key in line if key in cells), None)
        if row is None:
            continue
        rest = () if place is None else _drop_place(row.levels, place)
        heads = rest if is_alone else (response.title, *rest)
        scale = (divisor, "" if is_alone else unit)
        yield replace(_build_row(heads, scale, [cells.get(key) for key in line], frame), is_again=is_again)
        is_again = not is_alone


def _drop_place(parts: tuple[Part, ...], place: int) -> tuple[Part, ...]:
    return (*parts[:place], *parts[place + 1 :])


def _choose_response_scale(summary: ResponseSummary) -> tuple[float, str]:
    """Return (divisor, unit) for the values of a response: that of the greatest, as in the text."""
    return choose_human_scale(max(abs(row.mean.value or 0.0) for row in summary.rows), summary.unit)


def _is_axis(factor: str, page: Page) -> bool:
    return factor.replace("_", " ") == pluralize(page.axis)


def _format_column_heading(factor: str, level: str, page: Page) -> str:
    """Format ``2 nodes``, or ``t=64k`` for other factors."""
    return format_count(int(level), page.axis) if _is_axis(factor, page) and level.isdigit() else f"{factor}={level}"


def _build_row(
    heads: tuple[str, ...], scale: tuple[float, str], cells: Sequence[SummaryRow | None], frame: _Frame
) -> TopRow:
    last = cells[-1]
    efficiency = last.efficiency if last else None
    marks = (
        []
        if frame.axis is None
        else [
            _place_mark(cell.mean, place, len(cells), frame.axis)
            for place, cell in enumerate(cells)
            if cell is not None and cell.mean.value is not None
        ]
    )
    scaling = None if efficiency is None else Number(*format_estimate_parts(efficiency, 0.01), efficiency.value)
    return TopRow(
        heads,
        scale[1],
        tuple(
            Number("", "not measured", None)
            if cell is None
            else Number(*format_estimate_parts(cell.mean, scale[0]), cell.mean.value)
            for cell in cells
        ),
        scaling,
        tuple(marks),
    )


def _place_mark(mean: Estimate, place: int, count: int, axis: StripAxis) -> Mark:
    kind = "last" if place == count - 1 else "first" if place == 0 else "between"
    y = STRIP_HEIGHT / 2 if count == 1 else 6 + (STRIP_HEIGHT - 12) * place / (count - 1)
    low, high = (None if end is None else axis.place(end) for end in (mean.low, mean.high))
    return Mark(place, axis.place(mean.value or 0.0), low, high, y, kind, axis.cut(mean.low, mean.high))
