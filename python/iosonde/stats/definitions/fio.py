"""fio's lines for a group of jobs (stat.c of fio 3): each job has its own runtime, and the longest one counts.

``bw`` of a group = bytes of all jobs ÷ the longest job's runtime, in ms rounded up; staggered starts are invisible.
``min`` and ``max`` are of single jobs. The files are opened inside the clock (at the first I/O), an ``end_fsync`` or
``fsync_on_close`` is inside, the close after it is not. ``lat`` of a synchronous engine is the time of the call.
Percentiles are of single operations over all jobs; fio's own come from buckets up to 1.6 % wide, these are exact.
"""

from dataclasses import dataclass

import numpy as np

from .clock import FSYNC, LONGEST_RANK, OPEN, Clock, Work, build_timeline, compute_rate

STEP_NS = 1_000_000
CLOCK = Clock(frozenset({OPEN, FSYNC}), LONGEST_RANK, STEP_NS)
# fio's default list.
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


@dataclass(frozen=True)
class FioRow:
    """The row of a direction of a group: bytes/s, operations/s, bytes, ms as fio counts them, ns."""

    direction: str
    jobs: int
    bandwidth: float
    iops: float
    bytes: int
    shortest_ms: int
    longest_ms: int
    minimum: float
    maximum: float
    latency_ns_min: int
    latency_ns_max: int
    latency_ns_mean: float
    latency_ns_sd: float
    percentiles_ns: dict[str, int]


def build_fio_rows(work: Work) -> list[FioRow]:
    """Return a row for each direction."""
    return [row for way in work.list_data_directions() if (row := _build_row(work, way))]


def _build_row(work: Work, direction: str) -> FioRow | None:
    moved = work.get_bytes_by_operation(direction)
    bandwidth = compute_rate(work, moved, CLOCK)
    iops = compute_rate(work, (moved > 0).astype(float), CLOCK)
    if bandwidth is None or iops is None:
        return None
    line = build_timeline(work, CLOCK.inside, moved)
    runtime = np.ceil((line.ended - line.began) / STEP_NS).astype(int)
    own = np.bincount(line.of, line.done, work.ranks) / runtime * 1000
    took = np.sort((work.end - work.start)[moved > 0])
    return FioRow(
        direction=direction,
        jobs=work.ranks,
        bandwidth=bandwidth,
        iops=iops,
        bytes=int(moved.sum()),
        shortest_ms=int(runtime.min()),
        longest_ms=int(runtime.max()),
        minimum=float(own.min()),
        maximum=float(own.max()),
        latency_ns_min=int(took[0]),
        latency_ns_max=int(took[-1]),
        latency_ns_mean=float(took.mean()),
        latency_ns_sd=float(took.std(ddof=1)) if took.size > 1 else 0.0,
        percentiles_ns={f"{p:g}": int(took[max(int(np.ceil(p / 100 * took.size)) - 1, 0)]) for p in PERCENTILES},
    )
