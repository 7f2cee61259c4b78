"""Parts of the entries in ``phases`` of run.json (docs/store.md): times and ranks, also of commands; sums over the
ranks of a phase of the engine; network traffic, and calls that servers counted, in it.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.core.faults import BEGUN, ENDED
from iosonde.core.types import Observation
from iosonde.core.wire import CALLS
from iosonde.core.workload import MpiIo
from iosonde.measure import spool
from iosonde.measure.rank import cache
from iosonde.measure.spool import RankPhase
from iosonde.measure.workloads.phase_plan import READS, WRITES, PhasePlan

from . import wire
from .rates import PhaseTimes
from .tool_bytes import NOTHING, Moved


def build_phase_entry(
    index: int,
    name: str,
    parts: Sequence[RankPhase],
    times: PhaseTimes,
    offsets: Mapping[int, int],
    places: Mapping[str, Any],
) -> dict[str, Any]:
    """Build the entry, to which the producer adds the work done, also to each of ``ranks``, ordered as ``parts``.

    ``places``: host and node of each rank, as in ``assemble.SpooledTrial``. Times are null if the clocks cannot be
    compared.
    """
    comparable = times.comparable
    hosts, nodes = places.get("hosts", []), places.get("nodes", [])
    return {
        "index": index,
        "name": name,
        "operation": name,
        "duration_ns": times.span_ns if comparable else None,
        "start_spread_ns": times.start_spread_ns if comparable else None,
        "end_spread_ns": times.end_spread_ns if comparable else None,
        "all_active_ns": times.all_active_ns if comparable else None,
        "clock_error_ns": times.error_ns,
        "comparable": comparable,
        "ranks": [
            {
                "rank": part.rank,
                "host": hosts[part.rank] if part.rank < len(hosts) else None,
                "node": nodes[part.rank] if part.rank < len(nodes) else None,
                "started_ns": int(times.started_ns[i]),
                "ended_ns": int(times.ended_ns[i]),
                "clock_offset_ns": offsets.get(part.rank, 0),
                "stopped": part.stopped,
            }
            for i, part in enumerate(parts)
        ],
    }


def build_network_entry(
    plan: PhasePlan,
    parts: Sequence[RankPhase],
    counted: Mapping[int, wire.Counted],
    node_of: Sequence[int],
    copies: float,
    kinds: Sequence[str],
) -> dict[str, Any] | None:
    """Return the phase's entry ``network`` (``wire.describe_phase``); ``kinds`` are the engine's operation names."""
    if not counted:
        return None
    moved: dict[int, Moved] = {}
    for part in parts:
        node = node_of[part.rank] if part.rank < len(node_of) else 0
        read, written = (sum(part.total(kinds.index(kind), "bytes") for kind in some) for some in (READS, WRITES))
        done = Moved(read, written, sum(entry["count"] for entry in part.totals))
        moved[node] = moved.get(node, NOTHING).plus(done)
    if plan.shared and plan.distinct_bytes:  # one transfer may have served all ranks of a node
        moved = {node: amount._replace(read=min(amount.read, plan.distinct_bytes)) for node, amount in moved.items()}
    many = isinstance(plan.phase, MpiIo) and len(moved) > 1
    why = "the ranks of MPI-IO send each other data over the same network" if many else ""
    away = plan.shared and plan.counted_kind not in WRITES
    operations = sum(part.total(kinds.index(plan.counted_kind), "count") for part in parts)
    return wire.describe_phase(counted, moved, node_of, copies, operations, why, away)


def find_warmest_cache_state(parts: list[RankPhase]) -> dict[str, Any] | None:
    """Return the worst cache state in which a rank found its files; None if none was checked."""
    looked = [part.cache for part in parts if part.cache]
    if not looked:
        return None
    anew = [entry["remount"] for entry in looked if "remount" in entry]
    return {
        "state": cache.find_warmest_state(entry["state"] for entry in looked),
        "resident_bytes": sum(entry["resident_bytes"] for entry in looked),
        "bytes": sum(entry["bytes"] for entry in looked),
        **({"remounts": anew} if anew else {}),
    }


def sum_totals_by_kind(parts: list[RankPhase], kinds: list[str]) -> dict[str, dict[str, int]]:
    """Return, per kind of operation, the counts, bytes and failures."""
    sums: dict[str, dict[str, int]] = {}
    for part in parts:
        for entry in part.totals:
            into = sums.setdefault(kinds[entry["kind"]], {"count": 0, "bytes": 0, "errors": 0})
            for name in into:
                into[name] += entry[name]
    return sums


def merge_histograms(parts: list[RankPhase], kinds: list[str]) -> dict[str, list[list[int]]]:
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


def count_calls(folder: Path, phase: int) -> dict[str, int] | None:
    """Return kind → calls on all servers; None if they were not queried, or did not answer both times."""
    before, after = (_read_counts(spool.build_server_counts_path(folder, phase, when)) for when in (BEGUN, ENDED))
    if before is None or after is None or before - after:  # a counter was reset in between
        return None
    return dict(sorted((after - before).items()))


def observe_server_calls(entry: Mapping[str, Any], repetition: int) -> list[Observation]:
    """Return the calls per operation of the phase's rate; 0 if a client's cache served all of them."""
    calls, counted = entry.get("server_calls"), entry["totals"].get(entry["counted_kind"], {}).get("count")
    if calls is None or not counted:
        return []
    return [Observation(entry["operation"], CALLS, sum(calls.values()) / counted, "calls", None, repetition)]


def _read_counts(file: Path) -> Counter[str] | None:
    counts: Counter[str] = Counter()
    try:
        servers = json.loads(file.read_text())["servers"]
        for each in (operation for server in servers for operation in server["operations"]):
            counts[each["operation"]] += int(each["count"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return counts
