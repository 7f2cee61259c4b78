"""Sums over the ranks of one phase: counts of operations, durations, and cache states."""

from typing import Any

import numpy as np

from iosonde.measure.rank import cache
from iosonde.measure.spool import RankPhase


def caches(parts: list[RankPhase]) -> dict[str, Any] | None:
    """Return the worst cache state in which a rank found its files; None if none was checked."""
    looked = [part.cache for part in parts if part.cache]
    if not looked:
        return None
    anew = [entry["remount"] for entry in looked if "remount" in entry]
    return {
        "state": cache.worst(entry["state"] for entry in looked),
        "resident_bytes": sum(entry["resident_bytes"] for entry in looked),
        "bytes": sum(entry["bytes"] for entry in looked),
        **({"remounts": anew} if anew else {}),
    }


def totals(parts: list[RankPhase], kinds: list[str]) -> dict[str, dict[str, int]]:
    """Return, per kind of operation, the counts, bytes and failures."""
    sums: dict[str, dict[str, int]] = {}
    for part in parts:
        for entry in part.totals:
            into = sums.setdefault(kinds[entry["kind"]], {"count": 0, "bytes": 0, "errors": 0})
            for name in into:
                into[name] += entry[name]
    return sums


def histograms(parts: list[RankPhase], kinds: list[str]) -> dict[str, list[list[int]]]:
    """Return, per kind, the exact counts of durations over all ranks, as pairs (bucket, count).

    Empty if every operation was kept. If only some ranks kept all, theirs are counted into the buckets.
    """
    from iosonde.engine import _native

    if all(part.recorded_all for part in parts):
        return {}
    counts_by_kind: dict[str, dict[int, int]] = {}
    for part in parts:
        binned = part.histograms
        if part.recorded_all and part.operations is not None:
            binned = _bin_durations(part.operations, _native.bucket_edges_ns())
        for kind, pairs in binned.items():
            into = counts_by_kind.setdefault(kinds[int(kind)], {})
            for bucket, count in pairs:
                into[bucket] = into.get(bucket, 0) + count
    return {kind: [[bucket, counts[bucket]] for bucket in sorted(counts)] for kind, counts in counts_by_kind.items()}


def _bin_durations(operations: Any, edges_ns: Any) -> dict[str, list[list[int]]]:
    binned = {}
    for kind in np.unique(operations["kind"]):
        durations = operations["duration_ns"][operations["kind"] == kind]
        buckets, counts = np.unique(np.searchsorted(edges_ns, durations, "right") - 1, return_counts=True)
        binned[str(kind)] = [[int(bucket), int(count)] for bucket, count in zip(buckets, counts, strict=True)]
    return binned
