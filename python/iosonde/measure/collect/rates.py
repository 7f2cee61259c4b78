"""Rates of a phase from the parts of its ranks. The clock is part of the metric's name.

``last_done``     done ÷ (last end − first start): what the whole job waited for; the default everywhere
``first_done``    what was done when the first rank finished ÷ (that moment − first start), the operation in
                  flight counted pro rata (the "stonewalled" number of other tools)
``sum_of_ranks``  the sum of each rank's own rate over its own time: what older tools print; never lower than
                  what the job got
``overlap``       the rate while every rank was active, operations cut at the edges counted pro rata; only where
                  every operation was recorded, else absent

The first, second and fourth need comparable clocks: if the clock error is above 1 % of the phase, only ``sum_of_ranks``
is given.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.schema import STATUS_OK
from iosonde.core.types import Observation
from iosonde.measure.spool import RankPhase
from iosonde.measure.workloads.phase_plan import BANDWIDTH, PhasePlan

COMPARABLE_ERROR = 0.01


@dataclass(frozen=True)
class PhaseTimes:
    """Start and end times of the ranks of one phase, on rank 0's clock, and ``error_ns``, the clocks' error. All in
    ns."""

    started_ns: npt.NDArray[np.int64]
    ended_ns: npt.NDArray[np.int64]
    error_ns: int

    @property
    def span_ns(self) -> int:
        """Time from the first start to the last end."""
        return int(self.ended_ns.max() - self.started_ns.min())

    @property
    def start_spread_ns(self) -> int:
        """Time between the first and the last rank's first operation."""
        return int(self.started_ns.max() - self.started_ns.min())

    @property
    def end_spread_ns(self) -> int:
        """Time between the first and the last rank's last operation."""
        return int(self.ended_ns.max() - self.ended_ns.min())

    @property
    def all_active_ns(self) -> int:
        """Time during which every rank was active; 0 if there was none."""
        return max(0, int(self.ended_ns.min() - self.started_ns.max()))

    @property
    def comparable(self) -> bool:
        """Return whether times of different ranks can be compared."""
        return self.error_ns <= COMPARABLE_ERROR * max(self.span_ns, 1)


def align_phase_times(parts: list[RankPhase], offset_ns: dict[int, int], error_ns: int) -> PhaseTimes:
    """Return the parts' starts and ends, moved to rank 0's clock by ``offset_ns`` (rank → its clock − rank 0's)."""
    starts = np.array([part.started_ns - offset_ns.get(part.rank, 0) for part in parts], np.int64)
    ends = np.array([part.ended_ns - offset_ns.get(part.rank, 0) for part in parts], np.int64)
    return PhaseTimes(starts, ends, error_ns)


def observe_rates(
    operation: str,
    plan: PhasePlan,
    parts: list[RankPhase],
    times: PhaseTimes,
    kinds: list[str],
    repetition: int,
) -> list[Observation]:
    """Return every rate of one timed phase: of the whole, and of each rank over its own time.

    ``parts`` and ``times`` are in the same order and contain only ranks that did something.
    """
    kind = kinds.index(plan.counted_kind)
    bandwidth = plan.measures == BANDWIDTH
    unit = "bytes/s" if bandwidth else "operations/s"
    done = np.array([_count_done(part, kind, bandwidth) for part in parts], float)
    seconds = (times.ended_ns - times.started_ns) / 1e9
    count = sum(part.total(kind, "count") - part.total(kind, "errors") for part in parts)
    if not done.sum() or (seconds <= 0).any():
        return []
    rate_by_clock: dict[str, float] = {"sum_of_ranks": float((done / seconds).sum())}
    if times.comparable:
        rate_by_clock["last_done"] = float(done.sum() / times.span_ns * 1e9)
        rate_by_clock |= _compute_window_rates(parts, times, kind, bandwidth)
    includes = _format_included(parts, kind, kinds)
    rows = [
        Observation(operation, f"{plan.measures}_{clock}", value, unit, None, repetition, count, includes)
        for clock, value in rate_by_clock.items()
    ]
    rows += [
        Observation(
            operation,
            f"{plan.measures}_own",
            float(done[i] / seconds[i]),
            unit,
            part.rank,
            repetition,
            part.total(kind, "count") - part.total(kind, "errors"),
            includes,
        )
        for i, part in enumerate(parts)
    ]
    if plan.counts_moved:
        rows += _observe_bytes(operation, parts, repetition)
    durable_operations = {"fsync", "fdatasync", "close"} & set(includes.split(","))
    if bandwidth and plan.counted_kind == "write" and times.comparable and durable_operations:
        rows += _observe_buffered(operation, parts, times, kind, repetition)
    return rows


def sum_bytes_moved(parts: list[RankPhase]) -> int | None:
    """Return all bytes that the ranks moved, including holes of sieves and data read to be written back. None if the
    system does not count them."""
    extra = [part.extra_bytes for part in parts if part.extra_bytes is not None]
    useful = sum(entry["bytes"] for part in parts for entry in part.totals)
    return sum(extra) + useful if len(extra) == len(parts) else None


def _observe_bytes(operation: str, parts: list[RankPhase], repetition: int) -> list[Observation]:
    useful = sum(entry["bytes"] for part in parts for entry in part.totals)
    byte_counts = {"bytes_useful_sum_of_ranks": useful, "bytes_moved_sum_of_ranks": sum_bytes_moved(parts)}
    return [
        Observation(operation, name, float(value), "bytes", None, repetition)
        for name, value in byte_counts.items()
        if value is not None
    ]


def _count_done(part: RankPhase, kind: int, bandwidth: bool) -> int:
    return part.total(kind, "bytes") if bandwidth else part.total(kind, "count") - part.total(kind, "errors")


def _format_included(parts: list[RankPhase], counted: int, kinds: list[str]) -> str:
    others = {entry["kind"] for part in parts for entry in part.totals} - {counted}
    return ",".join(kinds[kind] for kind in sorted(others))


def _compute_window_rates(parts: list[RankPhase], times: PhaseTimes, kind: int, bandwidth: bool) -> dict[str, float]:
    """Return ``first_done`` and ``overlap``: both count operations inside a window."""
    if not all(part.recorded_all and part.operations is not None for part in parts):
        return {}
    first_start, first_end = int(times.started_ns.min()), int(times.ended_ns.min())
    return {
        clock: _sum_done_between(parts, times, kind, bandwidth, start, first_end) / (first_end - start) * 1e9
        for clock, start in (("first_done", first_start), ("overlap", int(times.started_ns.max())))
        if first_end > start
    }


def _sum_done_between(
    parts: list[RankPhase], times: PhaseTimes, kind: int, bandwidth: bool, low_ns: int, high_ns: int
) -> float:
    """Return the bytes or operations done in a window; an operation across its edge counts by the share inside."""
    total = 0.0
    for part, began_ns in zip(parts, times.started_ns, strict=True):
        rows: Any = part.operations
        rows = rows[(rows["kind"] == kind) & (rows["status"] == STATUS_OK)]
        # Moved to rank 0's clock; differences stay small enough for int64.
        start = rows["start_ns"].astype(np.int64) + (int(began_ns) - part.started_ns)
        duration = rows["duration_ns"].astype(np.int64)
        inside = np.minimum(start + duration, high_ns) - np.maximum(start, low_ns)
        share = np.clip(inside / np.maximum(duration, 1), 0.0, 1.0)
        total += float((share * rows["size"]).sum() if bandwidth else share.sum())
    return total


def _observe_buffered(
    operation: str, parts: list[RankPhase], times: PhaseTimes, kind: int, repetition: int
) -> list[Observation]:
    """Return the rate of the same bytes without fsync and close: a different metric, with a different name."""
    written = [
        (entry, int(began_ns) - part.started_ns)
        for part, began_ns in zip(parts, times.started_ns, strict=True)
        for entry in part.totals
        if entry["kind"] == kind
    ]
    first = min(entry["first_start_ns"] + shift for entry, shift in written)
    seconds = (max(entry["last_end_ns"] + shift for entry, shift in written) - first) / 1e9
    done = sum(entry["bytes"] for entry, _ in written)
    count = sum(entry["count"] - entry["errors"] for entry, _ in written)
    name = name_buffered_write(operation)
    return [Observation(name, "bandwidth_last_done", done / seconds, "bytes/s", None, repetition, count, "")]


def name_buffered_write(operation: str) -> str:
    """Return the name of a write whose time excludes fsync and close."""
    return operation.replace("write", "write_buffered", 1) if "write" in operation else f"{operation}_buffered"
