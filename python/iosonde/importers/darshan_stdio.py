"""Darshan's counters of STDIO per file and rank → what of them is kept: the files that took most time, and the sum of
the others. The standard streams are no files of a file system, and left out."""

from collections.abc import Mapping
from dataclasses import replace

from iosonde.core.io_counters import TIMES, BufferedIo, FileCounters

from .reading import LARGEST

COUNTERS = ("OPENS", "READS", "WRITES", "SEEKS", "FLUSHES", "BYTES_READ", "BYTES_WRITTEN", *TIMES)
_SLOWEST = "F_SLOWEST_RANK_TIME"
NAMES = frozenset((*COUNTERS, _SLOWEST))
_STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
_MOST_FILES = 20  # that are kept one by one


class StdioRecords:
    """Records of STDIO, reduced by ``build``. ``ranks``: number of ranks of the job, None if unknown."""

    def __init__(self, ranks: int | None) -> None:
        self._ranks = ranks
        self._files: dict[str, FileCounters] = {}
        self._seconds_of_rank: dict[int, float] = {}  # in files of single ranks
        self._shared_s: float | None = 0.0  # of the slowest rank of each shared file
        self._has_streams = False

    def add(self, identity: str, rank: int, counters: Mapping[str, float], name: str, filesystem: str) -> None:
        """Add a record. ``counters``: name without its module → value; -1 marks what Darshan could not count."""
        if name in _STREAMS:
            return
        valid = {counter: value for counter, value in counters.items() if 0 < value < LARGEST}
        earlier = self._files.get(identity, FileCounters(name, 1, 0, filesystem, {}))
        counts = {counter: valid.get(counter, 0.0) + earlier.get(counter) for counter in COUNTERS}
        ranks = earlier.ranks + (1 if rank >= 0 else self._ranks or 0)
        self._files[identity] = replace(earlier, ranks=ranks, counts=counts)
        seconds = sum(valid.get(time, 0.0) for time in TIMES)
        if rank >= 0:
            self._seconds_of_rank[rank] = self._seconds_of_rank.get(rank, 0.0) + seconds
        elif seconds and self._shared_s is not None:
            self._shared_s = self._shared_s + valid[_SLOWEST] if _SLOWEST in valid else None

    def add_totals(self, counters: Mapping[str, float]) -> None:
        """Add the sums over all files and ranks, which include the standard streams."""
        if counters:
            self._files[""] = FileCounters(
                "", 0, 0, "", {name: counters[name] for name in COUNTERS if name in counters}
            )
            self._has_streams, self._shared_s = True, None

    def build(self) -> BufferedIo | None:
        """Return what is kept; None if nothing was read, written or timed."""
        files = sorted(self._files.values(), key=lambda file: -file.seconds)
        rest = files[_MOST_FILES:]
        counts = {counter: sum(file.get(counter) for file in rest) for counter in COUNTERS}
        others = [FileCounters("", len(rest), 0, "", counts)] if rest else []
        own_s = max(self._seconds_of_rank.values(), default=0.0)
        slowest_s = None if self._shared_s is None else own_s + self._shared_s
        buffered = BufferedIo((*files[:_MOST_FILES], *others), slowest_s or None, self._has_streams)
        has_any = buffered.seconds or buffered.total("BYTES_READ", "BYTES_WRITTEN")
        return buffered if has_any else None
