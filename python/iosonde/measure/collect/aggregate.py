"""Combine the outputs of a step's commands, read by an importer on every rank, into results of the whole.

The numbers of a single rank are the whole's, under the tool's own names, as an import has them. Rates of ranks that ran
at the same time are summed (``…_sum_of_ranks``, as older tools do); rates of ranks that ran one after another are
averaged. Times and latencies are never summed. A total needs a value from every rank. A value that cannot be combined,
as a percentile, is each rank's own. Pure functions. An importer's results are used by their shape (``rows``,
``factors``), because importers are another room.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.derived_numbers import ALL_OPERATIONS
from iosonde.core.headlines import COMMAND
from iosonde.core.types import FactorValue, Observation
from iosonde.measure.spec import EACH, ONCE

# A metric's kind and its clock; one of the clocks is the rank's own.
_RATES = ("bandwidth", "rate", "iops")
_PREFERRED = ("sum_of_ranks", "last_done", "", "mean", "own")
_TIMES = ("time", "latency", "latency_mean")
# Counts and ordinal numbers are not settings.
_COUNTED = ("iterations", "test_id")

Key = tuple[str, str]  # operation, kind of metric


@dataclass
class Totals:
    """Rows of single ranks and of the whole. ``factors`` are settings that every row of every rank shares.
    ``headlines`` are, per operation, the kinds of metric that the tool's users read first. ``rank_only_keys`` are those
    of them, as (operation, metric), for which the whole has no row. ``row_settings``: see ``Run``.
    """

    observations: list[Observation] = field(default_factory=list)
    factors: dict[str, FactorValue] = field(default_factory=dict)
    headlines: dict[str, list[str]] = field(default_factory=dict)
    rank_only_keys: list[Key] = field(default_factory=list)
    row_settings: dict[str, dict[str, Any]] = field(default_factory=dict)

    def strip_settings(self, operation: str) -> str:
        """Return the operation of a row without its settings."""
        settings = self.row_settings.get(operation)
        return operation if settings is None else str(settings["operation"])


def aggregate_tool_results(
    parsed: Mapping[int, Sequence[Any]], on: str, prefix: str, span_s: float | None, complete: bool = True
) -> Totals:
    """Combine ``parsed`` (rank → what its output says); ``prefix`` is put before the tool's operation names.

    ``span_s`` is from the first start to the last end of the step (None: the clocks cannot be compared). If not
    ``complete``, a rank is missing, and the whole has no rows.
    """
    varying = _list_varying(parsed)
    sums = Totals(factors=_select_shared_settings(parsed), row_settings=_list_row_settings(parsed, prefix, varying))
    if on in ONCE:
        sums.observations = list(_number_iterations(parsed.get(0, ()), prefix, varying))
        return sums
    own: dict[Key, list[tuple[float, str, str]]] = {}
    for rank, executions in sorted(parsed.items()):
        rows = [
            row for execution in executions for row in _label_rows(execution, prefix, varying) if row[1].rank is None
        ]
        for key, (value, unit, includes) in _average_rows(rows).items():
            own.setdefault(key, []).append((value, unit, includes))
            metric = f"{key[1]}_own" if unit.endswith("/s") else key[1]
            sums.observations.append(Observation(key[0], metric, value, unit, rank, 0, None, includes))
        sums.observations += [
            _build_observation(row, name, rank) for name, row in rows if _split_metric(row.metric) is None
        ]
    if complete:
        if len(parsed) == 1:
            (executions,) = parsed.values()
            run_rows = [row for row in _number_iterations(executions, prefix, varying) if row.rank is None]
        else:
            combined = (_combine_ranks(*key, parts, len(parsed), on) for key, parts in own.items())
            run_rows = [row for rows in combined for row in rows]
        names = {(row.operation, row.metric) for row in run_rows}
        until_last = _observe_until_last_rank(parsed, on, prefix, span_s, varying)
        sums.observations += [*run_rows, *(row for row in until_last if (row.operation, row.metric) not in names)]
    return sums


def _number_iterations(executions: Sequence[Any], prefix: str, varying: set[str]) -> Iterator[Observation]:
    """Yield the rows of one command. If it ran its tool several times at the same settings, these are iterations of the
    trial."""
    counts: dict[tuple[str, str, int | None], int] = {}
    for execution in executions:
        last = dict(counts)
        for name, row in _label_rows(execution, prefix, varying):
            key = name, row.metric, row.rank
            iteration = (row.iteration or 0) + counts.get(key, 0)
            last[key] = max(last.get(key, 0), iteration + 1)
            yield replace(_build_observation(row, name), repetition=iteration)
        counts = last


def _combine_ranks(
    operation: str, kind: str, parts: Sequence[tuple[float, str, str]], ranks: int, on: str
) -> list[Observation]:
    """Return one or two rows of all ranks; none if a rank lacks the number or its units differ."""
    values, units = [value for value, _, _ in parts], {unit for _, unit, _ in parts}
    if len(parts) != ranks or len(units) != 1:
        return []
    unit, includes = parts[0][1], parts[0][2]
    if unit.endswith("/s") and on != EACH:
        metrics = {f"{kind}_sum_of_ranks": sum(values)}
    else:
        largest = {} if unit.endswith("/s") else {f"{kind}_max_of_ranks": max(values)}
        metrics = {f"{kind}_mean_of_ranks": sum(values) / len(values), **largest}
    return [Observation(operation, metric, value, unit, None, 0, None, includes) for metric, value in metrics.items()]


def _average_rows(rows: Sequence[tuple[str, Any]]) -> dict[Key, tuple[float, str, str]]:
    """Return (operation, kind) → value of one rank: the mean over the tool's own iterations."""
    clocks: dict[Key, dict[str, list[Any]]] = {}
    for operation, row in rows:
        kind = _split_metric(row.metric)
        if kind is not None:
            clocks.setdefault((operation, kind[0]), {}).setdefault(kind[1], []).append(row)
    chosen = {}
    for key, by_clock in clocks.items():
        same = by_clock[next(clock for clock in _PREFERRED if clock in by_clock)]
        chosen[key] = (sum(row.value for row in same) / len(same), same[0].unit, same[0].includes)
    return chosen


def _split_metric(metric: str) -> tuple[str, str] | None:
    """Split ``bandwidth_last_done`` into (bandwidth, last_done); None if it is neither a rate nor a time of its own."""
    if metric in _TIMES:
        return metric, ""
    for kind in _RATES:
        if metric == kind:
            return kind, ""
        if metric.startswith(f"{kind}_") and metric[len(kind) + 1 :] in _PREFERRED:
            return kind, metric[len(kind) + 1 :]
    return None


def _observe_until_last_rank(
    parsed: Mapping[int, Sequence[Any]], on: str, prefix: str, span_s: float | None, varying: set[str]
) -> list[Observation]:
    """Return all bytes ÷ the time of the step, including the command's start and end; none if the bytes are unknown.
    Of several operations or settings it is the bandwidth of ``ALL_OPERATIONS``."""
    if on == EACH or not span_s:
        return []
    total, operations = 0.0, set()
    for executions in parsed.values():
        for execution in executions:
            moved = compute_bytes_by_operation(execution)
            if not moved:
                return []
            total += sum(moved.values())
            operations |= {name for name, _ in _label_rows(execution, prefix, varying)}
    if not total:
        return []
    operation = next(iter(operations)) if len(operations) == 1 else f"{prefix}{ALL_OPERATIONS}"
    return [Observation(operation, "bandwidth_last_done", total / span_s, "bytes/s", None, 0, None, COMMAND)]


def compute_bytes_by_operation(execution: Any) -> dict[str, float]:
    """Return the bytes that each operation moved, from a row of bytes or the size of each row's one file (IOzone).
    Empty unless known for every operation. With several processes, the first to finish ends the others (``iozone -t``).
    """
    moved: dict[str, float] = {}
    alone = execution.factors.get("ranks", 1) == 1
    for row in execution.rows:
        size = (execution.factors | (row.factors or {})).get("file_size")
        if row.metric == "bytes" and row.unit == "bytes":
            moved[row.operation] = moved.get(row.operation, 0.0) + row.value
        elif row.metric == "bandwidth_last_done" and isinstance(size, int) and row.rank is None and alone:
            key = f"{row.operation} {sorted((row.factors or {}).items())}"
            if not any(other.operation == row.operation and other.metric == "bytes" for other in execution.rows):
                moved[key] = float(size)
    sized_operations = {key.split(" ")[0] for key in moved}
    return {} if {row.operation for row in execution.rows} - sized_operations else moved


def _select_shared_settings(parsed: Mapping[int, Sequence[Any]]) -> dict[str, FactorValue]:
    settings = _list_settings(parsed)
    if not settings:
        return {}
    return {
        name: value
        for name, value in settings[0].items()
        if name not in _COUNTED and all(setting.get(name) == value for setting in settings)
    }


def _list_varying(parsed: Mapping[int, Sequence[Any]]) -> set[str]:
    """List the names of factors that distinguish rows of one rank (record sizes of a table)."""
    varying: set[str] = set()
    for executions in parsed.values():
        values_by_name: dict[str, set[Any]] = {}
        for setting in _list_settings({0: executions}):
            for name, value in setting.items():
                values_by_name.setdefault(name, set()).add(value)
        varying |= {name for name, values in values_by_name.items() if len(values) > 1 and name not in _COUNTED}
    return varying


def _list_settings(parsed: Mapping[int, Sequence[Any]]) -> list[dict[str, FactorValue]]:
    return [
        execution.factors | (row.factors or {})
        for executions in parsed.values()
        for execution in executions
        for row in execution.rows
    ]


def _list_row_settings(
    parsed: Mapping[int, Sequence[Any]], prefix: str, varying: set[str]
) -> dict[str, dict[str, Any]]:
    """Return the key of ``_label_rows`` → operation and factors of its rows, if any setting varies."""
    return {
        key: {"operation": f"{prefix}{row.operation}", "factors": factors}
        for executions in parsed.values()
        for execution in executions
        for key, row in _label_rows(execution, prefix, varying)
        if (factors := _select_own_settings(execution, row, varying))
    }


def _select_own_settings(execution: Any, row: Any, varying: set[str]) -> dict[str, FactorValue]:
    return {name: value for name, value in (execution.factors | (row.factors or {})).items() if name in varying}


def _label_rows(execution: Any, prefix: str, varying: set[str]) -> list[tuple[str, Any]]:
    """Return (key, row): rows of one operation at different settings get different keys."""
    rows = []
    for row in execution.rows:
        settings = sorted(_select_own_settings(execution, row, varying).items())
        rows.append((f"{prefix}{row.operation}" + "".join(f" {name}={value}" for name, value in settings), row))
    return rows


def _build_observation(row: Any, operation: str, rank: int | None = None) -> Observation:
    return Observation(
        operation,
        row.metric,
        float(row.value),
        row.unit,
        row.rank if rank is None else rank,
        row.iteration or 0,
        row.count,
        row.includes,
    )
