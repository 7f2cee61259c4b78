"""State of chunk servers and chunks reported by MooseFS's master (`mfscli -n -p -s'|'`)."""

_SERVER, _CLASS = "chunk servers:", "chunkclass "
_CHUNK_BYTES = 64 * 2**20  # each chunk of a file may be on other servers


def connected(text: str) -> set[str]:
    """Return from `-SCS` the addresses of connected chunk servers.
    Raises ValueError for other text: without an answer from the master mfscli prints an error and exits with 0.
    """
    return {rest.split("|")[0] for name, rest in _rows(text) if name == _SERVER}


def chunk_classes(text: str) -> dict[str, int]:
    """Return from `-SIC` the number of chunks by class.
    Classes are missing, endangered, undergoal, stable, overgoal, pending deletion, to be removed. Raises ValueError for
    other text.
    """
    rows = (rest.split("|") for _, rest in _rows(text))
    counts = {name.removeprefix(_CLASS).rstrip(":"): int(count[0]) for name, *count in rows if name.startswith(_CLASS)}
    if not counts:
        raise ValueError("no class of chunks")
    return counts


def bytes_by_address(text: str, n_bytes: int) -> dict[str, int]:
    """Return from `mfsfileinfo FILE`, for a file of ``n_bytes``, the bytes on each chunk server by address.
    Raises ValueError for other text.
    """
    totals: dict[str, int] = {}
    chunk_bytes, remaining = None, n_bytes
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["chunk"]:
            chunk_bytes = min(remaining, _CHUNK_BYTES)
            remaining -= chunk_bytes
        elif words[:1] == ["copy"] and chunk_bytes is not None:
            address = words[2].rpartition(":")[0]
            totals[address] = totals.get(address, 0) + chunk_bytes
    if remaining:
        raise ValueError("no chunks")
    return totals


def _rows(text: str) -> list[tuple[str, str]]:
    """Return (first column, the rest) of each row. Raises ValueError if a line is not a row."""
    rows = [line.partition("|") for line in text.splitlines() if line.strip()]
    if not all(bar for _, bar, _ in rows):
        raise ValueError("not a table")
    return [(name, rest) for name, _, rest in rows]
