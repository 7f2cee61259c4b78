"""Counters that a tool kept of a job's accesses, per file: the input of a diagnosis without single operations.

Names of counters are Darshan's without the module: ``SEQ_WRITES``, ``SIZE_READ_0_100``, ``F_META_TIME``. In lower case
are those that are computed for each file before files are summed (``small_reads``), and ``collective_calls`` of MPI-IO.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

IO_COUNTERS = "io_counters"  # in the facts of a run
# Bins of sizes of accesses; the upper end of each is inside: an access of exactly 1 MiB is in 100K_1M.
SIZE_BINS = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS")
SMALL_BINS = SIZE_BINS[:5]
TIMES = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
DIRECTIONS = {"read": "READ", "write": "WRITE"}


@dataclass(frozen=True)
class RankShare:
    """A rank, its seconds in I/O calls, and the bytes that it transferred."""

    rank: int
    seconds: float
    bytes: float


@dataclass(frozen=True)
class FileCounters:
    """Counters of one file over all its ranks, or of ``files`` files together.

    ``counts`` are sums; those of 0 may be left out. ``ranks``: how many accessed it, 0 if unknown. ``size``: the end of
    its highest access, 0 if unknown. ``alignment``: bytes at whose multiples an access is aligned, 0 if unknown.
    ``slowest`` and ``fastest`` are known of a file that all ranks opened. ``osts``: its Lustre targets, empty if
    unknown.
    """

    name: str
    files: int
    ranks: int
    filesystem: str
    counts: Mapping[str, float]
    size: float = 0.0
    alignment: int = 0
    slowest: RankShare | None = None
    fastest: RankShare | None = None
    osts: tuple[int, ...] = ()

    def get(self, name: str) -> float:
        """Return a counter, 0 without it."""
        return self.counts.get(name, 0.0)

    @property
    def seconds(self) -> float:
        """Return the time in I/O calls, summed over ranks."""
        return sum(self.get(name) for name in TIMES)

    @property
    def accesses(self) -> float:
        """Return the number of reads and writes."""
        return self.get("READS") + self.get("WRITES")

    @property
    def bytes(self) -> float:
        """Return the bytes read and written."""
        return self.get("BYTES_READ") + self.get("BYTES_WRITTEN")

    @property
    def data_seconds(self) -> float:
        """Return the time in reads and writes, summed over ranks."""
        return self.get("F_READ_TIME") + self.get("F_WRITE_TIME")


@dataclass(frozen=True)
class FilesOfSingleRanks:
    """Times of ranks in files that they did not share with all others: the slowest and fastest of all ranks of the job,
    their mean, and the longest time of a rank in metadata calls."""

    slowest: RankShare
    fastest: RankShare
    mean_s: float
    mean_bytes: float
    longest_metadata_s: float


@dataclass(frozen=True)
class FilesOfAllRanks:
    """Times in files that all ranks opened, summed over files: the slowest rank of each, and the mean over ranks.
    ``slowest_bytes`` and ``mean_bytes`` are of the same ranks. ``slowest_rank``: None if it differs between files."""

    files: int
    slowest_s: float
    mean_s: float
    slowest_bytes: float
    mean_bytes: float
    slowest_rank: int | None = None


@dataclass(frozen=True)
class OstTimes:
    """Files that lie on one Lustre target (OST) alone: bytes, seconds in reads and writes, and the mean of the natural
    logarithms of their rates in bytes/s."""

    ost: int
    files: int
    bytes: float
    seconds: float
    mean_log_rate: float


@dataclass(frozen=True)
class BufferedIo:
    """I/O through the buffers of the C library (fprintf, fread), which other counters of a log do not contain.

    ``files`` are those that took most time, the last one the sum of the rest, without a name. ``slowest_s``: the time
    of the slowest rank in these calls, None if unknown. ``has_streams``: standard output and error are included.
    """

    files: tuple[FileCounters, ...]
    slowest_s: float | None = None
    has_streams: bool = False

    def total(self, *names: str) -> float:
        """Return the sum of these counters over all files."""
        return sum(file.get(name) for file in self.files for name in names)

    @property
    def seconds(self) -> float:
        """Return the time in these calls, summed over ranks."""
        return self.total(*TIMES)


@dataclass(frozen=True)
class IoCounters:
    """Counters of a job.

    ``ranks`` is None if unknown, ``seconds`` of the job 0. ``counted`` names the counters that the log has. ``files``
    are those that took most time, ``others`` the sum of the rest. ``own`` and ``shared`` are None if there are no such
    files, or if their ranks cannot be compared. ``slowest_s``: the time of the slowest rank in I/O calls, that of its
    own files and of the slowest rank of each shared file; no rank took longer. None if unknown. ``buffered``: besides
    all other numbers, None if the log has none.
    """

    ranks: int | None
    seconds: float
    counted: tuple[str, ...]
    files: tuple[FileCounters, ...]
    others: FileCounters | None = None
    own: FilesOfSingleRanks | None = None
    shared: FilesOfAllRanks | None = None
    slowest_s: float | None = None
    osts: tuple[OstTimes, ...] = ()
    n_osts: int = 0
    buffered: BufferedIo | None = None

    @property
    def parts(self) -> tuple[FileCounters, ...]:
        """Return all parts whose sum is the job."""
        return self.files if self.others is None else (*self.files, self.others)

    def total(self, *names: str) -> float:
        """Return the sum of these counters over all files."""
        return sum(part.get(name) for part in self.parts for name in names)

    def has(self, *names: str) -> bool:
        """Return whether the log has all these counters."""
        return set(names) <= set(self.counted)

    @property
    def io_seconds(self) -> float:
        """Return the time in I/O calls, summed over ranks."""
        return self.total(*TIMES)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> IoCounters:
        """Return the counters that ``to_json`` wrote."""
        own, others, shared, buffered = (document.get(name) for name in ("own", "others", "shared", "buffered"))
        return cls(
            document["ranks"],
            document["seconds"],
            tuple(document["counted"]),
            tuple(map(_read_file, document["files"])),
            _read_file(others) if others else None,
            FilesOfSingleRanks(**{**own, **{name: RankShare(**own[name]) for name in ("slowest", "fastest")}})
            if own
            else None,
            FilesOfAllRanks(**shared) if shared else None,
            document["slowest_s"],
            tuple(OstTimes(**ost) for ost in document["osts"]),
            document["n_osts"],
            BufferedIo(**{**buffered, "files": tuple(map(_read_file, buffered["files"]))}) if buffered else None,
        )


def _read_file(document: Mapping[str, Any]) -> FileCounters:
    shares = {name: RankShare(**document[name]) if document[name] else None for name in ("slowest", "fastest")}
    return FileCounters(**{**document, **shares, "osts": tuple(document["osts"])})
