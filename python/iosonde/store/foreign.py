"""Parquet files that no store wrote: somebody's table of measurements."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

# What pandas calls an index without a name, which a part of a frame has: it numbers rows.
_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(path: Path) -> pa.Table:
    """The table in ``path``. Raises DataError if it is no Parquet file, is damaged, or has two columns of one name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0] if str(error) else "it cannot be read"
        raise DataError(
            "truncated-file",
            "{path} is not a whole Parquet file: {reason}",
            "was it copied to its end?",
            path=path,
            reason=first,
        ) from error
    names = table.column_names
    for place, name in enumerate(names, 1):
        first_place = names.index(name) + 1
        if first_place < place:
            raise DataError(
                "duplicate-column",
                "{path}: columns {first_position} and {position} are both called '{column}'",
                "give every column a name of its own",
                path=path,
                first_position=first_place,
                position=place,
                column=name,
            )
    return _without_index(table)


def table_from_stream(table: Any) -> pa.Table:
    """A table in memory, by the Arrow C stream interface. Raises DataError where it cannot be read."""
    import pyarrow as pa

    try:
        result = pa.RecordBatchReader.from_stream(table).read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = "; ".join(str(argument).splitlines()[0] for argument in error.args if str(argument))
        hint = "give every column one type, and a name of its own; or convert it to Arrow"
        raise DataError("unreadable-table", "the table cannot be read: {reason}", hint, reason=reason) from error
    return _without_index(result)


def _without_index(table: pa.Table) -> pa.Table:
    return table.drop_columns([name for name in table.column_names if _INDEX.fullmatch(name)])
