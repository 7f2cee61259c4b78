"""S115: less network traffic than I/O

What it says
    On a file system with remote servers, less data came over the network than
    was read: a client cache served the rest. Or less was sent than was
    written: the client still held the rest when the clock stopped. Or hardly a
    packet was sent per create, open or stat: the client answered by itself.
    Findings about writes and metadata are information.

How we know
    In every phase each node counts the bytes on its interfaces (and RDMA
    ports) that lead to the servers: before the clock runs, while it runs, and
    in the flush after. Idle traffic is subtracted. Expected are the bytes
    read, and the bytes written times the number of copies that the client
    sends. A finding is reported below 90 % of this; for metadata below one
    packet per two operations. For commands the bytes are those that the tool
    prints. Metadata that may have gone to a server on this node, over
    loopback, is left out.

When it is wrong
    When files have holes, which some protocols do not send, or the client
    compresses data without showing it in its mount options. When you want to
    measure a warm cache: then this shows how warm it was. The servers' caches
    are not covered.

What to do
    Remount before the reads ({spell.before_reads}), turn the client's own cache off
    (Gluster: performance.quick-read; ceph-fuse: client_oc), read from other
    nodes than those that wrote, or read more than the cache holds. For writes:
    use the numbers that include fsync. Else report that the cache was
    measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_size
from iosonde.core.wire import BUFFERED, FLUSH, PREPARING, SERVED_BY_CACHE, TIMED

from ..overview import wire
from . import MAX_LISTED, Subject, format_some_names

NEEDS_RUNS = True
# Smallest share of the data read before the clock ran that is reported.
_EARLY = 0.3
# A request and its reply are two packets: fewer per operation than this is quiet.
_QUIET = 0.5
_QUESTION_BYTES = 80  # the shortest request of a file system, with headers

Phases = Mapping[str, Sequence[StoredPhase]]


def check(subject: Subject) -> list[Finding]:
    """Report one finding about reads, one about writes, one about metadata."""
    cached, buffered, quiet = (dict[str, list[StoredPhase]]() for _ in range(3))
    for phase in wire.iterate_network_phases(subject.runs):
        if phase.network.get("reads") == SERVED_BY_CACHE and phase.cache.get("state") != "warm":
            cached.setdefault(_format_step_name(phase), []).append(phase)
        if phase.network.get("writes") == BUFFERED:
            buffered.setdefault(_format_step_name(phase), []).append(phase)
        if _is_quiet(phase):
            quiet.setdefault(_format_step_name(phase), []).append(phase)
    return [*_report_cached_reads(cached), *_report_buffered_writes(buffered), *_report_cached_metadata(quiet)]


def _report_cached_reads(of: Phases) -> Iterator[Finding]:
    every = [phase for several in of.values() for phase in several]
    if every:
        yield Finding(
            "S115",
            Severity.WARNING,
            Message(
                "cached-reads",
                "a client cache served {operations}: {share} of the data read came over the network{early}",
                operations=format_some_names(list(of)),
                share=_format_range(every, "share_received"),
                early=_describe_early_reads(every),
            ),
            {"operations": _build_evidence(of, "share_received")},
            "remount before the reads, or turn the client's cache off; else report them as cached reads",
        )


def _report_buffered_writes(of: Phases) -> Iterator[Finding]:
    every = [phase for several in of.values() for phase in several]
    if every:
        yield Finding(
            "S115",
            Severity.INFO,
            Message(
                "buffered-writes",
                "the client still held data of {operations} when the clock stopped: {share} of the data "
                "written had been sent{flushed}",
                operations=format_some_names(list(of)),
                share=_format_range(every, "share_sent"),
                flushed=_describe_flushed_bytes(every),
            ),
            {"operations": _build_evidence(of, "share_sent")},
            "use the rates that include fsync for the servers",
        )


def _report_cached_metadata(of: Phases) -> Iterator[Finding]:
    if of:
        yield Finding(
            "S115",
            Severity.INFO,
            Message(
                "cached-metadata",
                "the client answered {operations} by itself: at most {packets:.2g} packets per operation "
                "went over the network",
                operations=format_some_names(list(of)),
                packets=max(phase.network["packets_per_operation"] for several in of.values() for phase in several),
            ),
            {"operations": _build_evidence(of, "packets_per_operation")},
            "read these rates as those of the client, not of a server",
        )


def _is_quiet(phase: StoredPhase) -> bool:
    """Return whether hardly a packet was sent for the metadata operations of a phase."""
    packets, moved = phase.network.get("packets_per_operation"), sum(total["bytes"] for total in phase.totals.values())
    return packets is not None and packets < _QUIET and not moved and not _is_possibly_on_loopback(phase)


def _is_possibly_on_loopback(phase: StoredPhase) -> bool:
    """Return whether loopback carried enough bytes for the requests to go to a server on the same node."""
    operations = max((total["count"] for total in phase.totals.values()), default=0)
    return (
        sum(map(_compute_loopback_bytes, phase.network.get("nodes") or ())) >= _QUESTION_BYTES * _QUIET * operations > 0
    )


def _compute_loopback_bytes(node: Mapping[str, Any]) -> float:
    """Return the loopback bytes of the timed part, less idle traffic."""
    timed, idle = node.get(TIMED) or {}, node.get("idle") or {}
    rate = idle.get("loopback_bytes", 0) / idle["seconds"] if idle.get("seconds") else 0.0
    return float(timed.get("loopback_bytes", 0)) - rate * float(timed.get("seconds", 0.0))


def _format_range(phases: Sequence[StoredPhase], name: str) -> str:
    shares = [float(phase.network[name]) for phase in phases]
    low, high = wire.format_floored_percent(min(shares)), wire.format_floored_percent(max(shares))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _describe_early_reads(phases: Sequence[StoredPhase]) -> str:
    """Describe data read before the clock ran: opening a file may bring it into the client."""
    came = sum(_read_bytes(phase.network, PREPARING, "received_bytes") for phase in phases)
    expected = sum(float(phase.network["expected_received_bytes"]) for phase in phases)
    return f" ({format_size(int(came))} before the clock ran)" if came > _EARLY * expected else ""


def _describe_flushed_bytes(phases: Sequence[StoredPhase]) -> str:
    """Describe data sent by the flush. A client may hold data back even then (syncfs does not reach all of them)."""
    later = sum(_read_bytes(phase.network, FLUSH, "sent_bytes") for phase in phases if FLUSH in phase.network)
    rest = sum(
        (1.0 - phase.network["share_sent"]) * phase.network["expected_sent_bytes"]
        for phase in phases
        if FLUSH in phase.network
    )
    if not rest:
        return ""
    return f"; {format_size(int(later))} of {format_size(int(rest))} were sent by the flush after it"


def _format_step_name(phase: StoredPhase) -> str:
    return f"{', '.join(phase.tools)} ({phase.operation})" if phase.tools else phase.operation


def _read_bytes(network: Mapping[str, Any], part: str, direction: str) -> int:
    return int((network.get(part) or {}).get(direction, 0))


def _build_evidence(of: Mapping[str, Sequence[StoredPhase]], name: str) -> dict[str, Any]:
    shares = {operation: [float(phase.network[name]) for phase in phases] for operation, phases in of.items()}
    return {operation: [min(several), max(several)] for operation, several in list(shares.items())[:MAX_LISTED]}
