"""The mean over a tool's own iterations, where other runs of the tool had a single iteration.

mdtest prints a mean over its iterations and no single ones. A run of one iteration also has ``rate_last_done``, one of
several has ``rate_mean`` alone. Both are the rate of a trial, and are read under one name. The store stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .table import Table

_KEY = ("run", "operation", "metric")  # the columns, which only results of stores have
_MEAN, _SINGLE = "_mean", "_last_done"


def add_iteration_means(tables: Sequence[Table]) -> list[Table]:
    """Return the results of stores; a run that has only the mean of what others of its operation have of a single
    iteration, too, has it under both names."""
    if not all(table.has_column(name) for table in tables for name in _KEY):
        return list(tables)
    metrics = {str(metric) for table in tables for metric in set(table.columns["metric"].values)}
    kinds = {name.removesuffix(_MEAN) for name in metrics if name.endswith(_MEAN)}
    kinds = {kind for kind in kinds if f"{kind}{_SINGLE}" in metrics}
    rows = [_find_rows(table, kinds) for table in tables]
    both = {key[1:] for own in rows for key in own[_SINGLE] if key in own[_MEAN]}
    return [_add_rows(table, own, both) for table, own in zip(tables, rows, strict=True)]


_Key = tuple[str, str, str]  # run, operation, kind


def _find_rows(table: Table, kinds: set[str]) -> dict[str, dict[_Key, int]]:
    """Return ending → key → number of its row, for metrics of these kinds of whole runs."""
    rows: dict[str, dict[_Key, int]] = {_MEAN: {}, _SINGLE: {}}
    metrics = table.columns["metric"].values
    chosen = np.isin(metrics.astype(str), [f"{kind}{end}" for kind in kinds for end in rows])
    if "rank" in table.columns:
        chosen &= table.columns["rank"].missing
    runs, operations = (table.columns[name].values for name in ("run", "operation"))
    for at in np.flatnonzero(chosen).tolist():
        end = next(end for end in rows if metrics[at].endswith(end))
        rows[end][str(runs[at]), str(operations[at]), metrics[at].removesuffix(end)] = at
    return rows


def _add_rows(table: Table, rows: dict[str, dict[_Key, int]], both: set[tuple[str, str]]) -> Table:
    added = {key: at for key, at in rows[_MEAN].items() if key[1:] in both and key not in rows[_SINGLE]}
    if not added:
        return table
    longer = table.take(np.concatenate([np.arange(len(table)), np.array([*added.values()])]))
    metric = longer.columns["metric"]
    values = metric.values.copy()
    values[len(table) :] = [f"{kind}{_SINGLE}" for _, _, kind in added]
    return replace(longer, columns={**longer.columns, "metric": replace(metric, values=values)})
