"""Rows → cells: the trials at one setting, and columns that vary inside them.

A cell is the unit of a statistic: one response at one combination of the grouping columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.arrays import compute_median, count_distinct
from iosonde.core.errors import DataError
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.table import Cell as Level
from iosonde.core.table import Table, group_rows

from ..regression import strata
from .measured_order import find_measured_order

AVERAGED_BRING_UPS = Message("averaged-bring-ups", "n counts bring-ups: the trials that share one are averaged first")


_FEW = 4  # with more factors, those without a level are omitted from a name


@dataclass(frozen=True)
class Grid:
    """Grouping columns, coded: name → (level number of each row, the levels)."""

    columns: dict[str, tuple[npt.NDArray[np.intp], list[Level]]]


class Setting(Mapping[str, Level]):
    """The levels at one row of a grid, looked up lazily: a table may have a million cells."""

    __slots__ = ("grid", "row")

    def __init__(self, grid: Grid, row: int) -> None:
        self.grid, self.row = grid, row

    def __getitem__(self, name: str) -> Level:
        codes, levels = self.grid.columns[name]
        return levels[int(codes[self.row])]

    def __iter__(self) -> Iterator[str]:
        return iter(self.grid.columns)

    def __len__(self) -> int:
        return len(self.grid.columns)


class Places(Sequence[str]):
    """The origin of each of these rows of a table, formatted lazily."""

    __slots__ = ("_rows", "_table")

    def __init__(self, table: Table, rows: npt.NDArray[np.intp]) -> None:
        self._table, self._rows = table, rows

    def __getitem__(self, at: Any) -> Any:
        rows = self._rows[at]
        return [self._table.place(int(row)) for row in rows] if isinstance(at, slice) else self._table.place(int(rows))

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True)
class TrialCell:
    """The trials of one response at one setting, in the order of the table (or of time if known).

    ``places``: origin of each value (line, or run); ``operation`` is empty for a plain table. ``within_run``: the
    values are a tool's own iterations inside one execution, not trials. ``units``: of the levels. ``bring_ups``
    numbers, for each value, the bring-ups that it shares with others of its response, the outermost first; None if none
    are shared. ``times`` of the values rise with time; None if unknown. ``log_base``: of values that are logarithms.
    ``others`` numbers, for each value, the combination of the known settings that vary inside the cell; None if none
    does. ``is_from_moments``: the values have the mean and the spread of trials that are not known one by one.
    """

    by: Mapping[str, Level]
    metric: str
    unit: str
    values: npt.NDArray[np.float64]
    operation: str = ""
    rows: npt.NDArray[np.intp] | None = None
    places: Sequence[str] = ()
    within_run: bool = False
    units: Mapping[str, str] = field(default_factory=dict)
    bring_ups: npt.NDArray[np.intp] | None = None
    times: npt.NDArray[Any] | None = None
    log_base: float | None = None
    others: npt.NDArray[np.intp] | None = None
    is_from_moments: bool = False

    def split_by_others(self) -> list["TrialCell"]:
        """Return a cell for each combination of all known settings, whose trials differ in nothing but time."""
        if self.others is None:
            return [self]
        return [
            replace(
                self,
                values=self.values[at],
                rows=None if self.rows is None else self.rows[at],
                places=[self.places[int(place)] for place in at[: len(self.places)]],
                bring_ups=None if self.bring_ups is None else self.bring_ups[at],
                times=None if self.times is None else self.times[at],
                others=self.others[at],
            )
            for at in (np.flatnonzero(self.others == number) for number in np.unique(self.others))
        ]

    def average_iterations(self) -> "TrialCell":
        """Return one value per execution, the mean of its iterations; the same cell if its values are trials."""
        if not self.within_run or not self.values.size:
            return self
        runs = self.places if len(self.places) == self.values.size else [""] * self.values.size
        first = list({run: place for place, run in reversed(list(enumerate(runs)))}.values())[::-1]
        return replace(
            self,
            values=compute_group_means(self.values, np.unique(runs, return_inverse=True)[1].reshape(-1)),
            rows=None,
            places=[runs[place] for place in first],
            within_run=False,
            bring_ups=None,
            times=None if self.times is None else self.times[first],
            others=None if self.others is None else self.others[first],
        )

    @property
    def n(self) -> int:
        """Return the number of independent trials: iterations inside one run count once, and so do trials of one
        bring-up."""
        return 1 if self.within_run else int(self.independent.size)

    @property
    def independent(self) -> npt.NDArray[np.float64]:
        """Return the values, averaged per bring-up: n of a mean counts independent values."""
        return self.average_by_bring_up(self.values)

    def average_by_bring_up(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Average numbers of its trials in each bring-up, in the order of their first."""
        return values if self.bring_ups is None else compute_group_means(values, self.bring_ups[:, 0])

    @property
    def name(self) -> str:
        """Return the name of the cell: ``create, nodes=2``; without levels the metric."""
        setting = format_setting(select_stated_levels(self.by, self.operation), self.units)
        return ", ".join(part for part in (self.operation, setting) if part) or self.metric


def select_stated_levels(by: Mapping[str, Level], operation: str) -> dict[str, Level]:
    """Return the levels that name a cell: a tool does not state a setting that it lacks (``operation`` is not empty),
    and of many factors of a table only those with a level do."""
    is_short = bool(operation) or len(by) > _FEW
    return {name: level for name, level in by.items() if level is not None or not is_short}


@dataclass(frozen=True)
class MeasuredCells:
    """The trials of a store: its cells, the ``rows`` that they number (one per trial and metric, by time), the factors
    ``by`` which they are grouped, and warnings. ``together``: factor → the columns that always change with it."""

    cells: tuple[TrialCell, ...]
    rows: Table
    by: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def compute_sample_median(values: npt.NDArray[np.float64]) -> float:
    """Return the median; fast for a single trial, as a table may have a million such cells."""
    return float(values[0]) if values.size == 1 else compute_median(values)


def compute_group_means(values: npt.NDArray[np.float64], groups: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return the mean of each group, in the order of first occurrence."""
    _, first, of = np.unique(groups, return_index=True, return_inverse=True)
    return (
        values
        if first.size == values.size
        else np.asarray((np.bincount(of, values) / np.bincount(of))[np.argsort(first)])
    )


def group_into_cells(table: Table, responses: Sequence[str], by: Sequence[str]) -> list[TrialCell]:
    """Return a cell per group and response; missing responses are left out (and listed by :func:`missing_values`).

    Raises DataError for an empty table, a response that is not numeric, or a response that is a grouping column.
    """
    if len(table) == 0:
        raise DataError(
            "empty-table",
            "{source} has no rows",
            "give a table with at least one measurement",
            source=table.source or "the table",
        )
    grid = Grid({column.name: column.codes() for column in map(table.column, by)})
    units = table.level_units(grid.columns)
    groups = group_rows([(codes, len(levels)) for codes, levels in grid.columns.values()], len(table))
    shared = number_shared_bring_ups(table)
    cells = []
    for response in responses:
        column, values = table.column(response), table.numbers(response)
        if column.name in grid.columns:
            raise DataError(
                "response-as-factor",
                "column '{column}' is both the response and grouped by",
                "remove it from {spell.by}",
                column=column.name,
            )
        if np.all(np.isnan(values)):
            raise DataError(
                "empty-column",
                "{source}: column '{column}' has no values",
                "choose another column",
                source=table.source or "the table",
                column=column.name,
            )
        is_present, order = ~np.isnan(values), find_measured_order(table, (column.name, *grid.columns))
        complete = bool(is_present.all())
        for rows in groups:
            present = rows if complete else rows[is_present[rows]]
            cells.append(
                TrialCell(
                    Setting(grid, rows[0]),
                    column.name,
                    column.unit,
                    values[present],
                    "",
                    present,
                    Places(table, present),
                    units=units,
                    bring_ups=None if shared is None else shared[present],
                    times=present if order is None else order[present],
                    is_from_moments=bool(table.row_statistics),
                )
            )
    return cells


def note_other_settings(cells: Sequence[TrialCell], table: Table, names: Sequence[str]) -> list[TrialCell]:
    """Return the cells, whose ``rows`` are of the table, with the known settings ``names`` that vary inside them."""
    numbers = table.number_groups(names)
    return [cell if cell.rows is None or not names else replace(cell, others=numbers[cell.rows]) for cell in cells]


def number_shared_bring_ups(table: Table) -> npt.NDArray[np.intp] | None:
    """Return the bring-ups that rows share, one row per trial, as in ``TrialCell``."""
    units = strata.list_nested_units(table)
    return np.column_stack(units) if units else None


def find_shared_grid(cells: Sequence[TrialCell]) -> tuple[Grid, npt.NDArray[np.intp]] | None:
    """Return the common grid of these cells, and a row of each; None if they have several grids, or none."""
    settings = [cell.by for cell in cells if isinstance(cell.by, Setting)]
    if not settings or len(settings) < len(cells) or len({id(setting.grid) for setting in settings}) > 1:
        return None
    return settings[0].grid, np.array([setting.row for setting in settings], dtype=np.intp)


def list_missing_values(table: Table, response: str) -> list[str]:
    """Return the rows without a value of a response."""
    return [table.place(int(row)) for row in np.flatnonzero(np.isnan(table.numbers(response)))]


def find_hidden_factors(
    table: Table, cells: Sequence[TrialCell], leave_out: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Find columns that are not grouping columns but vary inside a cell: column → names of the cells.

    A column that only numbers the trials of a cell (all values distinct inside every cell), or that is another
    measurement (values hardly ever repeat), is not a factor. Missing values are ignored.
    """
    used = {name for cell in cells for name in cell.by} | {cell.metric for cell in cells} | set(leave_out)
    hidden = {}
    for name, column in table.columns.items():
        if name in used:
            continue
        codes, levels = column.codes()
        actual_levels = [level for level in levels if level is not None]
        if len(actual_levels) < 2 or 2 * len(actual_levels) > len(table):
            continue
        inside = [(cell, codes[cell.rows[~column.missing[cell.rows]]]) for cell in cells if cell.rows is not None]
        # Numbers that are distinct in every cell count its trials; distinct text may still be a setting.
        if column.numeric and all(count_distinct(cell_codes) == cell_codes.size for _, cell_codes in inside):
            continue
        varying = [cell.name for cell, cell_codes in inside if count_distinct(cell_codes) > 1]
        if varying:
            hidden[name] = list(dict.fromkeys(varying))
    return hidden
