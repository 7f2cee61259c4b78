"""What this node has received and sent so far, by interface and by InfiniBand port.

An MPI library may take shared memory where its user believes to measure a network; a client may take its cache where
its user believes to measure servers.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from . import reading

LOOPBACK = "lo"
NET_DEV, INFINIBAND = Path("/proc/self/net/dev"), Path("/sys/class/infiniband")
# InfiniBand counts in words of four bytes (IBTA specification, PortCounters).
_WORD_BYTES = 4
# Which numbers of a line of /proc/net/dev: bytes and packets received, bytes and packets sent.
_COLUMNS = (0, 8, 1, 9)


class NetworkCounts(NamedTuple):
    """Bytes with all headers that the counter sees, and packets: as the wire has them, or larger where the card joins
    or splits them (GRO, TSO)."""

    received_bytes: int
    sent_bytes: int
    received_packets: int
    sent_packets: int

    def minus(self, before: NetworkCounts) -> NetworkCounts:
        """What came on top of ``before``."""
        return NetworkCounts(*(now - then for now, then in zip(self, before, strict=True)))

    def plus(self, other: NetworkCounts) -> NetworkCounts:
        """Both together."""
        return NetworkCounts(*(first + two for first, two in zip(self, other, strict=True)))


NOTHING = NetworkCounts(0, 0, 0, 0)


def interfaces(net_dev: Path = NET_DEV) -> dict[str, NetworkCounts]:
    """Of every interface of this process's own network name space (proc_pid_net(5)), loopback too."""
    counts_by_interface = {}
    for line in (reading.text(net_dev) or "").splitlines():
        name, colon, numbers = line.partition(":")
        if colon:
            words = numbers.split()
            counts_by_interface[name.strip()] = NetworkCounts(*(int(words[column]) for column in _COLUMNS))
    return counts_by_interface


def ports(infiniband: Path = INFINIBAND) -> dict[str, NetworkCounts]:
    """Of every InfiniBand and RoCE port with counters, as ``mlx5_0/1``. /sys may show those of its mounter's name
    space."""
    counts_by_port = {}
    for port in sorted(infiniband.glob("*/ports/*")):
        folder = port / "counters"
        sizes = [reading.number(folder / name) for name in ("port_rcv_data", "port_xmit_data")]
        if None not in sizes:
            counts = [reading.number(folder / name) or 0 for name in ("port_rcv_packets", "port_xmit_packets")]
            words = [_WORD_BYTES * (size or 0) for size in sizes]
            counts_by_port[f"{port.parent.parent.name}/{port.name}"] = NetworkCounts(*words, *counts)
    return counts_by_port


def sent_bytes(net_dev: Path = NET_DEV, infiniband: Path = INFINIBAND) -> int:
    """Bytes sent by all interfaces but loopback, and by all InfiniBand ports (RDMA passes the interfaces by)."""
    own = [counts.sent_bytes for name, counts in interfaces(net_dev).items() if name != LOOPBACK]
    return sum(own) + sum(counts.sent_bytes for counts in ports(infiniband).values())
