"""A phase over its time, and its longest operations: against sums over every operation, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.stats.overview.over_time import compute_over_time
from iosonde.stats.overview.slowest import count_unseen_operations, select_slowest_operations

KINDS = ("open", "write", "read")
READ, OPEN = KINDS.index("read"), KINDS.index("open")


def operations(n: int, ranks: int = 2, seed: int = 1) -> np.ndarray:
    """Reads back to back on each rank, some of them long."""
    rng = np.random.default_rng(seed)
    rows = np.zeros(n * ranks, OPERATION)
    rows["rank"], rows["kind"], rows["size"] = np.repeat(np.arange(ranks), n), READ, 4096
    rows["duration_ns"] = rng.lognormal(10, 1, n * ranks).astype(np.uint64)
    rows["duration_ns"][:: n // 4] *= 300  # across several bins
    for rank in range(ranks):
        mine = rows["rank"] == rank
        rows["start_ns"][mine] = (
            10**12 + 7_000 * rank + np.cumsum(rows["duration_ns"][mine]) - rows["duration_ns"][mine]
        )
    return rows


def phase(**changes) -> StoredPhase:
    of_ranks = [{"rank": rank, "host": f"n{rank}", "operations": 0, "clock_offset_ns": 0} for rank in range(2)]
    known = {
        "index": 0,
        "name": "p",
        "measures": "bandwidth",
        "counted_kind": "read",
        "recorded_all": True,
        "comparable": True,
        "ranks": of_ranks,
    }
    return StoredPhase({**known, **changes})


def by_hand(rows: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Bytes in each bin, operation by operation."""
    start = rows["start_ns"].astype(float) - rows["start_ns"].min()
    end = start + rows["duration_ns"]
    inside = np.minimum(end[:, None], edges[None, 1:]) - np.maximum(start[:, None], edges[None, :-1])
    share = np.clip(inside, 0, None) / (end - start)[:, None]
    return (rows["size"][:, None] * share).sum(axis=0)


def test_rates_are_those_of_every_operation_by_the_share_of_its_time_in_a_bin():
    rows = operations(2000)
    made = compute_over_time(phase(), rows, KINDS)
    edges = np.array([*made.starts_s, made.end_s]) * 1e9
    expected = by_hand(rows, edges) / np.diff(edges) * 1e9
    assert len(made.rate) >= 10 and made.rate == pytest.approx(expected, rel=1e-9)
    assert np.sum(np.array(made.rate) * np.diff(edges) / 1e9) == pytest.approx(4096 * len(rows))
    assert np.sum(list(made.by_rank.values()), axis=0) == pytest.approx(made.rate)
    steps = np.diff(made.starts_s)
    assert steps == pytest.approx(made.width_s) and 0.5 <= (made.end_s - made.starts_s[-1]) / made.width_s <= 1.5


def test_durations_are_of_what_began_in_a_bin_and_a_tail_that_few_show_is_none():
    rows = operations(3000)
    made = compute_over_time(phase(), rows, KINDS)
    start = (rows["start_ns"] - rows["start_ns"].min()) / 1e9
    cell = np.clip(np.searchsorted(made.starts_s, start, side="right") - 1, 0, None)
    for place in range(len(made.rate)):
        inside = np.sort(rows["duration_ns"][cell == place]) / 1e9
        assert made.longest[place] == (pytest.approx(inside[-1]) if inside.size else None)
        assert (made.p99[place] is not None) == (inside.size >= 299)
        if inside.size >= 299:
            assert made.p99[place] == pytest.approx(inside[int(np.ceil(0.99 * inside.size)) - 1])
    assert any(value is not None for value in made.p99)


def test_a_sample_is_scaled_to_all_that_was_made_and_failures_are_counted():
    rows = operations(2000)
    kept = rows[np.sort(np.random.default_rng(2).choice(len(rows), 1000, replace=False))]
    ranks = [{"rank": rank, "operations": 2000} for rank in range(2)]
    whole = compute_over_time(phase(), rows, KINDS)
    made = compute_over_time(phase(recorded_all=False, ranks=ranks), kept, KINDS)
    assert (made.recorded, made.n_operations) == (1000, 4000)
    edges = np.diff([*made.starts_s, made.end_s])
    assert np.sum(np.array(made.rate) * edges) == pytest.approx(4096 * 4000)
    assert np.mean(made.rate) == pytest.approx(np.mean(whole.rate), rel=0.2)
    kept["status"][:10] = 5
    assert compute_over_time(phase(), kept, KINDS).failed == 10
    kept["status"] = 5
    assert compute_over_time(phase(), kept, KINDS) is None


def test_clocks_that_cannot_be_compared_begin_with_each_rank():
    rows = operations(100)
    rows["start_ns"][rows["rank"] == 1] += 10**15
    apart = compute_over_time(phase(comparable=False), rows, KINDS)
    shifted = compute_over_time(phase(ranks=[{"rank": 1, "clock_offset_ns": 10**15}]), rows, KINDS)
    assert apart.end_s < 10 and shifted.end_s < 10


def test_the_work_is_of_the_kind_that_the_phase_counts_and_the_durations_of_what_took_most():
    rows = operations(200)
    opened = rows[:50].copy()
    opened["kind"], opened["size"] = OPEN, 0
    opened["duration_ns"] *= 100
    made = compute_over_time(phase(measures="rate"), np.concatenate([rows, opened]), KINDS)
    assert (made.kind, made.unit, made.slow_kind) == ("read", "operations/s", "open")
    few = compute_over_time(phase(), np.concatenate([rows, opened[:3]]), KINDS)
    assert few.slow_kind == "read", "three operations are no line over time"


def run(phases: list[StoredPhase], recorded: int) -> StoredRun:
    return StoredRun({"id": "r", "phases": [one.document for one in phases], "operations": recorded, "factors": {}})


def test_the_slowest_are_those_of_a_full_sort_with_their_place_in_the_phase():
    rows = operations(500)
    rows["phase"][rows["rank"] == 1] = 3
    rows["offset"], rows["file"] = np.arange(len(rows)) * 4096, np.arange(len(rows)) % 7
    rows["status"][np.argmax(rows["duration_ns"])] = 5
    of_run = run([phase(), phase(index=3, name="q")], len(rows))
    found = select_slowest_operations(of_run, rows, KINDS, 9)
    order = np.argsort(-rows["duration_ns"].astype(float), kind="stable")[:9]
    assert [one.duration_s for one in found] == pytest.approx(rows["duration_ns"][order] / 1e9)
    for one, at in zip(found, order, strict=True):
        row = rows[at]
        first = rows["start_ns"][rows["phase"] == row["phase"]].min()
        assert (one.rank, one.file, one.offset, one.size) == (row["rank"], row["file"], row["offset"], row["size"])
        assert one.start_s == pytest.approx((row["start_ns"] - first) / 1e9) and one.host == f"n{row['rank']}"
        assert one.operation == ("q" if row["phase"] == 3 else "p") and one.kind == "read"
    assert found[0].status == 5
    assert len(select_slowest_operations(of_run, rows[:3], KINDS, 9)) == 3


def test_what_is_only_in_histograms_is_counted_with_the_end_of_its_last_bucket():
    edges = np.geomspace(1, 1e12, 300)
    whole = phase(totals={"read": {"count": 10, "bytes": 1, "errors": 0}})
    sample = phase(
        index=1,
        recorded_all=False,
        histograms={"read": [[5, 60], [200, 30]]},
        totals={"read": {"count": 90, "bytes": 1, "errors": 0}},
    )
    assert count_unseen_operations(run([whole], 10), edges) == (0, 0.0)
    assert count_unseen_operations(run([whole, sample], 30), edges) == (70, pytest.approx(edges[201] / 1e9))
