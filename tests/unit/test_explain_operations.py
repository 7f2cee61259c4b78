"""Operations, their places and their cost: counted by hand on small trials."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import diagnose_sample as sample
import numpy as np
import pytest
from scipy import stats

from iosonde.core.schema import OPERATION, STATUS_OK
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import Estimate
from iosonde.explain import classes as classing
from iosonde.explain import cost
from iosonde.explain.causes.target import Agreement, Suspect
from iosonde.explain.classes import DensityClasses, classify_by_density
from iosonde.explain.cost import (
    BLOCKS,
    Account,
    AccountSums,
    estimate_class_shares,
    estimate_slow_class_cost,
    scale_account_to_all_operations,
    sum_trial_account,
)
from iosonde.explain.known_path import NetworkPath, ServerTimes
from iosonde.explain.operations import (
    Operations,
    build_operations,
    compute_operations_per_record,
    rank_parts,
    split_by_kind_and_size,
)
from iosonde.explain.places import PARTS, PlaceCounts, count_places, profile_class_by_place, sum_place_counts
from iosonde.explain.seen import drawn as drawing
from iosonde.explain.seen import in_memory, large
from iosonde.explain.seen.drawn import DrawnRows, bin_trial_to_draw, select_rows_to_draw
from iosonde.explain.seen.group import OperationGroup, TrialOperations
from iosonde.explain.seen.in_memory import build_full_account, count_by_class, select_reasons
from iosonde.explain.seen.large import LargeGroup, Span
from iosonde.explain.sizes import describe_size, get_reported_units
from iosonde.explain.stretches import Stretches
from iosonde.stats.density.histogram import histogram_from_values
from iosonde.stats.estimate.summarise import estimate_mean
from messages import assert_problem, codes

KINDS = ["open", "read", "write"]
MS = 10**6


def build_phase(**changes) -> StoredPhase:
    ranks = [{"rank": 0, "host": "a", "clock_offset_ns": 0}, {"rank": 1, "host": "b", "clock_offset_ns": 70}]
    document = {"index": 2, "name": "r", "recorded_all": True, "comparable": True, "shared": True, "ranks": ranks}
    return StoredPhase({**document, "totals": {"read": {"count": 900, "bytes": 0, "errors": 0}}, **changes})


def build_columns() -> np.ndarray:
    """Two ranks in phase 2: 100 reads of 4 KiB each, of which 3 fail, 60 of 8 KiB of rank 1, 49 opens, and phase 1."""
    table = np.zeros(349, OPERATION)
    table["phase"], table["status"], table["kind"] = 2, STATUS_OK, 1
    table["rank"][100:260] = 1
    table["size"] = 4096
    table["size"][200:260] = 8192
    table["status"][:3] = STATUS_OK + 1
    table["kind"][260:309], table["size"][260:309] = 0, 0
    table["phase"][309:] = 1
    table["start_ns"] = 1000 + np.arange(349) * 10
    table["duration_ns"], table["offset"], table["file"] = 5, np.arange(349) * 4096, 3
    return table


def test_operations_are_split_by_kind_and_size_and_rare_ones_left_out():
    parts = [
        (kind, operations.size, len(operations), failed)
        for kind, operations, failed in split_by_kind_and_size(build_columns(), build_phase(), KINDS)
    ]
    assert parts == [(1, 4096, 197, 3), (1, 8192, 60, 3)]


@pytest.mark.parametrize(("comparable", "first"), [(True, 0), (False, 0)])
def test_starts_are_after_the_first_by_the_clock_of_rank_0_or_of_each(comparable, first):
    _, operations, _ = next(
        split_by_kind_and_size(build_columns(), build_phase(comparable=comparable), KINDS, units={"u": 1})
    )
    expected = np.concatenate([np.arange(97) * 10, np.arange(100) * 10 + (970 - 70 if comparable else 0)])
    assert operations.start_ns.tolist() == expected.tolist()
    assert operations.ranks == ((0, 0, 97), (1, 97, 197)) and operations.elapsed_ns == expected.max() + 5
    assert (operations.hosts, operations.shared, operations.units) == ({0: "a", 1: "b"}, True, {"u": 1})
    assert (operations.comparable, operations.in_order, operations.placed) == (comparable, True, True)
    assert (operations.stand_for, operations.file[0], operations.offset[0]) == (1.0, 3, 3 * 4096)


def test_a_sample_stands_for_all_and_has_no_order():
    phase = build_phase(recorded_all=False, placed=False)
    _, operations, _ = next(split_by_kind_and_size(build_columns(), phase, KINDS))
    assert (operations.stand_for, operations.in_order, operations.placed) == (900 / 260, False, False)
    assert [
        compute_operations_per_record(phase, kind, many) for kind, many in (("read", 300), ("read", 2000), ("write", 9))
    ] == [3, 1, 1]
    assert compute_operations_per_record(build_phase(), "read", 300) == 1.0
    assert not build_operations(build_columns(), build_phase(), 0).placed, "without data there is no place"


def test_the_rows_of_each_rank():
    assert list(rank_parts(np.array([4, 4, 1, 9, 9, 9]))) == [(4, 0, 2), (1, 2, 3), (9, 3, 6)]
    assert list(rank_parts(np.array([], int))) == []


@pytest.mark.parametrize(
    ("steps", "more", "is_sequential"),
    [
        ([64] * 20, {}, True),
        ([-64] * 20, {}, True),
        ([64] * 19 + [0], {}, True),
        ([64] * 18 + [0] * 2, {}, False),
        ([64, -64] * 10, {}, False),
        ([64] * 20, {"in_order": False}, False),
        ([64] * 20, {"placed": False}, False),
        ([64] * 20, {"size": 0}, False),
        ([], {}, False),
    ],
)
def test_operations_are_sequential_when_nine_in_ten_follow_each_other(steps, more, is_sequential):
    offset = 4096 + np.cumsum([0, *steps])
    zeros = np.zeros(offset.size, int)
    operations = Operations(
        **{"rank": zeros, "file": zeros, "offset": offset, "start_ns": zeros, "duration_ns": zeros, "size": 64, **more}
    )
    assert operations.sequential == is_sequential


def build_account(counts, seconds, **changes) -> Account:
    """A trial whose first blocks are these rows."""
    tables = [np.zeros((BLOCKS, len(counts[0]))) for _ in range(2)]
    for table, rows in zip(tables, (counts, seconds), strict=True):
        table[: len(rows)] = rows
    return Account(tables[0], tables[1], **{"ranks": 1, "elapsed_s": 10.0, "size": 0, **changes})


def build_classes(count: int, fast: int = 0, **more) -> DensityClasses:
    return cast(DensityClasses, SimpleNamespace(count=count, fast=fast, **more))


def test_an_account_has_the_operations_of_each_block_and_class():
    start, took = np.array([0, 99, 100, 399, 3999, 4000]), np.array([10, 10, 30, 1, 1, 1])
    sums = AccountSums(2, 4000.0)
    sums.add(start, took, np.array([0, 1, 1, 0, 0, 1], np.uint8))
    result = sums.account(2, 8)
    counts, seconds = np.zeros((BLOCKS, 2)), np.zeros((BLOCKS, 2))
    counts[0], counts[1, 1], counts[3, 0], counts[39] = 1, 1, 1, 1
    seconds[0], seconds[1, 1], seconds[3, 0], seconds[39] = 10e-9, 30e-9, 1e-9, 1e-9
    assert result.counts.tolist() == counts.tolist() and result.seconds == pytest.approx(seconds)
    assert (result.ranks, result.size, result.elapsed_s) == (2, 8, 4e-6)
    zeros = np.zeros(6, int)
    whole = sum_trial_account(
        Operations(zeros, zeros, zeros, start, took, 8), np.array([0, 1, 1, 0, 0, 1], np.uint8), 2
    )
    assert (whole.ranks, whole.size, whole.elapsed_s) == (1, 8, 4.001e-6) and whole.counts.sum() == 6


@pytest.mark.parametrize(("elapsed_s", "depth"), [(10.0, 3.0), (100.0, 1.0), (0.0, 1.0)])
def test_the_depth_is_the_time_of_operations_in_that_of_the_ranks(elapsed_s, depth):
    assert build_account([[1.0, 1.0]], [[20.0, 40.0]], ranks=2, elapsed_s=elapsed_s).depth == depth


def test_a_sample_is_scaled_to_the_totals_and_a_missing_class_spread_over_all():
    sample = build_account([[6.0, 1.0, 0.0], [2.0, 1.0, 0.0]], [[6.0, 10.0, 0.0], [2.0, 12.0, 0.0]])
    scaled = scale_account_to_all_operations(sample, np.array([80, 4, 10]), [1.0, 11.0, 50.0])
    assert scaled.counts[:2] == pytest.approx(np.array([[60, 2, 7], [20, 2, 3]]))
    assert scaled.seconds[:2] == pytest.approx(np.array([[60, 20, 350], [20, 24, 150]]))
    assert scaled.counts[2:].sum() == 0 and scaled.elapsed_s == sample.elapsed_s


def test_the_account_of_a_sample_is_of_all_operations():
    recorded = build_account([[6.0, 2.0]], [[6.0, 20.0]])
    classes = build_classes(2, bounds_ns=(1000.0,), typical_ns=(100.0, 9000.0))
    assert build_full_account(recorded, classes, None, 1) is recorded
    assert build_full_account(recorded, classes, None, 2.5).counts[0].tolist() == [15, 5]
    durations = histogram_from_values(np.array([100] * 30 + [5000] * 7))
    assert count_by_class(durations, classes).tolist() == [30, 7]
    assert build_full_account(recorded, classes, durations, 2.5).counts[0] == pytest.approx([30, 7])


def test_the_cost_of_slow_classes_is_their_time_beyond_that_of_fast_ones():
    """Per trial: 100 fast operations of 0.1 s and 10 slow ones, on two ranks for 10 s at a depth of one.

    The class faster than the reference saves nothing."""
    trials = [
        build_account([[100.0, 10.0]], [[10.0, slow_s]], ranks=2, elapsed_s=10.0, size=1000)
        for slow_s in (7.0, 8.0, 9.0)
    ]
    cost = estimate_slow_class_cost(trials, build_classes(2), 0.95)
    excess = [(slow_s - 10 * 0.1) / 2 for slow_s in (7.0, 8.0, 9.0)]
    assert cost.cost_s == estimate_mean(excess, 0.95).within(0.0, 10.0)
    assert cost.rate.value == pytest.approx(110 * 1000 / 10) and cost.elapsed_s.value == 10.0
    faster = [110 * 1000 / (10 - lost_s) for lost_s in excess]
    assert cost.rate_if_fast.value == pytest.approx(np.mean(faster)) and cost.unit == "bytes/s"
    share = estimate_class_shares(trials, build_classes(2), 0.95)[1]
    assert share.share.value == pytest.approx(10 / 110) and share.cost_s == cost.cost_s
    assert share.time_share.value == pytest.approx(np.mean([s / (10 + s) for s in (7.0, 8.0, 9.0)]))
    reverse = estimate_slow_class_cost(trials, build_classes(2, fast=1), 0.95)
    assert reverse.cost_s.value == 0.0 and reverse.rate_if_fast.value == pytest.approx(110 * 1000 / 10)


def test_a_depth_shares_the_cost_among_operations_under_way():
    trial = build_account([[10.0, 10.0]], [[10.0, 30.0]], ranks=2, elapsed_s=10.0)
    assert trial.depth == 2.0
    [_, slow] = estimate_class_shares([trial, trial], build_classes(2), 0.95)
    assert slow.cost_s.value == pytest.approx((30 - 10) / (2 * 2))
    assert estimate_slow_class_cost([trial, trial], build_classes(2), 0.95).unit == "operations/s"


def test_a_cost_of_the_whole_time_leaves_the_rate_open():
    long = [build_account([[10.0, 10.0]], [[0.1, slow_s]], elapsed_s=10.0) for slow_s in (9.0, 9.9, 9.5)]
    cost = estimate_slow_class_cost(long, build_classes(2), 0.95)
    assert cost.cost_s.high == 10.0 and (cost.rate_if_fast.low, cost.rate_if_fast.high) == (None, None)
    assert cost.rate_if_fast.value > cost.rate.value


@pytest.mark.parametrize(
    ("blocks", "each", "code"),
    [(40, 10.0, "single-trial"), (40, 1.0, "too-few-operations"), (9, 90.0, "too-few-operations")],
)
def test_one_trial_needs_200_operations_in_ten_blocks_for_an_interval(blocks, each, code):
    counts = np.tile([each, each / 4], (blocks, 1))
    counts[:, 1] += np.arange(blocks) ** 2 % 7
    share = estimate_class_shares([build_account(counts, counts * [0.1, 1.0])], build_classes(2), 0.95)[1].share
    assert codes(share.warnings) == [code] and share.n == 1
    assert share.value == pytest.approx(counts[:, 1].sum() / counts.sum())
    assert (share.low is None) == (code != "single-trial")
    assert share.low is None or 0 < share.low < share.value < share.high < 1


def test_places_are_tenths_of_the_run_and_of_the_file_and_ranks():
    number = np.arange(100)
    rank = np.repeat([0, 1], 50)
    operations = Operations(rank, rank, number * 10, number * 10, np.full(100, 10), 10)
    of = (number >= 85).astype(np.uint8)
    counts = count_places(operations, of, sum_trial_account(operations, of, 2))
    assert counts.offset.tolist() == [[10, 0]] * 8 + [[5, 5], [0, 10]]
    assert counts.run.reshape(PARTS, -1, 2).sum(axis=1).tolist() == counts.offset.tolist()
    assert {r: c.tolist() for r, c in counts.ranks.items()} == {0: [50, 0], 1: [35, 15]}
    profile = profile_class_by_place(counts, 1)
    assert profile.run == profile.offset == (0.0,) * 8 + (5 / 15, 10 / 15)
    assert profile.ranks == {1: 1.0} and profile.words == "last 20 % of the run, last 20 % of the file, rank 1"
    nowhere = Operations(rank, rank, number * 0, number * 10, np.full(100, 10), 10)
    assert count_places(nowhere, of, sum_trial_account(nowhere, of, 2)).offset is None
    hidden = Operations(rank, rank, number * 10, number * 10, np.full(100, 10), 10, placed=False)
    assert count_places(hidden, of, sum_trial_account(hidden, of, 2)).offset is None


def test_places_of_trials_are_summed_and_offsets_only_if_all_have_them():
    run, offset = np.ones((PARTS, 2)), np.full((PARTS, 2), 2.0)
    first = PlaceCounts(run, offset, {0: np.array([1.0, 2.0])})
    second = PlaceCounts(3 * run, offset, {0: np.array([1.0, 1.0]), 4: np.array([5.0, 0.0])})
    both = sum_place_counts([first, second])
    assert both.run.tolist() == (4 * run).tolist() and both.offset.tolist() == (2 * offset).tolist()
    assert {rank: counts.tolist() for rank, counts in both.ranks.items()} == {0: [2, 3], 4: [5, 0]}
    assert sum_place_counts([first, PlaceCounts(run, None, {})]).offset is None


def place(run, ranks=None) -> str:
    """Where a class of one is, with nine times as many operations everywhere."""
    mine = np.array(run, float)
    counts = {rank: np.array([20.0, many]) for rank, many in (ranks or {}).items()}
    return profile_class_by_place(PlaceCounts(np.column_stack([np.full(PARTS, 90.0), mine]), None, counts), 1).words


@pytest.mark.parametrize(
    ("run", "ranks", "words"),
    [
        ([9, 0, 0, 0, 0, 0, 0, 0, 0, 1], {}, "first 10 % of the run"),
        ([1, 0, 0, 0, 0, 0, 0, 0, 0, 9], {}, "last 10 % of the run"),
        ([8, 0, 0, 0, 0, 0, 0, 0, 0, 2], {}, ""),
        ([4, 5, 0, 0, 0, 0, 0, 0, 0, 1], {}, "first 20 % of the run"),
        ([2, 2, 2, 2, 1, 0, 0, 0, 0, 1], {}, "first 50 % of the run"),
        ([5, 0, 0, 0, 0, 0, 0, 0, 0, 1], {}, ""),
        ([3] * 10, {0: 27, 1: 1, 2: 1, 3: 1}, "rank 0"),
        ([3] * 10, {0: 1, 1: 14, 2: 14, 3: 1}, "ranks 1, 2"),
        ([3] * 10, {0: 10, 1: 10, 2: 9, 3: 1}, ""),
        ([3] * 10, {0: 30}, ""),
        ([3] * 10, {0: 9, 1: 0, 2: 0}, ""),
        ([3] * 10, {0: 10, 1: 0, 2: 0}, "rank 0"),
        ([9] + [0] * 9, {}, ""),
        ([10] + [0] * 9, {}, "first 10 % of the run"),
    ],
)
def test_a_class_is_at_an_end_or_on_few_ranks(run, ranks, words):
    assert place(run, ranks) == words


def build_run(**machine) -> StoredRun:
    return StoredRun({"facts": {"machine": machine}})


def test_units_are_those_that_the_file_system_and_its_devices_report():
    run = build_run(
        filesystem={
            "rsize": 1048576,
            "wsize": "524288",
            "striping": {"stripe_size": "2MiB"},
            "layout": {"stripe_unit": 0, "object_size": True},
        },
        devices=[{"read_ahead_bytes": 131072}, "sda", {"read_ahead_bytes": None}],
    )
    assert get_reported_units(run) == {
        "the mount's rsize": 1048576,
        "the mount's wsize": 524288,
        "the stripe of the directory": 2 * 2**20,
        "the device's read-ahead window": 131072,
    }
    layout = {"layout": {"stripe_unit": 65536, "object_size": 4 * 2**20}, "striping": "none"}
    assert get_reported_units(build_run(filesystem=layout)) == {"the stripe unit": 65536, "the object size": 4 * 2**20}
    assert get_reported_units(StoredRun({})) == {} == get_reported_units(build_run(filesystem=None, devices=None))


def test_a_size_is_that_of_the_file_system_before_a_common_one():
    assert describe_size(4096, {}) == " (a page)" and describe_size(4097, {}) == ""
    assert describe_size(4096, {"other": 1, "the mount's rsize": 4096}) == " (the mount's rsize)"


def test_stretches_are_equal_parts_each_with_its_share_of_the_operations():
    stretches = Stretches(10_000, 2, 1e6, max_operations=100_000)
    assert (stretches.count, stretches.width_ns) == (6, pytest.approx(1e6 / 6)), "all fit: each is a whole part"
    assert stretches.begins_ns.tolist() == pytest.approx((np.arange(6) * 1e6 / 6).tolist())
    assert Stretches(10_000, 2, 1e6, max_operations=2500).count == 4
    few = Stretches(10_000, 2, 1e6, max_operations=2500)
    assert few.width_ns == pytest.approx(1e6 / 4 / 4) and few.begins_ns[0] == 0
    part = np.arange(4) * 2.5e5
    assert (few.begins_ns >= part).all() and (few.begins_ns + few.width_ns <= part + 2.5e5).all()
    assert len(set((few.begins_ns - part)[1:])) == 3 and Stretches(10**9, 1, 1e9).count == 16


def test_a_reason_is_in_half_of_the_trials_with_its_median_agreement():
    def build(code: str, kappa: float, **evidence) -> Suspect:
        return Suspect(code, 1, f"{code} {kappa}", "", Agreement(1, 1, kappa, 0), "", evidence)

    trials = [
        [build("S401", 0.9, period_operations=16), build("S403", 0.5)],
        [build("S401", 0.6, period_operations=16), build("S401", 0.99, period_operations=8)],
        [build("S401", 0.7, period_operations=16), build("S403", 0.4)],
    ]
    extra = build("S410", 0.65)
    result = [(r.suspect.code, r.suspect.agreement.kappa, r.n_matching, r.of) for r in select_reasons(trials, [extra])]
    assert result == [("S401", 0.7, 3, 3), ("S410", 0.65, 1, 1), ("S403", 0.5, 2, 3)]
    json = select_reasons(trials)[0].to_json()
    assert {name: json[name] for name in ("code", "cause", "confidence", "trials", "of_trials")} == {
        "code": "S401",
        "cause": "S401 0.7",
        "confidence": "medium",
        "trials": 3,
        "of_trials": 3,
    }


def build_drawn_rows(of, rank=None) -> DrawnRows:
    n = len(of)
    number = np.arange(n)
    rank = np.zeros(n, int) if rank is None else np.asarray(rank)
    return DrawnRows(
        number,
        rank,
        number * 10,
        number * MS,
        np.where(np.asarray(of) == 1, 9 * MS, MS),
        np.array(of, np.uint8),
        np.ones(n),
    )


@pytest.fixture
def build_density(monkeypatch):
    """Classes of durations, without the test of several hills."""
    monkeypatch.setattr(classing, "run_silverman_test", lambda histogram: None)
    return lambda durations: classify_by_density(histogram_from_values(durations))


def test_durations_are_classed_from_valley_to_valley(build_density):
    """A fast hill of 800 operations around 10 µs, a slow one of 200 around 1 ms."""
    rng = np.random.default_rng(2)
    fast, slow = 10_000 * np.exp(0.1 * rng.standard_normal(800)), 10**6 * np.exp(0.1 * rng.standard_normal(200))
    classes = build_density(np.concatenate([fast, slow]))
    assert (classes.count, classes.fast, classes.unexpected) == (2, 0, None)
    assert classes.shares == pytest.approx((0.8, 0.2)) and fast.max() < classes.bounds_ns[0] < slow.min()
    assert classes.typical_ns == pytest.approx((np.median(fast), np.median(slow)), rel=0.01)
    [bound] = classes.bounds_ns
    assert classes.classify(np.array([1.0, bound * 0.999, bound, bound * 9])).tolist() == [0, 0, 1, 1]
    assert classes.ends_ns[0] <= fast.min() and classes.ends_ns[1] >= slow.max()


def test_a_rare_fast_hill_is_not_the_reference_and_a_rare_slow_one_is_unexpected(build_density):
    rng = np.random.default_rng(3)
    parts = [place * np.exp(0.1 * rng.standard_normal(many)) for place, many in ((1e3, 50), (1e5, 920), (1e7, 30))]
    classes = build_density(np.concatenate(parts))
    assert (classes.count, classes.fast, classes.unexpected) == (3, 1, 2)
    assert classes.shares == pytest.approx((0.05, 0.92, 0.03))


def test_the_drawn_rows_have_the_number_in_their_rank():
    operations = Operations(
        *(np.array([4] * 3 + [7] * 5), np.arange(8), np.arange(8) * 2, np.arange(8), np.arange(8) + 1), 8
    )
    rows, longest = select_rows_to_draw(operations, np.zeros(8, np.uint8), build_classes(1))
    assert rows.number.tolist() == [0, 1, 2, 0, 1, 2, 3, 4] and longest == 5
    assert (rows.rank.tolist(), rows.offset.tolist()) == ([4] * 3 + [7] * 5, list(range(0, 16, 2)))
    assert rows.duration_ns.tolist() == list(range(1, 9)) and rows.weight.tolist() == [1] * 8


def test_of_many_operations_all_rare_ones_are_drawn_and_every_nth_frequent_one(monkeypatch):
    monkeypatch.setattr(drawing, "EVERY", 20)
    of = np.zeros(100, np.uint8)
    of[[5, 50]] = 1
    zeros = np.zeros(100, int)
    rows, _ = select_rows_to_draw(Operations(zeros, zeros, zeros, zeros, zeros, 0), of, build_classes(2))
    assert rows.number[rows.of == 1].tolist() == [5, 50] and set(rows.weight[rows.of == 1]) == {1.0}
    assert (rows.of == 0).sum() == 11 and rows.weight[rows.of == 0].sum() == pytest.approx(98)
    assert (np.diff(rows.number) > 0).all()
    of[[7, 70, 90]] = 2
    rows, _ = select_rows_to_draw(Operations(zeros, zeros, zeros, zeros, zeros, 0), of, build_classes(3))
    assert [rows.number[rows.of == place].tolist() for place in (1, 2)] == [[5, 50], [7, 70, 90]]
    assert (np.diff(rows.number) > 0).all() and set(rows.weight[rows.of > 0]) == {1.0}
    assert rows.weight[rows.of == 0].tolist() == pytest.approx([95 / 7] * 7), "every fifteenth"


def test_a_trial_is_drawn_in_bins(build_density):
    """A hundred operations of 1 ms on two ranks over 100 ms, of which the last ten are slow."""
    of = np.repeat([0, 1], [90, 10])
    rows = build_drawn_rows(of, np.arange(100) % 2)
    rng = np.random.default_rng(1)
    durations = np.concatenate(
        [MS * np.exp(0.1 * rng.standard_normal(900)), 9 * MS * np.exp(0.1 * rng.standard_normal(300))]
    )
    classes = build_density(durations)
    counts = np.zeros((BLOCKS, 2))
    counts[0], counts[39] = (9.0, 1.0), (0.0, 2.0)
    trial = Account(counts, counts * [1e-3, 9e-3], 2, 0.1, 8)
    figure = bin_trial_to_draw(rows, classes, trial, 100, True)
    assert sum(cell[3] for cell in figure.cells) == 100 and {cell[2] for cell in figure.cells} == {0, 1}
    assert figure.cells[0][0] == pytest.approx(0.5 * 100 / 150) and figure.longest == 100
    assert all(abs(cell[1] / (9e-3 if cell[2] else 1e-3) - 1) < 0.05 for cell in figure.cells)
    first, last = figure.times
    assert (first.begin_s, first.end_s, first.shares) == (0.0, 0.0025, (0.9, 0.1))
    assert first.time_shares == pytest.approx((0.5, 0.5)) and last.shares == last.time_shares == (0.0, 1.0)
    assert (last.begin_s, last.end_s) == pytest.approx((0.0975, 0.1))
    assert sum(cell[3] for cell in figure.places) == 100 and figure.places[0][:2] == pytest.approx(
        (0.0005, 0.5 * 990 / 60)
    )
    assert figure.ranks_a_line == 1 and {cell[2] for cell in figure.ranks} == {0, 1}
    assert [cell[3:] for cell in figure.ranks if cell[2] == 1][-1] == (1, 1.0)
    assert figure.ranks[0][:2] == (0.0, pytest.approx(0.001)) and len(figure.ranks) == 100
    densities = [point[1] for point in figure.curve]
    assert figure.curve[int(np.argmax(densities))][0] == pytest.approx(1e-3, rel=0.05)
    assert [point[2] for point in figure.curve] == sorted(point[2] for point in figure.curve)
    hidden = bin_trial_to_draw(build_drawn_rows(of), classes, trial, 100, False)
    assert (hidden.places, hidden.ranks, hidden.ranks_a_line) == ((), (), 1)
    many = bin_trial_to_draw(build_drawn_rows(np.zeros(130, int), np.arange(130)), classes, trial, 130, False)
    assert many.ranks_a_line == 3 and {cell[2] for cell in many.ranks} <= set(range(0, 130, 3))


def test_a_span_is_read_a_piece_at_a_time():
    phase = build_phase(recorded_all=False)
    span = Span((2, 1, 4096), phase, 100, 3, "read", 300)
    assert (span.size, span.placed, span.stand_for) == (4096, True, 3.0)

    def build_piece(rank: list[int], start: list[int], took: list[int], offset: list[int]) -> dict:
        columns = {"rank": rank, "start_ns": start, "duration_ns": took, "offset": offset}
        return {name: np.array(values) for name, values in columns.items()}

    first = build_piece([0, 0, 1], [1000, 1100, 1270], [60, 60, 90], [0, 4096, 8192])
    span.add(first)
    span.add(build_piece([1], [1370], [600], [4096]))
    assert span.counts == {0: 2, 1: 2} and span.reach == 8192 + 4096 and span.step_ns == 30
    assert span.elapsed_ns == 1370 - 70 + 600 - 1000, "by the clock of rank 0, which is 70 ns behind"
    assert span.compute_ns_after_start(first, [(0, 0, 2), (1, 2, 3)]).tolist() == [0, 100, 200]
    apart = Span((2, 1, 4096), build_phase(comparable=False), 100, 3, "read", 300)
    apart.add(first)
    assert apart.elapsed_ns == 160
    assert apart.compute_ns_after_start(first, [(0, 0, 2), (1, 2, 3)]).tolist() == [0, 100, 0]
    assert span.histogram.n == 4 and Span((2, 1, 0), phase, 1, 0, "read", 1).placed is False


def test_the_ranks_of_a_class_are_the_64_with_most_of_it():
    counts = PlaceCounts(np.ones((PARTS, 2)), None, {rank: np.array([1.0, rank]) for rank in range(70)})
    profile = profile_class_by_place(counts, 1)
    assert profile.ranks == {rank: pytest.approx(rank / 2415) for rank in range(6, 70)}
    assert list(profile.ranks) == list(range(69, 5, -1)) and profile.offset == ()


def test_the_interval_of_one_trial_is_that_of_five_blocks_widened_as_students():
    """Shares of a class in 40 parts of 100 operations; neighbouring parts are alike."""
    slow = np.round(20 + 15 * np.sin(np.arange(BLOCKS) / 3))
    counts = np.column_stack([100 - slow, slow])
    share = estimate_class_shares([build_account(counts, counts)], build_classes(2), 0.9)[1].share
    starts = np.random.default_rng(3).integers(BLOCKS, size=(20_000, 5, 1))
    again = slow[(starts + np.arange(8)) % BLOCKS].mean(axis=(1, 2)) / 100
    mean = slow.mean() / 100
    wider = stats.t.ppf(0.95, 4) / stats.norm.ppf(0.95)
    expected = mean + wider * (np.quantile(again, [0.05, 0.95]) - mean)
    assert (share.value, share.level, share.n) == (pytest.approx(mean), 0.9, 1)
    assert (share.low, share.high) == pytest.approx(tuple(expected), abs=0.05 * (expected[1] - expected[0]))


@pytest.mark.parametrize(
    ("low", "cost_high", "is_kept"),
    [(1.0, 9.8, True), (1.0, 9.9, False), (0.0, 1.0, False), (1.0, None, True), (None, 9.9, True)],
)
def test_a_rate_is_unbounded_where_the_cost_may_be_all_of_the_time(low, cost_high, is_kept):
    rate = Estimate(5.0, low, 9.0, 0.95, 3)
    bounded = cost._drop_unbounded_interval(rate, Estimate(1.0, 0.5, cost_high, 0.95, 3), 10.0)
    assert bounded == (rate if is_kept else Estimate(5.0, None, None, 0.95, 3))


def test_a_part_without_fast_operations_is_compared_with_those_of_the_trial():
    """Half of the operations, all slow: 30 s instead of 10 s, twice, at a depth of four."""
    trial = build_account([[10.0, 10.0]], [[10.0, 30.0]], elapsed_s=10.0)
    excess = cost._compute_excess(np.array([[0.0, 10.0]]), np.array([[0.0, 30.0]]), trial, 0)
    assert excess.tolist() == [[0.0, 20 / 0.5 / 4]]


def test_a_stretch_has_the_first_operations_that_begin_in_it():
    """At most four of a rank in each of four stretches of 20 ns; they come in two pieces."""
    stretches = Stretches(80, 2, 800.0, max_operations=8)
    for begin, end in ((0, 3), (3, 800)):
        start = np.tile(np.arange(begin, end), 2)
        rank = np.repeat([0, 1], end - begin)
        columns = {"rank": rank, "start_ns": start, "of": start % 7}
        stretches.add(columns, [(0, 0, end - begin), (1, end - begin, 2 * (end - begin))])
    parts = list(stretches.each())
    assert (len(parts), stretches.operations) == (4, 32)
    for part, begin in zip(parts, stretches.begins_ns, strict=True):
        starts = np.ceil(begin).astype(int) + np.arange(4)
        for rank in (0, 1):
            own = part["rank"] == rank
            assert part["start_ns"][own].tolist() == (starts - int(begin)).tolist()
            assert part["of"][own].tolist() == (starts % 7).tolist()


def test_bounds_without_operations_on_a_side_are_dropped():
    durations = histogram_from_values(np.array([100] * 5 + [10_000] * 5))
    bounds, edges = classing._drop_empty_classes(durations, [50.0, 1000.0, 2000.0, 20_000.0])
    assert (bounds, edges) == ([1000.0], [0, durations.below(1000.0), durations.counts.size])
    several = histogram_from_values(np.array([100, 200, 300]))
    assert classing._compute_median(several, 0, several.counts.size) == pytest.approx(200, rel=1e-3)
    nothing = classing._compute_median(several, 100, 200)
    assert nothing == pytest.approx(float(several.value(150)))


@pytest.mark.parametrize(
    ("n_fast", "n_slow", "fast", "unexpected"),
    [(950, 50, 0, 1), (949, 51, 0, None), (100, 900, 0, None), (99, 901, 1, None)],
)
def test_a_last_hill_of_a_twentieth_is_unexpected_and_the_reference_has_a_tenth(
    build_density, n_fast, n_slow, fast, unexpected
):
    rng = np.random.default_rng(2)
    durations = np.concatenate(
        [1e4 * np.exp(0.1 * rng.standard_normal(n_fast)), 1e6 * np.exp(0.1 * rng.standard_normal(n_slow))]
    )
    classes = build_density(durations)
    assert (classes.count, classes.fast, classes.unexpected) == (2, fast, unexpected)


def test_a_group_is_named_by_its_operation_kind_and_size():
    data, calls = OperationGroup("read", "read", 65536, (("nodes", 2),)), OperationGroup("r", "stat", 0)
    assert (data.name, calls.name) == ("read of 64 KiB", "r stat")
    assert data.to_json() == {"operation": "read", "kind": "read", "size": 65536, "setting": {"nodes": 2}}
    assert data.flat() == {"operation": "read", "kind": "read", "size": 65536, "nodes": 2}


def test_a_pass_has_the_times_of_all_operations():
    """The path takes 2 ms for 8 bytes, the servers 1 ms without the longest."""
    zeros, took = np.zeros(4, int), np.array([1, 1, 2, 9]) * MS
    operations = Operations(zeros, zeros, np.arange(4) * 8, np.arange(4), took, 8)
    path = NetworkPath(1e-3, 8e3)
    servers = ServerTimes({"a": (1, 1e-3), "b": (2, 1e-3)}, longest_s=1e-3)
    trial = TrialOperations("t", operations, 0, path=path, servers=servers, is_synchronous=True)
    group, classes = OperationGroup("r", "read", 8), build_classes(2, typical_ns=(1e6, 9e6))
    made = in_memory._build_pass(trial, group, classes)
    assert (made.kind, made.size, made.sequential, made.is_synchronous, made.files) == ("read", 8, True, True, None)
    assert (made.took_s, made.typical_s, made.lost_s) == pytest.approx((13e-3, 1.5e-3, 9e-3))
    assert (made.faster, made.least_s, made.sent, made.servers) == (0.75, pytest.approx(3e-3), 0.75, servers)
    for known in ({"path": path}, {"servers": servers}):
        assert in_memory._build_pass(TrialOperations("t", operations, 0, **known), group, classes) is None


def test_all_operations_of_one_class_have_nothing_to_be_compared_with():
    zeros = np.zeros(400, int)
    operations = Operations(zeros, zeros, np.arange(400) * 8, np.arange(400) * 10, zeros + 1, 8)
    found = in_memory.find_suspects_of_slow_classes(operations, np.ones(400, np.uint8), build_classes(3))
    assert found == {1: [], 2: []}
    assert in_memory.find_suspects_of_slow_classes(operations, zeros.astype(np.uint8), build_classes(3, fast=2)) == {}


def test_a_finding_of_stretches_and_sample_is_kept_once_and_chance_only_alone():
    def build(code: str, kappa: float, **evidence) -> Suspect:
        return Suspect(code, 1, "", "", Agreement(1, 1, kappa, 0), "", evidence)

    better, other = build("S401", 0.8, period_operations=16), build("S407", 0.6)
    worse, chance, less = build("S401", 0.7, period_operations=16), build("S412", 0.9), build("S412", 0.8)
    assert large._merge_suspects([worse, chance], [other, better]) == [better, other]
    assert large._merge_suspects([better], [worse]) == [better]
    assert large._merge_suspects([less], [chance]) == [chance] and large._merge_suspects([], []) == []


def test_a_run_in_pieces_is_summarised_as_one_in_memory(build_density):
    """Two ranks of 2000 reads; every sixteenth is slow."""
    rng = np.random.default_rng(5)
    table = sample.rows(2000, 2, lambda rank, number, offset: number % 16 == 0, rng)
    phase = build_phase(ranks=[{"rank": 0, "host": "a"}, {"rank": 1, "host": "b"}], shared=False)
    pieces = [{name: table[name][at] for name in OPERATION.names} for at in (slice(0, 1500), slice(1500, 4000))]
    span = Span((2, 1, sample.SIZE), phase, 4000, 3, "read", 4000)
    for piece in pieces:
        span.add(piece)
    classes = build_density(table["duration_ns"])
    group = LargeGroup(span, classes, {}, True)
    for piece in pieces:
        group.add(piece)
    look = group.look("t")
    operations = sample.operations(table, hosts={0: "a", 1: "b"}, local=True)
    whole = in_memory._build_look(
        TrialOperations("t", operations, 3), OperationGroup("r", "read", sample.SIZE), classes
    )
    assert look.account.counts.tolist() == whole.account.counts.tolist()
    assert look.account.seconds == pytest.approx(whole.account.seconds)
    assert (look.account.ranks, look.account.elapsed_s, look.account.size) == (
        2,
        whole.account.elapsed_s,
        sample.SIZE,
    )
    assert look.places.run.tolist() == whole.places.run.tolist()
    assert look.places.offset.tolist() == whole.places.offset.tolist()
    assert {rank: row.tolist() for rank, row in look.places.ranks.items()} == {
        rank: row.tolist() for rank, row in whole.places.ranks.items()
    }
    assert (look.trial, look.failed, look.step_s, look.local) == ("t", 3, whole.step_s, True)
    assert replace(look.drawn, times=()) == replace(whole.drawn, times=())
    for ours, theirs in zip(look.drawn.times, whole.drawn.times, strict=True):
        assert (ours.begin_s, ours.end_s, ours.shares) == (theirs.begin_s, theirs.end_s, theirs.shares)
        assert ours.time_shares == pytest.approx(theirs.time_shares)
    assert [suspect.evidence["unit_bytes"] for suspect in look.suspects[1] if suspect.code == "S406"] == [2**20]
    (note,) = look.notes
    assert_problem(note, "too-many-operations", n=4000, n_stretches=16, n_in_stretches=4000, n_sample=4000)


@pytest.mark.parametrize(
    ("changes", "ranks", "wanted"),
    [
        ({"recorded_all": False}, 2, ["sampled-operations"]),
        ({"comparable": False}, 2, ["clocks-not-comparable"]),
        ({"comparable": False}, 1, []),
    ],
)
def test_a_large_run_says_what_is_unknown_of_it(changes, ranks, wanted):
    n = 60 * ranks
    columns = {
        "rank": np.repeat(np.arange(ranks), 60),
        "file": np.zeros(n, int),
        "offset": np.tile(np.arange(60), ranks) * 8,
        "start_ns": np.tile(np.arange(60), ranks) * 100,
        "duration_ns": np.full(n, 50),
    }
    span = Span((2, 1, 8), build_phase(**changes), n, 0, "read", n)
    span.add(columns)
    group = LargeGroup(
        span, build_classes(1, classify=lambda took: np.zeros(took.size, np.uint8), bounds_ns=()), {}, False
    )
    group.add(columns)
    assert codes(group._list_notes())[1:] == wanted


def test_the_sixteen_most_frequent_sizes_are_split_off():
    counts = 50 + np.arange(20)
    table = np.zeros(counts.sum(), OPERATION)
    table["phase"], table["status"], table["kind"] = 2, STATUS_OK, 1
    table["size"] = np.repeat(np.arange(20) + 1, counts)
    parts = [
        (operations.size, len(operations)) for _, operations, _ in split_by_kind_and_size(table, build_phase(), KINDS)
    ]
    assert parts == [(size, 49 + size) for size in range(20, 4, -1)]


def test_the_bins_of_a_figure_by_hand(build_density):
    """Operations of two ranks and two classes in 150 × 90 bins of number and duration, 100 × 60 of time and offset."""
    rng = np.random.default_rng(7)
    n, elapsed_s, weight = 200, 0.25, np.where(np.arange(200) % 3, 1.0, 4.0)
    took = np.sort(
        np.concatenate([MS * np.exp(0.1 * rng.standard_normal(150)), 9 * MS * np.exp(0.1 * rng.standard_normal(50))])
    )
    classes = build_density(took)
    of = classes.classify(took)
    number, rank, start = np.arange(n) // 2, np.arange(n) % 2 * 3, rng.integers(0, 250 * MS, n)
    offset = rng.integers(0, 10**6, n)
    rows = DrawnRows(number, rank, offset, start, took, of, weight)
    counts = np.ones((BLOCKS, 2))
    figure = bin_trial_to_draw(rows, classes, Account(counts, counts, 2, elapsed_s, 8), 120, True)
    low, high = np.log(classes.ends_ns)
    up = np.clip((np.log(took) - low) / (high - low) * 90, 0, 89).astype(int)
    cells = Counter(zip((number * 150 // 120).tolist(), up.tolist(), of.tolist(), strict=True))
    expected = [
        ((x + 0.5) * 120 / 150, np.exp(low + (y + 0.5) / 90 * (high - low)) / 1e9, c, many)
        for (x, y, c), many in sorted(cells.items())
    ]
    assert [cell for row in figure.cells for cell in row] == pytest.approx([cell for row in expected for cell in row])
    at, reach = np.minimum(start / 1e9 / 0.0025, 99).astype(int), offset.max()
    cells = Counter(
        zip(at.tolist(), np.minimum(offset * 60 / reach, 59).astype(int).tolist(), of.tolist(), strict=True)
    )
    expected = [((x + 0.5) * 0.0025, (y + 0.5) * reach / 60, c, many) for (x, y, c), many in sorted(cells.items())]
    assert [cell for row in figure.places for cell in row] == pytest.approx([cell for row in expected for cell in row])
    busy: Counter = Counter()
    for place in range(n):
        busy[int(rank[place]), int(at[place]), int(of[place])] += weight[place] * took[place]
    expected = [
        (x * 0.0025, (x + 1) * 0.0025, r, int(busy[r, x, 1] > busy[r, x, 0]), max(of_class) / sum(of_class))
        for r, x in sorted({(r, x) for r, x, _ in busy})
        for of_class in [(busy[r, x, 0], busy[r, x, 1])]
    ]
    assert [cell for row in figure.ranks for cell in row] == pytest.approx([cell for row in expected for cell in row])
    assert (figure.longest, figure.ranks_a_line, len(figure.times)) == (120, 1, BLOCKS)
