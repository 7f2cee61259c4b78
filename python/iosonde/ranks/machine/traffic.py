"""Bytes that this node has sent over its network so far: shows whether ranks really talked over it.

An MPI library may take shared memory where its user believes to measure a network.
"""

from __future__ import annotations

from pathlib import Path

from . import reading

# InfiniBand counts in words of four bytes (IBTA specification, PortCounters).
_WORD_BYTES = 4
_SENT = 8  # which number of a line of /proc/net/dev: bytes sent


def sent_bytes(net_dev: Path = Path("/proc/self/net/dev"), infiniband: Path = Path("/sys/class/infiniband")) -> int:
    """Bytes sent by all interfaces but loopback, and by all InfiniBand ports (RDMA passes the interfaces by).

    /proc tells of this process's own network name space; /sys may show that of its mounter.
    """
    total = 0
    for line in (reading.text(net_dev) or "").splitlines():
        name, colon, numbers = line.partition(":")
        if colon and name.strip() != "lo":
            total += int(numbers.split()[_SENT])
    ports = infiniband.glob("*/ports/*/counters/port_xmit_data")
    return total + _WORD_BYTES * sum(reading.number(path) or 0 for path in ports)
