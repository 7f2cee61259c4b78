"""What the commands of a step printed, read by an importer on every rank, becomes results of the whole.

Rates of ranks that ran at the same time are summed (``…_sum_of_ranks``, as the older tools do); of ranks that ran one
after another they are averaged; times and latencies are never summed. A total is made only where every rank gave its
part. What cannot be combined, as a percentile, is the whole's where there is one rank, and else of each rank alone.
Pure functions; what an importer returns is used by its shape (``rows``, ``factors``), because importers are another
room.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.headlines import COMMAND
from iosonde.core.types import FactorValue, Observation
from iosonde.measure.spec import EACH, ONCE

# A metric's kind and when its clock stopped: of these one is the rank's own.
_RATES = ("bandwidth", "rate", "iops")
_PREFERRED = ("sum_of_ranks", "last_done", "", "mean", "own")
_TIMES = ("time", "latency", "latency_mean")
# How often, and the how-manieth: no settings.
_COUNTED = ("iterations", "test_id")

Key = tuple[str, str]  # operation, kind of metric


@dataclass
class Totals:
    """Rows of single ranks and of the whole; ``factors`` are settings that every row of every rank shares;
    ``headlines`` the kinds of metric of each operation that the tool's users look at first; ``rank_only_keys`` those of
    them that no row of the whole has, as (operation, metric)."""

    observations: list[Observation] = field(default_factory=list)
    factors: dict[str, FactorValue] = field(default_factory=dict)
    headlines: dict[str, list[str]] = field(default_factory=dict)
    rank_only_keys: list[Key] = field(default_factory=list)


def totals(
    parsed: Mapping[int, Sequence[Any]], on: str, prefix: str, label: str, span_s: float | None, complete: bool = True
) -> Totals:
    """``parsed`` maps each rank to what its output says; ``prefix`` is put before the tool's names of operations.

    ``span_s`` is from the first start to the last end of the step (None: the clocks cannot be compared). Where not
    ``complete``, a rank is missing, and there are no rows of the whole.
    """
    sums = Totals(factors=_select_shared_settings(parsed))
    varying = _list_varying(parsed)
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
        for (operation, kind), parts in own.items():
            sums.observations += _combine_ranks(operation, kind, parts, len(parsed), on)
        if len(parsed) == 1:
            (executions,) = parsed.values()
            once = _number_iterations(executions, prefix, varying)
            sums.observations += [row for row in once if row.rank is None and _split_metric(row.metric) is None]
        sums.observations += _last_done(parsed, on, prefix, label, span_s, varying)
    return sums


def _number_iterations(executions: Sequence[Any], prefix: str, varying: set[str]) -> Iterator[Observation]:
    """The rows of one command. Where it executed its tool several times at the same settings, these are iterations
    inside the trial."""
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
    """One row, or two, of all ranks; none if a rank has no such number, or another unit."""
    values, units = [value for value, _, _ in parts], {unit for _, unit, _ in parts}
    if len(parts) != ranks or len(units) != 1:
        return []
    unit, includes = parts[0][1], parts[0][2]
    mean = sum(values) / len(values)
    if unit.endswith("/s") and on != EACH:
        metrics = {f"{kind}_sum_of_ranks": sum(values)}
    elif unit.endswith("/s"):
        metrics = {f"{kind}_mean_of_ranks": mean}
    else:
        metrics = {f"{kind}_mean_of_ranks": mean, f"{kind}_max_of_ranks": max(values)}
    return [Observation(operation, metric, value, unit, None, 0, None, includes) for metric, value in metrics.items()]


def _average_rows(rows: Sequence[tuple[str, Any]]) -> dict[Key, tuple[float, str, str]]:
    """Of one rank: operation and kind → its one value, the mean over the tool's own iterations."""
    clocks: dict[Key, dict[str, list[Any]]] = {}
    for operation, row in rows:
        kind = _split_metric(row.metric)
        if kind is not None:
            clocks.setdefault((operation, kind[0]), {}).setdefault(kind[1], []).append(row)
    chosen = {}
    for key, by_clock in clocks.items():
        same = by_clock[next(clock for clock in _PREFERRED if clock in by_clock)]
        mean = sum(row.value for row in same) / len(same)
        chosen[key] = (mean, same[0].unit, same[0].includes)
    return chosen


def _split_metric(metric: str) -> tuple[str, str] | None:
    """``bandwidth_last_done`` → (bandwidth, last_done); None for what is neither a rate nor a time of its own."""
    if metric in _TIMES:
        return metric, ""
    for kind in _RATES:
        if metric == kind:
            return kind, ""
        if metric.startswith(f"{kind}_") and metric[len(kind) + 1 :] in _PREFERRED:
            return kind, metric[len(kind) + 1 :]
    return None


def _last_done(
    parsed: Mapping[int, Sequence[Any]], on: str, prefix: str, label: str, span_s: float | None, varying: set[str]
) -> list[Observation]:
    """All bytes ÷ the time of the step, start and end of the command inside; absent where the bytes are not known."""
    if on == EACH or not span_s:
        return []
    total, operations = 0.0, set()
    for executions in parsed.values():
        for execution in executions:
            moved = bytes_of(execution)
            if not moved:
                return []
            total += sum(moved.values())
            operations |= {name for name, _ in _label_rows(execution, prefix, varying)}
    if not total:
        return []
    operation = next(iter(operations)) if len(operations) == 1 else label
    return [Observation(operation, "bandwidth_last_done", total / span_s, "bytes/s", None, 0, None, COMMAND)]


def bytes_of(execution: Any) -> dict[str, float]:
    """Bytes that each operation moved, where the tool says so: in a row of bytes, or as the size of the one file that
    each row is about (IOzone). Empty if that is not known of every operation: of several processes the first that is
    done ends the others (``iozone -t``)."""
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
    first = settings[0]
    return {
        name: value
        for name, value in first.items()
        if name not in _COUNTED and all(setting.get(name) == value for setting in settings)
    }


def _list_varying(parsed: Mapping[int, Sequence[Any]]) -> set[str]:
    """Names of the factors that tell rows of one rank apart (record sizes of a table)."""
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


def _label_rows(execution: Any, prefix: str, varying: set[str]) -> list[tuple[str, Any]]:
    """(operation as it is called in the results, row): rows of different settings have different names."""
    rows = []
    for row in execution.rows:
        settings = execution.factors | (row.factors or {})
        apart = "".join(f" {name}={settings[name]}" for name in sorted(varying) if name in settings)
        rows.append((f"{prefix}{row.operation}{apart}", row))
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
