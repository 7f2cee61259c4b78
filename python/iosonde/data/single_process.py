"""Numbers of a single process: a tool's own number and the sum over its only rank are the same, and have one name.

Runs of several ranks have ``bandwidth_sum_of_ranks``, where an import of the tool, or a run of one rank, has
``bandwidth_last_done``. Earlier versions named the sum over one rank as that over several. A number of one process is
read under the name that the other runs of its operation have, else under the tool's own. The store stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import COMMAND
from iosonde.core.iteration_means import add_iteration_means
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table

from .choice import column_to_texts
from .stored import mask_run_rows

_COMBINED = ("_sum_of_ranks", "_mean_of_ranks")
_OWN = ("_last_done", "", "_mean")  # in order of preference
# Tools whose own rate stops at the last of their processes. Others may sum the rates of their threads.
_LAST_DONE_TOOLS = {"elbencho", "fio", "io500", "ior", "iozone", "mdtest"}

Key = tuple[str, str]  # operation, metric
_Facts = tuple[bool, bool, frozenset[str]]  # of a run, as ``_describe_run``


@dataclass(frozen=True)
class _Row:
    """A row of a whole run of a tool, by its number. ``is_summed``: an earlier version summed over its one process, and
    the tool's own clock is known."""

    at: int
    run: str
    key: Key
    is_single: bool
    is_summed: bool


def name_single_processes(tables: Sequence[Table], runs: Sequence[Sequence[StoredRun]]) -> list[Table]:
    """Return the results with one name for a number of one process, and for one of a single iteration, in all
    tables."""
    tables = add_iteration_means(tables)
    facts = [
        {run.id: _describe_run(run) for run in own if run.imported or any(phase.is_command for phase in run.phases)}
        for own in runs
    ]
    if not any(facts):
        return list(tables)
    metrics = {name for table in tables for name in column_to_texts(table, "metric")}
    kinds = {name.removesuffix(end) for name in metrics for end in _COMBINED if name.endswith(end)}
    names = {f"{kind}{end}" for kind in kinds for end in (*_COMBINED, *_OWN)}
    rows = [_list_rows(table, names, own) for table, own in zip(tables, facts, strict=True)]
    renamed = _choose_names([row for several in rows for row in several])
    return [_rename(table, own, renamed) for table, own in zip(tables, rows, strict=True)]


def _list_rows(table: Table, names: Collection[str], facts: Mapping[str, _Facts]) -> list[_Row]:
    """List the rows of whole runs of tools with these metrics. Numbers that include the start of a command are left
    out, as their clock is another one."""
    run, operation, metric, inside = (
        column_to_texts(table, name) for name in ("run", "operation", "metric", "includes")
    )
    places = np.flatnonzero(mask_run_rows(table) & np.isin(metric.astype(str), list(names)) & (inside != COMMAND))
    return [
        _Row(at, run[at], (operation[at], metric[at]), is_single, is_summed)
        for at, (is_single, is_summed, native) in ((int(at), facts[run[at]]) for at in places if run[at] in facts)
        if operation[at] not in native
    ]


def _describe_run(run: StoredRun) -> _Facts:
    """Return whether the run has one process, whether its rates are sums of one, and the operations of our engine."""
    is_single = run.factors.get("ranks", 1) == 1
    phases = [phase for phase in run.phases if phase.read_from_each and phase.tools]
    processes = {(phase.document.get("settings") or {}).get("ranks", 1) for phase in phases}
    is_summed = is_single and processes == {1} and all(_LAST_DONE_TOOLS.issuperset(phase.tools) for phase in phases)
    native = (phase.operation for phase in run.phases if not (run.imported or phase.is_command))
    return is_single, is_summed, frozenset(native)


def _choose_names(rows: Sequence[_Row]) -> dict[Key, str]:
    """Return (operation, metric) of rows of one process → its common name."""
    single = group_by_key((row.key, row.run) for row in rows if row.is_single)
    several = {row.key for row in rows if not row.is_single}
    summed = {row.key for row in rows if row.is_summed}
    renamed: dict[Key, str] = {}
    for operation, metric in sorted({*single, *several}):
        end = next((end for end in _COMBINED if metric.endswith(end)), "")
        kind = metric.removesuffix(end)
        own = [f"{kind}{clock}" for clock in _OWN] if end else []
        own_name = next((name for name in own if (operation, name) in single), "")
        if not set(single.get((operation, metric), ())).isdisjoint(single.get((operation, own_name), ())):
            continue  # the tool has both clocks
        if (operation, metric) in several:
            renamed |= {(operation, own_name): metric} if own_name else {}
        elif own_name or (operation, metric) in summed:
            renamed[operation, metric] = own_name or (own[0] if end == _COMBINED[0] else kind)
    return renamed


def _rename(table: Table, rows: Sequence[_Row], renamed: Mapping[Key, str]) -> Table:
    """Return the table with the common names, without rows that repeat such a number with the command's start."""
    changed = [row for row in rows if row.is_single and row.key in renamed]
    if not changed:
        return table
    metrics = table.columns["metric"].values.copy()
    metrics[[row.at for row in changed]] = [renamed[row.key] for row in changed]
    taken = {(row.run, row.key[0], renamed[row.key]) for row in changed}
    run, operation, inside = (column_to_texts(table, name) for name in ("run", "operation", "includes"))
    repeated = np.array([key in taken for key in zip(run, operation, metrics, strict=True)]) & (inside == COMMAND)
    return replace(table, columns={**table.columns, "metric": replace(table.columns["metric"], values=metrics)}).take(
        ~repeated
    )
