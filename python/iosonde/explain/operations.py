"""Operations that are diagnosed together, as columns: one kind and one size, in one phase of one trial."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.schema import STATUS_OK
from iosonde.core.stored import StoredPhase

LEAST = 50  # operations: fewer show no hills
MOST_SIZES = 16
_SAMPLE = 200_000
_CLOCK_STEPS_NS = tuple(
    10**power for power in range(9, 4, -1)
)  # of clocks, the coarsest first; finer ones hide nothing
_ON_STEPS = 0.99  # share of the times
Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Operations:
    """Successful operations by rank and start: arrays of one length.

    ``start_ns`` is relative to the first start of all, or of the rank if clocks are not comparable (``comparable``);
    ``size`` is in bytes, 0 if no data is moved. ``in_order``: every operation was recorded, so the one before is known;
    False for a sample, and for unknown order. ``placed``: offsets and files are known. ``shared``: a file number is the
    same file on all ranks. ``hosts``: rank → host; ``units``: units of the file system, in bytes, by name.
    ``stand_for``: how many operations each recorded one represents. ``local``: the file system is the node's own,
    without a server.
    """

    rank: npt.NDArray[Any]
    file: npt.NDArray[Any]
    offset: npt.NDArray[Any]
    start_ns: npt.NDArray[np.int64]
    duration_ns: npt.NDArray[Any]
    size: int
    comparable: bool = True
    in_order: bool = True
    placed: bool = True
    shared: bool = False
    hosts: Mapping[int, str] = field(default_factory=dict)
    units: Mapping[str, int] = field(default_factory=dict)
    stand_for: float = 1.0
    local: bool = False

    def __len__(self) -> int:
        return int(self.duration_ns.size)

    @cached_property
    def ranks(self) -> tuple[tuple[int, int, int], ...]:
        """(rank, its first row, the row after its last)."""
        return tuple(rank_parts(self.rank))

    @cached_property
    def elapsed_ns(self) -> float:
        """The time from first start to last end."""
        return float((self.start_ns + self.duration_ns.astype(np.int64)).max()) if len(self) else 0.0

    @cached_property
    def clock_step_ns(self) -> int:
        """The step of the clock by which operations start, or end; 0 if none is seen. Logs in whole milliseconds have
        one, and the starts that follow from their ends and durations have its period."""
        ends = self.start_ns + self.duration_ns.astype(np.int64)
        return next(
            (
                step
                for step in _CLOCK_STEPS_NS
                if any(self._is_multiple(times, step) for times in (self.start_ns, ends))
            ),
            0,
        )

    def _is_multiple(self, times: npt.NDArray[np.int64], step: int) -> bool:
        parts = [times[begin:end] for _, begin, end in self.ranks]
        return bool(np.mean(np.concatenate([(part - part[part.size // 2]) % step == 0 for part in parts])) >= _ON_STEPS)

    @property
    def is_coarser_than_operations(self) -> bool:
        """Whether more than one operation of a rank falls into a step of the clock, so that their order is unknown."""
        return len(self) * self.clock_step_ns > self.elapsed_ns * len(self.ranks)

    @cached_property
    def sequential(self) -> bool:
        """True if nearly every operation begins where the one before it of its rank ended, or ends where it began."""
        if not (self.placed and self.size and self.in_order) or len(self) < 2:
            return False
        steps = np.diff(self.offset[slice(0, _SAMPLE)].astype(np.int64))
        return max(float((steps == way).mean()) for way in (self.size, -self.size)) > 0.9


def split_by_kind_and_size(
    columns: Columns, phase: StoredPhase, kinds: Sequence[str], **more: Any
) -> Iterator[tuple[int, Operations, int]]:
    """Yield (kind, its operations of one size, number of failed ones) for every kind and size of a phase that is not
    rare. ``columns``: those of ``schema.OPERATION``, by rank and start; ``kinds``: names of kinds."""
    rows = _select_rows(columns, "phase", phase.index, None)
    for kind in _list_levels(columns, "kind", rows):
        kind_rows = _select_rows(columns, "kind", kind, rows)
        good = _select_rows(columns, "status", STATUS_OK, kind_rows)
        failed = _count_rows(columns, kind_rows) - _count_rows(columns, good)
        scale = compute_operations_per_record(phase, kinds[kind], _count_rows(columns, kind_rows))
        for size in _list_levels(columns, "size", good):
            mine = _select_rows(columns, "size", size, good)
            if _count_rows(columns, mine) >= LEAST:
                yield kind, _build_from_rows(columns, mine, phase, size, {**more, "stand_for": scale}), failed


def compute_operations_per_record(phase: StoredPhase, kind: str, recorded: int) -> float:
    """Return how many operations of a kind each recorded one represents."""
    return (
        1.0 if phase.recorded_all else max(1.0, ((phase.totals.get(kind) or {}).get("count") or 0) / max(recorded, 1))
    )


def _build_from_rows(
    columns: Columns, rows: npt.NDArray[Any] | None, phase: StoredPhase, size: int, more: Mapping[str, Any]
) -> Operations:
    picked = {
        name: columns[name] if rows is None else columns[name][rows]
        for name in ("rank", "file", "offset", "start_ns", "duration_ns")
    }
    return build_operations({**picked, "start_ns": _compute_ns_after_first_start(picked, phase)}, phase, size, **more)


def build_operations(columns: Columns, phase: StoredPhase, size: int, **more: Any) -> Operations:
    """Build the operations of a phase; ``start_ns`` is already relative to the first start."""
    hosts = {int(entry["rank"]): str(entry.get("host") or "") for entry in phase.ranks}
    options = {"in_order": phase.recorded_all, "placed": bool(size) and phase.placed, **more}
    operations = Operations(
        columns["rank"],
        columns["file"],
        columns["offset"],
        columns["start_ns"],
        columns["duration_ns"],
        size,
        phase.comparable,
        shared=phase.shared,
        hosts=hosts,
        **options,
    )
    is_unordered = operations.in_order and operations.is_coarser_than_operations
    return replace(operations, in_order=False) if is_unordered else operations


def _compute_ns_after_first_start(picked: Columns, phase: StoredPhase) -> npt.NDArray[np.int64]:
    """Return ns after the first start, by the clock of rank 0 or by each rank's own; rows are already ordered by
    rank."""
    start = picked["start_ns"].astype(np.int64)
    offsets = phase.clock_offsets
    for rank, begin, end in rank_parts(picked["rank"]):
        start[begin:end] -= offsets.get(rank, 0) if phase.comparable else start[begin:end].min()
    if phase.comparable and start.size:
        start -= start.min()
    return start


def rank_parts(rank: npt.NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """Yield (rank, its first row, the row after its last) of rows by rank."""
    if not rank.size:
        return
    edges = [0, *(np.flatnonzero(rank[1:] != rank[:-1]) + 1).tolist(), rank.size]
    for begin, end in zip(edges, edges[1:], strict=False):
        yield int(rank[begin]), begin, end


def _list_levels(columns: Columns, name: str, rows: npt.NDArray[Any] | None) -> Sequence[int]:
    """Return the values of a column that are not rare, from a sample of the rows."""
    values = columns[name] if rows is None else columns[name][rows]
    if not values.size:
        return []
    levels, counts = np.unique(values[:: max(1, values.size // _SAMPLE)], return_counts=True)
    return [int(level) for level in levels[np.argsort(-counts, kind="stable")[:MOST_SIZES]]]


def _select_rows(columns: Columns, name: str, value: int, rows: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
    """Return the given rows with a value; None: all rows, without a copy."""
    mask = (columns[name] if rows is None else columns[name][rows]) == value
    if mask.all():
        return rows
    return np.flatnonzero(mask) if rows is None else rows[mask]


def _count_rows(columns: Columns, rows: npt.NDArray[Any] | None) -> int:
    return int(columns["rank"].size if rows is None else rows.size)
