"""Columns of text whose cells hold values with their units, ``99.8 MB/s``: read as numbers where they were measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iosonde.core.column_units import is_rate
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.quantities import parse_quantity
from iosonde.core.table import Column, Table

from .looks import MIN_DISTINCT_SHARE, distinct_share, has_metric_name, has_metric_unit, is_surely_measured


def with_numbers(table: Table) -> Table:
    """The table in which such columns hold numbers in base units, with a warning that says so."""
    converted = [result for column in table.columns.values() if (result := _convert_column(column, table)) is not None]
    if not converted:
        return table
    template = "column '{column}' has cells with units, which are read in {unit}"
    warnings = [Message("cells-with-units", template, column=column.name, unit=column.unit) for column in converted]
    columns = {**table.columns, **{column.name: column for column in converted}}
    return replace(table, columns=columns, warnings=(*table.warnings, *warnings))


def check_unit(table: Table, column: Column) -> None:
    """Raise DataError at the first cell that lacks the unit which others have, or has one of another kind."""
    units = [None if value is None else parse_quantity(str(value)) for value in column.values]
    first = next((unit for unit in units if unit is not None), None)
    if first is None:
        return
    for row, quantity in enumerate(units):
        if column.values[row] is not None and (quantity is None or quantity[1] != first[1]):
            raise DataError(
                "unit-mismatch",
                "{row}, column '{column}': '{cell}' is no value in {unit}",
                "write it as the others, like 99.8 MB/s, 12 ms or 3.4 kop/s",
                row=table.place(row),
                column=column.name,
                cell=column.values[row],
                unit=first[1],
            )


def _convert_column(column: Column, table: Table) -> Column | None:
    """The column as numbers; None where it is no such column, or was not measured as far as can be seen."""
    present = None if column.numeric else [value for value in column.values if value is not None]
    if not present or parse_quantity(str(present[0])) is None or not _is_measured(column, table):
        return None
    cells = [None if value is None else parse_quantity(str(value)) for value in column.values]
    units = {cell[1] for cell in cells if cell is not None}
    if len(units) > 1 or any(
        (cell is None) != (value is None) for cell, value in zip(cells, column.values, strict=True)
    ):
        return None
    values = np.array([np.nan if cell is None else cell[0] for cell in cells])
    return Column(column.name, values, column.label, units.pop())


def _is_measured(column: Column, table: Table) -> bool:
    """By its name, its header's unit, or as a rate of which hardly any comes twice. Where few do, and something else
    was measured, it is a setting."""
    distinct = distinct_share(column) > MIN_DISTINCT_SHARE
    if not distinct and any(is_surely_measured(other) for other in table.columns.values()):
        return False
    return has_metric_name(column) or has_metric_unit(column) or (distinct and holds_rates(column))


def holds_rates(column: Column) -> bool:
    """Whether its first cell is a rate with its unit."""
    first = next((value for value in column.values if value is not None), None)
    quantity = None if first is None else parse_quantity(str(first))
    return quantity is not None and is_rate(quantity[1])
