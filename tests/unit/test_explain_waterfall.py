"""``explain/waterfall``: parts that add up to the phase's time whatever happened, and each loss in its own part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredPhase
from iosonde.explain.waterfall import (
    PARTS,
    TrialLosses,
    average_waterfalls,
    compute_trial_losses,
    explain_missing_waterfall,
)
from iosonde.model.bound.bound import compute_ceiling
from iosonde.model.bound.system import System

KINDS = ["create", "open", "close", "write", "read", "fsync", "compute"]
MS = 10**6


def phase(ranks: list[tuple[int, int]], n_bytes: int = 4096, **changes) -> StoredPhase:
    """A phase whose ranks ran from … to …, ns."""
    return StoredPhase(
        {
            "index": 0,
            "name": "write_large",
            "operation": "write_large",
            "comparable": True,
            "recorded_all": True,
            "totals": {"write": {"count": 1, "bytes": n_bytes * len(ranks), "errors": 0}},
            "ranks": [{"rank": r, "started_ns": a, "ended_ns": b, "bytes": n_bytes} for r, (a, b) in enumerate(ranks)],
            **changes,
        }
    )


def operations(rows: list[tuple[int, str, int, int]]) -> np.ndarray:
    """(rank, kind, start ns, duration ns)."""
    made = np.zeros(len(rows), OPERATION)
    for place, (rank, kind, start, duration) in enumerate(rows):
        made[place]["rank"], made[place]["kind"] = rank, KINDS.index(kind)
        made[place]["start_ns"], made[place]["duration_ns"] = start, duration
    return made


def test_every_loss_is_in_its_own_part():
    rows = [
        (0, "open", 0, 1 * MS),
        (0, "write", 1 * MS, 5 * MS),
        (0, "fsync", 6 * MS, 2 * MS),
        (0, "close", 8 * MS, 1 * MS),
        (1, "write", 10 * MS, 8 * MS),
    ]
    made = compute_trial_losses(phase([(0, 9 * MS), (10 * MS, 20 * MS)]), operations(rows), KINDS, 0.002)
    assert {name: seconds * 1000 for name, seconds in made.parts.items()} == pytest.approx(
        {
            "bound": 2,
            "late_start": 5,
            "imbalance": 5.5,
            "slow_operations": 4.5,
            "tail": 0,
            "calls": 0.5,
            "fsync_close": 1.5,
            "rest": 1,
        }
    )
    assert made.delivered_s == pytest.approx(0.020) and made.work_excess == 0
    assert made.time_excess == pytest.approx(10 / 9.5 - 1)


def test_the_tail_is_what_the_slowest_of_a_hundred_took_beyond_the_median():
    rows = [(0, "write", i * MS, MS) for i in range(99)] + [(0, "write", 99 * MS, 51 * MS)]
    made = compute_trial_losses(phase([(0, 150 * MS)]), operations(rows), KINDS, 0.1)
    assert made.parts["tail"] == pytest.approx(0.050) and made.parts["slow_operations"] == pytest.approx(0)


def test_overlapping_operations_share_the_time_they_cover():
    rows = [(0, "write", 0, 10 * MS), (0, "write", 0, 10 * MS), (0, "fsync", 5 * MS, 10 * MS)]
    made = compute_trial_losses(phase([(0, 15 * MS)]), operations(rows), KINDS, 0.0)
    assert made.parts["slow_operations"] == pytest.approx(0.010) and made.parts["fsync_close"] == pytest.approx(0.005)
    assert made.parts["rest"] == pytest.approx(0)


def test_the_clients_own_work_is_between_operations():
    rows = [(0, "write", 0, 4 * MS), (0, "compute", 4 * MS, 6 * MS)]
    assert compute_trial_losses(phase([(0, 10 * MS)]), operations(rows), KINDS, 0.0).parts["rest"] == pytest.approx(
        0.006
    )


WORK = st.tuples(st.integers(0, 10**8), st.integers(0, 10**8), st.sampled_from(KINDS))
ONE = st.tuples(st.integers(0, 10**9), st.lists(WORK, min_size=1, max_size=12))


@given(st.lists(ONE, min_size=1, max_size=6), st.floats(0, 10))
def test_parts_add_up_to_the_time_delivered(ranks, bound_s):
    spans, rows = [], []
    for rank, (start, work) in enumerate(ranks):
        at, end = start, start + 1
        for gap, duration, kind in work:
            rows.append((rank, kind, at, duration))
            end, at = max(end, at + duration), at + gap
        spans.append((start, end))
    made = compute_trial_losses(phase(spans), operations(rows), KINDS, bound_s)
    assert sum(made.parts.values()) == pytest.approx(made.delivered_s, rel=1e-9, abs=1e-9)
    assert all(made.parts[name] >= -1e-9 for name in PARTS if name not in ("slow_operations", "bound"))
    several = average_waterfalls("write", {}, compute_ceiling(System(network=1e6)), [made, made], 0.95)
    assert sum(e.value for e in several.parts.values()) == pytest.approx(several.delivered.value, rel=1e-9, abs=1e-9)


def test_one_trial_has_no_interval_and_no_culprit():
    made = compute_trial_losses(phase([(0, 10 * MS)]), operations([(0, "write", 0, 8 * MS)]), KINDS, 0.001)
    alone = average_waterfalls("write", {}, compute_ceiling(System(network=1e6)), [made], 0.95)
    assert alone.delivered.low is None and alone.largest is None and alone.doubtful == "slow_operations"
    sure = average_waterfalls("write", {}, compute_ceiling(System(network=1e6)), [made, made], 0.95)
    assert sure.largest == "slow_operations" and sure.doubtful is None


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"comparable": False}, "clocks"), ({"recorded_all": False}, "kept"), ({"totals": {}}, "no data"), ({}, "")],
)
def test_what_has_no_waterfall_says_why(changes, word):
    assert word in explain_missing_waterfall(phase([(0, MS)], **changes), True) and bool(word) == bool(
        explain_missing_waterfall(phase([(0, MS)], **changes), True)
    )


@pytest.fixture
def place(tmp_path) -> str:
    pytest.importorskip("iosonde.engine._native")
    from bound_sample import store

    store(tmp_path / "s", 3)
    return str(tmp_path / "s")


def build_losses(**parts) -> TrialLosses:
    values = {**dict.fromkeys(PARTS, 0.0), **parts}
    return TrialLosses(values, sum(values.values()), 4096, 0.5, 0.25)


def test_a_waterfall_is_the_mean_of_its_trials_and_names_what_is_certain():
    trials = [
        build_losses(bound=1.0, tail=0.5, rest=2.0 + x, slow_operations=-0.2, imbalance=0.1 * x)
        for x in (0.1, 0.2, 0.3)
    ]
    trials[0] = replace(trials[0], work_excess=2.0, time_excess=1.0)
    limit = compute_ceiling(System(network=1e6))
    result = average_waterfalls("write", {"nodes": 2}, limit, trials, 0.9)
    low, high = stats.t.interval(0.9, 2, 2.2, 0.1 / np.sqrt(3))
    assert (result.parts["rest"].value, result.parts["rest"].low, result.parts["rest"].high) == pytest.approx(
        (2.2, low, high)
    )
    assert (result.work_excess, result.time_excess) == pytest.approx((1.0, 0.5))
    assert result.parts["slow_operations"].value == pytest.approx(-0.2)
    assert (result.largest, result.doubtful) == ("rest", None)
    assert result.to_json() == {
        "operation": "write",
        "by": {"nodes": 2},
        "n": 3,
        "s": limit.s,
        "limit": list(limit.limit),
        "delivered_s": result.delivered.to_json(),
        "parts": [{"name": name, **result.parts[name].flat("seconds")} for name in PARTS],
        "work_excess": pytest.approx(1.0),
        "time_excess": pytest.approx(0.5),
        "largest": "rest",
    }
    wild = [build_losses(bound=9.0, tail=0.5, calls=x) for x in (0.0, 0.1, 3.0)]
    open_one = average_waterfalls("write", {}, limit, wild, 0.95)
    assert (open_one.largest, open_one.doubtful) == ("tail", "calls") and open_one.parts["calls"].low == 0.0
    nothing = average_waterfalls("write", {}, limit, [build_losses(bound=1.0)] * 2, 0.95)
    assert (nothing.largest, nothing.doubtful) == (None, None)


@pytest.mark.parametrize(
    ("changes", "recorded", "code"),
    [
        ({"totals": {"stat": {"bytes": 9}}}, True, "no-data-moved"),
        ({"totals": {"mmap_read": {"bytes": 9}}}, True, None),
        ({"comparable": False}, True, "clocks-not-comparable"),
        ({"recorded_all": False}, True, "sampled-operations"),
        ({}, False, "sampled-operations"),
    ],
)
def test_a_phase_without_a_waterfall_says_why(changes, recorded, code):
    assert getattr(explain_missing_waterfall(phase([(0, MS)], **changes), recorded), "code", None) == code


def test_ranks_with_more_work_are_out_of_balance():
    given = phase([(0, 10 * MS), (0, 30 * MS)])
    given.document["ranks"][0]["bytes"] = 3 * 4096
    result = compute_trial_losses(given, operations([(0, "read", 0, MS), (1, "read", 0, MS)]), KINDS, 0.0)
    assert (result.work_excess, result.time_excess) == pytest.approx((0.5, 0.5)) and result.n_bytes == 2 * 4096
    assert result.parts["imbalance"] == pytest.approx(0.010) and result.delivered_s == pytest.approx(0.030)


@pytest.mark.parametrize(("n", "tail_ms"), [(99, 0.0), (100, 49.0), (101, 49.0), (200, 2 * 49.0)])
def test_the_tail_is_one_in_a_hundred(n, tail_ms):
    rows = [(0, "write", i * MS, MS) for i in range(n - 2)]
    rows += [(0, "write", n * MS + i * 60 * MS, 50 * MS) for i in range(2)]
    result = compute_trial_losses(phase([(0, 9000 * MS)]), operations(rows), KINDS, 0.0)
    assert result.parts["tail"] == pytest.approx(tail_ms / 1000)
