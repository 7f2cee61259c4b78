"""A summary on the page: numbers as text in one unit, and each cell's interval on a shared strip."""

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.commands.regress.content import ResponseSummary, SummaryRow
from iosonde.core.grouping import group_by_key
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.layout.text import CANNOT_TELL, format_estimate_parts
from iosonde.page.strip import STRIP_HEIGHT, Mark, StripAxis, needs_log_scale

_MOST_STRETCH = 2.0
MOST_ROWS = 100
MOST_FACTORS = 6  # factors with columns of their own
FOLD_BEYOND = 12  # of more cells, only the lowest and the highest are unfolded


@dataclass(frozen=True)
class TableLine:
    """A cell: levels, then (value, interval) of mean, median and harmonic mean as text, spread, and its mark."""

    levels: tuple[str, ...]
    n: int
    mean: tuple[str, str]
    median: tuple[str, str]
    harmonic: tuple[str, str]
    sd: str
    cv: str
    efficiency: tuple[str, str]
    mark: Mark | None


@dataclass(frozen=True)
class SummaryTable:
    """Cells of one response; ``by`` are the headings of its first columns.
    ``left_out`` counts cells that are only in the CSV. ``ends`` are the cells of the lowest and highest mean if the
    others are folded. ``logarithmic`` describes the axis of its strips.
    """

    summary: ResponseSummary
    unit: str
    by: tuple[str, ...]
    lines: tuple[TableLine, ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: int
    ends: tuple[TableLine, ...] = ()
    logarithmic: bool = False

    @property
    def n_cells(self) -> int:
        """Return the number of cells, shown or not."""
        return len(self.summary.rows)

    @property
    def scaling(self) -> bool:
        """Return whether any cell has an efficiency."""
        return any(row.efficiency is not None for row in self.summary.rows)

    @property
    def is_cut(self) -> bool:
        """Return whether an interval exceeds its strip."""
        return any(line.mark and line.mark.cut for line in (*self.lines, *self.ends))

    @property
    def unsure(self) -> bool:
        """Return whether any value is unknown."""
        return any(CANNOT_TELL in (*line.mean, *line.median, line.sd, line.cv) for line in (*self.lines, *self.ends))


def build_summary_tables(summaries: Sequence[ResponseSummary]) -> list[SummaryTable]:
    """Return a table per response. All strips are linear, or all are logarithmic."""
    ranges = [_find_range(_select_rows(summary)) for summary in summaries]
    logarithmic = needs_log_scale(ends for ends in ranges if ends is not None)
    return [
        _build_summary_table(summary, None if ends is None else StripAxis(*ends, logarithmic))
        for summary, ends in zip(summaries, ranges, strict=True)
    ]


def group_tables(tables: Sequence[SummaryTable]) -> list[list[SummaryTable]]:
    """Group the tables that have the same columns."""
    return list(group_by_key((table.by, table) for table in tables).values())


def _select_rows(summary: ResponseSummary) -> tuple[SummaryRow, ...]:
    return (*summary.rows[:MOST_ROWS], *_select_ends(summary.rows))


def _build_summary_table(summary: ResponseSummary, axis: StripAxis | None) -> SummaryTable:
    """Return the rows of one response, in the unit of the largest mean."""
    rows, ends = summary.rows[:MOST_ROWS], _select_ends(summary.rows)
    means = [abs(row.mean.value) for row in (*rows, *ends) if row.mean.value is not None]
    divisor, unit = choose_human_scale(max(means, default=0.0), summary.unit)
    by = summary.by if len(summary.by) <= MOST_FACTORS else ("setting",)
    lines = tuple(_build_line(row, divisor, axis, _format_level_cells(row, summary)) for row in rows)
    ticks = axis.ticks(summary.unit) if axis else ()
    folded = tuple(_build_line(row, divisor, axis, _format_level_cells(row, summary)) for row in ends)
    return SummaryTable(
        summary, unit, by, lines, ticks, len(summary.rows) - len(rows), folded, axis is not None and axis.logarithmic
    )


def _select_ends(rows: Sequence[SummaryRow]) -> tuple[SummaryRow, ...]:
    """Return the cells of the lowest and the highest mean if there are many."""
    measured_rows = [row for row in rows if row.mean.value is not None]
    if len(rows) <= FOLD_BEYOND or len(measured_rows) < 2:
        return ()
    low, high = (pick(measured_rows, key=lambda row: row.mean.value or 0.0) for pick in (min, max))
    return (low, high)


def _format_level_cells(row: SummaryRow, summary: ResponseSummary) -> tuple[str, ...]:
    """Return a cell per level; for many factors, one cell with the levels that are set."""
    if len(summary.by) <= MOST_FACTORS:
        return row.levels
    cells = zip(summary.by, row.levels, row.setting, strict=True)
    return (", ".join(f"{name}={level}" for name, level, value in cells if value is not None),)


def _build_line(row: SummaryRow, divisor: float, axis: StripAxis | None, levels: tuple[str, ...]) -> TableLine:
    def format_plain(value: float | None) -> str:
        return CANNOT_TELL if value is None else format_significant(value / divisor)

    return TableLine(
        levels,
        row.mean.n,
        format_estimate_parts(row.mean, divisor),
        format_estimate_parts(row.median, divisor),
        (CANNOT_TELL, "") if row.harmonic_mean is None else format_estimate_parts(row.harmonic_mean, divisor),
        format_plain(row.sd),
        CANNOT_TELL if row.cv is None else f"{format_significant(100 * row.cv, 2)} %",
        ("", "") if row.efficiency is None else format_estimate_parts(row.efficiency),
        _place_mark(row, axis),
    )


def _find_range(rows: Sequence[SummaryRow]) -> tuple[float, float] | None:
    """Return the ends of the strips, from the least value or below zero; very long intervals exceed them, to keep
    means distinguishable."""
    values = [row.mean.value for row in rows if row.mean.value is not None]
    if not values:
        return None
    lows = [row.mean.low for row in rows if row.mean.low is not None]
    most = max([*values, *(row.mean.high for row in rows if row.mean.high is not None)])
    reach = _MOST_STRETCH * max(abs(value) for value in values)
    least = min(values)
    return least if least > 0 else max(-reach, min([least, *lows])), min(most, reach)


def _place_mark(row: SummaryRow, axis: StripAxis | None) -> Mark | None:
    if axis is None or row.mean.value is None:
        return None
    low, high = (None if end is None else axis.place(end) for end in (row.mean.low, row.mean.high))
    cut = axis.cut(row.mean.low, row.mean.high)
    return Mark(0, axis.place(row.mean.value), low, high, STRIP_HEIGHT / 2, "last", cut)
