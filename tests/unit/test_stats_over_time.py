"""A phase over its time, and its longest operations: against sums over every operation, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.stats.overview import over_time
from iosonde.stats.overview.over_time import OverTime, bin_phase_rows, select_phase_rows
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


def compute_over_time(phase: StoredPhase, operations: np.ndarray, kinds: tuple[str, ...]) -> OverTime | None:
    rows = select_phase_rows(phase, operations, kinds)
    return None if rows is None else bin_phase_rows(rows)


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


def bin_count(n: int, end: float) -> tuple[float, int, float]:
    bins = over_time._choose_bins(n, end)
    return bins.width, bins.count, bins.end


@pytest.mark.parametrize(
    ("n", "end", "bins"),
    [
        (5, 10.0, (2.0, 5, 10.0)),  # as many bins as operations
        (100, 100.0, (5.0, 20, 100.0)),  # 20 bins if they are enough
        (100, 101.0, (10.0, 10, 101.0)),
        (299 * 25, 100.0, (5.0, 20, 100.0)),  # each has 299 operations
        (299 * 60, 100.0, (2.0, 50, 100.0)),
        (10**9, 1e6, (1e4, 100, 1e6)),  # 100 at most
        (1, 0.0, (1.0, 1, 1.0)),
        (4, 2.0, (0.5, 4, 2.0)),
        (3, 14.0, (5.0, 3, 14.0)),
    ],
)
def test_bins_have_a_round_width_and_enough_operations(n, end, bins):
    assert bin_count(n, end) == pytest.approx(bins)


def test_moments_belong_to_the_bin_that_they_begin_and_the_last_bin_to_the_end():
    bins = over_time._Bins(5.0, 3, 14.0)
    assert bins.edges.tolist() == [5, 10, 14]
    assert bins.find_bins(np.array([0, 4.9, 5, 14, 99])).tolist() == [0, 0, 1, 2, 2]


def of_kinds(*kinds: int, size: int = 8) -> np.ndarray:
    rows = np.zeros(len(kinds), OPERATION)
    rows["kind"], rows["size"], rows["duration_ns"] = kinds, size, 10
    return rows


@pytest.mark.parametrize(
    ("counted", "kinds", "chosen"),
    [
        ("open", [0, 1, 2, 2], 0),
        (None, [0, 1, 2, 2], 1),
        ("open", [2, 2, 1], 1),
        (None, [0, 2, 0], 2),
        (None, [0, 0], 0),
    ],
)
def test_the_counted_kind_is_that_of_the_phase_or_moved_data(counted, kinds, chosen):
    assert over_time._choose_counted(phase(counted_kind=counted), of_kinds(*kinds), KINDS) == chosen


@pytest.mark.parametrize(
    ("measures", "kind", "work", "unit"),
    [
        ("bandwidth", 1, [0, 8, 8], "bytes/s"),
        ("rate", 1, [0, 1, 1], "operations/s"),
        (None, 1, [0, 8, 8], "bytes/s"),
        (None, 0, [8, 0, 0], "bytes/s"),
        ("bandwidth", 2, [0, 0, 0], "bytes/s"),
        (None, 2, [0, 0, 0], "operations/s"),
    ],
)
def test_work_is_bytes_if_the_phase_moves_data(measures, kind, work, unit):
    made, its_unit = over_time._compute_work(phase(measures=measures), of_kinds(0, 1, 1), kind)
    assert (made.tolist(), its_unit) == (work, unit)


def test_the_slow_kind_took_most_time_among_the_frequent_ones():
    def slow(counts: list[int], each: list[float]) -> int:
        return over_time._choose_slow(np.repeat([0, 1, 2], counts), np.repeat(each, counts))

    assert slow([20, 30, 0], [4.0, 1.0, 0.0]) == 0
    assert slow([19, 30, 0], [4.0, 1.0, 0.0]) == 1
    assert slow([19, 19, 18], [1.0, 2.0, 9.0]) == 1  # below 20 only the most frequent ones


def test_each_recorded_operation_of_a_sample_stands_for_its_share_of_its_rank():
    rows = of_kinds(1, 1, 1, 1, 1, 1)
    rows["rank"] = [0, 0, 2, 2, 2, 3]
    ranks, told = np.array([0, 2, 3]), [{"rank": 0, "operations": 10}, {"rank": 2, "operations": 3}, {"rank": 3}]
    sample = phase(recorded_all=False, ranks=told)
    assert over_time._compute_weights(sample, rows, ranks).tolist() == [5.0, 1.0, 1.0]
    assert over_time._compute_weights(phase(ranks=told), rows, ranks).tolist() == [1.0, 1.0, 1.0]
    made = over_time.select_phase_rows(sample, rows, KINDS)
    assert (made.mine, made.n_operations, made.work.tolist()) == (6, 13, [40, 40, 8, 8, 8, 8])
    more = over_time.select_phase_rows(phase(recorded_all=False, ranks=told[1:]), rows, KINDS)
    assert (more.mine, more.n_operations) == (6, 6)


def test_rows_of_a_phase_begin_with_its_first_start_by_the_clock_of_rank_0():
    rows = of_kinds(0, 1, 1, 2)
    rows["rank"], rows["start_ns"], rows["phase"] = [1, 0, 1, 0], [130, 110, 150, 1], [0, 0, 0, 5]
    rows["duration_ns"], rows["status"] = [5, 6, 7, 8], [0, 0, 3, 0]
    clocks = [{"rank": 0}, {"rank": 1, "clock_offset_ns": 30}]
    made = over_time.select_phase_rows(phase(ranks=clocks), rows, KINDS)
    assert (made.start.tolist(), made.duration.tolist(), made.zero_ns) == ([0, 10], [5, 6], 100)
    assert (made.ranks.tolist(), made.of.tolist(), made.took_slow.tolist()) == ([0, 1], [1, 0], [False, True])
    assert (made.counted, made.slow, made.unit, made.mine, made.n_operations) == ("write", "write", "bytes/s", 3, 3)
    assert (made.size.tolist(), made.work.tolist()) == ([8, 8], [0, 8])
    apart = over_time.select_phase_rows(phase(ranks=clocks, comparable=False), rows, KINDS)
    assert (apart.start.tolist(), apart.zero_ns) == ([0, 0], 110)
    assert over_time.select_phase_rows(phase(index=7), rows, KINDS) is None


def test_the_flat_form_has_a_bin_for_each_start():
    rows = of_kinds(2, 2)
    rows["rank"], rows["start_ns"], rows["duration_ns"] = [0, 1], [0, 10**9], 10**9
    rows = np.concatenate([rows, rows[:1]])
    rows["status"][2] = 5
    expected = {
        "kind": "read",
        "unit": "bytes/s",
        "bin_s": 1.0,
        "end_s": 2.0,
        "recorded": 3,
        "made": 3,
        "failed": 1,
        "latency_of": "read",
        "bins": [
            {"start_s": 0.0, "rate": 8.0, "by_rank": {"0": 8.0, "1": 0.0}, "p50_s": None, "p99_s": None, "max_s": 1.0},
            {"start_s": 1.0, "rate": 8.0, "by_rank": {"0": 0.0, "1": 8.0}, "p50_s": None, "p99_s": None, "max_s": 1.0},
        ],
    }
    assert compute_over_time(phase(), rows, KINDS).to_json() == expected


@pytest.mark.parametrize(("n_ranks", "shown"), [(1, 0), (2, 2), (16, 16), (17, 0)])
def test_ranks_are_apart_if_they_are_several_and_few(n_ranks, shown):
    rows = of_kinds(*[2] * n_ranks)
    rows["rank"] = np.arange(n_ranks)
    assert len(compute_over_time(phase(ranks=[]), rows, KINDS).by_rank) == shown
