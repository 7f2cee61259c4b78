"""The operations of one phase under any clock: which are inside, when it stops, and its resolution.

An operation outside (an open before IOzone starts its clock) takes no time. Before the first and after the last
operation inside it is cut off; between them it is cut out, and what follows on its rank moves forward. So any clock can
be applied to the same operations, and each single step between two clocks has a value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase

OPEN, FSYNC, CLOSE = "open", "fsync", "close"
PARTS = (OPEN, FSYNC, CLOSE)
KINDS = {OPEN: ("open", "create"), FSYNC: ("fsync", "fdatasync"), CLOSE: ("close",)}
DATA = {"write": ("write", "append", "mmap_write"), "read": ("read", "mmap_read")}

LAST_DONE = "last_done"  # all work ÷ (last end − first start)
FIRST_DONE = "first_done"  # whole operations done by the first rank's end ÷ (that end − first start)
SUM_OF_RANKS = "sum_of_ranks"  # the sum of each rank's work ÷ its own time
SUM_UNTIL_FIRST = "sum_until_first"  # the same, each rank stopping when the first one has finished its work
PARENT = "parent"  # work done by the first rank's end ÷ (last end − first start)
LONGEST_RANK = "longest_rank"  # all work ÷ the longest of the ranks' own times
SLOWEST_RANK = "slowest_rank"  # ranks × the smallest of work ÷ (last end − its own start)
STOPS = (LAST_DONE, FIRST_DONE, SUM_OF_RANKS, SUM_UNTIL_FIRST, PARENT, LONGEST_RANK, SLOWEST_RANK)
# Moment → the neighbouring moment, one step away: all other ways lead through these.
_NEXT = {
    SUM_UNTIL_FIRST: SUM_OF_RANKS,
    **dict.fromkeys((SUM_OF_RANKS, FIRST_DONE, PARENT, LONGEST_RANK, SLOWEST_RANK), LAST_DONE),
}
# These do not compare the clocks of different ranks.
OWN_TIMES = (SUM_OF_RANKS, LONGEST_RANK)

_COMPARABLE_ERROR = 0.01  # clocks' error as a fraction of the phase; see stats.recompute


@dataclass(frozen=True)
class Clock:
    """``inside``: which of PARTS count as time (data and everything else always do); ``stops``: one of STOPS;
    ``step_ns``: the time is rounded up to a multiple of it (0: exact)."""

    inside: frozenset[str]
    stops: str
    step_ns: int = 0


def list_moments_between(start: str, end: str) -> list[str]:
    """Return the moments (of STOPS) that lead from one to the other, each a single change; ``end`` is the last."""
    up, down = [start], [end]
    while up[-1] in _NEXT:
        up.append(_NEXT[up[-1]])
    while down[-1] in _NEXT:
        down.append(_NEXT[down[-1]])
    while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
        up.pop()
        down.pop()
    return up[1:] + down[-2::-1]


@dataclass(frozen=True)
class Work:
    """Operations of one phase, in ns on one clock, sorted by rank and start. ``of`` is the index of the rank: 0, 1, …

    ``comparable`` is False if the clocks of the ranks' nodes cannot be compared.
    """

    of: npt.NDArray[np.int64]
    kind: npt.NDArray[Any]
    file: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    good: npt.NDArray[np.bool_]
    kinds: tuple[str, ...]
    comparable: bool = True

    @property
    def ranks(self) -> int:
        """Return the number of ranks with operations."""
        return int(self.of[-1]) + 1 if self.of.size else 0

    def has(self, *names: str) -> bool:
        """Return whether any operation is of one of these kinds."""
        return bool(self.is_kind(*names).any())

    def is_kind(self, *names: str) -> npt.NDArray[np.bool_]:
        """Return which operations are of one of these kinds."""
        return np.isin(self.kind, [self.kinds.index(name) for name in names if name in self.kinds])

    def get_bytes_by_operation(self, direction: str) -> npt.NDArray[np.float64]:
        """Return the bytes moved by each operation in this direction (``write`` or ``read``), 0 for others and
        failures."""
        return np.where(self.is_kind(*DATA[direction]) & self.good, self.size, 0).astype(float)

    def count_of(self, *names: str) -> npt.NDArray[np.float64]:
        """Return 1 for each operation of these kinds that succeeded."""
        return np.where(self.is_kind(*names) & self.good, 1.0, 0.0)

    def list_data_directions(self) -> list[str]:
        """Return those of ``write`` and ``read`` that moved data."""
        return [name for name in DATA if self.get_bytes_by_operation(name).any()]

    def order(self, direction: str) -> str:
        """Return ``sequential``, ``backward`` or ``random``: the order of each rank's offsets in its file."""
        moved = np.flatnonzero(self.get_bytes_by_operation(direction))
        of, file, offset = self.of[moved], self.file[moved], self.offset[moved]
        step = np.diff(offset)[(np.diff(of) == 0) & (np.diff(file) == 0)]
        return "sequential" if (step >= 0).all() else "backward" if (step <= 0).all() else "random"

    def compute_most_files_per_rank(self) -> int:
        """Return the largest number of files of a rank."""
        pairs = np.unique(np.stack([self.of, self.file]), axis=1)[0]
        return int(np.bincount(pairs).max()) if pairs.size else 0


def select_phase_work(phase: StoredPhase, operations: npt.NDArray[Any], kinds: Sequence[str]) -> Work:
    """Select the operations of this phase from those of its run."""
    rows = operations[operations["phase"] == phase.index]
    ranks, of = np.unique(rows["rank"], return_inverse=True)
    offset = phase.clock_offsets
    shift = np.array([offset.get(int(rank), 0) for rank in ranks], np.int64)[of] if rows.size else of
    start = rows["start_ns"].astype(np.int64) - shift
    end = start + rows["duration_ns"].astype(np.int64)
    order = np.lexsort((start, of))
    return Work(
        of=of[order].astype(np.int64),
        kind=rows["kind"][order],
        file=rows["file"][order].astype(np.int64),
        start=start[order],
        end=end[order],
        size=rows["size"][order].astype(np.int64),
        offset=rows["offset"][order].astype(np.int64),
        good=rows["status"][order] == 0,
        kinds=tuple(kinds),
        comparable=phase.clock_error_ns <= _COMPARABLE_ERROR * max(int(end.max() - start.min()) if rows.size else 0, 1),
    )


def explain_not_recomputable(phase: StoredPhase) -> str:
    """Return why nothing can be recomputed for this phase; '' if it can."""
    return (
        ""
        if phase.recorded_all
        else Message(
            "sampled-operations", "not every operation was recorded: 'iosonde run --max-operations N' records more"
        )
    )


@dataclass(frozen=True)
class RecordedTimeline:
    """Work as seen by a clock: per operation its times, per rank its first start and last end (ns)."""

    of: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    done: npt.NDArray[np.float64]
    began: npt.NDArray[np.int64]
    ended: npt.NDArray[np.int64]


def build_timeline(work: Work, inside: frozenset[str], done: npt.NDArray[np.float64]) -> RecordedTimeline:
    """Cut out operations that are not inside; ``done`` is the work of each operation (bytes, or 1). All ranks must have
    some."""
    outside = work.is_kind(*(name for part in PARTS if part not in inside for name in KINDS[part]))
    spent = np.where(outside, work.end - work.start, 0)
    before = np.cumsum(spent) - spent
    retained = np.flatnonzero(~outside)
    of = work.of[retained]
    first = np.searchsorted(of, np.arange(work.ranks))
    # Only cuts after a rank's own first operation move it forward.
    cut = before[retained] - before[retained][first][of]
    start, end = work.start[retained] - cut, work.end[retained] - cut
    return RecordedTimeline(of, start, end, done[retained], start[first], np.maximum.reduceat(end, first))


def compute_rate(work: Work, done: npt.NDArray[np.float64], clock: Clock) -> float | None:
    """Return the work per second under ``clock``; None if the record does not determine it (no time inside, or the
    ranks' clocks cannot be compared)."""
    if not done.any() or (not work.comparable and clock.stops not in OWN_TIMES):
        return None
    outside = work.is_kind(*(name for part in PARTS if part not in clock.inside for name in KINDS[part]))
    if np.unique(work.of[~outside]).size < work.ranks:
        return None  # a rank without operations inside has no time
    line = build_timeline(work, clock.inside, done)
    own = np.bincount(line.of, line.done, work.ranks).astype(np.float64, copy=False)
    if clock.stops == SUM_OF_RANKS:
        return _sum_rates(own, line.ended - line.began, clock)
    if clock.stops == LONGEST_RANK:
        return _divide_by_span(float(own.sum()), int((line.ended - line.began).max()), clock)
    if clock.stops == SLOWEST_RANK:
        return _compute_slowest_rate(own, line, clock)
    span = int(line.ended.max() - line.began.min())
    if clock.stops == LAST_DONE:
        return _divide_by_span(float(own.sum()), span, clock)
    first_end = int(line.ended.min())
    early = float(line.done[line.end <= first_end].sum())
    if clock.stops == FIRST_DONE:
        return _divide_by_span(early, first_end - int(line.began.min()), clock)
    if clock.stops == PARENT:
        return _divide_by_span(early, span, clock)
    return _sum_rates_until(line, work.ranks, first_end, clock)


def _sum_rates_until(line: RecordedTimeline, ranks: int, first_end: int, clock: Clock) -> float | None:
    """Sum the rates of the ranks, each until its operation in flight at ``first_end`` is done, which counts as time but
    not as work."""
    early = line.end <= first_end
    own = np.bincount(line.of[early], line.done[early], ranks).astype(np.float64, copy=False)
    flying = (line.start < first_end) & ~early
    ended = np.full(ranks, np.iinfo(np.int64).min)
    np.maximum.at(ended, line.of[early | flying], line.end[early | flying])
    working = own > 0
    return _sum_rates(own[working], (ended - line.began)[working], clock)


def _compute_slowest_rate(own: npt.NDArray[np.float64], line: RecordedTimeline, clock: Clock) -> float | None:
    spans = line.ended.max() - line.began
    return None if (spans <= 0).any() else float(own.size * (own / _round_seconds(spans, clock)).min())


def _sum_rates(own: npt.NDArray[np.float64], spans: npt.NDArray[np.int64], clock: Clock) -> float | None:
    return float((own / _round_seconds(spans, clock)).sum()) if own.size and (spans > 0).all() else None


def _divide_by_span(work: float, span: int, clock: Clock) -> float | None:
    return float(work / _round_seconds(np.array(span), clock)) if span > 0 else None


def _round_seconds(spans: npt.NDArray[np.int64], clock: Clock) -> npt.NDArray[np.float64]:
    step = max(clock.step_ns, 1)
    return np.ceil(spans / step) * step / 1e9
