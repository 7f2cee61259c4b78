"""Interpretation of a phase's network counters: the share of reads and writes that went over the network.

Expected are the bytes moved, times the copies that a client sends of each write; the route's idle traffic is deducted.
Less traffic means that a cache served or held back data. More proves nothing: it may be other traffic, read-ahead, or
messages about small files.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from iosonde.core.types import Observation
from iosonde.core.units import format_rate, format_size
from iosonde.core.wire import (
    ALL_SENT,
    BUFFERED,
    CAME,
    PACKETS,
    PARTS,
    RECEIVED,
    SENT,
    SERVED_BY_CACHE,
    TIMED,
    UNCLEAR,
    UNKNOWN,
)
from iosonde.measure.rank import cache
from iosonde.ranks.machine.traffic import NetworkCounts

from .tool_bytes import Moved

# Below this share of the expected bytes a cache served some. Headers (TCP, IP, Ethernet) add 5 % and more at MTU 1500.
LEAST_SHARE = 0.9
# Above this share, unexpected traffic could hide a cache's part.
MOST_SHARE = 1.5
# Smaller amounts cannot be separated from messages, our own included (barriers: some hundred bytes a rank).
LEAST_BYTES = 64 * 2**10
# Operations from this size on carry so much data that their messages (about 1 KB each) hide no cache.
TELLING_BYTES = 16 * 2**10
# If no server is known, a share below this means that the data takes another way, or stays on this node.
PROVES_A_SERVER = 0.1
# Other traffic up to this share of the expected bytes can be deducted.
MOST_OTHERS = 0.1

_WORST_FIRST = (SERVED_BY_CACHE, BUFFERED, UNKNOWN, UNCLEAR, CAME, ALL_SENT)

Counted = Mapping[str, Any]


def describe_phase(
    counted: Mapping[int, Counted],
    moved: Mapping[int, Moved],
    node_of: Sequence[int],
    copies: float,
    operations: int = 0,
    why: str = "",
    away: bool = False,
) -> dict[str, Any] | None:
    """Return the entry ``network`` of a phase; None if nothing was counted. ``counted`` is by counting rank, ``moved``
    by node. ``copies`` is how often a client sends each byte, ``operations`` the number of operations in the phase's
    rate. ``why`` says why the phase cannot be judged. ``away``: the first node is excluded, because it wrote the data
    that is read.
    """
    if not counted:
        return None
    nodes = []
    for rank, counts in sorted(counted.items()):
        node = node_of[rank] if rank < len(node_of) else 0
        verdict = compare_with_expected_bytes([counts], moved.get(node, Moved(0.0, 0.0)), copies, why)
        nodes.append({"node": node, "rank": rank, **counts, **verdict})
    first = nodes[0]["node"]
    others = [entry for entry in nodes if not away or entry["node"] != first] or nodes
    summary = _sum_parts(counted.values()) | {
        "reads": _select_worst(other["reads"] for other in others),
        "writes": _select_worst(other["writes"] for other in others),
        "why": next((other["why"] for other in others if other["why"]), ""),
    }
    for way in ("received", "sent"):
        measured = [other for other in others if other[f"share_{way}"] is not None]
        expected = sum(other[f"expected_{way}_bytes"] for other in measured)
        came = sum(other[f"share_{way}"] * other[f"expected_{way}_bytes"] for other in measured)
        summary |= {f"expected_{way}_bytes": expected, f"share_{way}": came / expected if expected else None}
    return summary | {
        "packets_per_operation": _compute_packets(list(counted.values()), operations, why),
        "nodes": nodes,
    }


def describe_command(
    counted: Mapping[int, Counted], moved: Moved | None, node_of: Sequence[int], copies: float
) -> dict[str, Any] | None:
    """Return the same for a command: its tool's bytes on all nodes against the counters of all nodes. ``moved`` is None
    if the tool does not report them."""
    if not counted:
        return None
    nodes = [
        {"node": node_of[rank] if rank < len(node_of) else 0, "rank": rank, **counts}
        for rank, counts in counted.items()
    ]
    verdict = compare_with_expected_bytes(list(counted.values()), moved or Moved(0.0, 0.0), copies)
    return _sum_parts(counted.values()) | verdict | {"packets_per_operation": None, "nodes": nodes}


def compare_with_expected_bytes(
    counted: Sequence[Counted], moved: Moved, copies: float, why: str = ""
) -> dict[str, Any]:
    """Return ``reads`` and ``writes`` as words of ``core.wire`` ('' if there were too few bytes). Also the expected
    bytes, the shares received and sent, and ``why`` something is unknown."""
    why = why or next((counts["why"] for counts in counted if counts["why"]), "") or _explain_damage(counted)
    verdict: dict[str, Any] = {}
    reasons = []
    for name, way, size, judge in (
        ("reads", "received", moved.read, _judge_reads),
        ("writes", "sent", moved.written * copies, _judge_writes),
    ):
        verdict |= {name: "", f"expected_{way}_bytes": size, f"share_{way}": None}
        direction = f"{way}_bytes"
        if size < LEAST_BYTES:
            continue
        reason = why or _explain_hidden(counted, size, direction)
        if reason:
            verdict[name] = UNKNOWN
            reasons.append(reason)
            continue
        share = max(0.0, _sum_bytes(counted, direction) - _estimate_idle(counted, direction)) / size
        if share < PROVES_A_SERVER and any(counts.get("assumed") for counts in counted):
            verdict[name] = UNKNOWN
            reasons.append("no server of it is known, and next to nothing went over the network")
            continue
        verdict |= {name: judge(share, moved), f"share_{way}": share}
    return verdict | {"why": reasons[0] if reasons else ""}


def _judge_reads(share: float, moved: Moved) -> str:
    if share < LEAST_SHARE:
        return SERVED_BY_CACHE
    large = moved.operations and moved.read / moved.operations >= TELLING_BYTES
    return CAME if large and share <= MOST_SHARE else UNCLEAR


def _judge_writes(share: float, moved: Moved) -> str:
    return BUFFERED if share < LEAST_SHARE else ALL_SENT


def _explain_damage(counted: Sequence[Counted]) -> str:
    parts = [counts.get(part) for counts in counted for part in (TIMED, "idle")]
    if None in parts:
        return "the counters were not read to the end"
    if any(part[name] < 0 for part in parts if part for name in NetworkCounts._fields):
        return "a counter was set back"
    return ""


def _explain_hidden(counted: Sequence[Counted], size: float, direction: str) -> str:
    """Return why the bytes of a direction cannot be separated from other traffic."""
    inside = sum(counts[TIMED]["loopback_bytes"] for counts in counted)
    if inside > MOST_OTHERS * size:
        return f"{format_size(int(inside))} went over loopback: a server runs on a node of ours"
    if _estimate_idle(counted, direction) > MOST_OTHERS * size:
        rate = sum(counts["idle"][direction] / counts["idle"]["seconds"] for counts in counted)
        return f"others used the network ({format_rate(rate, 'bytes/s')} before we began)"
    return ""


def _sum_bytes(counted: Iterable[Counted], direction: str) -> float:
    return float(sum(counts[TIMED][direction] for counts in counted))


def _estimate_idle(counted: Iterable[Counted], direction: str) -> float:
    """Return the traffic expected in the same time without our own work."""
    return float(
        sum(counts["idle"][direction] / counts["idle"]["seconds"] * counts[TIMED]["seconds"] for counts in counted)
    )


def _sum_parts(counted: Iterable[Counted]) -> dict[str, Any]:
    """Return the counts of each part, summed over the nodes."""
    sums: dict[str, Any] = {}
    for part in PARTS:
        several = [counts[part] for counts in counted if part in counts]
        if several:
            sums[part] = {name: sum(counts[name] for counts in several) for name in NetworkCounts._fields}
    return sums


def _compute_packets(counted: Sequence[Counted], operations: int, why: str) -> float | None:
    """Return the packets of both directions per operation; None if they are unknown."""
    if not operations or why or any(counts["why"] for counts in counted) or _explain_damage(counted):
        return None
    both = ("received_packets", "sent_packets")
    return max(0.0, sum(_sum_bytes(counted, way) - _estimate_idle(counted, way) for way in both)) / operations


def _select_worst(states: Iterable[str]) -> str:
    return min((state for state in states if state), key=_WORST_FIRST.index, default="")


def observe_traffic(operation: str, network: Mapping[str, Any] | None, repetition: int = 0) -> list[Observation]:
    """Return rows of bytes per part, of the whole and of each node (under its counting rank), and of packets per
    operation."""
    observations = []
    for where, rank in [(network or {}, None), *((node, node["rank"]) for node in (network or {}).get("nodes", ()))]:
        for metric, direction in ((RECEIVED, "received_bytes"), (SENT, "sent_bytes")):
            for part in PARTS:
                if part in where:
                    name = metric if part == TIMED else f"{metric}_{part}"
                    value = float(where[part][direction])
                    observations.append(Observation(operation, name, value, "bytes", rank, repetition))
    packets = (network or {}).get("packets_per_operation")
    if packets is not None:
        observations.append(Observation(operation, PACKETS, packets, "packets", None, repetition))
    return observations


def update_cache_state(before: str, network: Mapping[str, Any] | None) -> str:
    """Update the state of the client's cache from the network traffic. A cache that was requested warm, or known to be
    warm, stays so."""
    reads = (network or {}).get("reads")
    if before != cache.WARM and reads == SERVED_BY_CACHE:
        return SERVED_BY_CACHE
    return cache.COLD_VERIFIED if before == cache.COLD_REQUESTED and reads == CAME else before


def count_copies_sent(filesystem: Mapping[str, Any] | None) -> float:
    """Return how many bytes a client sends per byte written: copies, or data and parity, if the client makes them. 1 if
    the servers make them, or as a lower bound if unknown."""
    facts = filesystem or {}
    if facts.get("copied_by") != "client":
        return 1.0
    data, parity = facts.get("data_parts"), facts.get("parity_parts")
    return float(facts.get("copies") or 1) * ((data + parity) / data if data and parity else 1.0)
