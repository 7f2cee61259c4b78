"""The engine's rules, on scripted latencies and virtual time: the truth is known to the ns."""

from __future__ import annotations

import os

import numpy as np
from engine_helpers import READS, fake, phase, rows, session, total
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core import schema
from iosonde.engine import _native

COMPUTE = {"kind": "compute", "ns": 700}


def test_every_operation_is_recorded_with_its_own_kind_and_time():
    steps = (
        {"kind": "create"},
        {"kind": "write", "transfer_size": 4, "size": 12},
        {"kind": "fsync"},
        {"kind": "close"},
    )
    script = {"latency_ns": {"create": 50, "write": [10, 20, 30], "fsync": 400, "default": 5}}
    [[record]] = fake(phase(*steps, files={"template": "f", "first": 7, "count": 2}), backend=script)
    table = rows(record)
    assert list(table["kind"]) == ["create", "write", "write", "write", "fsync", "close"] * 2
    assert list(table["duration_ns"]) == [50, 10, 20, 30, 400, 5] * 2
    assert list(table["offset"]) == [0, 0, 4, 8, 0, 0] * 2
    assert list(table["size"]) == [0, 4, 4, 4, 0, 0] * 2
    assert list(table["file"]) == [7] * 6 + [8] * 6
    assert (record.stopped, record.complete, record.errors) == ("count", True, [])
    assert record.ended_ns - record.started_ns == 2 * 515
    assert total(record, "write") == {
        "kind": _native.KINDS.index("write"),
        "count": 6,
        "bytes": 24,
        "errors": 0,
        "first_start_ns": record.started_ns + 50,
        "last_end_ns": record.ended_ns - 405,
        "sum_duration_ns": 120,
    }


def test_operations_are_not_copied_and_32_bytes_each():
    [[record]] = fake(phase(READS))
    array = record.operations
    assert array is record.operations
    assert array.dtype == np.uint64 and array.shape == (256, 4) and array.strides == (32, 8)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    assert type(owner.base).__name__ == "PySliceContainer"
    assert schema.RECORD.itemsize == 32


def test_a_failure_is_recorded_with_errno_and_offset_and_the_phase_goes_on_or_stops():
    writes = {"kind": "write", "transfer_size": 4096, "count": 50}
    script = {"faults": [{"kind": "write", "at": 17, "errno": 28}]}
    [[stops]] = fake(phase(writes), backend=script)
    [[goes_on]] = fake(phase(writes, on_error="continue"), backend=script)
    assert (stops.stopped, len(stops.operations)) == ("error", 18)
    assert (goes_on.stopped, len(goes_on.operations)) == ("count", 50)
    for record in (stops, goes_on):
        assert rows(record)["status"][17] == 28 and total(record, "write")["errors"] == 1
        assert record.errors == [
            {
                "kind": "write",
                "path": "f000000",
                "offset": 17 * 4096,
                "errno": 28,
                "text": os.strerror(28),
            }
        ]
    assert rows(goes_on)["size"][17] == 0 and total(goes_on, "write")["bytes"] == 49 * 4096


def test_fewer_bytes_than_asked_for_is_a_failure_without_errno():
    [[record]] = fake(phase(READS), backend={"faults": [{"kind": "read", "at": 3, "short": 100}]})
    assert rows(record)["status"][3] == schema.STATUS_SHORT and rows(record)["size"][3] == 100
    assert record.errors[0]["text"] == "100 of 4096 bytes"


def test_only_the_first_100_failures_are_kept_but_all_are_counted():
    script = {"faults": [{"kind": "read", "at": 0, "count": 256, "errno": 5}]}
    [[record]] = fake(phase(READS, on_error="continue"), backend=script)
    assert len(record.errors) == 100 and total(record, "read")["errors"] == 256


def test_time_limit_finishes_the_operation_in_flight():
    [[record]] = fake(phase(READS, passes=0, time_limit_ns=10_500), backend={"latency_ns": 1000})
    assert record.stopped == "time_limit" and len(record.operations) == 11


def test_max_operations():
    [[record]] = fake(phase(READS, passes=0, max_operations=1000))
    assert record.stopped == "count" and len(record.operations) == 1000


def test_wear_out_goes_on_to_the_same_count_where_the_time_limit_stopped():
    script = {"latency_ns": 1000}
    sequential = {**READS, "offsets": "seq"}
    opened = session(
        "/nowhere",
        phase(sequential, passes=0, time_limit_ns=10_000),
        backend={"name": "fake", **script},
        workers=2,
    )
    opened.prepare(0)
    first = opened.run(0)
    more = opened.wear_out(0, 25)
    assert [len(record.operations) for record in first] == [10, 10]
    assert [(len(record.operations), record.stopped) for record in more] == [(15, "count")] * 2
    assert rows(more[0])["offset"][0] == 10 * 4096
    assert [len(record.operations) for record in opened.wear_out(0, 25)] == [0, 0]
    opened.close()


def test_open_loop_counts_from_the_schedule_so_a_stall_shows_in_all_that_waited():
    # One operation stalls for 10 ms while 1000 per second are due: those behind it waited 9, 8, 7, … ms.
    script = {"latency_ns": 1000, "faults": [{"kind": "read", "at": 100, "latency_ns": 10_000_000}]}
    reads = {**READS, "count": 200}
    [[record]] = fake(phase(reads, arrival={"rate_per_s": 1000}), backend=script)
    table = rows(record)
    assert set(np.diff(table["start_ns"])) == {1_000_000}
    expected = [10_000_000] + [10_000_000 - 1_000_000 * k + 1000 * k for k in range(1, 10)]
    assert list(table["duration_ns"][100:110]) == expected
    # A closed loop with the same stall shows one slow operation only.
    [[closed]] = fake(phase(reads), backend=script)
    assert (rows(closed)["duration_ns"] > 1000).sum() == 1


def test_poisson_arrivals_have_the_rate_and_are_the_same_for_the_same_seed():
    reads = {**READS, "count": 5000}
    steps = phase(reads, arrival={"rate_per_s": 1000, "distribution": "poisson"})
    records = [fake(steps, seed=seed)[0][0] for seed in (1, 1, 2)]
    starts = [rows(record)["start_ns"].astype(np.int64) for record in records]
    assert (starts[0] == starts[1]).all() and (starts[0] != starts[2]).any()
    gaps = np.diff(starts[0])
    assert 0.95e6 < gaps.mean() < 1.05e6 and 0.9 < gaps.std() / gaps.mean() < 1.1


def test_compute_is_between_operations_and_has_its_own_kind():
    [[record]] = fake(phase({**READS, "count": 2, "ns": 300, "ns_per_byte": 0.5}, COMPUTE))
    table = rows(record)
    assert list(table["kind"]) == ["read", "compute", "read", "compute", "compute"]
    assert list(table["duration_ns"]) == [1000, 2348, 1000, 2348, 700]


def test_rank_moves_the_offsets_and_seed_repeats_them():
    runs = [fake(phase(READS), **keys)[0][0] for keys in ({}, {}, {"seed": 1}, {"rank": 1})]
    offsets = [rows(record)["offset"] for record in runs]
    assert (offsets[0] == offsets[1]).all()
    assert (offsets[0] != offsets[2]).any() and (offsets[0] != offsets[3]).any()


def test_workers_have_their_own_records_and_offsets():
    [records] = fake(phase(READS), workers=3)
    assert [record.worker for record in records] == [0, 1, 2]
    assert (rows(records[0])["offset"] != rows(records[1])["offset"]).any()


def test_several_in_flight_overlap_and_end_in_order_of_time():
    script = {"latency_ns": {"read": [4000, 1000]}, "queue_depth": 4}
    steps = ({**READS, "count": 8}, {"kind": "fsync"})
    [[record]] = fake(phase(*steps), backend=script)
    table = rows(record)
    ends = table["start_ns"].astype(np.int64) + table["duration_ns"]
    assert (np.diff(ends) >= 0).all()
    assert sorted(table["duration_ns"][:8]) == [1000] * 4 + [4000] * 4
    assert (table["start_ns"][:4] == record.started_ns).sum() >= 2
    assert table["kind"][8] == "fsync" and table["start_ns"][8] == ends[:8].max()
    assert record.ended_ns - record.started_ns < 20_000


@settings(max_examples=30, deadline=None)
@given(count=st.integers(1, 400), budget=st.integers(0, 500), seed=st.integers(0, 9))
def test_beyond_the_budget_totals_and_histogram_stay_exact(count, budget, seed):
    script = {"latency_ns": {"read": [100, 5000, 77, 123456]}, "jitter": 0.3}
    reads = phase({**READS, "count": count})
    [[small]] = fake(reads, backend=script, budget=budget, seed=seed)
    [[large]] = fake(reads, backend=script, budget=1000, seed=seed)
    assert small.totals == large.totals
    assert len(small.operations) == min(count, budget)
    assert small.complete == (count <= budget)
    if small.complete:
        assert small.histograms == {}
        return
    buckets, counts = small.histograms[_native.KINDS.index("read")]
    edges = _native.bucket_edges_ns()
    expected, _ = np.histogram(rows(large)["duration_ns"], edges)
    found = np.zeros(len(edges) - 1, dtype=int)
    found[buckets] = counts
    assert (found == expected).all()
    everything = {tuple(row) for row in large.operations}
    assert all(tuple(row) in everything for row in small.operations)


def test_the_budget_is_shared_by_workers_and_phases_still_to_come():
    endless = phase(READS, passes=0, max_operations=1000)
    few = phase({**READS, "count": 10})
    first, second = fake(endless, few, workers=2, budget=420)
    assert [len(record.operations) for record in first] == [200, 200]
    assert [(len(record.operations), record.complete) for record in second] == [(10, True)] * 2


def test_bucket_edges_are_less_than_two_percent_apart():
    edges = _native.bucket_edges_ns()
    widths = np.diff(edges)
    assert (widths > 0).all() and edges[0] == 0
    assert ((widths == 1) | (widths < 0.02 * edges[:-1])).all()


def test_without_recording_counts_stay():
    [[record]] = fake(phase(READS), record=False)
    assert len(record.operations) == 0 and not record.complete and record.histograms == {}
    assert total(record, "read")["count"] == 256 and total(record, "read")["bytes"] == 1 << 20
    assert record.ended_ns - record.started_ns == 256_000
