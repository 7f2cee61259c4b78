"""What the counters of a phase say: how much of what was read and written went over the network, and what follows.

Expected are the bytes that were moved, of writes as often as the client sends each; what the route carried while nobody
did anything is deducted. Less is what a cache served, or kept back. More proves nothing where it may be other traffic,
read-ahead, or the messages about small files.
"""

from __future__ import annotations

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
from iosonde.ranks.machine.traffic import NOTHING, NetworkCounts

from .tool_bytes import Moved

# Below this share of what was expected a cache served some. Headers (TCP, IP, Ethernet) add 5 % and more at MTU 1500.
LEAST_SHARE = 0.9
# Above it much came that was not asked for, in which a cache's part could hide.
MOST_SHARE = 1.5
# Smaller amounts are not told from messages, our own among them (barriers: some hundred bytes a rank).
LEAST_BYTES = 64 * 2**10
# Operations from this size on carry so much data that their messages (about 1 KB each) hide no cache.
TELLING_BYTES = 16 * 2**10
# Where no server is known, a share below this says that the data takes another way, or stays on this node.
PROVES_A_SERVER = 0.1
# Other traffic up to this share of what was expected can be deducted.
MOST_OTHERS = 0.1

_WORST_FIRST = (SERVED_BY_CACHE, BUFFERED, UNKNOWN, UNCLEAR, CAME, ALL_SENT)

Counted = Mapping[str, Any]


def of_phase(
    counted: Mapping[int, Counted], moved: Mapping[int, Moved], node_of: Sequence[int], copies: float,
    operations: int = 0, why: str = "", away: bool = False,
) -> dict[str, Any] | None:  # fmt: skip
    """The entry ``network`` of a phase; None where nobody counted. ``counted`` is by the rank that did, ``moved`` by
    node. ``copies`` is how often a client sends each byte, ``operations`` how many make the phase's rate, ``why``
    nothing can be told of this phase; ``away``: the first node is no part of the result, because it wrote what is
    read."""
    if not counted:
        return None
    nodes = []
    for rank, found in sorted(counted.items()):
        node = node_of[rank] if rank < len(node_of) else 0
        said = judged([found], moved.get(node, Moved(0.0, 0.0)), copies, why)
        nodes.append({"node": node, "rank": rank, **found, **said})
    first = nodes[0]["node"]
    others = [one for one in nodes if not away or one["node"] != first] or nodes
    whole = _sums(counted.values()) | {
        "reads": _worst(one["reads"] for one in others),
        "writes": _worst(one["writes"] for one in others),
        "why": next((one["why"] for one in others if one["why"]), ""),
    }
    for way in ("received", "sent"):
        known = [one for one in others if one[f"share_{way}"] is not None]
        expected = sum(one[f"expected_{way}_bytes"] for one in known)
        came = sum(one[f"share_{way}"] * one[f"expected_{way}_bytes"] for one in known)
        whole |= {f"expected_{way}_bytes": expected, f"share_{way}": came / expected if expected else None}
    return whole | {"packets_per_operation": _packets(list(counted.values()), operations, why), "nodes": nodes}


def of_command(
    counted: Mapping[int, Counted], moved: Moved | None, node_of: Sequence[int], copies: float
) -> dict[str, Any] | None:  # fmt: skip
    """The same of a command: what its tool says of all nodes against what was counted on all of them. ``moved`` None:
    the tool does not say."""
    if not counted:
        return None
    nodes = [
        {"node": node_of[rank] if rank < len(node_of) else 0, "rank": rank, **one} for rank, one in counted.items()
    ]
    said = judged(list(counted.values()), moved or Moved(0.0, 0.0), copies)
    return _sums(counted.values()) | said | {"packets_per_operation": None, "nodes": nodes}


def judged(counted: Sequence[Counted], moved: Moved, copies: float, why: str = "") -> dict[str, Any]:
    """``reads`` and ``writes`` in a word of ``core.wire`` ('' where there were too few bytes to tell), what was
    expected, which share of it came and was sent, and ``why`` something is unknown."""
    why = why or next((one["why"] for one in counted if one["why"]), "") or _damaged(counted)
    found: dict[str, Any] = {}
    reasons = []
    for name, way, size, judge in (
        ("reads", "received", moved.read, _of_reads),
        ("writes", "sent", moved.written * copies, _of_writes),
    ):
        found |= {name: "", f"expected_{way}_bytes": size, f"share_{way}": None}
        direction = f"{way}_bytes"
        if size < LEAST_BYTES:
            continue
        reason = why or _hidden(counted, size, direction)
        if reason:
            found[name] = UNKNOWN
            reasons.append(reason)
            continue
        share = max(0.0, _total(counted, direction) - _idle(counted, direction)) / size
        if share < PROVES_A_SERVER and any(one.get("assumed") for one in counted):
            found[name] = UNKNOWN
            reasons.append("no server of it is known, and next to nothing went over the network")
            continue
        found |= {name: judge(share, moved), f"share_{way}": share}
    return found | {"why": reasons[0] if reasons else ""}


def _of_reads(share: float, moved: Moved) -> str:
    if share < LEAST_SHARE:
        return SERVED_BY_CACHE
    large = moved.operations and moved.read / moved.operations >= TELLING_BYTES
    return CAME if large and share <= MOST_SHARE else UNCLEAR


def _of_writes(share: float, moved: Moved) -> str:
    return BUFFERED if share < LEAST_SHARE else ALL_SENT


def _damaged(counted: Sequence[Counted]) -> str:
    parts = [one.get(part) for one in counted for part in (TIMED, "idle")]
    if None in parts:
        return "the counters were not read to the end"
    if any(part[name] < 0 for part in parts if part for name in NetworkCounts._fields):
        return "a counter was set back"
    return ""


def _hidden(counted: Sequence[Counted], size: float, direction: str) -> str:
    """Why the bytes of a direction cannot be told from others."""
    inside = sum(one[TIMED]["loopback_bytes"] for one in counted)
    if inside > MOST_OTHERS * size:
        return f"{format_size(int(inside))} went over loopback: a server runs on a node of ours"
    if _idle(counted, direction) > MOST_OTHERS * size:
        rate = sum(one["idle"][direction] / one["idle"]["seconds"] for one in counted)
        return f"others used the network ({format_rate(rate, 'bytes/s')} before we began)"
    return ""


def _total(counted: Iterable[Counted], direction: str) -> float:
    return float(sum(one[TIMED][direction] for one in counted))


def _idle(counted: Iterable[Counted], direction: str) -> float:
    """What would have come in the same time had nobody of ours done anything."""
    return float(sum(one["idle"][direction] / one["idle"]["seconds"] * one[TIMED]["seconds"] for one in counted))


def _sums(counted: Iterable[Counted]) -> dict[str, Any]:
    """Of each part, over the nodes."""
    found: dict[str, Any] = {}
    for part in PARTS:
        several = [one[part] for one in counted if part in one]
        if several:
            total = NOTHING
            for one in several:
                total = total.plus(NetworkCounts(*(one[name] for name in NetworkCounts._fields)))
            found[part] = total._asdict()
    return found


def _packets(counted: Sequence[Counted], operations: int, why: str) -> float | None:
    """Both ways, for each operation; None where they cannot be told."""
    if not operations or why or any(one["why"] for one in counted) or _damaged(counted):
        return None
    both = ("received_packets", "sent_packets")
    return max(0.0, sum(_total(counted, way) - _idle(counted, way) for way in both)) / operations


def _worst(states: Iterable[str]) -> str:
    return min((state for state in states if state), key=_WORST_FIRST.index, default="")


def rows(operation: str, network: Mapping[str, Any] | None, repetition: int = 0) -> list[Observation]:
    """Bytes of each part, of the whole and of each node (under the rank that counted there), and packets an
    operation."""
    found = []
    for where, rank in [(network or {}, None), *((one, one["rank"]) for one in (network or {}).get("nodes", ()))]:
        for metric, direction in ((RECEIVED, "received_bytes"), (SENT, "sent_bytes")):
            for part in PARTS:
                if part in where:
                    name = metric if part == TIMED else f"{metric}_{part}"
                    value = float(where[part][direction])
                    found.append(Observation(operation, name, value, "bytes", rank, repetition))
    packets = (network or {}).get("packets_per_operation")
    if packets is not None:
        found.append(Observation(operation, PACKETS, packets, "packets", None, repetition))
    return found


def cache_state(before: str, network: Mapping[str, Any] | None) -> str:
    """The state of the client's cache, now that it is known what came over the network. What was asked to be warm, or
    is known to have been, stays so."""
    said = (network or {}).get("reads")
    if before != cache.WARM and said == SERVED_BY_CACHE:
        return SERVED_BY_CACHE
    if before == cache.COLD_REQUESTED and said == CAME:
        return cache.COLD_VERIFIED
    return before


def copies_sent(filesystem: Mapping[str, Any] | None) -> float:
    """How many bytes a client sends for each byte written: copies, or parts and parity, where the client makes them;
    1 where the servers do, or where nobody says, so that it may be more."""
    said = filesystem or {}
    if said.get("copied_by") != "client":
        return 1.0
    data, parity = said.get("data_parts"), said.get("parity_parts")
    return float(said.get("copies") or 1) * ((data + parity) / data if data and parity else 1.0)
