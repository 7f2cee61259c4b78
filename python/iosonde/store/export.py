"""Export results or operations of a store as CSV, JSON or Parquet, in batches.

CSV has a header line; a missing value is an empty cell. JSON is ``{"schema": 2, "rows": [{...}, ...]}``; missing values
and NaN are null. Units are those of the store: bytes, ns, and for results the column ``unit``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from iosonde.core.schema import OPERATION

from . import arrays, rundir, tables

if TYPE_CHECKING:
    import pyarrow as pa

    from .store import Store

FORMATS = ("csv", "json", "parquet")
_SCHEMA = 2  # 2: `iteration` of a result, formerly `repetition`
_ROWS = 100_000


def export(batches: Iterator[pa.Table], form: str, file: BinaryIO) -> None:
    """Write all ``batches`` (at least one, all with the same columns) to ``file`` in one of FORMATS."""
    {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}[form](batches, file)


def iter_operations(store: Store, run_ids: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the operations of these runs with columns ``run`` and, for ``kind``, its name. Raises DataError."""
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    fields = (
        pa.field(field.name, text if field.name == "kind" else field.type, metadata=field.metadata)
        for field in tables.build_operation_schema()
    )
    schema = pa.schema([pa.field("run", text), *fields])
    yield schema.empty_table()
    for run_id in run_ids:
        names = None
        for rows in store.operation_batches(run_id, _ROWS):
            names = names or tables.read_kind_names(store.path / "runs" / run_id / rundir.OPERATIONS)
            columns: list[Any] = [
                pa.DictionaryArray.from_arrays(arrays.array_from_numbers(np.zeros(len(rows), np.int32)), [run_id])
            ]
            for name in OPERATION.names or ():
                values = arrays.array_from_numbers(rows[name])
                columns.append(
                    pa.DictionaryArray.from_arrays(values.cast(pa.int32()), names) if name == "kind" else values
                )
            yield pa.table(columns, schema=schema)


def _write_csv(batches: Iterator[pa.Table], file: BinaryIO) -> None:
    import pyarrow.csv

    first = next(batches)
    with pyarrow.csv.CSVWriter(file, _decode_dictionaries(first).schema) as writer:
        writer.write_table(_decode_dictionaries(first))
        for batch in batches:
            writer.write_table(_decode_dictionaries(batch))


def _decode_dictionaries(table: pa.Table) -> pa.Table:
    """Return ``table`` with text in place of dictionaries, which the CSV writer does not accept."""
    import pyarrow as pa

    fields = [
        pa.field(field.name, pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _write_parquet(batches: Iterator[pa.Table], file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    first = next(batches)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for batch in batches:
            writer.write_table(batch)


def _write_json(batches: Iterator[pa.Table], file: BinaryIO) -> None:
    file.write(b'{"schema": %d, "rows": [' % _SCHEMA)
    separator = "\n"
    for batch in batches:
        for row in batch.to_pylist():
            cells = {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in row.items()
            }
            text = json.dumps(cells, ensure_ascii=False)
            file.write((separator + text).encode("utf-8"))
            separator = ",\n"
    file.write(b"\n]}\n")
