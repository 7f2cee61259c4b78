"""Queries over many runs: the columns of runs, and the table of all results with their factors."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.device_loads import summarise_loads
from iosonde.core.schema import RESULT_COLUMNS, ROW_COLUMNS
from iosonde.core.stored import StoredRun
from iosonde.core.where import check_columns, find_matching_rows

from . import arrays, tables
from .rundir import RESULTS, read_file

if TYPE_CHECKING:
    import pyarrow as pa

RUN_COLUMNS = ("run", "experiment", "started_at", "source", "complete")
# Allowed in a condition on runs, but not columns of the results.
_CONDITION_COLUMNS = ("seconds", "tags")
_INT64 = range(-(2**63), 2**63)

Conditions = Sequence[tuple[str, str, Any]]


def collect_settings(documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the factors of each run, with the varying properties of its target: those of a lab, and live options of a
    file system."""
    options = [StoredRun(document).target_settings for document in documents]
    levels: dict[str, set[Any]] = {}
    for option in options:
        for name, level in option.items():
            levels.setdefault(name, set()).add(level)
    changed = [name for name, values in levels.items() if len(values) > 1]
    return [
        {name: option[name] for name in changed if name in option} | document["factors"]
        for document, option in zip(documents, options, strict=True)
    ]


def name_factor_columns(settings: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return factor name → column name, in order of appearance; ``factor_`` precedes a name that is taken.
    ``settings``: see ``collect_settings``."""
    taken = {*RUN_COLUMNS, *_CONDITION_COLUMNS, *ROW_COLUMNS}
    columns: dict[str, str] = {}
    for name in dict.fromkeys(name for setting in settings for name in setting):
        column = tables.escape_surrogates(name)
        while column in taken:
            column = f"factor_{column}"
        taken.add(column)
        columns[name] = column
    return columns


def build_run_columns(documents: Sequence[dict[str, Any]], tags: Sequence[list[str]]) -> dict[str, list[Any]]:
    """Return the columns for conditions on runs: column → one value per run."""
    settings = collect_settings(documents)
    return {
        "run": [document["id"] for document in documents],
        **{name: [document[name] for document in documents] for name in (*RUN_COLUMNS[1:], "seconds")},
        "tags": list(tags),
        **{title: [setting.get(name) for setting in settings] for name, title in name_factor_columns(settings).items()},
    }


def split_conditions(where: Conditions, columns: Iterable[str]) -> tuple[Conditions, Conditions]:
    """Split conditions into those on runs and those on results. Raises InputError for an unknown column."""
    names = list(columns)
    check_columns(where, [*names, *(name for name in ROW_COLUMNS if name not in names)])
    return [item for item in where if item[0] in names], [item for item in where if item[0] not in names]


def read_results_table(
    runs: Sequence[tuple[Path, dict[str, Any]]], names: dict[str, str], where: Conditions, ranks: bool = True
) -> pa.Table:
    """Return all results of these runs, each row with its run's ``names`` (see ``name_factor_columns``): factors and
    options. Without ``ranks``, rows of single ranks are dropped from runs with very many."""
    import pyarrow as pa

    schema = tables.build_result_schema().remove_metadata()
    parts = [tables.read_results(io.BytesIO(read_file(path, document, RESULTS))) for path, document in runs]
    parts = parts if ranks else [_drop_single_ranks(part) for part in parts]
    parts = [_add_load_rows(part, document, schema) for part, (_, document) in zip(parts, runs, strict=True)]
    rows = pa.concat_tables([_cast_part(part, schema) for part in parts]) if parts else schema.empty_table()
    n_rows = [len(part) for part in parts]
    columns: dict[str, Any] = {
        name: arrays.repeat_values(array_from_values(values), n_rows)
        for name, values in (
            (name, [document["id" if name == "run" else name] for _, document in runs]) for name in RUN_COLUMNS
        )
    }
    columns |= {row_column: rows[name] for name, row_column in zip(RESULT_COLUMNS, ROW_COLUMNS, strict=True)}
    for name, title in names.items():
        levels = [document["factors"].get(name, StoredRun(document).target_settings.get(name)) for _, document in runs]
        columns[title] = arrays.repeat_values(array_from_values(levels), n_rows)
    table = pa.table(columns)
    if not where:
        return table
    cells = {name: table[name].to_pylist() for name, _, _ in where}
    return table.take(arrays.int64(find_matching_rows(cells, where)))


@dataclass(frozen=True)
class RankLoad:
    """Values of the ``ranks`` of one operation and metric: the largest, and the mean."""

    operation: str
    metric: str
    ranks: int
    largest: float
    mean: float


def group_rank_loads(rows: pa.Table, metrics: Sequence[str]) -> list[RankLoad]:
    """Return the load of the single ranks in the results of one run, for each of a tool's iterations."""
    import pyarrow.compute as pc

    singles = rows.filter(pc.and_(pc.is_valid(rows["rank"]), pc.is_in(rows["metric"], arrays.string(metrics))))
    by = singles.group_by(["operation", "metric", "repetition"], use_threads=False)
    groups = by.aggregate([("value", "count"), ("value", "max"), ("value", "mean")]).to_pylist()
    numbers = ("value_count", "value_max", "value_mean")
    return [RankLoad(row["operation"], row["metric"], *(row[name] for name in numbers)) for row in groups]


def _drop_single_ranks(part: pa.Table) -> pa.Table:
    """Drop the rows of single ranks if they are very many and not all there is."""
    singles = len(part) - part["rank"].null_count
    return part.filter(part["rank"].is_null()) if arrays.MANY < singles < len(part) else part


def _add_load_rows(part: pa.Table, document: dict[str, Any], schema: pa.Schema) -> pa.Table:
    """Add the rows of the loads of disks during the run, if it has any."""
    import pyarrow as pa

    rows = summarise_loads(document["facts"])
    if not rows:
        return part
    return pa.concat_tables([_cast_part(part, schema), tables.build_result_table(rows).replace_schema_metadata(None)])


def _cast_part(part: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast to the columns of the schema, unless they are equal."""
    return part.replace_schema_metadata(None) if part.schema.equals(schema) else part.cast(schema)


def array_from_values(values: Sequence[Any]) -> pa.Array:
    """Convert values to one Arrow column: bool, int64, float64, else text. Integers beyond 64 bits become floats."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return arrays.boolean(values)
    if present and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
        if all(isinstance(value, int) and value in _INT64 for value in present):
            return arrays.int64(values)
        return arrays.float64([None if value is None else _to_float(value) for value in values])
    return arrays.string([None if value is None else _to_text(value) for value in values])


def _to_float(value: float | int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _to_text(value: Any) -> str:
    return tables.escape_surrogates(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
