"""Settings of single rows, as of the jobs of one fio, as columns of what is exported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from iosonde.core.stored import StoredRun

if TYPE_CHECKING:
    import pyarrow as pa

_OPERATION = "operation"


def add_row_settings(results: pa.Table, runs: Iterable[StoredRun]) -> pa.Table:
    """Return the results with the operation and a column for each setting of a row, instead of the key under which a
    run stores both (``Run.row_settings``)."""
    with_settings = [run for run in runs if run.row_settings]
    if not with_settings:
        return results
    settings_by_run = {run.id: run.row_settings for run in with_settings}
    keys = zip(results["run"].to_pylist(), results[_OPERATION].to_pylist(), strict=True)
    rows = [settings_by_run.get(run, {}).get(key) for run, key in keys]
    operations = results[_OPERATION].to_pylist()
    own = [key if row is None else str(row[_OPERATION]) for row, key in zip(rows, operations, strict=True)]
    results = _set_column(results, _OPERATION, own)
    for name in dict.fromkeys(name for run in with_settings for name in run.row_factors):
        before = results[name].to_pylist() if name in results.column_names else [None] * len(rows)
        levels = [
            level if row is None else row["factors"].get(name, level) for row, level in zip(rows, before, strict=True)
        ]
        results = _set_column(results, name, levels)
    return results


def _set_column(table: pa.Table, name: str, levels: Sequence[Any]) -> pa.Table:
    """Replace or append a column; levels of several types become text."""
    import pyarrow as pa

    try:
        column = pa.array(levels)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        column = pa.array([None if level is None else str(level) for level in levels])
    if name not in table.column_names:
        return table.append_column(name, column)
    place = table.column_names.index(name)
    return table.set_column(place, pa.field(name, column.type, metadata=table.schema.field(place).metadata), column)
