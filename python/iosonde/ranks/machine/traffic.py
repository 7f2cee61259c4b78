"""Bytes that this node has sent over its network so far: shows whether ranks really talked over it.

An MPI library may take shared memory where its user believes to measure a network.
"""

from __future__ import annotations

from pathlib import Path

from . import reading

# InfiniBand counts in words of four bytes (IBTA specification, PortCounters).
_WORD_BYTES = 4


def sent_bytes(root: Path = Path("/sys/class")) -> int:
    """Bytes sent by all interfaces but loopback, and by all InfiniBand ports (RDMA passes the interfaces by)."""
    interfaces = [path for path in root.glob("net/*/statistics/tx_bytes") if path.parts[-3] != "lo"]
    ports = root.glob("infiniband/*/ports/*/counters/port_xmit_data")
    return sum(reading.number(path) or 0 for path in interfaces) + _WORD_BYTES * sum(
        reading.number(path) or 0 for path in ports
    )
