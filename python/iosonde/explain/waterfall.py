"""The loss waterfall: from the bound down to what was delivered, in seconds that add up.

A phase takes T from the first start to the last end. Every rank's T consists of its late start, its own time, and its
wait for the last rank. Its own time is operations and the time between them. Averaged over the ranks this gives

T = bound + late start + imbalance + slow operations + tail + open and other calls + fsync and close + the rest

with  bound             D/S, the time of the bytes at the ceiling
      late start        mean over ranks of (own start − first start)
      imbalance         mean over ranks of (last end − own end): waiting for the slowest
      tail              excess time of the slowest 1 % of the data operations beyond the median operation
      slow operations   the other time of data operations, minus the bound: below zero where a cache beats the bound
      the rest          between operations: the client's own work, and operations that were not recorded

Operations of a rank that overlap (queue depth, threads) share the time that they cover in proportion to their
durations, so that a rank's parts add up to its own time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase
from iosonde.core.types import Estimate
from iosonde.model.bound.bound import Ceiling
from iosonde.stats.estimate.summarise import estimate_mean

PARTS = ("bound", "late_start", "imbalance", "slow_operations", "tail", "calls", "fsync_close", "rest")
TITLES = {
    "bound": "at the bound",
    "late_start": "late start",
    "imbalance": "imbalance",
    "slow_operations": "slow operations",
    "tail": "tail (slowest 1 %)",
    "calls": "open and other calls",
    "fsync_close": "fsync and close",
    "rest": "between operations",
}
CURES = {
    "late_start": "a longer phase, or ranks that start together (no more ranks than cores)",
    "imbalance": "even work, and a look at the rank or node that ends last (iosonde report: timeline)",
    "slow_operations": "larger requests, more of them under way, or settings of the file system (iosonde rank)",
    "tail": "a look at what the slowest operations share (iosonde report: latency)",
    "calls": "fewer and larger files, or faster metadata servers",
    "fsync_close": "fewer calls of fsync, or more data before each",
    "rest": "a client that does less between operations, or several ranks on a node",
}
DATA_KINDS = ("read", "write", "append", "mmap_read", "mmap_write")
SYNC_KINDS = ("fsync", "fdatasync", "close")
OWN_KINDS = ("compute",)  # the client's own work
TAIL = 0.99
_DATA, _SYNC, _CALL, _OWN = range(4)


@dataclass(frozen=True)
class TrialLosses:
    """A phase of one trial in seconds: ``parts`` add up to ``delivered_s`` exactly (up to rounding of floats).

    ``work_excess`` and ``time_excess``: largest ÷ mean − 1 of the ranks' bytes and of their times: 0 is balanced.
    """

    parts: dict[str, float]
    delivered_s: float
    n_bytes: int
    work_excess: float
    time_excess: float


@dataclass(frozen=True)
class Waterfall:
    """The trials of one cell together: every part's seconds as an Estimate over trials."""

    operation: str
    by: dict[str, Any]
    ceiling: Ceiling
    parts: dict[str, Estimate]
    delivered: Estimate
    work_excess: float
    time_excess: float

    @property
    def largest(self) -> str | None:
        """The part that lost most, if its interval excludes 0; None if inconclusive."""
        sure = [(e.value, name) for name, e in self._list_losses() if e.low is not None and e.low > 0]
        return max(sure)[1] if sure else None

    @property
    def doubtful(self) -> str | None:
        """A part that may have lost even more, but whose interval includes 0; None without one."""
        by_value = {name: e.value or 0.0 for name, e in self._list_losses()}
        most = max(by_value, key=by_value.__getitem__)
        return most if most != self.largest and by_value[most] > 0 else None

    def _list_losses(self) -> list[tuple[str, Estimate]]:
        return [(name, e) for name, e in self.parts.items() if name != "bound" and e.value is not None]

    def to_json(self) -> dict[str, Any]:
        """The stable form: every part's Estimate in seconds."""
        return {
            "operation": self.operation,
            "by": self.by,
            "n": self.delivered.n,
            "s": self.ceiling.s,
            "limit": list(self.ceiling.limit),
            "delivered_s": self.delivered.to_json(),
            "parts": [{"name": name, **estimate.flat("seconds")} for name, estimate in self.parts.items()],
            "work_excess": self.work_excess,
            "time_excess": self.time_excess,
            "largest": self.largest,
        }


def sum_data_bytes(phase: StoredPhase) -> int:
    """Return the bytes that a phase read and wrote."""
    return sum(phase.totals.get(kind, {}).get("bytes", 0) for kind in DATA_KINDS)


def explain_missing_waterfall(phase: StoredPhase, recorded: bool) -> str:
    """Explain why a phase has no waterfall; empty if it has one."""
    if not phase.ranks or not sum_data_bytes(phase):
        return Message("no-data-moved", "it moved no data")
    if not phase.comparable:
        return Message("clocks-not-comparable", "its clocks are not comparable: waits between ranks are unknown")
    if not recorded or not phase.recorded_all:
        return Message("sampled-operations", "not every operation was kept ({spell.max_operations})")
    return ""


def compute_trial_losses(
    phase: StoredPhase, operations: npt.NDArray[Any], kinds: Sequence[str], bound_s: float
) -> TrialLosses:
    """Compute the losses of a phase from its operations: rows by rank and start, as in the store, dtype
    ``schema.OPERATION``. ``bound_s`` is D/S, s."""
    ranks = phase.ranks
    first = min(rank["started_ns"] for rank in ranks)
    last = max(rank["ended_ns"] for rank in ranks)
    n = len(ranks)
    late = sum(rank["started_ns"] - first for rank in ranks) / n / 1e9
    wait = sum(last - rank["ended_ns"] for rank in ranks) / n / 1e9
    own = sum(rank["ended_ns"] - rank["started_ns"] for rank in ranks) / n / 1e9
    seconds = _compute_covered_seconds(operations)
    group = _map_kinds_to_groups(kinds)[operations["kind"]]
    data = seconds[group == _DATA]
    moved, tail = float(data.sum()) / n, _compute_tail(data) / n
    synced, called = (float(seconds[group == number].sum()) / n for number in (_SYNC, _CALL))
    parts = dict(
        zip(
            PARTS,
            (bound_s, late, wait, moved - tail - bound_s, tail, called, synced, own - moved - synced - called),
            strict=True,
        )
    )
    times = [rank["ended_ns"] - rank["started_ns"] for rank in ranks]
    return TrialLosses(
        parts,
        (last - first) / 1e9,
        sum_data_bytes(phase),
        _compute_excess([r["bytes"] for r in ranks]),
        _compute_excess(times),
    )


def average_waterfalls(
    operation: str, by: Mapping[str, Any], ceiling: Ceiling, trials: Sequence[TrialLosses], level: float
) -> Waterfall:
    """Average every part over the trials, with its t interval. The means add up as the trials do."""
    parts = {name: estimate_mean([trial.parts[name] for trial in trials], level) for name in PARTS}
    # A time is not negative; the cost of slow operations beyond the bound is a difference, which may be.
    parts = {name: e if name == "slow_operations" else e.within(low=0.0) for name, e in parts.items()}
    delivered = estimate_mean([trial.delivered_s for trial in trials], level).within(low=0.0)
    work, time = (sum(getattr(t, name) for t in trials) / len(trials) for name in ("work_excess", "time_excess"))
    return Waterfall(operation, dict(by), ceiling, parts, delivered, work, time)


def _map_kinds_to_groups(kinds: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Map the number of a kind to data, sync, another call, or the client's own work."""
    groups = dict.fromkeys(DATA_KINDS, _DATA) | dict.fromkeys(SYNC_KINDS, _SYNC) | dict.fromkeys(OWN_KINDS, _OWN)
    return np.array([groups.get(kind, _CALL) for kind in kinds], np.uint8)


def _compute_covered_seconds(operations: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return each operation's seconds; if those of a rank overlap, its share of the time that they cover."""
    seconds = operations["duration_ns"] / 1e9
    ends = np.flatnonzero(np.diff(operations["rank"])) + 1
    for rows in map(slice, [0, *ends], [*ends, len(operations)]):
        start = operations["start_ns"][rows].astype(np.int64)
        end = start + operations["duration_ns"][rows].astype(np.int64)
        if np.all(end[:-1] <= start[1:]):
            continue
        before = np.maximum.accumulate(end)
        covered = float(end[0] - start[0]) + float(np.maximum(0, end[1:] - np.maximum(start[1:], before[:-1])).sum())
        seconds[rows] *= covered / 1e9 / float(seconds[rows].sum())
    return seconds


def _compute_tail(seconds: npt.NDArray[np.float64]) -> float:
    """Return the excess time of the slowest 1 % beyond the median; 0 below 100 operations."""
    if seconds.size < round(1 / (1 - TAIL)):
        return 0.0
    first = int(np.ceil(TAIL * seconds.size))
    return float((np.partition(seconds, first)[first:] - np.median(seconds)).sum())


def _compute_excess(amounts: Sequence[float]) -> float:
    total = sum(amounts)
    return max(amounts) * len(amounts) / total - 1 if total else 0.0
