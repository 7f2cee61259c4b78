"""S115: not all of it went over the network

What it says
    Of a file system with servers elsewhere: fewer bytes came over the network
    than were read, so a cache of the client had the rest; or fewer were sent
    than were written, so the client still held the rest when the clock
    stopped. The second is said for information: it is what a write without
    fsync is.

How we know
    In every phase each node counts the bytes on its interfaces (and RDMA
    ports) that lead to the servers: before the clock runs, while it runs, and
    in the flush after. What came while nobody did anything is deducted.
    Expected are the bytes that were read, and those that were written as often
    as the client sends each. Below 90 % of it this is said. Of commands the
    bytes are those that the tool prints.

When it is wrong
    When files have holes, which some protocols do not send, or the client
    compresses what it sends and does not say so in its mount options. When a
    warm cache is what you want to measure: this then says how warm it was. It
    says nothing of the servers' caches.

What to do
    Remount before the reads (--before-reads), turn the client's own cache off
    (Gluster: performance.quick-read; ceph-fuse: client_oc), read from other
    nodes than those that wrote, or read more than the cache holds. Of writes:
    look at the numbers with fsync inside. Else say that it was the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core.stored import StoredPhase
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_size
from iosonde.core.wire import BUFFERED, FLUSH, PREPARING, SERVED_BY_CACHE

from ..overview import wire
from . import SHOWN, Subject, some

CODE = "S115"
NEEDS_RUNS = True
# What came before the clock ran is worth a word from this share of what was read.
_EARLY = 0.3


def check(subject: Subject) -> list[Finding]:
    """One finding about reads, one about writes."""
    cached, held = dict[str, list[StoredPhase]](), dict[str, list[StoredPhase]]()
    for phase in wire.phases(subject.runs):
        if phase.network.get("reads") == SERVED_BY_CACHE and phase.cache.get("state") != "warm":
            cached.setdefault(phase.operation, []).append(phase)
        if phase.network.get("writes") == BUFFERED:
            held.setdefault(phase.operation, []).append(phase)
    found = []
    if cached:
        every = [phase for several in cached.values() for phase in several]
        found.append(
            Finding(
                CODE,
                Severity.WARNING,
                f"a cache of the client served {some(list(cached))}: {_range(every, 'share_received')} of what was "
                f"read came over the network{_early(every)}",
                {"operations": _evidence(cached, "share_received")},
                "remount before the reads, or turn the client's cache off; else say that these are reads of a cache",
            )
        )
    if held:
        every = [phase for several in held.values() for phase in several]
        found.append(
            Finding(
                CODE,
                Severity.INFO,
                f"the client still held data of {some(list(held))} when the clock stopped: "
                f"{_range(every, 'share_sent')} of what was written had been sent{_flushed(every)}",
                {"operations": _evidence(held, "share_sent")},
                "take the numbers with fsync inside for what the servers can do",
            )
        )
    return found


def _range(phases: Sequence[StoredPhase], name: str) -> str:
    shares = [float(phase.network[name]) for phase in phases]
    low, high = wire.whole_percent(min(shares)), wire.whole_percent(max(shares))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _early(phases: Sequence[StoredPhase]) -> str:
    """Looking at a file may bring it into the client."""
    came = sum(_bytes(phase.network, PREPARING, "received_bytes") for phase in phases)
    expected = sum(float(phase.network["expected_received_bytes"]) for phase in phases)
    return f" ({format_size(int(came))} before the clock ran)" if came > _EARLY * expected else ""


def _flushed(phases: Sequence[StoredPhase]) -> str:
    later = sum(_bytes(phase.network, FLUSH, "sent_bytes") for phase in phases)
    return f", {format_size(int(later))} went with the flush after it" if later else ""


def _bytes(network: Mapping[str, Any], part: str, direction: str) -> int:
    return int((network.get(part) or {}).get(direction, 0))


def _evidence(of: Mapping[str, Sequence[StoredPhase]], name: str) -> dict[str, Any]:
    """Operation → the lowest share and the highest."""
    shares = {operation: [float(phase.network[name]) for phase in phases] for operation, phases in of.items()}
    return {operation: [min(several), max(several)] for operation, several in list(shares.items())[:SHOWN]}
