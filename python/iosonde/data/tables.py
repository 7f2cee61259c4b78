"""Read a file, or a table in memory, into a Table: ``.csv``, ``.xlsx``, ``.parquet``, or any Arrow stream."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import Column, Table, build_column
from iosonde.core.where import find_matching_rows
from iosonde.tables.content import get_suffix
from iosonde.tables.content import is_pipe as is_pipe
from iosonde.tables.dates import normalize_dates as normalize_dates
from iosonde.tables.read import read_table

from .cells_with_units import convert_quantity_columns
from .stated_roles import restore_roles

_NUMBERS = ("int", "uint", "float", "double", "half", "decimal")


def read_file(name: str) -> Table:
    """Read the table in a file, by its suffix and its first bytes; ``-`` is standard input. Raises InputError,
    DataError."""
    if get_suffix(name) in (".parquet", ".pq"):
        from iosonde.store.foreign import read_parquet

        return convert_quantity_columns(table_from_arrow(read_parquet(Path(name)), name))
    return convert_quantity_columns(read_table(name))


def table_from_memory(table: Any) -> Table:
    """Read a table of pandas, polars, DuckDB, Arrow: any object with ``__arrow_c_stream__``. Raises InputError,
    DataError."""
    if isinstance(table, Table):
        return table
    if not hasattr(table, "__arrow_c_stream__") and hasattr(table, "collect"):
        raise InputError(
            "lazy-table",
            "a {type_name} has no rows yet",
            "collect it first: .collect()",
            type_name=type(table).__name__,
        )
    if not hasattr(table, "__arrow_c_stream__"):
        raise InputError(
            "not-a-table",
            "a {type_name} is not a table",
            "use a path, or a table of pandas, polars, DuckDB or Arrow",
            type_name=type(table).__name__,
        )
    from iosonde.store.foreign import table_from_stream

    return convert_quantity_columns(table_from_arrow(table_from_stream(table), "the table", nan_is_missing=True))


def table_from_arrow(table: Any, source: str = "", *, nan_is_missing: bool = False) -> Table:
    """Convert a pyarrow.Table. A NaN that is not null becomes text, so that no computation uses it unnoticed;
    ``nan_is_missing``: it is a missing value, as NumPy and pandas write it."""
    from iosonde.store.arrays import MANY, PROFILE_KEY, column_to_floats, column_to_texts

    columns: dict[str, Column] = {}
    for place, name in enumerate(table.column_names):
        if name in columns:
            raise DataError(
                "duplicate-column",
                "{source}: duplicate column '{column}'",
                "give every column a unique name",
                source=source,
                column=name,
            )
        label, unit = split_unit(name)
        column, kind = table.column(place), str(table.schema.field(place).type)
        if kind.startswith(_NUMBERS):
            values, absent = column_to_floats(column)
            absent = np.isnan(values) if nan_is_missing else absent
            if np.isfinite(values[~absent]).all() and not absent.all():
                columns[name] = Column(name, values, label, unit)
                continue
        if kind in ("string", "large_string") and len(column) > MANY:
            columns[name] = Column(name, column_to_texts(column), label, unit)
        else:
            cells = [
                None if cell is None else str(cell) if isinstance(cell, float) else cell for cell in column.to_pylist()
            ]
            columns[name] = build_column(name, cells, label, unit)
    metadata = table.schema.metadata or {}
    return restore_roles(Table(columns, source), metadata.get(PROFILE_KEY, b""))


def filter_rows(table: Table, conditions: Sequence[tuple[str, str, Any]]) -> Table:
    """Return the rows that fulfil all conditions. Raises DataError if there are none, or a column is missing."""
    if not conditions:
        return table
    resolved = [(table.column(column).name, op, value) for column, op, value in conditions]
    cells = {name: [cell for (cell,) in table.row_keys([name])] for name, _, _ in resolved}
    selected = table.take(np.array(find_matching_rows(cells, resolved), dtype=np.intp))
    if len(selected) == 0:
        raise DataError(
            "no-matching-rows",
            "{source}: no row fulfils {conditions}",
            "check the values of these columns",
            source=table.source,
            conditions=" and ".join(f"{column}{op}{value}" for column, op, value in conditions),
        )
    return selected
