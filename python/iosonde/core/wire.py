"""Names for network traffic and calls of servers: parts of a phase, their metrics, conclusions about reads and
writes."""

# Parts of a phase that are counted separately: preparing caches and all else before the clock starts; the timed part
# between its two barriers; flushing data that the client still held.
PREPARING, TIMED, FLUSH = "preparing", "timed", "flush"
PARTS = (PREPARING, TIMED, FLUSH)

# Metrics: bytes of the timed part, of other parts with their name as suffix; packets both ways of the timed part.
RECEIVED, SENT = "network_received", "network_sent"
PACKETS = "network_packets_per_operation"
METRICS = (
    *(name if part == TIMED else f"{name}_{part}" for name in (RECEIVED, SENT) for part in PARTS),
    PACKETS,
)

CALLS = "server_calls_per_operation"  # that servers counted, per operation that the phase's rate counts

# Conclusions about reads: all came over the network; a cache served some; unclear, with bytes that prove nothing.
CAME, SERVED_BY_CACHE, UNCLEAR = "came", "served-by-cache", "unclear"
# Conclusions about writes: all were sent when the clock stopped; some were still buffered.
ALL_SENT, BUFFERED = "sent", "buffered"
# For both.
UNKNOWN = "unknown"
