"""Known properties of the path from a client to its servers, and of these, with conclusions for times.

An operation faster than a round trip and the server's own time did not wait: a cache, a buffer or read-ahead had the
data. If every operation of a pass waited, nothing fetched ahead or buffered for it. Time that a server counts as its
own was lost there, not on the path.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkPath:
    """``round_trip_s``: of one byte to a server and back; ``bytes_per_s``: the rate of a client's link after
    ``burst_bytes`` that pass at once."""

    round_trip_s: float
    bytes_per_s: float
    burst_bytes: float = 0.0

    def least_s(self, size: int) -> float:
        """Return the least time of an operation of ``size`` bytes that waits for a server."""
        return self.round_trip_s + max(0.0, size - self.burst_bytes) / self.bytes_per_s


@dataclass(frozen=True)
class ServerTimes:
    """Times of operations of one kind in the servers themselves, by their own counters: server → (count, mean in s).
    ``least_s`` and ``longest_s``: over all, 0 if the servers do not record it."""

    by_server: Mapping[str, tuple[int, float]]
    longest_s: float = 0.0
    least_s: float = 0.0

    @property
    def count(self) -> int:
        """The number on all servers."""
        return sum(many for many, _ in self.by_server.values())

    @property
    def usual_s(self) -> float:
        """The mean without the longest, which may dominate it."""
        return (self.mean_s * self.count - self.longest_s) / max(1, self.count - 1)

    @property
    def mean_s(self) -> float:
        """The mean over all servers; 0 without operations."""
        return sum(many * mean for many, mean in self.by_server.values()) / max(1, self.count)

    @property
    def slowest(self) -> tuple[str, float, float] | None:
        """(server, its mean, that of all others together); None if fewer than two had operations."""
        done = {name: times for name, times in self.by_server.items() if times[0]}
        if len(done) < 2:
            return None
        name = max(done, key=lambda server: done[server][1])
        others = ServerTimes({server: times for server, times in done.items() if server != name})
        return name, done[name][1], others.mean_s

    def find_servers_with_share(self, share: float, files: int) -> list[str]:
        """Return the servers, of two or more with operations, whose part of ``files`` is nearest to ``share``. A server
        may differ by at most one file; empty if none does."""
        done = {name: many / max(1, self.count) for name, (many, _) in self.by_server.items() if many}
        off = {name: round(files * abs(its - share)) for name, its in done.items()}
        nearest = min(off.values(), default=0)
        return [name for name, distance in off.items() if distance == nearest <= 1] if len(done) > 1 else []

    def compute_extra_seconds(self, name: str) -> float:
        """Return how much longer an operation takes in this server than in all others together."""
        others = ServerTimes({server: times for server, times in self.by_server.items() if server != name})
        return self.by_server[name][1] - others.mean_s

    @property
    def excess_s(self) -> float:
        """The excess time of the slowest over all its operations, compared with the others' mean."""
        if self.slowest is None:
            return 0.0
        name, its_s, others_s = self.slowest
        return self.by_server[name][0] * (its_s - others_s)
