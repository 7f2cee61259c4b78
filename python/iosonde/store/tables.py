"""``results.parquet`` and ``operations.parquet``: their columns, writing and reading.

Both have the unit of each column in the Arrow field's metadata and, for readers that ignore it, as JSON under the
file's key ``iosonde_units``. ``iosonde_schema_version`` is the version of the store's schema. In operations.parquet
``iosonde_kinds`` holds the names of the numbers in column ``kind``.
"""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.schema import OPERATION, RESULT_COLUMNS, STORE_VERSION
from iosonde.core.types import Observation

from . import arrays

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_GROUP = 1_000_000
_READERS = 2
_BATCH = 1 << 16  # rows: decoded data stays in the processor's cache

OPERATION_UNITS = {"size": "bytes", "offset": "bytes", "start_ns": "ns", "duration_ns": "ns"}
# Measured by benches/bench_store.py. Start times rise within a rank, so their differences are small numbers; some bytes
# of offsets and durations hardly vary. The rest repeats: run lengths of a dictionary.
_OPERATION_ENCODINGS = {
    "offset": "BYTE_STREAM_SPLIT",
    "start_ns": "DELTA_BINARY_PACKED",
    "duration_ns": "BYTE_STREAM_SPLIT",
}
_TEXT = {"operation", "metric", "unit", "includes"}


def build_result_schema() -> pa.Schema:
    """Return the columns of results.parquet; ``rank`` is null for the whole run, ``count`` if unknown."""
    import pyarrow as pa

    types = {"value": pa.float64(), **dict.fromkeys(_TEXT, pa.string())}
    fields = [(name, types.get(name, pa.int64())) for name in RESULT_COLUMNS]
    return _build_schema(fields, {"value": "see column unit"})


def build_operation_schema() -> pa.Schema:
    """Return the columns of operations.parquet: those of ``core.schema.OPERATION``; the metadata name the kinds."""
    import pyarrow as pa

    from iosonde.engine import _native

    assert OPERATION.names is not None
    return _build_schema(
        [(name, pa.from_numpy_dtype(OPERATION[name])) for name in OPERATION.names],
        OPERATION_UNITS,
        iosonde_kinds=json.dumps(_native.KINDS),
    )


def write_results(observations: Sequence[Observation], file: io.RawIOBase) -> None:
    """Write results.parquet to an open file. Raises InputError for a value that does not fit its column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = build_result_table(observations)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise InputError(
            "value-too-large", "a result does not fit the store: {error}", "use numbers that fit 64 bits", error=error
        ) from error
    pq.write_table(table, file, compression="zstd", compression_level=1)


def build_result_table(observations: Sequence[Observation]) -> pa.Table:
    """Return the rows as a table of ``build_result_schema``. Raises ArrowException, OverflowError, TypeError."""
    import pyarrow as pa

    schema = build_result_schema()
    columns = [_build_column([getattr(row, name) for row in observations], schema.field(name)) for name in schema.names]
    return pa.table(columns, schema=schema)


def read_results(file: Any) -> pa.Table:
    """Read the table in a results.parquet, in this thread alone.

    Threads cost a small file more than they gain. A read-ahead thread of Arrow may also hold a Python file when the
    interpreter ends, which then aborts ("terminate called without an active exception").
    """
    import pyarrow.parquet as pq

    return pq.ParquetFile(file, pre_buffer=False).read(use_threads=False)


def write_operations(operations: np.ndarray, file: io.RawIOBase) -> None:
    """Write operations.parquet to an open file, sorted by rank and start, by row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = build_operation_schema()
    order = _find_order(operations)
    writer = pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in schema.names if name not in _OPERATION_ENCODINGS],
        column_encoding=_OPERATION_ENCODINGS,
    )
    with writer:
        for first in range(0, len(operations), ROWS_PER_GROUP):
            part = slice(first, first + ROWS_PER_GROUP)
            rows = operations[part] if order is None else operations[order[part]]
            columns = [arrays.array_from_numbers(rows[name]) for name in schema.names]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=ROWS_PER_GROUP)


def read_operations(path: Path) -> np.ndarray:
    """Read all rows as one array of dtype OPERATION; needs its memory and that of one row group."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        rows = np.empty(file.metadata.num_rows, OPERATION)
        filled = 0
        for part in _iter_parts(file, ROWS_PER_GROUP):
            rows[filled : filled + len(part)] = part
            filled += len(part)
    return rows


def read_operation_columns(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Read some columns, each as an array, in a third of the time of ``read_operations``.

    Two row groups are read at a time, each by a thread with its own file: half of the time is the first access to
    memory.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        lengths = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    columns = {name: np.empty(sum(lengths), OPERATION[name]) for name in names}
    begins = np.cumsum([0, *lengths]).tolist()

    def read_groups(groups: range) -> None:
        with pq.ParquetFile(path) as file:
            for group in groups:
                _read_group(file, group, columns, begins[group])

    if len(lengths) < 2:
        read_groups(range(len(lengths)))
        return columns
    with ThreadPoolExecutor(_READERS) as readers:
        list(readers.map(read_groups, (range(first, len(lengths), _READERS) for first in range(_READERS))))
    return columns


def iter_column_groups(path: Path, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
    """Yield ``read_operation_columns`` by row groups (a million rows), in order, for bounded memory; the next two are
    read ahead."""
    import pyarrow.parquet as pq

    with ExitStack() as stack:
        files = [stack.enter_context(pq.ParquetFile(path)) for _ in range(_READERS)]
        readers = [stack.enter_context(ThreadPoolExecutor(1)) for _ in range(_READERS)]

        def read_group(group: int) -> dict[str, np.ndarray]:
            file = files[group % _READERS]
            rows = file.metadata.row_group(group).num_rows
            columns = {name: np.empty(rows, OPERATION[name]) for name in names}
            _read_group(file, group, columns, 0)
            return columns

        groups = iter(range(files[0].metadata.num_row_groups))
        ahead = deque(readers[group % _READERS].submit(read_group, group) for group in islice(groups, _READERS))
        while ahead:
            columns = ahead.popleft().result()
            ahead.extend(readers[group % _READERS].submit(read_group, group) for group in islice(groups, 1))
            yield columns


def _read_group(file: Any, group: int, columns: Mapping[str, np.ndarray], at: int) -> None:
    """Read a row group into arrays, starting at row ``at``."""
    for batch in file.iter_batches(_BATCH, [group], list(columns), use_threads=False):
        for name, column in columns.items():
            column[at : at + batch.num_rows] = arrays.view_numbers(batch.column(name), column.dtype)
        at += batch.num_rows


def iter_operation_batches(path: Path, rows: int) -> Iterator[np.ndarray]:
    """Yield all rows in arrays of at most ``rows`` rows."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        yield from _iter_parts(file, rows)


def read_kind_names(path: Path) -> list[str]:
    """Return the names of the numbers in column ``kind`` of this operations.parquet."""
    import pyarrow.parquet as pq

    names: list[str] = json.loads(pq.read_schema(path).metadata[b"iosonde_kinds"])
    return names


def _iter_parts(file: Any, rows: int) -> Iterator[np.ndarray]:
    assert OPERATION.names is not None
    # Threads cost a small file more than they gain.
    for batch in file.iter_batches(batch_size=rows, use_threads=file.metadata.num_row_groups > 1):
        part = np.empty(batch.num_rows, OPERATION)
        for name in OPERATION.names:
            part[name] = arrays.view_numbers(batch.column(name), OPERATION[name])
        yield part


def _find_order(operations: np.ndarray) -> np.ndarray | None:
    """Return indices that sort by rank, then start; None if already sorted (as by the engine)."""
    rank, start = operations["rank"], operations["start_ns"]
    for first in range(0, len(operations) - 1, ROWS_PER_GROUP):
        here = slice(first, first + ROWS_PER_GROUP)
        after = slice(first + 1, first + ROWS_PER_GROUP + 1)
        r, s = rank[here][: len(rank[after])], start[here][: len(start[after])]
        if np.any((rank[after] < r) | ((rank[after] == r) & (start[after] < s))):
            return np.lexsort((start, rank))
    return None


def escape_surrogates(value: str) -> str:
    """Escape lone surrogates (from file names that are not UTF-8), which Parquet cannot hold."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _build_column(values: list[Any], field: pa.Field) -> pa.Array:
    if field.name in _TEXT:
        text_by_value = {
            value: escape_surrogates(value) for value in set(values)
        }  # few distinct words, however many rows
        values = [text_by_value[value] for value in values]
    return arrays.build_array(field.type, values)


def _build_schema(fields: list[tuple[str, Any]], units: dict[str, str], **more: str) -> pa.Schema:
    import pyarrow as pa

    metadata = {"iosonde_schema_version": str(STORE_VERSION), "iosonde_units": json.dumps(units), **more}
    return pa.schema(
        [pa.field(name, kind, metadata={"unit": units[name]} if name in units else None) for name, kind in fields],
        metadata=metadata,
    )
