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


def total(kind, count, size, errors=0, first=1000, last=2000):
    return {
        "kind": KINDS.index(kind),
        "count": count,
        "bytes": size,
        "errors": errors,
        "first_start_ns": first,
        "last_end_ns": last,
        "sum_duration_ns": 1,
    }


def rank_part(rank, totals, start=1000, end=2000, extra_bytes=0):
    return RankPhase(rank, 0, start, end, "count", False, totals, [], extra_bytes=extra_bytes)


def every_row(plan, parts, error_ns=0, offsets=None):
    times = rates.align_phase_times(parts, offsets or {}, error_ns)
    found = rates.observe_rates("w", plan, parts, times, KINDS, 7)
    assert {row.repetition for row in found} <= {7}
    return [(row.operation, row.metric, row.value, row.unit, row.rank, row.count, row.includes) for row in found]


def test_all_rows_of_a_rate_by_hand():
    """Two ranks create files in 1 µs and 4 µs; one file of the second could not be created."""
    parts = [
        rank_part(0, [total("create", 4, 0), total("close", 4, 0)]),
        rank_part(1, [total("create", 5, 0, 1), total("close", 4, 0), total("open", 1, 0)], end=5000),
    ]
    per_s, includes = 1e6, "open,close"
    plan = PhasePlan("w", None, counted_kind="create")
    assert every_row(plan, parts) == [
        ("w", "rate_sum_of_ranks", pytest.approx(5 * per_s), "operations/s", None, 8, includes),
        ("w", "rate_last_done", pytest.approx(2 * per_s), "operations/s", None, 8, includes),
        ("w", "rate_own", pytest.approx(4 * per_s), "operations/s", 0, 4, includes),
        ("w", "rate_own", pytest.approx(per_s), "operations/s", 1, 4, includes),
    ]
    nothing = [rank_part(0, [total("create", 1, 0, 1)])]
    assert every_row(plan, nothing) == []
    assert every_row(plan, [*parts, rank_part(2, [total("create", 1, 0)], end=1000)]) == []
    assert every_row(PhasePlan("w", None, BANDWIDTH, "write"), parts) == []


def test_bytes_that_were_moved_are_rows_where_they_are_counted():
    plan = PhasePlan("w", None, BANDWIDTH, "read", counts_moved=True)
    parts = [
        rank_part(0, [total("read", 1, 10), total("open", 1, 0)], extra_bytes=7),
        rank_part(1, [total("read", 2, 20)]),
    ]
    moved = [row for row in every_row(plan, parts) if row[1].startswith("bytes")]
    assert moved == [
        ("w", "bytes_useful_sum_of_ranks", 30.0, "bytes", None, None, ""),
        ("w", "bytes_moved_sum_of_ranks", 37.0, "bytes", None, None, ""),
    ]
    parts[1].extra_bytes = None
    assert rates.sum_bytes_moved(parts) is None
    unknown = [row[1] for row in every_row(plan, parts) if row[1].startswith("bytes")]
    assert unknown == ["bytes_useful_sum_of_ranks"]


@pytest.mark.parametrize(
    ("others", "counted", "error_ns", "buffered"),
    [
        (["close"], "write", 0, True),
        ([], "write", 0, False),
        (["open"], "write", 0, False),
        (["close"], "read", 0, False),
        (["close"], "write", 10**6, False),
    ],
)
def test_a_write_that_is_made_durable_has_a_buffered_rate(others, counted, error_ns, buffered):
    """The writes of both ranks: from 1000 to 1500 of rank 0's clock, 100 and 300 bytes."""
    totals = [
        [total(counted, count, size, first=first, last=last)]
        for count, size, first, last in ((1, 100, 1000, 1300), (3, 300, 2100, 2500))
    ]
    for rank in totals:
        rank += [total(kind, 1, 0, first=1000, last=4000) for kind in others]
    parts = [rank_part(0, totals[0], 1000, 4000), rank_part(1, totals[1], 2000, 5000)]
    rows = every_row(PhasePlan("w", None, BANDWIDTH, counted), parts, error_ns, {1: 1000})
    found = [row for row in rows if row[0] != "w"]
    assert found == (
        [("w_buffered", "bandwidth_last_done", pytest.approx(400 / 500e-9), "bytes/s", None, 4, "")] if buffered else []
    )


@pytest.mark.parametrize(
    ("operation", "name"),
    [("write_large", "write_buffered_large"), ("dump", "dump_buffered"), ("write_write", "write_buffered_write")],
)
def test_the_name_of_a_buffered_write(operation, name):
    assert rates.name_buffered_write(operation) == name


@pytest.mark.parametrize(
    ("error_ns", "ends", "is_comparable"), [(10, [1000], True), (11, [1000], False), (0, [0], True), (1, [0], False)]
)
def test_clocks_are_comparable_within_a_hundredth_of_the_phase(error_ns, ends, is_comparable):
    assert rates.PhaseTimes(np.array([0]), np.array(ends), error_ns).comparable is is_comparable


def test_times_of_a_phase_are_those_of_its_first_and_last_rank():
    times = rates.align_phase_times(
        [rank_part(0, [], 100, 500), rank_part(1, [], 350, 950), rank_part(2, [], 150, 200)], {1: 200}, 3
    )
    assert (times.started_ns.tolist(), times.ended_ns.tolist(), times.error_ns) == ([100, 150, 150], [500, 750, 200], 3)
    assert (times.span_ns, times.start_spread_ns, times.end_spread_ns, times.all_active_ns) == (650, 50, 550, 50)
    apart = rates.PhaseTimes(np.array([0, 100]), np.array([50, 200]), 0)
    assert apart.all_active_ns == 0


def test_operations_count_in_a_window_by_their_share_in_it():
    parts = [part(0, [(0, 100), (100, 200)]), part(1, [(1000, 1100), (1100, 1100)])]
    times = rates.align_phase_times(parts, {1: 950}, 0)
    assert times.started_ns.tolist() == [0, 50]

    def between(low, high, bandwidth):
        return rates._sum_done_between(parts, times, READ, bandwidth, low, high)

    assert between(0, 100, False) == pytest.approx(1 + 0.5)
    assert between(25, 75, True) == pytest.approx(500 + 250)
    assert between(150, 400, False) == pytest.approx(0.5)
    assert rates._sum_done_between(parts, times, READ + 1, False, 0, 400) == 0


def test_a_buffered_rate_counts_the_writes_that_moved_bytes():
    kinds = [total("write", 3, 20, errors=1), total("close", 1, 0, last=4000)]
    rows = every_row(PhasePlan("w", None, BANDWIDTH, "write"), [rank_part(0, kinds, 1000, 4000)])
    counts = {(operation, metric): count for operation, metric, _, _, rank, count, _ in rows if rank is None}
    assert counts["w", "bandwidth_last_done"] == counts["w_buffered", "bandwidth_last_done"] == 2
