"""Split a table into series: the rates of the trials at each number of nodes, one series for each other setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iosonde.core.column_units import TIME_UNITS
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Cell, Table, tidy_number
from iosonde.stats.estimate.missing import build_missing_row_warnings

_MOST = 10**7


@dataclass(frozen=True)
class Series:
    """``trials`` maps each size to the rates of its trials, in ``unit``; ``by`` is the setting of this series, with the
    ``units`` of its levels."""

    on: str
    response: str
    unit: str
    by: dict[str, Cell]
    trials: dict[float, list[float]]
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def sizes(self) -> list[float]:
        """The sizes, ascending."""
        return sorted(self.trials)

    def to_json(self) -> dict[str, Any]:
        """Return the names of the series."""
        return {"on": self.on, "response": self.response, "unit": self.unit, "by": self.by}


def build_series(
    table: Table, response: str, on: str, by: Sequence[str], is_time: bool = False
) -> tuple[list[Series], list[str]]:
    """Return (series, notes on the rows): rows without a value are left out and counted.

    ``is_time``: the response is the time of a fixed amount of work, and the rate is 1 ÷ it. Raises DataError for a size
    that is not a whole number from 1, a rate that is not positive, or a table without rows.
    """
    column = table.column(response)
    if len(table) == 0:
        raise DataError(
            "empty-table",
            "{source} holds no rows",
            "give a table with measurements",
            source=table.source or "the table",
        )
    if len({column.name, table.column(on).name, *(table.column(name).name for name in by)}) < 2 + len(by):
        raise InputError(
            "duplicate-column",
            "a column is named twice among {spell.response}, {spell.on} and {spell.by}",
            "name each once",
        )
    sizes, rates = table.numbers(on), table.numbers(response)
    if column.unit in TIME_UNITS and not is_time:
        raise InputError(
            "not-a-rate",
            "'{column}' is a time, not a rate",
            "if every trial did the same work, add {spell.of_time}",
            column=column.name,
        )
    complete = ~np.isnan(sizes) & ~np.isnan(rates)
    _raise_if_invalid_rows(table, sizes, rates, complete, column.name, table.column(on).name)
    values = 1 / rates if is_time else rates
    unit = f"1/{column.unit or column.name}" if is_time else column.unit
    series = []
    for key, rows in table.take(complete).groups(by):
        trials: dict[float, list[float]] = {}
        for size, rate in zip(sizes[complete][rows], values[complete][rows], strict=True):
            trials.setdefault(float(size), []).append(float(rate))
        names = [table.column(name).name for name in by]
        series.append(
            Series(
                table.column(on).name,
                column.name,
                unit,
                dict(zip(names, key, strict=True)),
                trials,
                table.level_units(names),
            )
        )
    return series, build_missing_row_warnings(int((~complete).sum()), len(table))


def _raise_if_invalid_rows(table: Table, sizes: Any, rates: Any, complete: Any, response: str, on: str) -> None:
    if not complete.any():
        raise DataError(
            "no-complete-rows",
            "no row has both {response} and {column}",
            "look at empty cells",
            response=response,
            column=on,
        )
    wrong = complete & ((sizes < 1) | (sizes != np.floor(sizes)) | (sizes > _MOST))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            "invalid-node-count",
            "{row}, column '{column}': {size} is not a number of nodes or ranks",
            "name with {spell.on} a column of whole numbers from 1 to {limit:,}",
            row=table.place(row),
            column=on,
            size=tidy_number(sizes[row]),
            limit=_MOST,
        )
    wrong = complete & (rates <= 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            "not-a-rate",
            "{row}, column '{response}': {rate} is not a rate",
            "leave such trials out, as {spell.where:'{response}>0'}",
            row=table.place(row),
            response=response,
            rate=tidy_number(rates[row]),
        )
