"""The files of a job that took most time, with the shares of their accesses that are small, misaligned, random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.io_counters import FileCounters, IoCounters


@dataclass(frozen=True)
class FileShares:
    """A file, its time in I/O calls summed over ranks, and shares of its accesses; None if they are not counted."""

    name: str
    ranks: int
    seconds: float
    io_share: float | None
    accesses: float
    bytes: float
    small: float | None
    misaligned: float | None
    random: float | None
    slowest_rank: int | None
    slowest_s: float | None
    fastest_s: float | None
    osts: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def iterate_files(counters: IoCounters) -> Iterator[FileShares]:
    """Yield the files with names, those that took most time first."""
    io_s = counters.io_seconds
    for part in counters.files:
        if part.name:
            yield _describe_file(counters, part, io_s)


def _describe_file(counters: IoCounters, part: FileCounters, io_s: float) -> FileShares:
    n = part.accesses
    has_sizes = any(name.startswith("SIZE_") for name in counters.counted)
    n_sequential = sum(part.get(name) for name in ("SEQ_READS", "SEQ_WRITES", "first_reads", "first_writes"))
    is_ordered = all(counters.has(f"SEQ_{word}") for word in ("READS", "WRITES") if part.get(word))
    return FileShares(
        part.name,
        part.ranks,
        part.seconds,
        part.seconds / io_s if io_s else None,
        n,
        part.bytes,
        _divide(part.get("small_reads") + part.get("small_writes"), n) if has_sizes else None,
        _divide(part.get("FILE_NOT_ALIGNED"), n) if counters.has("FILE_NOT_ALIGNED") else None,
        max(0.0, n - n_sequential) / n if n and is_ordered else None,
        part.slowest.rank if part.slowest else None,
        part.slowest.seconds if part.slowest else None,
        part.fastest.seconds if part.fastest else None,
        part.osts,
    )


def _divide(n: float, accesses: float) -> float | None:
    """Return the share; None without accesses, and if a damaged log has more of the kind than in all."""
    return n / accesses if accesses and n <= accesses else None
