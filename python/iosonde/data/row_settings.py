"""Settings of single rows of a run, as those of the jobs of one fio: they become factors of these rows.

A run stores such rows under a key for each operation and setting, with the meaning of the key (``Run.row_settings``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from iosonde.core.stored import StoredRun
from iosonde.core.table import Cell, Table, build_column, is_missing
from iosonde.core.where import find_matching_rows

Condition = tuple[str, str, Any]

_OPERATION = "operation"


def split_conditions(
    conditions: Sequence[Condition], runs: Sequence[StoredRun]
) -> tuple[list[Condition], list[Condition]]:
    """Split conditions into those that the store can evaluate, and those on settings of rows."""
    names = {name for run in runs for name in run.row_factors}
    names |= {_OPERATION} if names else set()
    return [item for item in conditions if item[0] not in names], [item for item in conditions if item[0] in names]


def select_runs(runs: Sequence[StoredRun], conditions: Sequence[Condition]) -> list[StoredRun]:
    """Return the runs with a row whose settings fulfil the conditions; those on operations select only rows."""
    conditions = [item for item in conditions if item[0] != _OPERATION]
    return [run for run in runs if not conditions or _has_matching_row(run, conditions)]


def _has_matching_row(run: StoredRun, conditions: Sequence[Condition]) -> bool:
    settings = [{**run.factors, **setting} for setting in run.settings]
    columns = {name: [setting.get(name) for setting in settings] for name, _, _ in conditions}
    return len(find_matching_rows(columns, conditions)) > 0


def apply_row_settings(table: Table, runs: Sequence[StoredRun]) -> Table:
    """Return the results with the operation and the factors of each row, instead of its key."""
    settings_by_run = {run.id: run.row_settings for run in runs if run.row_settings}
    if not settings_by_run or not len(table):
        return table
    keys = zip(table.columns["run"].values.tolist(), table.columns[_OPERATION].values.tolist(), strict=True)
    rows = [settings_by_run.get(str(run), {}).get(str(key)) for run, key in keys]
    operation = table.columns[_OPERATION]
    operations = [
        key if row is None else str(row["operation"]) for row, key in zip(rows, operation.values.tolist(), strict=True)
    ]
    columns = {**table.columns, _OPERATION: build_column(_OPERATION, operations, operation.label)}
    names = list(dict.fromkeys(name for run in runs for name in run.row_factors))
    for name in names:
        before: Sequence[Cell] = columns[name].values.tolist() if name in columns else [None] * len(table)
        levels = [
            level if row is None else row["factors"].get(name, level) for row, level in zip(rows, before, strict=True)
        ]
        columns[name] = build_column(name, [None if is_missing(level) else level for level in levels])
    return replace(table, columns=columns, inside=tuple(names))
