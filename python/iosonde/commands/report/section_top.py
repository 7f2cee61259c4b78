"""The first table of the page: the settings as ``summary`` lays them out, and strips of their intervals.
With at most one factor every metric is a row, a table per unit. With several factors each metric is a table with
columns by one of them. If neither is possible the cells are the first table (``build_summary_table``). All strips of a
table share one axis: from zero, or logarithmic if values lie more than twenty-fold apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

from iosonde.commands.plot.figure_bars import MOST_STRETCH
from iosonde.commands.regress.content import ResponseSummary, SummaryRow
from iosonde.commands.summary.text_layout import SEVERAL, Key, choose_column_factor, format_spread, pivot_items
from iosonde.core.column_units import format_column_title
from iosonde.core.estimate_text import CANNOT_TELL, format_estimate_parts
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_count, pluralize
from iosonde.page.strip import STRIP_HEIGHT, Mark, StripAxis

from .content import Page

MOST_ROWS = 30  # rows of all unfolded tables
_MOST_LEVELS = 6  # levels of one factor, as columns
Part = TypeVar("Part")
_UNITS = {"bytes/s": "Bandwidth", "operations/s": "Operation rate", "s": "Time"}


@dataclass(frozen=True)
class Number:
    """A value and its interval as text; ``sort`` is the base-unit value, for sorting."""

    value: str
    interval: str
    sort: float | None


@dataclass(frozen=True)
class TopRow:
    """A metric, or a setting of the factors that are not columns."""

    heads: tuple[str, ...]
    unit: str
    numbers: tuple[Number, ...]
    scaling: Number | None
    marks: tuple[Mark, ...]


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

    @cached_property
    def axis(self) -> StripAxis | None:
        """Return the axis of the strips; very long intervals exceed it, to keep values distinguishable."""
        values = [row.mean.value for row in self.cells if row.mean.value is not None and row.mean.value > 0]
        if not values:
            return None
        ends = [end for row in self.cells for end in (row.mean.low, row.mean.high) if end is not None]
        return StripAxis(min(values), min(max([*values, *ends]), MOST_STRETCH * max(values)))


def build_top_tables(page: Page) -> list[TopTable]:
    """Return the tables of a page; none if its cells are the first table."""
    every = page.summary
    if not every:
        return []
    by, settings = every[0].by, list(dict.fromkeys(row.setting for response in every for row in response.rows))
    if (not by and len(every) > 1) or (len(by) == 1 and len(every) >= SEVERAL and 2 <= len(settings) <= _MOST_LEVELS):
        units = sorted(dict.fromkeys(response.unit for response in every), key=_get_unit_sort_key)
        return [
            _build_unit_table([response for response in every if response.unit == unit], settings, page)
            for unit in units
        ]
    place = choose_column_factor(settings)
    tables = [] if place is None else [_build_response_table(response, place, page) for response in every]
    return tables if all(len(table.rows) <= MOST_ROWS for table in tables) else []


def count_unfolded_tables(tables: Sequence[TopTable]) -> int:
    """Return how many tables are unfolded."""
    rows = list(accumulate(len(table.rows) for table in tables))
    return max(1, sum(count <= MOST_ROWS for count in rows))


def _get_unit_sort_key(unit: str) -> int:
    return list(_UNITS).index(unit) if unit in _UNITS else len(_UNITS)


def _build_unit_table(every: Sequence[ResponseSummary], settings: Sequence[Key], page: Page) -> TopTable:
    """Return a row per response, with columns by the levels of the only factor, or one column."""
    by, unit = every[0].by, every[0].unit
    cells = [row for response in every for row in response.rows]
    frame, levels_by_setting = _Frame(cells, unit, page), {row.setting: row.levels for row in cells}
    rows = [
        _build_row((response.title,), _choose_response_scale(response), [of.get(key) for key in settings], frame)
        for response in every
        for of in [{row.setting: row for row in response.rows}]
    ]
    heads = [
        _format_column_heading(by[0], levels_by_setting[key][0], page) if by else _format_single_column_heading(page)
        for key in settings
        if key in levels_by_setting
    ]
    scaling = _describe_scaling(by[0], heads, page) if by else ""
    name = page.metric[:1].upper() + page.metric[1:]
    return _build_table((name or _UNITS.get(unit, unit), (), heads, scaling), rows, frame)


def _build_response_table(summary: ResponseSummary, place: int, page: Page) -> TopTable:
    """Return a row per setting of the other factors."""
    frame, (divisor, unit) = _Frame(summary.rows, summary.unit, page), _choose_response_scale(summary)
    laid = pivot_items([row.setting for row in summary.rows], summary.rows, place)
    levels_by_key = {row.setting[place]: row.levels[place] for row in summary.rows}
    texts = {_drop_place(row.setting, place): _drop_place(row.levels, place) for row in summary.rows}
    heads = [_format_column_heading(summary.by[place], levels_by_key[level], page) for level in laid.columns]
    rows = [
        _build_row(texts[key], (divisor, ""), [laid.cells.get((key, level)) for level in laid.columns], frame)
        for key in laid.rows
    ]
    return _build_table(
        (
            format_column_title(summary.title, unit),
            _drop_place(summary.by, place),
            heads,
            _describe_scaling(summary.by[place], heads, page),
        ),
        rows,
        frame,
    )


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


def _format_single_column_heading(page: Page) -> str:
    """Return the heading of the only column, if nothing varied."""
    counts = page.node_counts()
    return format_count(counts[-1], page.axis) if counts else "mean"


def _describe_scaling(factor: str, heads: Sequence[str], page: Page) -> str:
    return (
        f"Efficiency: throughput per {page.axis} at {heads[-1]}, against {heads[0]}" if _is_axis(factor, page) else ""
    )


def _build_table(
    labels: tuple[str, tuple[str, ...], Sequence[str], str], rows: Sequence[TopRow], frame: _Frame
) -> TopTable:
    title, heads, columns, scaling = labels
    return TopTable(
        title,
        heads,
        tuple(columns),
        tuple(rows),
        frame.axis.ticks(frame.unit) if frame.axis else (),
        bool(frame.axis and frame.axis.logarithmic),
        format_spread([row.mean.n for row in frame.cells], [row.cv for row in frame.cells]),
        scaling if any(row.scaling for row in rows) else "",
    )


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
    return TopRow(heads, scale[1], tuple(_build_number(cell, scale[0]) for cell in cells), scaling, tuple(marks))


def _build_number(cell: SummaryRow | None, divisor: float) -> Number:
    return (
        Number("", "not measured", None)
        if cell is None
        else Number(*format_estimate_parts(cell.mean, divisor), cell.mean.value)
    )


def _place_mark(mean: Estimate, place: int, count: int, axis: StripAxis) -> Mark:
    kind = "last" if place == count - 1 else "first" if place == 0 else "between"
    y = STRIP_HEIGHT / 2 if count == 1 else 6 + (STRIP_HEIGHT - 12) * place / (count - 1)
    low, high = (None if end is None else axis.place(end) for end in (mean.low, mean.high))
    return Mark(place, axis.place(mean.value or 0.0), low, high, y, kind, axis.cut(mean.low, mean.high))
