"""Bytes and packets that this node received and sent so far, by interface and by InfiniBand port.

They reveal an MPI library that used shared memory instead of the network, and a client that used its cache instead of
servers. Also the facts of these interfaces and ports: speed, state, MTU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from . import reading

LOOPBACK = "lo"
NET_DEV, INFINIBAND = Path("/proc/self/net/dev"), Path("/sys/class/infiniband")
# InfiniBand counts in words of four bytes (IBTA specification, PortCounters).
_WORD_BYTES = 4
# Fields of a line of /proc/net/dev: bytes and packets received, bytes and packets sent.
_COLUMNS = (0, 8, 1, 9)


class NetworkCounts(NamedTuple):
    """Counts of traffic: bytes with all headers visible to the counter, and packets. Packets are those on the wire, or
    larger if the card merges or splits them (GRO, TSO)."""

    received_bytes: int
    sent_bytes: int
    received_packets: int
    sent_packets: int

    def minus(self, before: NetworkCounts) -> NetworkCounts:
        """Return the difference to ``before``."""
        return NetworkCounts(*(now - then for now, then in zip(self, before, strict=True)))

    def plus(self, other: NetworkCounts) -> NetworkCounts:
        """Return the sum."""
        return NetworkCounts(*(first + two for first, two in zip(self, other, strict=True)))


NOTHING = NetworkCounts(0, 0, 0, 0)


def read_interface_counts(net_dev: Path = NET_DEV) -> dict[str, NetworkCounts]:
    """Return the counts of every interface in this process's network name space (proc_pid_net(5)),
    including loopback."""
    counts_by_interface = {}
    for line in (reading.read_text(net_dev) or "").splitlines():
        name, colon, numbers = line.partition(":")
        if colon:
            words = numbers.split()
            counts_by_interface[name.strip()] = NetworkCounts(*(int(words[column]) for column in _COLUMNS))
    return counts_by_interface


def read_port_counts(infiniband: Path = INFINIBAND) -> dict[str, NetworkCounts]:
    """Return the counts of every InfiniBand and RoCE port with counters, such as ``mlx5_0/1``. /sys may show another
    name space."""
    counts_by_port = {}
    for port in sorted(infiniband.glob("*/ports/*")):
        folder = port / "counters"
        sizes = [reading.read_number(folder / name) for name in ("port_rcv_data", "port_xmit_data")]
        if None not in sizes:
            counts = [reading.read_number(folder / name) or 0 for name in ("port_rcv_packets", "port_xmit_packets")]
            words = [_WORD_BYTES * (size or 0) for size in sizes]
            counts_by_port[f"{port.parent.parent.name}/{port.name}"] = NetworkCounts(*words, *counts)
    return counts_by_port


def count_sent_bytes(net_dev: Path = NET_DEV, infiniband: Path = INFINIBAND) -> int:
    """Return the bytes sent by all interfaces but loopback, and by all InfiniBand ports (RDMA bypasses
    the interfaces)."""
    own = [counts.sent_bytes for name, counts in read_interface_counts(net_dev).items() if name != LOOPBACK]
    return sum(own) + sum(counts.sent_bytes for counts in read_port_counts(infiniband).values())


def describe_interfaces(root: Path = Path("/sys/class/net")) -> list[dict[str, Any]]:
    """Return all interfaces except loopback. ``bits_per_s`` is None if the driver does not report it (virtual ones,
    links that are down)."""
    rows = []
    for directory in sorted(root.iterdir()):
        if directory.name == "lo" or not directory.is_dir():
            continue
        megabits = reading.read_number(directory / "speed")
        driver = directory / "device/driver"
        rows.append(
            {
                "name": directory.name,
                "state": reading.read_text(directory / "operstate"),
                "bits_per_s": megabits * 10**6 if megabits and megabits > 0 else None,
                "mtu_bytes": reading.read_number(directory / "mtu"),
                "duplex": reading.read_text(directory / "duplex"),
                "driver": driver.resolve().name if driver.exists() else None,
            }
        )
    return rows


def describe_ports(root: Path = Path("/sys/class/infiniband")) -> list[dict[str, Any]]:
    """Return the ports of InfiniBand and RoCE adapters; empty without any."""
    return [
        {
            "adapter": port.parent.parent.name,
            "port": int(port.name),
            "state": reading.read_text(port / "state"),
            "rate": reading.read_text(port / "rate"),
            "link_layer": reading.read_text(port / "link_layer"),
        }
        for port in sorted(root.glob("*/ports/*"))
    ]
