"""A run that is read a part at a time is diagnosed as one in memory; a sample beside an exact histogram as all."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import diagnose_sample as sample
import numpy as np
import pytest

from iosonde.commands.diagnose import large as diagnose_large
from iosonde.commands.diagnose import trials as diagnose_trials
from iosonde.commands.diagnose.answer import diagnose
from iosonde.commands.diagnose.large import LargeRun
from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredPhase
from iosonde.data.source import open_data
from iosonde.engine import _native
from iosonde.explain import stretches
from iosonde.explain.seen import large
from iosonde.explain.stretches import Stretches
from iosonde.stats.density.histogram import histogram_from_buckets
from iosonde.store import tables
from messages import assert_problem

N = 6000


def made(rule, ranks: int = 3, seed: int = 7) -> np.ndarray:
    return sample.rows(N, ranks, rule, np.random.default_rng(seed))


def both(monkeypatch, path, trials: list[np.ndarray], **changes):
    """(in memory, a part at a time) of the same store."""
    monkeypatch.setattr(tables, "ROWS_PER_GROUP", 1000)
    sample.store(path, trials, **changes)
    whole = diagnose(open_data(path), 0.95)
    monkeypatch.setattr(diagnose_trials, "IN_MEMORY", 100)
    return whole, diagnose(open_data(path), 0.95)


def numbers(group):
    """What has to be the same, however it was read."""
    classes = [
        (one.label, one.n, one.typical_s, one.where.run, one.where.offset, dict(one.where.ranks))
        for one in group.classes
    ]
    return group.n, group.failed, group.group, group.step_s, classes


@pytest.mark.long
def test_a_part_at_a_time_says_the_same(tmp_path, monkeypatch):
    trials = [made(lambda r, i, o: i % 16 == 0, seed=seed) for seed in (1, 2)]
    for one in trials:
        one["status"][5::500] = 5
    [whole], [parts] = (one.groups for one in both(monkeypatch, tmp_path / "s", trials))
    assert numbers(parts) == numbers(whole) and whole.failed == 2 * 36
    assert parts.cost.cost_s.value == pytest.approx(whole.cost.cost_s.value)
    assert parts.cost.rate.value == pytest.approx(whole.cost.rate.value)
    assert parts.classes[1].shares.time_share.low == pytest.approx(whole.classes[1].shares.time_share.low)
    for one, other in zip(parts.drawn.times, whole.drawn.times, strict=True):
        assert one.shares == pytest.approx(other.shares) and one.time_shares == pytest.approx(other.time_shares)
    assert [one.suspect.code for one in parts.classes[1].reasons][0] == "S401"
    assert parts.classes[1].reasons[0].suspect.evidence["period_bytes"] == 1 << 20
    assert len(parts.notes) == 1 and not whole.notes


@pytest.mark.long
def test_clocks_sizes_and_kinds_are_told_apart(tmp_path, monkeypatch):
    one = made(lambda r, i, o: r == 1)
    one["size"][::2] = 4096
    one["kind"][np.arange(one.size) % N > N // 2] = _native.KINDS.index("write")
    one["start_ns"][one["rank"] == 2] += 5_000_000
    ranks = [{"rank": rank, "host": f"n{rank}", "clock_offset_ns": 5_000_000 * (rank == 2)} for rank in range(3)]
    whole, parts = both(monkeypatch, tmp_path / "s", [one], ranks=ranks)
    assert len(whole.groups) == 4
    by_group = {group.group: group for group in parts.groups}
    for group in whole.groups:
        assert numbers(by_group[group.group]) == numbers(group)
        assert by_group[group.group].cost.elapsed_s.value == pytest.approx(group.cost.elapsed_s.value)
        assert by_group[group.group].classes[1].cause == group.classes[1].cause
        assert group.classes[1].cause.split()[-1] == "n1"


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (lambda r, i, o: i % 40 == 7, "S401"),
        (lambda r, i, o: i >= 4000, "S404"),
        (lambda r, i, o: r == 2, "S408"),
        (lambda r, i, o: np.random.default_rng(3).random(i.size) < 0.1, "S412"),
    ],
)
def test_causes_are_seen_in_stretches_and_in_the_sample(tmp_path, monkeypatch, rule, code):
    monkeypatch.setattr(large, "_SAMPLE", 3000)
    monkeypatch.setattr(stretches.Stretches.__init__, "__defaults__", (8000,))
    _, parts = both(monkeypatch, tmp_path / "s", [made(rule)])
    found = [one.suspect for one in parts.groups[0].classes[1].reasons]
    assert found[0].code == code
    if code == "S404":  # of all operations, not of those of the sample
        assert found[0].evidence["operations_before"] == pytest.approx(3 * 4000, rel=0.15)
    if code == "S412":
        assert [one.code for one in found] == [code]


def test_stretches_are_of_all_ranks_and_follow_each_other():
    rng = np.random.default_rng(1)
    start = np.sort(rng.uniform(0, 1e9, (4, 5000)), axis=1).astype(np.int64)
    found = Stretches(20_000, 4, 1e9, max_operations=2000)
    for rank in range(4):
        for begin in range(0, 5000, 1000):
            part = start[rank, begin : begin + 1000]
            found.add({"rank": np.full(1000, rank), "start_ns": part}, [(rank, 0, 1000)])
    kept = list(found.each())
    assert len(kept) == found.count == 4 and found.begins_ns[0] == 0
    assert 1600 < found.operations < 2400
    for one, begin in zip(kept, found.begins_ns.astype(int), strict=True):
        assert set(one["rank"].tolist()) == {0, 1, 2, 3}
        for rank in range(4):  # none is left out between two
            mine = start[rank][(start[rank] >= begin) & (start[rank] - begin < found.width_ns)]
            np.testing.assert_allclose(np.sort(one["start_ns"][one["rank"] == rank]), mine - begin, atol=1)


def test_of_a_burst_a_part_is_kept():
    burst = {"rank": np.zeros(50_000, int), "start_ns": np.sort(np.random.default_rng(2).integers(0, 1000, 50_000))}
    found = Stretches(50_000, 1, 1e9, max_operations=1000)
    found.add(burst, [(0, 0, 50_000)])
    assert found.operations <= 1000


def test_a_histogram_of_all_says_more_than_a_sample(tmp_path):
    """10 of 11 operations are not recorded: shares and seconds are of all, by class, and not of the sample."""
    every = made(lambda r, i, o: i % 16 == 0)
    edges = _native.bucket_edges_ns()
    buckets, counts = np.unique(np.searchsorted(edges, every["duration_ns"], "right") - 1, return_counts=True)
    pairs = [[int(bucket), int(count)] for bucket, count in zip(buckets, counts, strict=True)]
    totals = {"read": {"count": len(every), "bytes": len(every) * sample.SIZE, "errors": 0}}
    kept = every[np.sort(np.random.default_rng(5).choice(len(every), len(every) // 11, replace=False))]
    sample.store(tmp_path / "all", [every])
    sample.store(tmp_path / "s", [kept], recorded_all=False, totals=totals, histograms={"read": pairs})
    sample.store(tmp_path / "t", [kept], recorded_all=False, totals=totals)
    [whole], [exact], [scaled] = (diagnose(open_data(tmp_path / name), 0.95).groups for name in ("all", "s", "t"))
    assert exact.n == whole.n == len(every) and exact.classes[1].n == whole.classes[1].n
    assert_problem(exact.notes[0], "sampled-operations", n_all=18_000)
    assert "18,000" in exact.notes[0] and "18,000" not in scaled.notes[0]
    assert exact.cost.cost_s.value == pytest.approx(whole.cost.cost_s.value, rel=0.02)
    for group, error in ((exact, 0.02), (scaled, 0.15)):
        assert group.cost.rate.value == pytest.approx(whole.cost.rate.value, rel=0.02)
        assert group.cost.cost_s.value == pytest.approx(whole.cost.cost_s.value, rel=error)


def test_a_class_that_the_sample_lacks_has_its_share(tmp_path):
    every = made(lambda r, i, o: i % 16 == 0)
    fast = every[every["duration_ns"] < 1e5][::7]
    edges = _native.bucket_edges_ns()
    buckets, counts = np.unique(np.searchsorted(edges, every["duration_ns"], "right") - 1, return_counts=True)
    sample.store(
        tmp_path / "s",
        [fast],
        recorded_all=False,
        totals={"read": {"count": len(every), "bytes": len(every) * sample.SIZE, "errors": 0}},
        histograms={"read": np.stack([buckets, counts], axis=1).tolist()},
    )
    [group] = diagnose(open_data(tmp_path / "s"), 0.95).groups
    assert group.classes[1].shares.share.value == pytest.approx(1 / 16)
    slow = every["duration_ns"][every["duration_ns"] > 1e5].sum() / every["duration_ns"].sum()
    assert group.classes[1].shares.time_share.value == pytest.approx(slow, rel=0.05)


def test_wider_buckets_are_spread_and_none_is_lost():
    edges = _native.bucket_edges_ns()
    values = np.exp(np.random.default_rng(1).normal(9, 0.5, 30_000))
    buckets, counts = np.unique(np.searchsorted(edges, values, "right") - 1, return_counts=True)
    found = histogram_from_buckets(edges, np.stack([buckets, counts], axis=1).tolist())
    assert found.n == 30_000
    for share in (0.01, 0.5, 0.99):
        assert found.quantile(share) == pytest.approx(np.quantile(values, share), rel=0.01)
    assert histogram_from_buckets(edges, [[3, 0]]) is None


def test_row_groups_come_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_PER_GROUP", 700)
    rows = made(lambda r, i, o: i < 0)
    store = sample.store(tmp_path / "s", [rows])
    parts = list(store.operation_column_groups("r-0", OPERATION.names))
    assert [len(one["rank"]) for one in parts][:-1] == [700] * (len(parts) - 1)
    for name in OPERATION.names:
        np.testing.assert_array_equal(np.concatenate([one[name] for one in parts]), rows[name])
    assert list(store.operation_column_groups("r-0", ("rank",)))[0].keys() == {"rank"}


def build_large_run(*pieces: list[tuple[int, ...]]) -> tuple[LargeRun, Any]:
    """Pieces of rows (phase, kind, status, size, rank, duration); only phases 0 and 1 are looked at."""
    names = ("phase", "kind", "status", "size", "rank", "duration_ns")
    columns = [{name: np.array([row[i] for row in rows], np.int64) for i, name in enumerate(names)} for rows in pieces]

    def get_pieces(run_id: str, wanted: Sequence[str]) -> Any:
        assert run_id == "r"
        return ({name: piece[name] for name in wanted if name in names} for piece in columns)

    phases = [StoredPhase({"index": index, "name": "p", "operation": "p"}) for index in (0, 1)]
    store: Any = SimpleNamespace(operation_column_groups=get_pieces)
    run: Any = SimpleNamespace(id="r")
    return LargeRun(store, run, phases, lambda *key: key), columns


READ, WRITE = _native.KINDS.index("read"), _native.KINDS.index("write")
LEAST, MOST_SIZES = 50, 16


def list_spans(*pieces: list[tuple[int, ...]]) -> dict:
    spans = build_large_run(*pieces)[0]._count_common_spans()
    return {key: (span.n, span.failed, span.phase.index) for key, span in spans.items()}


def test_operations_that_are_not_rare_are_counted_by_phase_kind_and_size():
    mixed = [
        *[(0, READ, 0, 8, 0, 1)] * 49,
        *[(0, READ, 5, 8, 0, 1)] * 3,
        *[(1, READ, 0, 8, 0, 1)] * 60,
        *[(1, WRITE, 0, 8, 0, 1)] * 49,
        *[(2, READ, 0, 8, 0, 1)] * 70,
    ]
    assert list_spans(mixed, [(0, READ, 0, 8, 0, 1)] * 10) == {(0, READ, 8): (59, 3, 0), (1, READ, 8): (60, 0, 1)}
    assert list_spans(mixed, [(0, READ, 0, 8, 0, 1)]) == {(0, READ, 8): (50, 3, 0), (1, READ, 8): (60, 0, 1)}
    assert list_spans(mixed) == {(1, READ, 8): (60, 0, 1)} and list_spans([], []) == {}
    large = (1 << 32) - 1
    assert list_spans([(1, READ, 0, large, 0, 1)] * 60) == {(1, READ, large): (60, 0, 1)}


def test_the_most_frequent_sizes_of_a_kind_are_kept():
    rows = [(0, READ, 0, size, 0, 1) for size in range(1, MOST_SIZES + 3) for _ in range(LEAST + size)]
    assert [key[2] for key in list_spans(rows)] == list(range(MOST_SIZES + 2, 2, -1))


def test_rare_keys_are_forgotten_beyond_a_limit(monkeypatch):
    monkeypatch.setattr(diagnose_large, "_MOST_KEYS", 4)
    frequent = [(0, READ, 0, 1, 0, 1)] * 40 + [(0, READ, 0, 2, 0, 1)] * 30
    rare = [(0, READ, 0, size, 0, 1) for size in (3, 4)]
    assert list_spans([*frequent, *rare], frequent) == {(0, READ, 1): (80, 0, 0), (0, READ, 2): (60, 0, 0)}
    third = [(0, READ, 0, 3, 0, 1)] * 49
    assert (0, READ, 3) in list_spans([*frequent, *rare], [*frequent, *third]), "four keys are few enough"
    assert (0, READ, 3) not in list_spans([*frequent, *rare, (0, READ, 0, 5, 0, 1)], [*frequent, *third])


def test_each_piece_is_split_by_key():
    run, _ = build_large_run(
        [(0, READ, 0, 8, 0, 1)] * 50,
        [],
        [(0, READ, 0, 8, 1, 2), (0, WRITE, 0, 8, 1, 3), (0, READ, 5, 8, 1, 4), (0, READ, 0, 8, 2, 5)],
        [(0, WRITE, 0, 8, 0, 6)] * 3,
        [(1, READ, 0, 8, 3, 7)] * 60 + [(1, WRITE, 0, 8, 3, 8)],
    )
    run._spans = run._count_common_spans()
    pieces = [
        (key, sorted(set(columns["rank"].tolist())), columns["duration_ns"].tolist())
        for key, columns in run._iterate_column_pieces(("phase", "kind", "status", "size", "rank", "duration_ns"))
    ]
    first, second = (0, READ, 8), (1, READ, 8)
    assert pieces == [(first, [0], [1] * 50), (first, [1, 2], [2, 5]), (second, [3], [7] * 60)]
