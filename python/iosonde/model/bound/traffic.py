"""How many bytes move for each byte that the application reads or writes: copies, parity, read-modify-write.

Sources: replication by the client is what GlusterFS does (AFR); chained replication van Renesse & Schneider, OSDI
2004, and the data flow of GFS (Ghemawat et al., SOSP 2003, §3.2); k + m erasure codes Plank 1997 (Software Practice &
Experience 27(9)); the small write that reads old data and parity first Patterson, Gibson & Katz, SIGMOD 1988.
"""

from dataclasses import dataclass

from .system import READ, System


@dataclass(frozen=True)
class Traffic:
    """Bytes for each byte of the application: over the clients' links, into the servers, across the fabric, to and
    from the disks. Links are full duplex: the busier direction counts."""

    clients: float = 1.0
    servers: float = 1.0
    fabric: float = 1.0
    disk_written: float = 0.0
    disk_read: float = 0.0


def compute_traffic(system: System) -> Traffic:
    """Compute the bytes moved for one byte of the system's operation. A read takes one copy, and data chunks only."""
    if system.operation == READ:
        return Traffic(disk_read=1.0)
    r = float(system.replicas)
    if system.redundancy == "client":
        return Traffic(r, r, r, disk_written=r)
    if system.redundancy == "chained":
        return Traffic(1.0, r, r, disk_written=r)
    if system.redundancy == "erasure":
        written, read = compute_erasure_coded_bytes(
            system.data_chunks, system.parity_chunks, system.chunk_size, system.request_size
        )
        busier = max(written, read)
        return Traffic(busier, busier, written + read, written, read)
    return Traffic(disk_written=1.0)


def compute_erasure_coded_bytes(k: int, m: int, chunk: float | None, request: float | None) -> tuple[float, float]:
    """(bytes written, bytes read) for each byte of a write, aligned to chunks.

    Full stripes write (k + m)/k and read nothing. The rest of a request that fills no stripe updates m parities of
    its own width, and reads first the cheaper of: old data and old parity (read-modify-write), or the data that it
    leaves alone (reconstruct-write). Without ``chunk`` or ``request`` stripes are full.
    """
    full = (k + m) / k
    if chunk is None or request is None:
        return full, 0.0
    stripes, rest = divmod(request, k * chunk)
    if not rest:
        return full, 0.0
    width = min(rest, chunk)
    written = rest + m * width
    return (stripes * (k + m) * chunk + written) / request, min(written, max(0.0, k * width - rest)) / request
