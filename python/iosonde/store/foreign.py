"""Tables of measurements in Parquet files that no store wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

# The name of an unnamed pandas index, which a part of a frame has: it numbers rows.
_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(path: Path) -> pa.Table:
    """Return the table in ``path``. Raises DataError if it is not a Parquet file, is damaged, or has
    duplicate columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            "truncated-file",
            "{path} is not a complete Parquet file: {reason}",
            "check whether it was copied completely",
            path=path,
            reason=str(error).splitlines()[0] if str(error) else "it cannot be read",
        ) from error
    names = table.column_names
    for place, name in enumerate(names, 1):
        first_place = names.index(name) + 1
        if first_place < place:
            raise DataError(
                "duplicate-column",
                "{path}: duplicate column '{column}' at positions {first_position} and {position}",
                "give every column a unique name",
                path=path,
                first_position=first_place,
                position=place,
                column=name,
            )
    return _drop_index_columns(table)


def table_from_stream(table: Any) -> pa.Table:
    """Read a table in memory through the Arrow C stream interface. Raises DataError if it is unreadable."""
    import pyarrow as pa

    try:
        result = pa.RecordBatchReader.from_stream(table).read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            "unreadable-table",
            "the table cannot be read: {reason}",
            "give every column one type and a unique name, or convert the table to Arrow",
            reason="; ".join(str(argument).splitlines()[0] for argument in error.args if str(argument)),
        ) from error
    return _drop_index_columns(result)


def _drop_index_columns(table: pa.Table) -> pa.Table:
    return table.drop_columns([name for name in table.column_names if _INDEX.fullmatch(name)])
