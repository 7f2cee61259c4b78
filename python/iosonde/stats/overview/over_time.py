"""Rate and durations of a phase over its own time, from the recorded operations of one trial.

An operation across the edge of two bins counts in each by the share of its time inside, as in all clocks of a phase;
its duration counts where it began. The last bin ends with the phase: it is half a bin longer or shorter.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.stored import StoredPhase

from ..estimate.percentiles import percentiles_from_durations
from ..estimate.summarise import compute_least_n_for_quantile

MOST_RANKS = 16  # the lines of more ranks are indistinguishable
_FEWEST, _MOST = 20, 100  # bins
_PERCENTILES = (0.5, 0.99)
_LEVEL = 0.95
_STEPS = (1.0, 2.0, 5.0, 10.0)
_DATA = ("write", "read")
Array = npt.NDArray[np.float64]
Values = tuple[float | None, ...]


@dataclass(frozen=True)
class OverTime:
    """A phase in bins of ``width_s``, from ``starts_s`` after its first operation to the next one; the last, which may
    have another width, to ``end_s``.

    ``rate``: work of ``kind`` per second, in ``unit``; ``by_rank``: the same for each rank, if they are few. ``p50``,
    ``p99`` and ``longest``: durations (s) of ``slow_kind``, the frequent kind that took most time; None if too few
    began there. ``recorded`` of ``n_operations`` operations are used: fewer are a sample, whose rates are scaled to
    all.
    """

    kind: str
    unit: str
    width_s: float
    end_s: float
    starts_s: tuple[float, ...]
    rate: tuple[float, ...]
    by_rank: Mapping[int, tuple[float, ...]]
    slow_kind: str
    p50: Values
    p99: Values
    longest: Values
    recorded: int
    n_operations: int
    failed: int

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "kind": self.kind,
            "unit": self.unit,
            "bin_s": self.width_s,
            "end_s": self.end_s,
            "recorded": self.recorded,
            "made": self.n_operations,
            "failed": self.failed,
            "latency_of": self.slow_kind,
            "bins": [
                {
                    "start_s": at,
                    "rate": rate,
                    "by_rank": {str(rank): rank_rates[i] for rank, rank_rates in self.by_rank.items()},
                    "p50_s": self.p50[i],
                    "p99_s": self.p99[i],
                    "max_s": self.longest[i],
                }
                for i, (at, rate) in enumerate(zip(self.starts_s, self.rate, strict=True))
            ],
        }


@dataclass(frozen=True)
class _Bins:
    """Bins of equal width, ns from the first start; the last one is half a bin longer or shorter."""

    width: float
    count: int
    end: float

    @property
    def edges(self) -> Array:
        """Return the end of each bin."""
        return np.append(np.arange(1, self.count) * self.width, self.end)

    def find_bins(self, at: Array) -> npt.NDArray[np.intp]:
        """Return the bin of each moment."""
        return np.clip((at / self.width).astype(np.intp), 0, self.count - 1)


@dataclass(frozen=True)
class PhaseRows:
    """The successful operations of one phase, as arrays: ns after ``zero_ns``, the first start (on rank 0's clock; if
    clocks cannot be compared, each rank's own). ``work`` of each in ``unit`` · s, of the kind ``counted``, scaled to
    all if they are a sample; ``ranks``: all that took part; ``of``: the index among these of each operation's rank.
    ``slow``: the frequent kind that took most time. ``mine``: number of recorded operations, failed ones included, of
    ``n_operations``."""

    start: Array
    duration: Array
    work: Array
    ranks: npt.NDArray[Any]
    of: npt.NDArray[np.intp]
    took_slow: npt.NDArray[np.bool_]
    size: npt.NDArray[Any]
    counted: str
    slow: str
    unit: str
    zero_ns: int
    mine: int
    n_operations: int


def select_phase_rows(phase: StoredPhase, operations: npt.NDArray[Any], kinds: Sequence[str]) -> PhaseRows | None:
    """Select the rows of a phase from the ``operations`` of its trial; None if none succeeded. ``kinds`` names their
    kinds."""
    mine = _take_rows(operations, operations["phase"] == phase.index)
    rows = _take_rows(mine, mine["status"] == 0)
    if not rows.size:
        return None
    start, zero_ns = compute_start_ns(phase, rows)
    duration = rows["duration_ns"].astype(np.float64)
    ranks, of = np.unique(rows["rank"], return_inverse=True)
    counted, slow = _choose_counted(phase, rows, kinds), _choose_slow(rows["kind"], duration)
    work, unit = _compute_work(phase, rows, counted)
    return PhaseRows(
        start,
        duration,
        work * _compute_weights(phase, mine, ranks)[of],
        ranks,
        of,
        rows["kind"] == slow,
        rows["size"],
        kinds[counted],
        kinds[slow],
        unit,
        zero_ns,
        int(mine.size),
        int(mine.size)
        if phase.recorded_all
        else max(int(mine.size), sum(int(rank.get("operations") or 0) for rank in phase.ranks)),
    )


def bin_phase_rows(rows: PhaseRows) -> OverTime:
    """Compute a phase over time from its rows."""
    start, duration, ranks = rows.start, rows.duration, rows.ranks
    bins = _choose_bins(start.size, float((start + duration).max()))
    done = _compute_done(bins, start, start + np.maximum(duration, 1.0), rows.work, rows.of, ranks.size)
    by_rank = done / (np.diff(bins.edges, prepend=0.0) / 1e9)
    p50, p99, longest = _summarise_durations(bins, start[rows.took_slow], duration[rows.took_slow] / 1e9)
    return OverTime(
        rows.counted,
        rows.unit,
        bins.width / 1e9,
        bins.end / 1e9,
        tuple((np.arange(bins.count) * bins.width / 1e9).tolist()),
        tuple(by_rank.sum(axis=0).tolist()),
        {int(rank): tuple(rank_rates.tolist()) for rank, rank_rates in zip(ranks, by_rank, strict=True)}
        if 2 <= ranks.size <= MOST_RANKS
        else {},
        rows.slow,
        p50,
        p99,
        longest,
        rows.mine,
        rows.n_operations,
        rows.mine - start.size,
    )


def _take_rows(rows: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    return rows if mask.all() else rows[mask]


def compute_start_ns(phase: StoredPhase, rows: npt.NDArray[Any]) -> tuple[Array, int]:
    """Return (ns after the first start, that start): by the clock of rank 0 or, if clocks cannot be compared, by each
    rank's own."""
    ranks, of = np.unique(rows["rank"], return_inverse=True)
    start = rows["start_ns"].astype(np.int64)
    if phase.comparable:
        offsets = phase.clock_offsets
        start -= np.array([offsets.get(int(rank), 0) for rank in ranks], np.int64)[of]
        zero = np.full(ranks.size, start.min())
    else:
        zero = np.full(ranks.size, np.iinfo(np.int64).max)
        np.minimum.at(zero, of, start)
    after: Array = (start - zero[of]).astype(np.float64)
    return after, int(zero.min())


def _choose_bins(operations: int, end: float) -> _Bins:
    """Choose bins of a round width, most of which have enough operations for a 99th percentile."""
    count = min(
        max(operations // compute_least_n_for_quantile(_PERCENTILES[-1], _LEVEL), min(_FEWEST, operations)), _MOST
    )
    exact = max(end, 1.0) / count
    power = 10.0 ** math.floor(math.log10(exact))
    width = next(step * power for step in _STEPS if step * power >= exact * (1 - 1e-9))
    return _Bins(width, max(1, round(end / width)), max(end, 1.0))


def _choose_counted(phase: StoredPhase, rows: npt.NDArray[Any], kinds: Sequence[str]) -> int:
    """Choose the kind whose work is counted: that of the phase, else the one that moved data, else the most frequent
    one."""
    there = [kinds[kind] for kind in np.unique(rows["kind"])]
    candidates = [name for name in (phase.counted_kind or "", *_DATA) if name in there]
    return list(kinds).index(candidates[0]) if candidates else int(np.bincount(rows["kind"]).argmax())


def _choose_slow(kind: npt.NDArray[Any], duration: Array) -> int:
    """Choose the kind that took most time, among those frequent enough to show over time."""
    spent, counts = np.bincount(kind, duration), np.bincount(kind)
    return int(np.where(counts >= min(_FEWEST, int(counts.max())), spent, -1.0).argmax())


def _compute_work(phase: StoredPhase, rows: npt.NDArray[Any], counted: int) -> tuple[Array, str]:
    """Return (work of each operation, the unit of its rate): bytes if the phase moves data."""
    mine: Array = (rows["kind"] == counted).astype(np.float64)
    moved: Array = mine * rows["size"]
    is_data = phase.measures == "bandwidth" or (phase.measures is None and moved.any())
    return (moved, "bytes/s") if is_data else (mine, "operations/s")


def _compute_weights(phase: StoredPhase, mine: npt.NDArray[Any], ranks: npt.NDArray[Any]) -> Array:
    """Return how many operations of its rank each recorded one stands for: 1, except in a sample."""
    if phase.recorded_all:
        return np.ones(ranks.size)
    totals = {rank["rank"]: rank.get("operations") or 0 for rank in phase.ranks}
    recorded = np.bincount(mine["rank"], minlength=int(ranks.max()) + 1)[ranks]
    rank_totals = [totals.get(int(rank), 0) or int(n) for rank, n in zip(ranks, recorded, strict=True)]
    return np.array([every / n for every, n in zip(rank_totals, recorded.tolist(), strict=True)])


def _compute_done(bins: _Bins, start: Array, end: Array, work: Array, of: npt.NDArray[np.intp], ranks: int) -> Array:
    """Return ranks × bins: the work in each, by the share of each operation's time that is inside.

    The work done until a moment t is the sum of d·(t - start) over started operations, less that of d·(t - end) over
    ended ones, with d the work by time of an operation: two sums per bin, whatever the number of operations.
    """
    density = work / (end - start)
    until = np.zeros((ranks, bins.count))
    for at, sign in ((start, 1.0), (end, -1.0)):
        cell = of * bins.count + bins.find_bins(at)
        d = np.bincount(cell, density, ranks * bins.count).reshape(ranks, -1).cumsum(axis=1)
        d_at = np.bincount(cell, density * at, ranks * bins.count).reshape(ranks, -1).cumsum(axis=1)
        until += sign * (bins.edges * d - d_at)
    return np.maximum(np.diff(until, axis=1, prepend=0.0), 0.0)


def _summarise_durations(bins: _Bins, start: Array, seconds: Array) -> tuple[Values, Values, Values]:
    """Return the median, the 99th percentile and the maximum of the operations that began in each bin; None for too
    few."""
    cell = bins.find_bins(start).astype(np.uint8 if bins.count < 256 else np.intp)  # bytes are sorted in one pass
    ordered = seconds[np.argsort(cell, kind="stable")]
    ends = np.cumsum(np.bincount(cell, minlength=bins.count)).tolist()
    durations_by_bin = [ordered[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    percentiles = [percentiles_from_durations(durations, _PERCENTILES, _LEVEL) for durations in durations_by_bin]
    p50, p99 = (tuple(values[share] for values in percentiles) for share in _PERCENTILES)
    return p50, p99, tuple(float(durations.max()) if durations.size else None for durations in durations_by_bin)
