"""Counters of Darshan per file and rank → what of them is kept: the files that took most time, the sum of the others,
the slowest and fastest ranks, and Lustre's targets.

A record is one file of one rank, or of all ranks (rank -1) where all opened it.
"""

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from iosonde.core.io_counters import (
    DIRECTIONS,
    SIZE_BINS,
    SMALL_BINS,
    TIMES,
    FileCounters,
    FilesOfAllRanks,
    FilesOfSingleRanks,
    IoCounters,
    OstTimes,
    RankShare,
)

from . import darshan_stdio
from .reading import LARGEST, parse_number

ALL_RANKS, ANY_RANKS = -1, -2  # ranks of a record that all opened, and of sums over files and ranks
MOST_RANKS = 1 << 24
MOST_FILES = 20  # that are kept one by one
_SUMS = (
    *("OPENS", "READS", "WRITES", "SEEKS", "STATS", "FSYNCS", "FDSYNCS", "BYTES_READ", "BYTES_WRITTEN"),
    *("SEQ_READS", "SEQ_WRITES", "CONSEC_READS", "CONSEC_WRITES", "FILE_NOT_ALIGNED", "MEM_NOT_ALIGNED"),
    *(f"SIZE_{direction}_{size}" for direction in DIRECTIONS.values() for size in SIZE_BINS),
    *TIMES,
)
_COMPUTED = ("small_reads", "small_writes", "first_reads", "first_writes")
_COLLECTIVE = "collective_calls"  # of MPI-IO
_COLUMNS = (*_SUMS, *_COMPUTED, _COLLECTIVE)
_SINGLE = (
    *("FILE_ALIGNMENT", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "F_SLOWEST_RANK_TIME", "F_FASTEST_RANK_TIME"),
    *("SLOWEST_RANK", "SLOWEST_RANK_BYTES", "FASTEST_RANK", "FASTEST_RANK_BYTES"),
)
_COMMON = tuple(f"ACCESS{place}_{what}" for place in range(1, 5) for what in ("ACCESS", "COUNT"))
MODULES = ("POSIX\t", "MPI-IO\t", "LUSTRE\t", "STDIO\t")  # as a line begins
NAMES = frozenset((*_SUMS, *_SINGLE, *_COMMON))
_TOTALS = frozenset((*_SUMS, *_COMMON))
_COLLECTIVE_COUNTERS = frozenset(("COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES"))
_SMALL = 1 << 20
_AT = {name: place for place, name in enumerate(_COLUMNS)}
_READ_S, _WRITE_S, _META_S = (_AT[name] for name in TIMES)
_IN, _OUT, _CALLS = _AT["BYTES_READ"], _AT["BYTES_WRITTEN"], _AT[_COLLECTIVE]
_TARGET = re.compile(r"(?:COMP\d+_)?OST_ID_\d+")  # a counter of a Lustre layout


class CounterRecords:
    """Records of a log, reduced by ``build``. ``ranks``: number of ranks of the job, None if unknown."""

    def __init__(self, ranks: int | None, seconds: float) -> None:
        self._ranks, self._seconds = ranks, seconds
        self._rows = array("d")  # record after record
        self._collective: dict[str, float] = {}  # calls of each file
        self._rank_of_row: list[int] = []
        self._file_of_row: list[int] = []
        self._numbers: dict[str, int] = {}
        self._names: list[tuple[str, str, str]] = []  # identity, name, file system
        self._single: dict[int, dict[str, float]] = {}  # of each file
        self._osts: dict[str, list[int]] = {}
        self._counted: set[str] = set()
        self._places: dict[tuple[str, ...], list[tuple[int, str]]] = {}  # of counters, by the names of a record
        self._n_osts = 0
        self.stdio = darshan_stdio.StdioRecords(ranks)

    def add(
        self, identity: str, rank: int, counters: Mapping[str, float], name: str = "", filesystem: str = ""
    ) -> None:
        """Add a record. ``counters``: name without its module → value; -1 marks what Darshan could not count, and no
        count is infinite."""
        valid = {counter: value for counter, value in counters.items() if 0 <= value < LARGEST}
        self._counted |= valid.keys()
        number = self._numbers.setdefault(identity, len(self._numbers))
        if number == len(self._names):
            self._names.append((identity, name or identity, filesystem))
        self._rows.extend(valid.get(counter, 0.0) for counter in _SUMS)
        self._rows.extend((*self._compute_for_record(rank, valid), 0.0))
        self._rank_of_row.append(rank)
        self._file_of_row.append(number)
        single = self._single.setdefault(number, {})
        for counter in _SINGLE:
            if counter in valid:
                single[counter] = max(valid[counter], single.get(counter, 0.0))

    def add_collective(self, identity: str, counters: Mapping[str, float]) -> None:
        """Add the collective calls of a record of MPI-IO."""
        n = sum(value for name, value in counters.items() if name in _COLLECTIVE_COUNTERS and value > 0)
        self._collective[identity] = self._collective.get(identity, 0.0) + n

    def add_layout(self, identity: str, counters: Mapping[str, float]) -> None:
        """Add the Lustre layout of a file: ``OSTS`` and ``…OST_ID…`` without the module."""
        self._n_osts = max(self._n_osts, int(counters.get("OSTS", 0)))
        targets = [int(value) for name, value in counters.items() if "OST_ID" in name and value >= 0]
        self._osts[identity] = list(dict.fromkeys([*self._osts.get(identity, ()), *targets]))

    def add_printed(
        self,
        module: str,
        rank: str,
        identity: str,
        names: tuple[str, ...],
        values: Sequence[str],
        name: str,
        filesystem: str,
    ) -> None:
        """Add a record of one of ``MODULES`` as printed. One of no valid rank is left out."""
        if names not in self._places:
            counters = [(place, full.partition("_")[2]) for place, full in enumerate(names)]
            self._places[names] = [(at, counter) for at, counter in counters if _is_used(module, counter)]
        if len(rank) > 9 or (rank.startswith("-") and rank != str(ALL_RANKS)):
            return
        counters_by_name = {counter: float(values[place]) for place, counter in self._places[names]}
        if module == "LUSTRE":
            self.add_layout(identity, counters_by_name)
        elif module == "MPI-IO":
            self.add_collective(identity, counters_by_name)
        elif module == "STDIO":
            self.stdio.add(identity, int(rank), counters_by_name, name, filesystem)
        elif counters_by_name:
            self.add(identity, int(rank), counters_by_name, name, filesystem)

    def _compute_for_record(self, rank: int, counters: Mapping[str, float]) -> list[float]:
        """Return the numbers of ``_COMPUTED``.

        Accesses of exactly 1 MiB are in the same bin as smaller ones; they are no small ones if they are among the most
        common sizes. The first access of a rank to a file has no access before it, so it cannot be sequential.
        """
        exact = sum(
            counters.get(f"ACCESS{place}_COUNT", 0.0)
            for place in range(1, 5)
            if counters.get(f"ACCESS{place}_ACCESS") == _SMALL
        )
        small = [
            max(0.0, sum(counters.get(f"SIZE_{direction}_{size}", 0.0) for size in SMALL_BINS) - exact)
            for direction in DIRECTIONS.values()
        ]
        if _is_end_of_file(counters, small[0]):
            small[0] = 0.0
        opened = self._count_ranks(rank) if rank >= ALL_RANKS else counters.get("OPENS", math.inf)
        first = [min(counters.get(f"{direction}S", 0.0), opened) for direction in DIRECTIONS.values()]
        return [*small, *first]

    def _count_ranks(self, rank: int) -> float:
        return 1.0 if rank >= 0 else float(self._ranks or math.inf)

    def build(self) -> IoCounters | None:
        """Return what is kept; None without a record."""
        buffered = self.stdio.build()
        if not self._rows:
            return IoCounters(self._ranks, self._seconds, (), (), buffered=buffered) if buffered else None
        rows = np.frombuffer(self._rows).reshape(-1, len(_COLUMNS))
        ranks = np.array(self._rank_of_row)
        numbers = np.array(self._file_of_row)
        sums = np.zeros((len(self._names), len(_COLUMNS)))
        np.add.at(sums, numbers, rows)
        sums[:, _CALLS] = [self._collective.get(identity, 0.0) for identity, _, _ in self._names]
        order = np.argsort(-sums[:, [_READ_S, _WRITE_S, _META_S]].sum(axis=1), kind="stable")
        of_record = np.where(ranks == ALL_RANKS, self._ranks or 0, ranks >= 0)
        n_ranks = np.bincount(numbers, of_record, len(self._names)).astype(int)
        files = [self._build_file(number, sums[number], int(n_ranks[number])) for number in order[:MOST_FILES]]
        rest = order[MOST_FILES:]
        own, shared = self._compare_own_files(rows, ranks), self._compare_shared_files(rows, ranks, numbers)
        is_compared = bool(own) >= (ranks >= 0).any() and bool(shared) >= (ranks < 0).any()
        slowest_s = (own.slowest.seconds if own else 0.0) + (shared.slowest_s if shared else 0.0)
        others = FileCounters("", rest.size, 0, "", self._select_counts(sums[rest].sum(axis=0))) if rest.size else None
        return IoCounters(
            self._ranks,
            self._seconds,
            tuple(name for name in _COLUMNS if name in self._counted or name in _COMPUTED or name == _COLLECTIVE),
            tuple(files),
            others,
            own,
            shared,
            slowest_s if is_compared else None,
            tuple(self._iterate_osts(sums)),
            self._n_osts,
            buffered,
        )

    def _build_file(self, number: int, sums: Any, n_ranks: int) -> FileCounters:
        (identity, name, filesystem), single = self._names[number], self._single[number]
        return FileCounters(
            name,
            1 if identity else 0,
            n_ranks,
            filesystem,
            self._select_counts(sums),
            max(single.get("MAX_BYTE_READ", -1.0), single.get("MAX_BYTE_WRITTEN", -1.0)) + 1,
            int(single.get("FILE_ALIGNMENT", 0)),
            _read_rank(single, "SLOWEST"),
            _read_rank(single, "FASTEST"),
            tuple(self._osts.get(identity, ())),
        )

    def _select_counts(self, sums: Any) -> dict[str, float]:
        return {name: float(value) for name, value in zip(_COLUMNS, sums, strict=True) if value}

    def _compare_own_files(self, rows: Any, ranks: Any) -> FilesOfSingleRanks | None:
        """Compare the ranks in records of single ranks; a rank without such a record took no time. None if there are no
        such records, or if the number of ranks is unknown."""
        own = ranks >= 0
        if not own.any() or not self._ranks or not ranks.max() < self._ranks <= MOST_RANKS:
            return None
        seconds, moved, metadata = (
            np.bincount(ranks[own], rows[own][:, columns].sum(axis=1), self._ranks)
            for columns in ([_READ_S, _WRITE_S, _META_S], [_IN, _OUT], [_META_S])
        )
        slowest, fastest = (
            RankShare(int(rank), float(seconds[rank]), float(moved[rank]))
            for rank in (int(seconds.argmax()), int(seconds.argmin()))
        )
        return FilesOfSingleRanks(slowest, fastest, float(seconds.mean()), float(moved.mean()), float(metadata.max()))

    def _compare_shared_files(self, rows: Any, ranks: Any, numbers: Any) -> FilesOfAllRanks | None:
        """Compare the ranks in files of all; None if there are none, or if the slowest of one is unknown."""
        shared = ranks == ALL_RANKS
        slowest = [_read_rank(self._single[number], "SLOWEST") for number in numbers[shared].tolist()]
        shares = [share for share in slowest if share]
        if not shares or len(shares) < len(slowest) or not self._ranks:
            return None
        total = rows[shared].sum(axis=0)
        return FilesOfAllRanks(
            len(shares),
            sum(share.seconds for share in shares),
            float(total[[_READ_S, _WRITE_S, _META_S]].sum()) / self._ranks,
            sum(share.bytes for share in shares),
            float(total[_IN] + total[_OUT]) / self._ranks,
            shares[0].rank if len({share.rank for share in shares}) == 1 else None,
        )

    def _iterate_osts(self, sums: Any) -> Iterator[OstTimes]:
        """Yield the times of each target that has files of its own."""
        numbers_by_ost: dict[int, list[int]] = {}
        for identity, targets in self._osts.items():
            number = self._numbers.get(identity)
            if number is not None and len(targets) == 1:
                numbers_by_ost.setdefault(targets[0], []).append(number)
        for ost, numbers in sorted(numbers_by_ost.items()):
            moved = sums[numbers][:, [_IN, _OUT]].sum(axis=1)
            seconds = sums[numbers][:, [_READ_S, _WRITE_S]].sum(axis=1)
            timed = (moved > 0) & (seconds > 0)
            if timed.any():
                rates = np.log(moved[timed] / seconds[timed])
                yield OstTimes(
                    ost, int(timed.sum()), float(moved[timed].sum()), float(seconds[timed].sum()), float(rates.mean())
                )


def _is_end_of_file(counters: Mapping[str, float], n_small: float) -> bool:
    """Return whether the small reads of a file look like the ones of 0 bytes at its end: all in the smallest bin, at
    most one for each open, besides larger reads."""
    n_tiny = counters.get(f"SIZE_READ_{SMALL_BINS[0]}", 0.0)
    return n_small == n_tiny <= counters.get("OPENS", 0.0) and n_tiny < counters.get("READS", 0.0)


def _is_used(module: str, counter: str) -> bool:
    if module == "LUSTRE":
        return counter == "OSTS" or bool(_TARGET.fullmatch(counter))
    return counter in {"POSIX": NAMES, "STDIO": darshan_stdio.NAMES}.get(module, _COLLECTIVE_COUNTERS)


def read_totals(ranks: int | None, seconds: float, totals: Iterable[re.Match[str]]) -> IoCounters | None:
    """Return the totals of POSIX and STDIO as counters without files; None without any. A match is module, counter,
    value."""
    records = CounterRecords(ranks, seconds)
    counters: dict[str, dict[str, float]] = {"POSIX": {}, "MPIIO": {}, "STDIO": {}}
    for module, counter, value in (match.groups() for match in totals):
        if module in counters and (number := parse_number(value)) is not None:
            counters[module][counter] = number
    posix = {counter: value for counter, value in counters["POSIX"].items() if counter in _TOTALS}
    if posix:
        records.add("", ANY_RANKS, posix)
        records.add_collective("", counters["MPIIO"])
    records.stdio.add_totals(counters["STDIO"])
    return records.build()


def count_accesses(counters: IoCounters) -> Iterator[tuple[str, str, float, str]]:
    """Yield (operation, metric, value, unit): the histogram of sizes, and which share of accesses is sequential,
    consecutive, aligned; the time of the slowest rank."""
    for direction, word in DIRECTIONS.items():
        n, operation = counters.total(f"{word}S"), f"posix_{direction}"
        if not n:
            continue
        for size in SIZE_BINS:
            if in_bin := counters.total(f"SIZE_{word}_{size}"):
                yield operation, f"operations_{size}", in_bin, "operations"
        for counter, metric in (("SEQ", "sequential_share"), ("CONSEC", "consecutive_share")):
            if counters.has(f"{counter}_{word}S") and (share := counters.total(f"{counter}_{word}S") / n) <= 1:
                yield operation, metric, share, ""
    n = counters.total("READS", "WRITES")
    if counters.has("FILE_NOT_ALIGNED") and n >= max(1, counters.total("FILE_NOT_ALIGNED")):
        yield "posix", "aligned_share", 1 - counters.total("FILE_NOT_ALIGNED") / n, ""
    if counters.slowest_s:
        yield "posix", "time_by_slowest", counters.slowest_s, "s"


def _read_rank(single: Mapping[str, float], which: str) -> RankShare | None:
    """Return the ``SLOWEST`` or ``FASTEST`` rank of a shared file; None if Darshan did not time it."""
    seconds = single.get(f"F_{which}_RANK_TIME", 0.0)
    if not seconds or f"{which}_RANK" not in single:
        return None
    return RankShare(int(single[f"{which}_RANK"]), seconds, single.get(f"{which}_RANK_BYTES", 0.0))
