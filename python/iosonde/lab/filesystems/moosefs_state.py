"""What MooseFS's master says of chunk servers and chunks, as `mfscli -n -p -s'|'` prints it."""

from __future__ import annotations

_SERVER, _CLASS = "chunk servers:", "chunkclass "
_CHUNK_BYTES = 64 * 2**20  # a file lies on another server from one chunk to the next


def connected(text: str) -> set[str]:
    """`-SCS`: addresses of chunk servers that are connected. Raises ValueError for another text: where no master
    answers, mfscli says so and ends well."""
    return {rest.split("|")[0] for name, rest in _rows(text) if name == _SERVER}


def chunk_classes(text: str) -> dict[str, int]:
    """`-SIC`: missing, endangered, undergoal, stable, overgoal, pending deletion, to be removed → how many chunks.

    Raises ValueError for another text."""
    rows = (rest.split("|") for _, rest in _rows(text))
    counts = {name.removeprefix(_CLASS).rstrip(":"): int(count[0]) for name, *count in rows if name.startswith(_CLASS)}
    if not counts:
        raise ValueError("no class of chunks")
    return counts


def bytes_by_address(text: str, n_bytes: int) -> dict[str, int]:
    """`mfsfileinfo FILE` of a file of so many bytes: how many of them each chunk server holds, by its address. Raises
    ValueError for another text."""
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
    """(first column, the rest) of each row. Raises ValueError where a line is none."""
    rows = [line.partition("|") for line in text.splitlines() if line.strip()]
    if not all(bar for _, bar, _ in rows):
        raise ValueError("not a table")
    return [(name, rest) for name, _, rest in rows]
