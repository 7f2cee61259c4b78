"""The longest operations of a trial, and a summary of those that were not recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.stored import StoredPhase, StoredRun

from .over_time import compute_start_ns


@dataclass(frozen=True)
class SlowOperation:
    """A single operation. ``operation`` is its phase; ``file`` the number of its file within that phase, ``path`` its
    name, if a trace has it. ``offset``: None if it lacks it. ``start_s`` is after the phase's first start, or after
    its rank's own if clocks cannot be compared. ``status``: 0 or an errno."""

    run: str
    operation: str
    kind: str
    rank: int
    host: str
    file: int
    offset: int | None
    size: int
    start_s: float
    duration_s: float
    status: int
    path: str = ""


def select_slowest_operations(
    run: StoredRun, operations: npt.NDArray[Any], kinds: Sequence[str], count: int
) -> list[SlowOperation]:
    """Return the ``count`` longest of the recorded operations of a run, failed ones included, the longest first."""
    durations = operations["duration_ns"]
    fewer = max(0, durations.size - count)
    at = np.argpartition(durations, fewer)[fewer:] if fewer else np.arange(durations.size)
    phases = {phase.index: phase for phase in run.phases}
    starts = np.full(durations.size, np.nan)
    for index in phases.keys() & set(operations["phase"][at].tolist()):
        rows = operations["phase"] == index
        starts[rows] = compute_start_ns(phases[index], operations[rows])[0]
    return [
        _build_operation(run, phases.get(int(operations["phase"][i])), operations[i], kinds, float(starts[i]) / 1e9)
        for i in at[np.argsort(-durations[at].astype(np.float64), kind="stable")]
    ]


def _build_operation(
    run: StoredRun, phase: StoredPhase | None, row: Any, kinds: Sequence[str], start_s: float
) -> SlowOperation:
    rank = int(row["rank"])
    hosts = {entry["rank"]: str(entry.get("host") or "") for entry in phase.ranks} if phase else {}
    return SlowOperation(
        run.id,
        phase.operation if phase else "",
        kinds[row["kind"]],
        rank,
        hosts.get(rank, ""),
        int(row["file"]),
        int(row["offset"]) if phase is None or phase.placed else None,
        int(row["size"]),
        start_s,
        float(row["duration_ns"]) / 1e9,
        int(row["status"]),
        run.file_name(int(row["file"])),
    )


def count_unseen_operations(run: StoredRun, edges_ns: npt.NDArray[np.float64]) -> tuple[int, float]:
    """Return (number of operations that are not in the record, end of the last bucket (s) of the histograms that count
    them all; 0 without them)."""
    sampled = sum(
        int(total["count"]) for phase in run.phases if not phase.recorded_all for total in phase.totals.values()
    )
    recorded = sum(int(total["count"]) for phase in run.phases if phase.recorded_all for total in phase.totals.values())
    buckets = [
        bucket for phase in run.phases for pairs in phase.histograms.values() for bucket, count in pairs if count
    ]
    return max(sampled + recorded - (run.n_operations or 0) if sampled else 0, 0), float(
        edges_ns[max(buckets) + 1]
    ) / 1e9 if buckets else 0.0
