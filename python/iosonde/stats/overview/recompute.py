"""The rates of a run, recomputed from its recorded operations alone.

On purpose this does not call the code that measured. It implements the definitions (docs/envelope.md) again, over flat
arrays, so that a mistake in one place shows as a difference.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.stored import StoredPhase, StoredRun

CLOCK_ERROR = 0.01  # of the phase: with more, times of different ranks are not compared
_WRITER = "_writer_node"

Key = tuple[str, str, int | None]  # operation, metric, rank (None: the whole)


def recompute_rates(run: StoredRun, operations: npt.NDArray[Any], kinds: Sequence[str]) -> dict[Key, float]:
    """Recompute every rate of a run's phases with completely recorded operations."""
    rates_by_key: dict[Key, float] = {}
    for phase in run.phases:
        if phase.recorded_all and phase.measures:
            rows = operations[operations["phase"] == phase.index]
            for name, chosen, counted in _split_series(phase, rows, run, kinds):
                rates_by_key |= _recompute_series(name, chosen, counted, phase, kinds)
    return rates_by_key


def _split_series(
    phase: StoredPhase, rows: npt.NDArray[Any], run: StoredRun, kinds: Sequence[str]
) -> Iterator[tuple[str, npt.NDArray[Any], int]]:
    """Iterate over (operation, its rows, the counted kind). A shared read is that of the nodes which did not write,
    unless nothing of the file was in the writer's cache."""
    operation, present = phase.operation, [kinds[kind] for kind in np.unique(rows["kind"])]
    # Without one in the store: data kinds for a bandwidth; for a rate the kind that names the phase, else whole files.
    candidates = ("write", "read") if phase.measures == "bandwidth" else (operation, "close")
    counted = phase.counted_kind or next((name for name in candidates if name in present), None)
    if counted is None:
        return
    nodes = run.facts.get("nodes") or []
    away = [rank for rank in np.unique(rows["rank"]).tolist() if rank < len(nodes) and nodes[rank] != nodes[0]]
    kind = list(kinds).index(counted)
    if phase.shared and counted != "write" and away and not phase.writer_counted:
        yield operation, rows[np.isin(rows["rank"], away)], kind
        yield operation + _WRITER, rows[~np.isin(rows["rank"], away)], kind
    else:
        yield operation, rows, kind


def _recompute_series(
    name: str, rows: npt.NDArray[Any], kind: int, phase: StoredPhase, kinds: Sequence[str]
) -> dict[Key, float]:
    if not rows.size:
        return {}
    metric, bandwidth = phase.measures, phase.measures == "bandwidth"
    ranks, of = np.unique(rows["rank"], return_inverse=True)
    shift = np.array([phase.clock_offsets.get(int(rank), 0) for rank in ranks], np.int64)[of]
    start = rows["start_ns"].astype(np.int64) - shift
    end = start + rows["duration_ns"].astype(np.int64)
    first = np.full(ranks.size, np.iinfo(np.int64).max)
    last = np.full(ranks.size, np.iinfo(np.int64).min)
    np.minimum.at(first, of, start)
    np.maximum.at(last, of, end)
    counting = rows["kind"] == kind
    work = np.where(counting & (rows["status"] == 0), rows["size"] if bandwidth else 1, 0).astype(np.float64)
    done = np.bincount(of, work, ranks.size)
    if done.sum() == 0 or np.any(last <= first):
        return {}
    own = done / (last - first) * 1e9
    rates_by_key: dict[Key, float] = {
        (name, f"{metric}_own", int(rank)): float(v) for rank, v in zip(ranks, own, strict=True)
    }
    rates_by_key[name, f"{metric}_sum_of_ranks", None] = float(own.sum())
    if phase.clock_error_ns > CLOCK_ERROR * (last.max() - first.min()):
        return rates_by_key
    rates_by_key[name, f"{metric}_last_done", None] = float(done.sum() / (last.max() - first.min()) * 1e9)
    for clock, begin in (("first_done", first.min()), ("overlap", first.max())):
        if last.min() > begin:  # an operation across the edge of this window counts by the share inside
            inside = np.clip(np.minimum(end, last.min()) - np.maximum(start, begin), 0, None)
            rate = (work * inside / np.maximum(end - start, 1)).sum() / (last.min() - begin) * 1e9
            rates_by_key[name, f"{metric}_{clock}", None] = float(rate)
    present = {kinds[other] for other in np.unique(rows["kind"])}
    if bandwidth and kinds[kind] == "write" and present & {"fsync", "fdatasync", "close"}:
        span = end[counting].max() - start[counting].min()
        buffered = name.replace("write", "write_buffered", 1) if "write" in name else f"{name}_buffered"
        rates_by_key[buffered, "bandwidth_last_done", None] = float(done.sum() / span * 1e9)
    return rates_by_key
