"""Bytes that a tool reports as read and written, to be compared with the network traffic.

Known for tools that print bytes (fio), a bandwidth with its time (IOR), or the size of the files that each operation
goes through (IOzone). A range counts by its lower end: bytes that did not move must not be missed on the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Moved(NamedTuple):
    """Bytes read and written, and by how many operations (0: unknown)."""

    read: float
    written: float
    operations: int = 0

    def plus(self, other: Moved) -> Moved:
        """Return the sum of both."""
        return Moved(self.read + other.read, self.written + other.written, self.operations + other.operations)


NOTHING = Moved(0.0, 0.0)


def sum_output_bytes(executions: Sequence[Any]) -> Moved | None:
    """Return the sum over all executions of one output; None if an operation does not say, or both reads and writes."""
    total = NOTHING
    for execution in executions:
        for (operation, *_), rows in _group_rows(execution).items():
            size = _sum_bytes(execution, rows)
            if size is None or ("read" in operation) == ("write" in operation):
                return None
            total = total.plus(Moved(size, 0.0) if "read" in operation else Moved(0.0, size))
    return total if total != NOTHING else None


def _group_rows(execution: Any) -> dict[tuple[Any, ...], list[Any]]:
    """Group the rows that say how much was moved by their scope: the whole, or single jobs without a whole (fio without
    group_reporting)."""
    names = ("bytes", "bandwidth", "total_time")
    telling = [row for row in execution.rows if row.metric.startswith(names) and not _is_summary_metric(row.metric)]
    total_operations = {row.operation for row in telling if row.rank is None and row.metric != "total_time"}
    summed = {row.operation for row in telling if row.rank is None and row.metric == "bytes"}
    jobs = {row.operation for row in telling if row.rank is not None and row.metric == "bytes"} - summed
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in telling:
        if (
            (row.rank is not None)
            if row.operation in jobs
            else (row.rank is None and row.operation in total_operations)
        ):
            groups.setdefault((row.operation, row.rank, row.iteration, _build_key(row)), []).append(row)
    return groups


def _build_key(row: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((row.factors or {}).items()))


def _is_summary_metric(metric: str) -> bool:
    """Return whether the metric summarises rows that the iterations already contain."""
    return metric.endswith(("_max", "_mean", "_sd", "_first_done")) or metric == "bandwidth_min"


def _sum_bytes(execution: Any, rows: Sequence[Any]) -> float | None:
    value = {row.metric: row.value for row in rows}
    settings = execution.factors | (rows[0].factors or {})
    processes, size = settings.get("ranks", 1), settings.get("file_size")
    if "bytes" in value:
        return float(value["bytes"])
    if "bandwidth_last_done" in value and "total_time" in value:
        return float(value["bandwidth_last_done"] * value["total_time"])
    if "bytes_rank_min" in value and isinstance(processes, int):  # IOzone ends all processes with the first one
        return float(value["bytes_rank_min"] * processes)
    return float(size * processes) if isinstance(size, int) and isinstance(processes, int) else None
