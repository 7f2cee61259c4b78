"""Text columns whose cells are values with units, such as ``99.8 MB/s``; measured ones are converted to numbers."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.column_units import is_rate
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.table import Column, Table
from iosonde.core.units import parse_rate, parse_seconds
from iosonde.tables.decorated_numbers import convert_rates
from iosonde.tables.impossible_numbers import drop_impossible_numbers

from .looks import has_metric_name, has_metric_unit, is_mostly_distinct, is_surely_measured

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_OPERATIONS = re.compile(rf"\s*({_NUMBER})\s*([kKmM]?)\s*(?:(?:ops?|req)/s|iops)\s*", re.IGNORECASE)
_SECONDS = re.compile(
    rf"\s*{_NUMBER}\s*(?:ns|us|µs|ms|s|sec|min|h)\s*"
    rf"|\s*(?=.*[a-z]\s*\d)(?:{_NUMBER}\s*d\s*)?(?:{_NUMBER}\s*h\s*)?(?:{_NUMBER}\s*m(?:in)?\s*)?(?:{_NUMBER}\s*s(?:ec)?)?\s*"
)
_POWERS = {"": 1.0, "k": 1e3, "m": 1e6}


def convert_quantity_columns(table: Table) -> Table:
    """Convert such columns to numbers in base units, with a warning, and drop numbers that are impossible."""
    converted = [result for column in table.columns.values() if (result := _convert_column(column, table)) is not None]
    warnings = [
        Message(
            "cells-with-units",
            "column '{column}' has cells with units, which are converted to {unit}",
            column=column.name,
            unit=column.unit,
        )
        for column in converted
    ]
    columns = {**table.columns, **{column.name: column for column in converted}}
    return drop_impossible_numbers(
        convert_rates(replace(table, columns=columns, warnings=(*table.warnings, *warnings)))
    )


def check_unit(table: Table, column: Column) -> None:
    """Check that all cells have a unit of the same kind. Raises DataError at the first that does not."""
    cells = _parse_cells(column)
    unit = next((cell[1] for cell in cells if cell is not None), None)
    for row, cell in enumerate(cells):
        if unit is not None and column.values[row] is not None and (cell is None or cell[1] != unit):
            raise DataError(
                "unit-mismatch",
                "{row}, column '{column}': '{cell}' is not a value in {unit}",
                "write it like the others, such as 99.8 MB/s, 12 ms or 3.4 kop/s",
                row=table.place(row),
                column=column.name,
                cell=column.values[row],
                unit=unit,
            )


def _convert_column(column: Column, table: Table) -> Column | None:
    """Convert the column to numbers; None if its cells have no units, or it does not look measured."""
    if column.numeric or _parse_first(column) is None or not is_measured_text(column, list(table.columns.values())):
        return None
    cells, missing = _parse_cells(column), column.missing
    units = {None if cell is None else cell[1] for cell, absent in zip(cells, missing, strict=True) if not absent}
    unit = units.pop()
    if units or unit is None:
        return None
    values = np.array([np.nan if cell is None else cell[0] for cell in cells])
    return Column(column.name, values, column.label, unit)


def is_measured_text(column: Column, columns: Sequence[Column]) -> bool:
    """Return whether a column of text is measured: by its name, its header's unit, or as a rate with hardly any
    duplicates, or a time where no other column is measured. With many duplicates it is a setting if another column was
    measured."""
    distinct, is_rival = is_mostly_distinct(column), any(is_surely_measured(other) for other in columns)
    if not distinct and is_rival:
        return False
    first = _parse_first(column)
    is_quantity = first is not None and distinct
    has_rates = is_quantity and _has_rates(column)
    is_time = is_quantity and not is_rival and not any(map(_has_rates, columns))
    return has_metric_name(column) or has_metric_unit(column) or has_rates or is_time


def _has_rates(column: Column) -> bool:
    first = None if column.numeric else _parse_first(column)
    return first is not None and is_rate(first[1])


def _parse_first(column: Column) -> tuple[float, str] | None:
    return next((parse_quantity(str(value)) for value in column.values if value is not None), None)


def _parse_cells(column: Column) -> list[tuple[float, str] | None]:
    return [None if value is None else parse_quantity(str(value)) for value in column.values]


def parse_quantity(text: str) -> tuple[float, str] | None:
    """Parse a rate or time with its unit into (value, base unit); None for anything else, also a number without
    a unit."""
    if match := _OPERATIONS.fullmatch(text):
        return float(match[1]) * _POWERS[match[2].lower()], "operations/s"
    try:
        if _SECONDS.fullmatch(text):
            return parse_seconds(text.strip()), "s"
        return parse_rate(text), "bytes/s"
    except InputError:
        return None
