"""A phase that continued after its time limit until every rank had done as much as the fastest one, as one record.

So every rank moves the same amount and the slowest decides (as in IO500), while a system that stalls from the start
still ends. Between the two parts a rank waits for the others to reach their limit: that is inside the time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

SUMMED = ("count", "bytes", "errors", "sum_duration_ns")


@dataclass(frozen=True)
class Joined:
    """The members of ``_native.PhaseRecord`` that a rank keeps. If not every operation was kept, ``operations`` are a
    sample of those before the limit; totals and histograms are exact over both parts."""

    started_ns: int
    ended_ns: int
    stopped: str
    complete: bool
    totals: list[dict[str, int]]
    errors: list[dict[str, Any]]
    histograms: dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]]
    operations: Any
    extra_bytes: int = 0


def join_phase_parts(before: Any, after: Any) -> Joined:
    """Join both parts of one rank's phase, ``_native.PhaseRecord``s."""
    complete = before.complete and after.complete
    return Joined(
        started_ns=before.started_ns or after.started_ns,
        ended_ns=after.ended_ns or before.ended_ns,
        stopped=after.stopped,
        complete=complete,
        totals=_join_totals(before.totals, after.totals),
        errors=[*before.errors, *after.errors],
        histograms={} if complete else _join_histograms(before, after),
        operations=np.concatenate([before.operations, after.operations]) if complete else before.operations,
        extra_bytes=before.extra_bytes + after.extra_bytes,
    )


def _join_totals(before: list[dict[str, int]], after: list[dict[str, int]]) -> list[dict[str, int]]:
    sums = {entry["kind"]: dict(entry) for entry in before}
    for entry in after:
        into = sums.setdefault(
            entry["kind"],
            dict.fromkeys(SUMMED, 0) | {key: entry[key] for key in ("kind", "first_start_ns", "last_end_ns")},
        )
        into |= {key: into[key] + entry[key] for key in SUMMED}
        into["last_end_ns"] = max(into["last_end_ns"], entry["last_end_ns"])
    return list(sums.values())


def _join_histograms(*records: Any) -> dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Return exact counts over both parts. A part whose operations were all kept is counted from these."""
    counts: dict[int, dict[int, int]] = {}
    for record in records:
        binned = _bin_durations(record.operations) if record.complete else record.histograms
        for kind, (buckets, numbers) in binned.items():
            into = counts.setdefault(kind, {})
            for bucket, number in zip(buckets, numbers, strict=True):
                into[int(bucket)] = into.get(int(bucket), 0) + int(number)
    return {
        kind: (np.array(sorted(into)), np.array([into[bucket] for bucket in sorted(into)]))
        for kind, into in counts.items()
    }


def _bin_durations(operations: npt.NDArray[np.uint64]) -> dict[int, tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    from iosonde.core.schema import RECORD
    from iosonde.engine import _native

    packed = np.ascontiguousarray(operations).view(RECORD).reshape(-1)["packed"]
    kinds, durations = packed & 0xFF, packed >> 16
    edges = _native.bucket_edges_ns()
    return {
        int(kind): np.unique(np.searchsorted(edges, durations[kinds == kind], "right") - 1, return_counts=True)
        for kind in np.unique(kinds)
    }
