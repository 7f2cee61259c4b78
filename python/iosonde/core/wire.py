"""Words of what came over the network: parts of a phase, metrics of it, and what they say of reads and writes."""

from __future__ import annotations

# Parts of a phase that are counted apart: bringing caches into their state and what a phase needs before its clock
# runs; between the two barriers around the timed part; writing out what the client still held.
PREPARING, TIMED, FLUSH = "preparing", "timed", "flush"
PARTS = (PREPARING, TIMED, FLUSH)

# Metrics: bytes of the timed part, of the others with their name behind; packets both ways of the timed part.
RECEIVED, SENT = "network_received", "network_sent"
PACKETS = "network_packets_per_operation"
METRICS = (
    *(name if part == TIMED else f"{name}_{part}" for name in (RECEIVED, SENT) for part in PARTS),
    PACKETS,
)

# What the bytes say of reads: all came over the network; a cache served some; not few, yet they prove nothing.
CAME, SERVED_BY_CACHE, UNCLEAR = "came", "served-by-cache", "unclear"
# Of writes: all were sent when the clock stopped; some were kept back.
ALL_SENT, BUFFERED = "sent", "buffered"
# Of both.
UNKNOWN = "unknown"
