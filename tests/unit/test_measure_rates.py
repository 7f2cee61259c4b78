"""When the clock stops: four rates of the same records, checked by hand and against each other."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.schema import OPERATION
from iosonde.measure.collect import assemble, rates
from iosonde.measure.spool import RankPhase
from iosonde.measure.workloads.phase_plan import BANDWIDTH, PhasePlan

KINDS = ["create", "open", "close", "write", "read"]
READ = KINDS.index("read")
PLAN = PhasePlan("read_1to1_large", None, BANDWIDTH, "read")


def part(rank, spans, size=1000, kind=READ, recorded_all=True):
    """A rank that did one operation in each (start, end)."""
    rows = np.zeros(len(spans), OPERATION)
    rows["rank"], rows["kind"], rows["size"] = rank, kind, size
    rows["start_ns"] = [start for start, _ in spans]
    rows["duration_ns"] = [end - start for start, end in spans]
    total = {
        "kind": kind,
        "count": len(spans),
        "bytes": size * len(spans),
        "errors": 0,
        "first_start_ns": spans[0][0],
        "last_end_ns": spans[-1][1],
        "sum_duration_ns": int(rows["duration_ns"].sum()),
    }
    return RankPhase(rank, 0, spans[0][0], spans[-1][1], "count", recorded_all, [total], [], operations=rows)


def whole(parts, offsets=None, error_ns=0):
    times = rates.align_phase_times(parts, offsets or {}, error_ns)
    found = rates.observe_rates("read_1to1_large", PLAN, parts, times, KINDS, 0)
    return {row.metric.removeprefix("bandwidth_"): row.value for row in found if row.rank is None}


def test_the_four_rates_by_hand():
    # Rank 0: two reads in 0–100 ns. Rank 1: starts at 50, two reads of 100 ns each, ends at 250.
    parts = [part(0, [(1000, 1050), (1050, 1100)]), part(1, [(1050, 1150), (1150, 1250)])]
    found = whole(parts)
    assert found["last_done"] == pytest.approx(4000 / 250e-9)
    # Until 1100: rank 0 all 2000, rank 1 half of its first.
    assert found["first_done"] == pytest.approx(2500 / 100e-9)
    assert found["sum_of_ranks"] == pytest.approx(2000 / 100e-9 + 2000 / 200e-9)
    # Both active 1050–1100: 1000 + 500.
    assert found["overlap"] == pytest.approx(1500 / 50e-9)


def test_a_clock_that_drifts_is_followed_over_the_trial():
    """Rank 1's clock is 1000 ns ahead before the phases (at 0) and 3000 ns after them (at 1 s on rank 0's)."""
    places = {"offset_ns": {"0": 0, "1": 1000}, "drift_ns": [0, 2000], "at_ns": [0, 10**9], "error_ns": 0}
    middle = 5 * 10**8
    parts = [part(0, [(middle, middle + 100)]), part(1, [(middle + 2000, middle + 2100)])]
    assert assemble._compute_offsets(parts, places) == {0: 0, 1: 2000}
    entry, _ = assemble._summarize_phase(0, PLAN, parts, places, 0, KINDS)
    assert entry["start_spread_ns"] == 0
    assert entry["duration_ns"] == 100


@pytest.mark.parametrize(
    ("states", "counted", "names"),
    [
        (("cold-verified", "cold-verified"), True, {"read_nto1_large": 60}),
        (("cold-verified", "cold-requested"), True, {"read_nto1_large": 60}),  # of another node than the writer's
        (("cold-requested", "cold-verified"), False, {"read_nto1_large": 30, "read_nto1_large_writer_node": 30}),
        (("warm", "cold-verified"), False, {"read_nto1_large": 30, "read_nto1_large_writer_node": 30}),
        ((None, "cold-verified"), False, {"read_nto1_large": 30, "read_nto1_large_writer_node": 30}),
    ],
)
def test_the_writers_node_counts_where_it_was_verified_to_be_cold(states, counted, names):
    """Two readers of 1000 bytes in the same 33 ns: together they have twice the rate of each."""
    plan = PhasePlan("read_nto1_large", None, BANDWIDTH, "read", shared=True)
    parts = [part(rank, [(1000, 1033)]) for rank in range(2)]
    parts = [
        replace(one, cache={"state": state, "resident_bytes": 0, "bytes": 1000} if state else {})
        for one, state in zip(parts, states, strict=True)
    ]
    entry, rows = assemble._summarize_phase(
        0,
        plan,
        parts,
        {"nodes": [0, 1], "error_ns": 0, "offset_ns": {"0": 0, "1": 0}, "drift_ns": [0, 0], "at_ns": [0, 10**9]},
        0,
        KINDS,
    )
    found = {row.operation: row.value / 1e9 for row in rows if row.metric == "bandwidth_last_done"}
    assert found == pytest.approx(names, rel=0.02) and entry["writer_counted"] is counted


def test_ranks_that_never_ran_together_have_no_overlap():
    found = whole([part(0, [(1000, 1100)]), part(1, [(2000, 2100)])])
    assert "overlap" not in found
    assert found["last_done"] == pytest.approx(2000 / 1100e-9)


def test_a_sample_gives_no_overlap_and_no_first_done():
    found = whole([part(0, [(1000, 1100)]), part(1, [(1000, 1100)], recorded_all=False)])
    assert set(found) == {"last_done", "sum_of_ranks"}


def test_clocks_that_cannot_be_compared_leave_only_the_sum_of_ranks():
    parts = [part(0, [(1000, 1100)]), part(1, [(1000, 1100)])]
    assert set(whole(parts, error_ns=2)) == {"sum_of_ranks"}
    assert "last_done" in whole(parts, error_ns=1)


def test_another_clock_is_shifted():
    parts = [part(0, [(1000, 1100)]), part(1, [(900_000, 900_100)])]
    assert whole(parts, {0: 0, 1: 899_000})["last_done"] == pytest.approx(2000 / 100e-9)


def test_failed_operations_are_not_counted():
    broken = part(0, [(1000, 1050), (1050, 1100)])
    broken.operations["status"][1] = 28
    broken.totals[0] |= {"errors": 1, "bytes": 1000}
    found = whole([broken, part(1, [(1000, 1100)])])
    assert found["first_done"] == pytest.approx(2000 / 100e-9)
    assert found["last_done"] == pytest.approx(2000 / 100e-9)


spans = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 500)), min_size=1, max_size=20).map(
    lambda steps: [
        (1 + sum(g + d for g, d in steps[:i]) + gap, 1 + sum(g + d for g, d in steps[:i]) + gap + length)
        for i, (gap, length) in enumerate(steps)
    ]
)


@given(st.lists(spans, min_size=1, max_size=5))
def test_the_sum_of_ranks_is_never_below_the_others(all_spans):
    """Each rank's own time is inside the job's, so its own rate is at least its share of the job's."""
    found = whole([part(rank, one) for rank, one in enumerate(all_spans)])
    assert found["last_done"] <= found["sum_of_ranks"] * (1 + 1e-9)


@given(spans)
def test_one_rank_has_one_rate(one):
    found = whole([part(0, one)])
    values = list(found.values())
    assert values == pytest.approx([values[0]] * len(values))


def test_writes_without_fsync_and_close_have_another_name():
    write, close = KINDS.index("write"), KINDS.index("close")
    one = part(0, [(1000, 1100)], kind=write)
    one.totals.append(
        {
            "kind": close,
            "count": 1,
            "bytes": 0,
            "errors": 0,
            "first_start_ns": 1100,
            "last_end_ns": 1400,
            "sum_duration_ns": 300,
        }
    )
    one.ended_ns = 1400
    plan = PhasePlan("write_large", None, BANDWIDTH, "write")
    found = rates.observe_rates("write_large", plan, [one], rates.align_phase_times([one], {}, 0), KINDS, 0)
    by = {(row.operation, row.metric): row for row in found if row.rank is None}
    assert by["write_large", "bandwidth_last_done"].value == pytest.approx(1000 / 400e-9)
    assert by["write_large", "bandwidth_last_done"].includes == "close"
    assert by["write_buffered_large", "bandwidth_last_done"].value == pytest.approx(1000 / 100e-9)
