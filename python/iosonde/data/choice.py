"""Select the rows of a store by ``--clock`` and ``--metric``, or by default: of other tools their headlines.

A run stores its headlines (``core.headlines``); runs of earlier versions use the usual names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core import device_loads, wire
from iosonde.core.contradiction import group_doubtful_metrics
from iosonde.core.errors import DataError
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import (
    choose_metric_by_clock,
    is_iteration_summary,
    list_headline_kinds,
    list_kinds,
    suggest_kinds,
)
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table

from .query import ALL, CLOCKS, EVERY, MetricChoice

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Texts = npt.NDArray[Any]

_SUM_OF_RANKS, _MAX_OF_RANKS, _MEAN_OF_RANKS = "_sum_of_ranks", "_max_of_ranks", "_mean_of_ranks"
# Parts of a command's time, network traffic, server calls, loads of disks: shown only on request.
_SECONDARY_METRICS = ("user_seconds", "system_seconds", *wire.METRICS, wire.CALLS, *device_loads.METRICS)


@dataclass(frozen=True)
class Foreign:
    """Masks of the rows of whole runs: of operations of other tools (``rows``), of their headlines (``first``), and of
    summaries over iterations that the table has (``computed``)."""

    rows: Mask
    first: Mask
    computed: Mask


def classify_rows(rows: Table, runs: Sequence[StoredRun], clock: str = "") -> Foreign:
    """Classify the rows of whole runs; ``clock`` is the chosen one, '' for the usual one."""
    foreign = Foreign(*(np.zeros(len(rows), dtype=bool) for _ in range(3)))
    metrics, operations, inside = (column_to_texts(rows, name) for name in ("metric", "operation", "includes"))
    run_by_id = {run.id: run for run in runs}
    kinds_by_run = {
        run: _find_headlines(run_by_id[str(run)], list(zip(operations[at], metrics[at], strict=True)))
        for (run,), at in rows.groups(["run"])
        if str(run) in run_by_id
    }
    doubtful_by_run = {run.id: group_doubtful_metrics(run.contradictions) for run in runs if run.contradictions}
    for (run, operation), at in rows.groups(["run", "operation"]):
        kinds = kinds_by_run.get(run, {}).get(str(operation))
        if kinds is not None:
            doubtful = doubtful_by_run.get(str(run), {}).get(str(operation), ())
            includes = dict(zip(metrics[at], inside[at], strict=True))
            credible = {metric: inside for metric, inside in includes.items() if metric not in doubtful}
            first = {choose_metric_by_clock(kind, credible, clock) for kind in kinds}
            foreign.rows[at] = True
            foreign.first[at] = [metric in first for metric in metrics[at]]
            foreign.computed[at] = [is_iteration_summary(metric, includes) for metric in metrics[at]]
    return foreign


def _find_headlines(run: StoredRun, metrics: Sequence[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """Return operation → kinds for operations of other tools, not of the engine."""
    steps = [phase.name for phase in run.phases if phase.is_command]
    if run.headlines or not (run.imported or steps):
        return run.headlines
    excluded = {*steps, *(phase.operation for phase in run.phases if not phase.is_command)}
    kinds_by_operation = list_headline_kinds([pair for pair in metrics if pair[0] not in excluded], ())
    return kinds_by_operation | dict.fromkeys(steps, [] if any(kinds_by_operation.values()) else ["seconds"])


def choose_rows(table: Table, choice: MetricChoice, foreign: Foreign) -> tuple[Rows, list[str]]:
    """Return the selected rows, in order, and notes about substitutions. Raises DataError for an unknown name."""
    if choice == EVERY:
        return np.arange(len(table)), []
    if not choice.metric or ALL in choice.metric:
        usual, warnings = _select_usual(table, ALL if choice.metric else choice.clock, foreign)
        return np.flatnonzero(usual), warnings
    meant = np.zeros(len(table), dtype=bool)
    notes: list[str] = []
    for name in choice.metric:
        mask = match_rows(name, table)
        if not mask.any():
            raise DataError(
                "unknown-metric",
                "unknown metric '{metric}'",
                "known: {suggestions}",
                metric=name,
                suggestions=", ".join(suggest_kinds(name, map(str, set(column_to_texts(table, "metric"))))),
            )
        if is_operation(name, table):
            usual, warnings = _select_usual(table, choice.clock, foreign)
            mask, notes = mask & usual if (mask & usual).any() else mask, warnings
        meant |= mask
    return np.flatnonzero(meant), notes


def match_rows(name: str, table: Table) -> Mask:
    """Return a mask of the rows that a name selects (in ``--metric``, ``--response``, ``metric`` of a question): a
    metric, an operation, a kind of metric, or an operation and one of its metrics or kinds. It is empty for an unknown
    name."""
    operations = column_to_texts(table, "operation")
    if is_operation(name, table):
        return np.array(operations == name, dtype=bool)
    mask = _match_metric(name, table)
    for operation in sorted(set(operations), key=len, reverse=True):
        if not mask.any() and operation and name.startswith(f"{operation} "):
            mask = (operations == operation) & _match_metric(name.removeprefix(f"{operation} "), table)
    return mask


def is_operation(name: str, table: Table) -> bool:
    """Return whether a name is that of an operation, but not of a metric."""
    return name in set(column_to_texts(table, "operation")) and name not in set(column_to_texts(table, "metric"))


def _match_metric(name: str, table: Table) -> Mask:
    """Select the rows of a metric, or of a kind: for each run and operation the metric that represents the kind."""
    run, operations, metrics, inside = (
        column_to_texts(table, column) for column in ("run", "operation", "metric", "includes")
    )
    if name in metrics:
        return np.array(metrics == name, dtype=bool)
    kinds, keys = list_kinds(name), list(zip(run, operations, strict=True))
    includes_by_key = group_by_key(zip(keys, zip(metrics, inside, strict=True), strict=True))
    chosen = {
        key: next((metric for kind in kinds if (metric := choose_metric_by_clock(kind, dict(pairs)))), None)
        for key, pairs in includes_by_key.items()
    }
    mask = np.array([chosen[key] == metric for key, metric in zip(keys, metrics, strict=True)], dtype=bool)
    return mask if mask.any() else _match_endings(metrics, (f"_{kinds[-1]}",))


def _select_usual(table: Table, clock: str, foreign: Foreign) -> tuple[Mask, list[str]]:
    """Select the default rows without a metric, with notes about substitutions. Raises DataError."""
    metrics = column_to_texts(table, "metric")
    if clock == ALL:
        return ~foreign.computed & ~_match_single_rank_maxima(table, metrics), []
    clocks = [name.strip() for name in clock.split(",")]
    if len(clocks) == 1 and clocks[0] in metrics:  # formerly, metrics were chosen in this way
        return np.array(metrics == clocks[0], dtype=bool), []
    if unknown := [name for name in clocks if name not in CLOCKS]:
        raise DataError(
            "unknown-clock",
            "'{clock}' is not a clock",
            "known: {allowed}; choose a metric with {spell.metric}",
            clock=unknown[0],
            allowed=", ".join([*CLOCKS, ALL]),
        )
    native, warnings = _match_clocks(metrics, column_to_texts(table, "operation"), ~foreign.rows, clocks)
    return native | foreign.first, warnings


def _match_clocks(metrics: Texts, operations: Texts, native: Mask, clocks: Sequence[str]) -> tuple[Mask, list[str]]:
    """Select the rows of these clocks, and those without a clock. Operations that lack the clocks use the sum
    of ranks."""
    others = _match_endings(metrics, tuple(f"_{name}" for name in CLOCKS if name not in clocks))
    # An operation may also have numbers without a clock, such as its time: these are not rates of this clock.
    matching = native & _match_endings(metrics, tuple(f"_{name}" for name in clocks))
    without = sorted(set(operations[native & others]) - set(operations[matching]))
    fallback = native & _match_endings(metrics, (_SUM_OF_RANKS,)) & np.isin(operations, without)
    warning = Message(
        "no-common-clock",
        "no {clocks} rate for {operations} (the nodes' clocks are not comparable): showing the sum of ranks",
        clocks=" or ".join(clocks),
        operations=", ".join(without),
    )
    usual = native & ~others & ~np.isin(metrics, _SECONDARY_METRICS)
    return usual | fallback, [warning] if fallback.any() else []


def _match_endings(metrics: Texts, ends: tuple[str, ...]) -> Mask:
    return np.array([metric.endswith(ends) for metric in metrics], dtype=bool)


def _match_single_rank_maxima(table: Table, metrics: Texts) -> Mask:
    """Select maxima over ranks that equal the mean in every run: they are of a single rank."""
    columns = (column_to_texts(table, name) for name in ("run", "operation", "value"))
    rows = list(zip(*columns, metrics, strict=True))
    values = {(run, operation, metric): value for run, operation, value, metric in rows}
    differing = {
        metric
        for run, operation, value, metric in rows
        if values.get((run, operation, metric.replace(_MAX_OF_RANKS, _MEAN_OF_RANKS))) != value
    }
    return _match_endings(metrics, (_MAX_OF_RANKS,)) & ~np.isin(metrics, list(differing))


def column_to_texts(table: Table, name: str) -> Texts:
    """Return a column as text, '' for missing values or a missing column."""
    if name not in table.columns:
        return np.full(len(table), "", dtype=object)
    return np.array(["" if value is None else str(value) for value in table.columns[name].values], dtype=object)
