"""What is known of the way between a client and its servers, and of these, and what follows from it for times.

What took less than a round trip, and what a server takes itself, was not waited for: a cache, a buffer or read-ahead
had it. What every operation of a pass waited for, nobody fetched before, or took off its hands. And what a server
counted as its own time was lost there, and not on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkPath:
    """``round_trip_s``: of one byte to a server and back; ``bytes_per_s``: what a client's link carries, after
    ``burst_bytes`` that pass at once."""

    round_trip_s: float
    bytes_per_s: float
    burst_bytes: float = 0.0

    def least_s(self, size: int) -> float:
        """What an operation of so many bytes takes at least that waits for a server."""
        return self.round_trip_s + max(0.0, size - self.burst_bytes) / self.bytes_per_s


@dataclass(frozen=True)
class ServerTimes:
    """How long operations of one kind took in the servers themselves, by the servers' own counts: server → (how many,
    their mean in s). ``least_s`` and ``longest_s``: of all, 0 where the servers do not keep it."""

    by_server: Mapping[str, tuple[int, float]]
    longest_s: float = 0.0
    least_s: float = 0.0

    @property
    def count(self) -> int:
        """On all servers."""
        return sum(many for many, _ in self.by_server.values())

    @property
    def usual_s(self) -> float:
        """The mean without the longest, which may be most of it."""
        return (self.mean_s * self.count - self.longest_s) / max(1, self.count - 1)

    @property
    def mean_s(self) -> float:
        """Of all of them; 0 where none did anything."""
        return sum(many * mean for many, mean in self.by_server.values()) / max(1, self.count)

    @property
    def slowest(self) -> tuple[str, float, float] | None:
        """(server, its mean, that of all others together); None where fewer than two did anything."""
        done = {name: times for name, times in self.by_server.items() if times[0]}
        if len(done) < 2:
            return None
        name = max(done, key=lambda server: done[server][1])
        others = ServerTimes({server: times for server, times in done.items() if server != name})
        return name, done[name][1], others.mean_s

    def holders(self, share: float, files: int) -> list[str]:
        """The servers, of two or more, whose part of the operations on so many files is nearest to this share: as many
        files, or one more or less; none where no server is so near."""
        done = {name: many / max(1, self.count) for name, (many, _) in self.by_server.items() if many}
        off = {name: round(files * abs(its - share)) for name, its in done.items()}
        nearest = min(off.values(), default=0)
        return [name for name, distance in off.items() if distance == nearest <= 1] if len(done) > 1 else []

    def longer_s(self, name: str) -> float:
        """How much longer an operation takes in this server than in all others together."""
        others = ServerTimes({server: times for server, times in self.by_server.items() if server != name})
        return self.by_server[name][1] - others.mean_s

    @property
    def excess_s(self) -> float:
        """How much longer the slowest took, over all its operations, than if each had been as long as elsewhere."""
        if self.slowest is None:
            return 0.0
        name, its_s, others_s = self.slowest
        return self.by_server[name][0] * (its_s - others_s)
