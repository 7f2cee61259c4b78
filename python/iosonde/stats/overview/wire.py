"""Network traffic in words: of reads, of writes, and why it is unknown.

Counters are exact, not a sample: the share is that of all trials together, its range that of single phases.
"""

from collections.abc import Iterator, Sequence

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.wire import UNKNOWN

SERVERS = "The servers' caches are not covered."


def iterate_network_phases(runs: Sequence[StoredRun]) -> Iterator[StoredPhase]:
    """Iterate over the phases with counted network traffic."""
    for run in runs:
        yield from (phase for phase in run.phases if phase.network and phase.is_step)


def describe_network_traffic(runs: Sequence[StoredRun]) -> str:
    """Return sentences about all runs; '' if the target has no server, or nothing was counted."""
    received, sent = _describe_shares(runs, "received"), _describe_shares(runs, "sent")
    why, has_shares = explain_unknown_traffic(runs), bool(received or sent)
    read = Message("read-over-network", "{share} of the data read came over the network.", share=received)
    template = "{share} of the data written had been sent when the clock stopped."
    written = Message("sent-before-end", template, share=sent)
    template = "Network traffic is not known" + (" for all phases" if has_shares else "") + ": {reason}."
    unknown = Message("unknown-traffic", template, reason=why)
    parts = ((read, received), (written, sent), (SERVERS, has_shares), (unknown, why))
    return " ".join(text for text, is_needed in parts if is_needed)


def explain_unknown_traffic(runs: Sequence[StoredRun]) -> str:
    """Return the first reason why network traffic is unknown; '' if it is known."""
    return next(
        (
            str(phase.network["why"])
            for phase in iterate_network_phases(runs)
            if UNKNOWN in map(phase.network.get, ("reads", "writes"))
        ),
        "",
    )


def _describe_shares(runs: Sequence[StoredRun], direction: str) -> str:
    """Return a share such as ``92 % (80 to 100 % by phase)``. More than all is headers and messages, and does not
    compensate for other phases."""
    of = [
        phase.network for phase in iterate_network_phases(runs) if phase.network.get(f"share_{direction}") is not None
    ]
    if not of:
        return ""
    shares = [min(1.0, float(network[f"share_{direction}"])) for network in of]
    expected = [float(network[f"expected_{direction}_bytes"]) for network in of]
    total_share = sum(share * size for share, size in zip(shares, expected, strict=True)) / sum(expected)
    low, high = format_floored_percent(min(shares)), format_floored_percent(max(shares))
    return format_floored_percent(total_share) + (
        "" if low == high else f" ({low.removesuffix(' %')} to {high} by phase)"
    )


def format_floored_percent(share: float) -> str:
    """Return a rounded-down percentage: ``92 %``; 99.9 % is not all."""
    return f"{int(100 * share + 1e-9)} %"
