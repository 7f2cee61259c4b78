"""elbencho's two columns (Statistics.cpp and LocalWorker.cpp of 3.0): one start for all, first done and last done.

``first done`` = whole operations that all workers had done when the first one finished ÷ that time; ``last done`` = all
÷ the time of the last. Both count from the common start of the phase, in whole µs. With directories as targets (a
worker has files of its own) open and close of each file are inside. With a shared file as target it is opened before
the clock and closed after it. An fsync is never inside: elbencho syncs in a phase of its own. Rates are cut to whole
numbers.
"""

from dataclasses import dataclass

import numpy as np

from .clock import CLOSE, FIRST_DONE, LAST_DONE, OPEN, Clock, Work, build_timeline, compute_rate

DIRECTORY, FILE = "directory", "file"
INSIDE = {DIRECTORY: frozenset({OPEN, CLOSE}), FILE: frozenset[str]()}
CLOCK = Clock(INSIDE[DIRECTORY], LAST_DONE)


@dataclass(frozen=True)
class ElbenchoColumn:
    """A column of a row: s, and per second. ``entries_per_s`` is None with a file as target."""

    seconds: float
    entries_per_s: float | None
    iops: float
    bandwidth: float
    bytes: int
    entries: int | None


@dataclass(frozen=True)
class ElbenchoRow:
    """The row of a phase and direction."""

    operation: str
    target: str
    workers: int
    first_done: ElbenchoColumn
    last_done: ElbenchoColumn


def build_elbencho_rows(work: Work, shared: bool) -> list[ElbenchoRow]:
    """Return a row for each direction; ``shared``: all ranks work on the same files."""
    if not work.comparable:
        return []
    target = FILE if shared or not work.has("open", "create") else DIRECTORY
    return [row for way in work.list_data_directions() if (row := _build_row(work, way, target))]


def _build_row(work: Work, direction: str, target: str) -> ElbenchoRow | None:
    moved = work.get_bytes_by_operation(direction)
    inside = INSIDE[target]
    if compute_rate(work, moved, Clock(inside, FIRST_DONE)) is None:
        return None
    entries = work.count_of("close") if target == DIRECTORY else None
    first, last = (_build_column(work, moved, entries, inside, stops) for stops in (FIRST_DONE, LAST_DONE))
    return ElbenchoRow(direction, target, work.ranks, first, last)


def _build_column(
    work: Work, moved: np.ndarray, entries: np.ndarray | None, inside: frozenset[str], stops: str
) -> ElbenchoColumn:
    line = build_timeline(work, inside, moved)
    until = int(line.ended.min() if stops == FIRST_DONE else line.ended.max())
    seconds = (until - int(line.began.min())) / 1e9

    def sum_done(each: np.ndarray) -> float:
        part = build_timeline(work, inside, each)
        return float(part.done[part.end <= until].sum())

    number = None if entries is None else sum_done(entries)
    return ElbenchoColumn(
        seconds=seconds,
        entries_per_s=None if number is None else number / seconds,
        iops=sum_done((moved > 0).astype(float)) / seconds,
        bandwidth=sum_done(moved) / seconds,
        bytes=int(sum_done(moved)),
        entries=None if number is None else int(number),
    )
