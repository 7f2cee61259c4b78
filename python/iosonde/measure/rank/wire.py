"""A node's meter: traffic on the route to the target's servers, for each part of each phase.

The first rank of each node reads the counters for all its ranks, never between the barriers around the timed part.
``measure.collect.wire`` interprets the bytes.
"""

import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

from iosonde.core.filesystems import is_network
from iosonde.measure import spool
from iosonde.measure.assignment import Assignment
from iosonde.ranks import mpi
from iosonde.ranks.heartbeat import Heartbeat
from iosonde.ranks.machine import mount, route, traffic
from iosonde.ranks.machine.route import Route
from iosonde.ranks.machine.traffic import LOOPBACK, NOTHING, NetworkCounts

# Before the first phase, our ranks are idle for this long: the traffic meanwhile belongs to others.
IDLE_S = 0.1

# Counters at one moment: of the route, and of loopback, which a server on this node would use.
Reading = tuple[NetworkCounts, NetworkCounts]


class Meter:
    """Counts on this rank for its node; does nothing on other ranks, and if the target has no server.

    ``route`` is None there; if it has a ``why``, only that is kept.
    """

    def __init__(
        self, folder: Path, rank: int, server_route: Route | None, read: Callable[[Route], Reading] | None = None
    ) -> None:
        self._folder, self._rank, self._route = folder, rank, server_route
        self._read = read or read_counters
        self._parts: dict[str, Any] = {}
        self._idle: dict[str, Any] = {}
        self._at_ns, self._last = 0, (NOTHING, NOTHING)
        self._mark_part()

    @property
    def counts(self) -> bool:
        """Return whether this rank has a network file system's traffic to count."""
        return self._route is not None and not self._route.why

    def _mark_part(self) -> None:
        if self._route is not None and self.counts:
            self._last = self._read(self._route)
            self._at_ns = time.monotonic_ns()

    def idle(self, ranks: mpi.Ranks, heart: Heartbeat) -> None:
        """Count the traffic while no rank does anything. A collective call."""
        heart.enter("measuring idle network traffic")
        ranks.wait_for_all()
        if self.counts:
            self._mark_part()
            time.sleep(IDLE_S)
            self.ends("idle")
            self._idle, self._parts = self._parts, {}
        ranks.wait_for_all()

    def ends(self, part: str) -> None:
        """Assign the traffic since the end of the previous part to ``part``."""
        if not self.counts:
            return
        before, started_ns = self._last, self._at_ns
        self._mark_part()
        ours, loopback = (now.minus(then) for now, then in zip(self._last, before, strict=True))
        self._parts[part] = {
            **ours._asdict(),
            "loopback_bytes": loopback.received_bytes,
            "seconds": (self._at_ns - started_ns) / 1e9,
        }

    def keep(self, frame: int) -> None:
        """Leave the counts in the spool, as those of this frame."""
        if self._route is not None:
            own_server = {"own_server": self._route.own_server} if self._route.own_server else {}
            about = {"why": self._route.why, "assumed": self._route.assumed, **own_server}
            ways = {"interfaces": self._route.interfaces, "ports": self._route.ports}
            spool.write_wire(self._folder, self._rank, frame, {**about, **ways, **self._idle, **self._parts})
        self._parts = {}


def create_meter(assignment: Assignment, ranks: mpi.Ranks) -> Meter:
    """Return the meter of this rank. It reads the mount table and routes, and queries a name server if only a name is
    known; it does not touch the target."""
    server_route = None
    if assignment.root and ranks.local_rank == 0:
        mount_entry = mount.find_mount(Path(assignment.root))
        if mount_entry and is_network(mount_entry.type, mount_entry.source):
            server_route = route.find_route_to_servers(mount_entry, route.read_node_network(), assignment.file_servers)
    return Meter(Path(assignment.spool), ranks.rank, server_route)


def read_counters(of: Route) -> Reading:
    """Return the current counters of a route, summed, and those of loopback."""
    cards = traffic.read_interface_counts()
    ports = traffic.read_port_counts() if of.ports else {}
    ours = [*(cards.get(name, NOTHING) for name in of.interfaces), *(ports.get(name, NOTHING) for name in of.ports)]
    return reduce(NetworkCounts.plus, ours, NOTHING), cards.get(LOOPBACK, NOTHING)
