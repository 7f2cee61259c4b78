"""IOR's table (src/ior.c, ReduceIterResults of IOR 4): the clock runs from the first open to the last close.

``bw`` = bytes of all tasks ÷ (latest close − earliest open). ``IOPS`` = transfers ÷ (latest end − earliest start of the
accesses), an fsync of ``-e`` inside. ``Latency`` = the smallest over the tasks of (its access time ÷ its transfers):
the best task's mean, not a percentile. ``open``, ``wr/rd`` and ``close`` are each the latest end − the earliest start
over the tasks; they overlap and do not add up to ``total``.
"""

from dataclasses import dataclass

import numpy as np

from .clock import CLOSE, DATA, FSYNC, KINDS, LAST_DONE, OPEN, Clock, Work, compute_rate

CLOCK = Clock(frozenset({OPEN, FSYNC, CLOSE}), LAST_DONE)


@dataclass(frozen=True)
class IorRow:
    """A line of IOR's table; bytes/s, operations/s, s, bytes. None if a task had several files: IOR has one, and its
    open, access and close times would interleave."""

    access: str
    bandwidth: float | None
    iops: float | None
    latency: float | None
    block_size: int
    transfer_size: int
    open_time: float | None
    access_time: float | None
    close_time: float | None
    total_time: float | None
    tasks: int


def build_ior_rows(work: Work) -> list[IorRow]:
    """Return a row for each direction in which data moved."""
    return [_build_row(work, direction) for direction in work.list_data_directions()]


def _build_row(work: Work, direction: str) -> IorRow:
    moved = work.get_bytes_by_operation(direction)
    transfers = moved > 0
    transfer = int(work.size[transfers].max())
    is_single_file = work.compute_most_files_per_rank() == 1 and work.comparable
    accesses = work.is_kind(*DATA[direction], *KINDS[FSYNC])
    return IorRow(
        access=direction,
        bandwidth=compute_rate(work, moved, CLOCK),
        iops=_divide_by_seconds(float(moved.sum()) / transfer, _measure_span(work, accesses))
        if is_single_file
        else None,
        latency=_compute_latency(work, transfers, accesses) if is_single_file else None,
        block_size=int(moved.sum()) // work.ranks,
        transfer_size=transfer,
        open_time=_measure_span(work, work.is_kind(*KINDS[OPEN])) if is_single_file else None,
        access_time=_measure_span(work, accesses) if is_single_file else None,
        close_time=_measure_span(work, work.is_kind(*KINDS[CLOSE])) if is_single_file else None,
        total_time=_measure_span(work, np.ones(work.of.size, bool)) if work.comparable else None,
        tasks=work.ranks,
    )


def _measure_span(work: Work, chosen: np.ndarray) -> float | None:
    return float(work.end[chosen].max() - work.start[chosen].min()) / 1e9 if chosen.any() else None


def _divide_by_seconds(number: float, seconds: float | None) -> float | None:
    return number / seconds if seconds else None


def _compute_latency(work: Work, transfers: np.ndarray, accesses: np.ndarray) -> float | None:
    best = None
    for place in range(work.ranks):
        mine = work.of == place
        count, span = int((transfers & mine).sum()), _measure_span(work, accesses & mine)
        if count and span is not None:
            best = min(best, span / count) if best is not None else span / count
    return best
