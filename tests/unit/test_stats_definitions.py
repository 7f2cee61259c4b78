"""Each tool's number by hand for two ranks with staggered starts; and when all definitions must agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredPhase
from iosonde.engine import _native
from iosonde.stats.definitions import clock, elbencho, fio, ior, iozone, mdtest
from iosonde.stats.definitions.clock import (
    FIRST_DONE,
    LAST_DONE,
    LONGEST_RANK,
    PARENT,
    PARTS,
    SLOWEST_RANK,
    STOPS,
    SUM_OF_RANKS,
    SUM_UNTIL_FIRST,
    Clock,
    compute_rate,
    select_phase_work,
)

MS = 1_000_000
MIB = 2**20


def operations(*rows: tuple[int, str, int, int], size: int = MIB) -> np.ndarray:
    """(rank, kind, start ms, end ms) as recorded operations of phase 0; data kinds move ``size`` bytes."""
    table = np.zeros(len(rows), OPERATION)
    at: dict[int, int] = {}
    for row, (rank, kind, start, end) in zip(table, rows, strict=True):
        row["rank"], row["kind"] = rank, _native.KINDS.index(kind)
        row["start_ns"], row["duration_ns"] = 10**12 + start * MS, (end - start) * MS
        if kind in ("write", "read"):
            row["size"], row["offset"] = size, at.get(rank, 0)
            at[rank] = at.get(rank, 0) + size
    return table


def work(*rows: tuple[int, str, int, int], **phase: object) -> clock.Work:
    return select_phase_work(StoredPhase({"index": 0, **phase}), operations(*rows), _native.KINDS)


# Rank 0: open 0-10, writes 10-30 and 30-50, fsync 50-60, close 60-70 ms.
# Rank 1: open 20-40, writes 40-80 and 80-120, fsync 120-160, close 160-200 ms.
STAGGERED = (
    (0, "create", 0, 10),
    (0, "write", 10, 30),
    (0, "write", 30, 50),
    (0, "fsync", 50, 60),
    (0, "close", 60, 70),
    (1, "create", 20, 40),
    (1, "write", 40, 80),
    (1, "write", 80, 120),
    (1, "fsync", 120, 160),
    (1, "close", 160, 200),
)


def test_ior_runs_from_the_first_open_to_the_last_close_and_its_parts_overlap():
    (row,) = ior.build_ior_rows(work(*STAGGERED))
    assert row.bandwidth == pytest.approx(4 * MIB / 0.200)
    assert row.open_time == pytest.approx(0.040)
    assert row.access_time == pytest.approx(0.150)  # 10 to 160 ms: the fsync is inside
    assert row.close_time == pytest.approx(0.140)
    assert row.total_time == pytest.approx(0.200)
    assert row.iops == pytest.approx(4 / 0.150)
    assert row.latency == pytest.approx(0.050 / 2)  # rank 0: 10 to 60 ms, two transfers; rank 1 is slower
    assert (row.access, row.tasks, row.block_size, row.transfer_size) == ("write", 2, 2 * MIB, MIB)


def test_ior_with_several_files_a_task_has_no_open_access_and_close_times():
    rows = operations(*STAGGERED)
    rows["file"][2:5] = 1
    (row,) = ior.build_ior_rows(select_phase_work(StoredPhase({"index": 0}), rows, _native.KINDS))
    assert row.bandwidth and (row.open_time, row.access_time, row.latency) == (None, None, None)


def test_iozone_sums_each_process_until_the_first_is_done():
    (row,) = iozone.build_iozone_rows(work(*STAGGERED))
    # Rank 0: 2 MiB in 40 ms. At 50 ms rank 1 is in its first write, which then counts as time and not as work.
    assert row.children == pytest.approx(2 * MIB / 0.040)
    assert (row.minimum, row.maximum) == pytest.approx((0.0, 2 * MIB / 0.040))
    assert row.average == pytest.approx(row.children / 2)
    assert row.minimum_transferred == 0
    # The parent waits until rank 1 has flushed and closed, outside the children's clock: 10 to 200 ms.
    assert row.parent == pytest.approx(2 * MIB / 0.190)


def test_iozone_with_e_and_c_has_fsync_and_close_inside():
    # Rank 0's whole work ends at 70 ms; rank 1's first write ends at 80 ms and is in flight then.
    (row,) = iozone.build_iozone_rows(work(*STAGGERED), frozenset({"fsync", "close"}))
    assert row.maximum == pytest.approx(2 * MIB / 0.060)
    assert row.parent == pytest.approx(2 * MIB / 0.190)


def test_iozones_writers_do_not_flush_with_c_alone():
    (row,) = iozone.build_iozone_rows(work(*STAGGERED), frozenset({"close"}))
    assert row.parent == pytest.approx(2 * MIB / 0.150)  # the fsync of 40 ms is cut out


def test_iozone_counts_the_record_in_flight_as_time_only():
    rows = ((0, "read", 0, 10), (0, "read", 10, 20), (1, "read", 0, 15), (1, "read", 15, 30))
    (row,) = iozone.build_iozone_rows(work(*rows))
    assert row.children == pytest.approx(2 * MIB / 0.020 + MIB / 0.030)
    assert row.parent == pytest.approx(3 * MIB / 0.030)


def test_fio_takes_the_longest_jobs_own_time_in_whole_ms():
    (row,) = fio.build_fio_rows(work(*STAGGERED))
    # Rank 1 from its open (20) to the end of its fsync (160): the close is outside, the late start is invisible.
    assert (row.shortest_ms, row.longest_ms) == (60, 140)
    assert row.bandwidth == pytest.approx(4 * MIB / 0.140)
    assert row.iops == pytest.approx(4 / 0.140)
    assert (row.minimum, row.maximum) == pytest.approx((2 * MIB / 0.140, 2 * MIB / 0.060))
    assert (row.latency_ns_min, row.latency_ns_max) == (20 * MS, 40 * MS)
    assert row.latency_ns_mean == pytest.approx(30 * MS)
    assert (row.percentiles_ns["50"], row.percentiles_ns["99"]) == (20 * MS, 40 * MS)


def test_fio_rounds_its_time_up_to_the_ms():
    table = operations((0, "read", 0, 10))
    table["duration_ns"] += 1
    (row,) = fio.build_fio_rows(select_phase_work(StoredPhase({"index": 0}), table, _native.KINDS))
    assert row.longest_ms == 11 and row.bandwidth == pytest.approx(MIB / 0.011)


def test_elbencho_counts_whole_operations_until_the_first_and_until_the_last_worker():
    (row,) = elbencho.build_elbencho_rows(work(*STAGGERED), shared=False)
    # Without the fsync rank 0 closes at 60 ms, rank 1 at 160 ms; by 60 ms only rank 0 has written.
    assert row.target == "directory"
    assert row.first_done.seconds == pytest.approx(0.060)
    assert row.first_done.bandwidth == pytest.approx(2 * MIB / 0.060)
    assert row.first_done.entries == 1
    assert row.last_done.seconds == pytest.approx(0.160)
    assert row.last_done.bandwidth == pytest.approx(4 * MIB / 0.160)
    assert (row.last_done.entries, row.last_done.bytes) == (2, 4 * MIB)


def test_elbencho_opens_a_shared_file_before_its_clock():
    (row,) = elbencho.build_elbencho_rows(work(*STAGGERED), shared=True)
    assert row.target == "file" and row.last_done.entries is None
    assert row.first_done.seconds == pytest.approx(0.040)  # 10 to 50 ms
    assert row.last_done.seconds == pytest.approx(0.110)  # 10 to 120 ms


def test_mdtest_takes_the_slowest_task_until_the_barrier():
    files = (
        (0, "create", 0, 10),
        (0, "close", 10, 20),
        (0, "create", 20, 30),
        (0, "close", 30, 40),
        (1, "create", 10, 50),
        (1, "close", 50, 60),
    )
    made = work(*files)
    assert mdtest.find_mdtest_operation("create", made) == ("File creation", "create")
    # Rank 0: 2 items in 60 ms; rank 1: 1 in 50 ms, which is slower and counts for both.
    assert mdtest.compute_iteration_rate(made, "create") == pytest.approx(2 * 1 / 0.050)


def test_mdtest_statistics_are_over_iterations_with_n_minus_1():
    row = mdtest.summarise_rates("File stat", "stat", [100.0, 120.0])
    assert (row.maximum, row.minimum, row.mean) == (120.0, 100.0, 110.0)
    assert row.standard_deviation == pytest.approx(200**0.5)
    assert mdtest.summarise_rates("File stat", "stat", [100.0]).standard_deviation == 0


@pytest.mark.parametrize(
    ("kind", "name", "title"),
    [
        ("stat", "stat", "File stat"),
        ("stat", "directory_stat", "Directory stat"),
        ("mkdir", "x", "Directory creation"),
        ("rmdir", "x", "Directory removal"),
        ("unlink", "x", "File removal"),
        ("open", "open", "File read"),
    ],
)
def test_phases_get_mdtests_names(kind, name, title):
    assert mdtest.find_mdtest_operation(name, work((0, kind, 0, 1)))[0] == title


def test_a_file_of_many_transfers_is_none_of_mdtests():
    assert mdtest.find_mdtest_operation("write_large", work(*STAGGERED)) is None


@pytest.mark.parametrize(
    ("stops", "expected"),
    [
        (LAST_DONE, 4 / 0.110),  # without open, fsync and close: 10 to 120 ms
        (FIRST_DONE, 2 / 0.040),
        (SUM_OF_RANKS, 2 / 0.040 + 2 / 0.080),
        (SUM_UNTIL_FIRST, 2 / 0.040),
        (PARENT, 2 / 0.110),
        (LONGEST_RANK, 4 / 0.080),
        (SLOWEST_RANK, 2 * min(2 / 0.110, 2 / 0.080)),
    ],
)
def test_every_end_of_the_clock(stops, expected):
    moved = (made := work(*STAGGERED)).get_bytes_by_operation("write")
    assert compute_rate(made, moved, Clock(frozenset(), stops)) == pytest.approx(expected * MIB)


def test_an_open_between_two_accesses_is_cut_out_where_it_is_outside():
    rows = ((0, "open", 0, 5), (0, "read", 5, 10), (0, "close", 10, 20), (0, "open", 20, 40), (0, "read", 40, 50))
    made = work(*rows)
    assert compute_rate(made, made.get_bytes_by_operation("read"), Clock(frozenset(), LAST_DONE)) == pytest.approx(
        2 * MIB / 0.015
    )
    assert compute_rate(
        made, made.get_bytes_by_operation("read"), Clock(frozenset({"close"}), LAST_DONE)
    ) == pytest.approx(2 * MIB / 0.025)


def test_clock_offsets_of_the_ranks_nodes_are_taken_out():
    table = operations((0, "read", 0, 10), (1, "read", 500, 510))
    ranks = [{"rank": 0, "clock_offset_ns": 0}, {"rank": 1, "clock_offset_ns": 500 * MS}]
    made = select_phase_work(StoredPhase({"index": 0, "ranks": ranks}), table, _native.KINDS)
    assert ior.build_ior_rows(made)[0].bandwidth == pytest.approx(2 * MIB / 0.010)


def test_where_clocks_cannot_be_compared_only_own_times_give_a_number():
    made = work(*STAGGERED, clock_error_ns=50 * MS)
    told = {
        stops
        for stops in STOPS
        if compute_rate(made, made.get_bytes_by_operation("write"), Clock(frozenset(), stops)) is not None
    }
    assert told == {SUM_OF_RANKS, LONGEST_RANK}
    assert elbencho.build_elbencho_rows(made, shared=False) == []


def test_failed_operations_are_time_and_no_work():
    table = operations((0, "read", 0, 10), (0, "read", 10, 20))
    table["status"][1] = 5
    assert ior.build_ior_rows(select_phase_work(StoredPhase({"index": 0}), table, _native.KINDS))[
        0
    ].bandwidth == pytest.approx(MIB / 0.020)


def test_a_phase_of_which_only_a_sample_was_kept_is_refused_in_words():
    assert clock.explain_not_recomputable(StoredPhase({"recorded_all": False})).code == "sampled-operations"
    assert clock.explain_not_recomputable(StoredPhase({"recorded_all": True})) == ""


@given(
    ranks=st.integers(1, 6),
    durations=st.lists(st.integers(1, 50), min_size=1, max_size=8),
    inside=st.sets(st.sampled_from(PARTS)),
)
def test_all_definitions_agree_when_ranks_start_and_end_together_and_open_and_close_are_instant(
    ranks, durations, inside
):
    ends = np.cumsum(durations).tolist()
    starts = [0, *ends[:-1]]
    rows = [
        row
        for rank in range(ranks)
        for row in (
            (rank, "open", 0, 0),
            *((rank, "read", start, end) for start, end in zip(starts, ends, strict=True)),
            (rank, "close", ends[-1], ends[-1]),
        )
    ]
    made = work(*rows)
    expected = ranks * len(durations) * MIB / (ends[-1] / 1000)
    for stops in STOPS:
        assert compute_rate(
            made, made.get_bytes_by_operation("read"), Clock(frozenset(inside), stops)
        ) == pytest.approx(expected), stops
    assert ior.build_ior_rows(made)[0].bandwidth == pytest.approx(expected)
    assert iozone.build_iozone_rows(made)[0].children == pytest.approx(expected)
    assert fio.build_fio_rows(made)[0].bandwidth == pytest.approx(expected)
    assert elbencho.build_elbencho_rows(made, shared=False)[0].first_done.bandwidth == pytest.approx(expected)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["open", "write", "fsync", "close"]), st.integers(1, 30)),
        min_size=1,
        max_size=30,
    ),
    late=st.tuples(*[st.integers(0, 40)] * 3),
)
def test_sums_are_never_below_the_span_and_more_inside_is_never_faster(rows, late):
    now = list(late)
    laid = []
    for rank, kind, took in rows:
        laid.append((rank, kind, now[rank], now[rank] + took))
        now[rank] += took
    made = work(*laid)
    moved = made.get_bytes_by_operation("write")
    for inside in (frozenset(PARTS), frozenset({"open"}), frozenset()):
        whole = compute_rate(made, moved, Clock(inside, LAST_DONE))
        if whole is None:
            continue
        for stops in (SUM_OF_RANKS, LONGEST_RANK):
            assert compute_rate(made, moved, Clock(inside, stops)) >= whole * (1 - 1e-9)
        full = compute_rate(made, moved, Clock(frozenset(PARTS), LONGEST_RANK))
        assert compute_rate(made, moved, Clock(inside, LONGEST_RANK)) >= full * (1 - 1e-9)


@pytest.mark.parametrize("start", STOPS)
@pytest.mark.parametrize("end", STOPS)
def test_from_one_end_of_the_clock_to_another_it_goes_by_single_changes(start, end):
    way = clock.list_moments_between(start, end)
    assert (way[-1:] or [start]) == [end] and start not in way
    assert all(len(clock.list_moments_between(one, other)) == 1 for one, other in zip([start, *way], way, strict=False))


def moved_at(*offsets: int, ranks=None, files=None, direction="write", failed=()) -> clock.Work:
    table = np.zeros(len(offsets), OPERATION)
    table["kind"], table["size"], table["offset"] = _native.KINDS.index(direction), 1, offsets
    table["start_ns"], table["duration_ns"] = np.arange(len(offsets)) * 10, 5
    table["rank"], table["file"] = ranks or [0] * len(offsets), files or [0] * len(offsets)
    table["status"][list(failed)] = 5
    return select_phase_work(StoredPhase({"index": 0}), table, _native.KINDS)


@pytest.mark.parametrize(
    ("work", "order"),
    [
        (moved_at(0, 4, 4, 9), "sequential"),
        (moved_at(9, 4, 4, 0), "backward"),
        (moved_at(0, 9, 4), "random"),
        (moved_at(0, 9, 0, 9, ranks=[0, 0, 1, 1]), "sequential"),
        (moved_at(0, 9, 0, 9, files=[0, 0, 1, 1]), "sequential"),
        (moved_at(9, 0, 9, 0, ranks=[0, 0, 1, 1]), "backward"),
        (moved_at(0, 9, 4, failed=[2]), "sequential"),
        (moved_at(5), "sequential"),
    ],
)
def test_the_order_of_offsets_is_that_of_each_rank_in_each_file(work, order):
    assert work.order("write") == order


def test_the_most_files_of_a_rank_are_counted_once():
    assert moved_at(0, 1, 2, ranks=[0, 1, 1], files=[7, 7, 7]).compute_most_files_per_rank() == 1
    assert moved_at(0, 1, 2, ranks=[0, 1, 1], files=[7, 7, 8]).compute_most_files_per_rank() == 2
    assert select_phase_work(StoredPhase({"index": 1}), operations(), _native.KINDS).compute_most_files_per_rank() == 0


def test_work_is_sorted_by_rank_and_start_on_the_clock_of_rank_0():
    table = operations((3, "write", 30, 40), (1, "read", 5, 6), (3, "open", 20, 25), size=7)
    table["file"], table["status"] = [4, 5, 6], [0, 9, 0]
    ranks = [{"rank": 3, "clock_offset_ns": MS}]
    made = select_phase_work(StoredPhase({"index": 0, "ranks": ranks}), table, _native.KINDS)
    assert (made.of.tolist(), made.ranks, made.file.tolist()) == ([0, 1, 1], 2, [5, 6, 4])
    assert ((made.start - 10**12) / MS).tolist() == [5, 19, 29] and ((made.end - made.start) / MS).tolist() == [
        1,
        5,
        10,
    ]
    assert [made.kinds[kind] for kind in made.kind] == ["read", "open", "write"]
    assert (made.size.tolist(), made.offset.tolist(), made.good.tolist()) == ([7, 0, 7], [0, 0, 0], [False, True, True])
    assert (made.has("read"), made.has("fsync", "open"), made.has("fsync")) == (True, True, False)
    assert made.list_data_directions() == ["write"]
    assert made.get_bytes_by_operation("write").tolist() == [0, 0, 7]
    assert made.count_of("read", "open").tolist() == [0, 1, 0]
    assert select_phase_work(StoredPhase({"index": 2}), table, _native.KINDS).ranks == 0


@pytest.mark.parametrize(("error_ms", "comparable"), [(2, True), (3, False)])
def test_clocks_are_comparable_up_to_a_hundredth_of_the_phase(error_ms, comparable):
    assert work(*STAGGERED, clock_error_ns=error_ms * MS).comparable is comparable


@pytest.mark.parametrize(
    ("start", "end", "between"),
    [
        (SUM_UNTIL_FIRST, LAST_DONE, [SUM_OF_RANKS, LAST_DONE]),
        (LAST_DONE, SUM_UNTIL_FIRST, [SUM_OF_RANKS, SUM_UNTIL_FIRST]),
        (SUM_UNTIL_FIRST, SUM_OF_RANKS, [SUM_OF_RANKS]),
        (SUM_OF_RANKS, SUM_UNTIL_FIRST, [SUM_UNTIL_FIRST]),
        (FIRST_DONE, PARENT, [LAST_DONE, PARENT]),
        (LONGEST_RANK, SUM_UNTIL_FIRST, [LAST_DONE, SUM_OF_RANKS, SUM_UNTIL_FIRST]),
        (SLOWEST_RANK, SLOWEST_RANK, []),
    ],
)
def test_moments_lead_through_the_neighbouring_ones(start, end, between):
    assert clock.list_moments_between(start, end) == between


@pytest.mark.parametrize(
    ("name", "kinds", "operation"),
    [
        ("make", ["mkdir", "stat"], ("Directory creation", "mkdir")),
        ("stat_directories", ["stat"], ("Directory stat", "stat")),
        ("stat_files", ["stat"], ("File stat", "stat")),
        ("rename", ["rename"], None),
        ("rename_directories", ["rename"], ("Directory rename", "rename")),
        ("write", ["create", "write", "close"], ("File creation", "create")),
        ("read", ["open", "read", "close"], ("File read", "open")),
        ("read_directories", ["open", "read"], None),
        ("remove", ["unlink"], ("File removal", "unlink")),
        ("write", ["open", "write"], None),
        ("write", ["create", "write", "write"], None),
        ("read", ["open", "read", "read"], None),
        ("flush", ["fsync"], None),
    ],
)
def test_a_phase_is_that_operation_of_mdtest_which_its_kinds_and_name_say(name, kinds, operation):
    rows = [(0, kind, 10 * place, 10 * place + 5) for place, kind in enumerate(kinds)]
    assert mdtest.find_mdtest_operation(name, work(*rows)) == operation


# Opens, reads and closes of three ranks, the second of which is the fastest and the third the last.
THREE = (
    *((0, "open", 0, 5), (0, "read", 5, 25), (0, "read", 25, 55), (0, "close", 55, 60)),
    *((1, "open", 0, 10), (1, "read", 10, 20), (1, "read", 20, 30), (1, "read", 30, 70), (1, "close", 70, 90)),
    *((2, "open", 2, 4), (2, "read", 4, 24), (2, "read", 24, 94), (2, "close", 94, 100)),
)


def near(number: float) -> float:
    return pytest.approx(number)


def test_every_number_of_iors_row():
    expected = ior.IorRow(
        access="read",
        bandwidth=near(7 * MIB / 0.100),
        iops=near(7 / 0.090),  # 4 to 94 ms
        latency=near(0.060 / 3),  # rank 1; 0.025 and 0.045 are the others'
        block_size=7 * MIB // 3,
        transfer_size=MIB,
        open_time=near(0.010),
        access_time=near(0.090),
        close_time=near(0.045),
        total_time=near(0.100),
        tasks=3,
    )
    assert ior.build_ior_rows(work(*THREE)) == [expected]
    (apart,) = ior.build_ior_rows(work(*THREE, clock_error_ns=50 * MS))
    assert (apart.bandwidth, apart.iops, apart.latency, apart.total_time) == (None,) * 4
    assert (apart.open_time, apart.access_time, apart.close_time) == (None,) * 3
    (bare,) = ior.build_ior_rows(work((0, "write", 5, 10)))
    assert (bare.open_time, bare.close_time, bare.access_time) == (None, None, near(0.005))
    both = work((0, "read", 0, 5), (0, "write", 5, 10))
    assert [row.access for row in ior.build_ior_rows(both)] == ["write", "read"]


def test_iors_transfer_is_the_largest_one():
    table = operations((0, "read", 0, 5), (0, "read", 5, 10))
    table["size"][1] = MIB // 2
    (row,) = ior.build_ior_rows(select_phase_work(StoredPhase({"index": 0}), table, _native.KINDS))
    assert (row.transfer_size, row.block_size, row.iops) == (MIB, MIB * 3 // 2, near(1.5 / 0.010))


def test_every_number_of_fios_row():
    """From the open to the last read: 55, 70 and 92 ms."""
    milliseconds = [10, 10, 20, 20, 30, 40, 70]
    percentiles = dict.fromkeys(("1", "5", "10", "20"), 10) | dict.fromkeys(("30", "40", "50"), 20)
    percentiles |= {"60": 30, "70": 30, "80": 40}
    percentiles |= dict.fromkeys(("90", "95", "99", "99.5", "99.9", "99.95", "99.99"), 70)
    expected = fio.FioRow(
        direction="read",
        jobs=3,
        bandwidth=near(7 * MIB / 0.092),
        iops=near(7 / 0.092),
        bytes=7 * MIB,
        shortest_ms=55,
        longest_ms=92,
        minimum=near(2 * MIB / 0.092),
        maximum=near(3 * MIB / 0.070),
        latency_ns_min=10 * MS,
        latency_ns_max=70 * MS,
        latency_ns_mean=near(200 / 7 * MS),
        latency_ns_sd=near(float(np.std(milliseconds, ddof=1)) * MS),
        percentiles_ns={name: number * MS for name, number in percentiles.items()},
    )
    assert fio.build_fio_rows(work(*THREE)) == [expected]
    (single,) = fio.build_fio_rows(work((0, "read", 0, 10)))
    assert (single.latency_ns_sd, set(single.percentiles_ns.values())) == (0.0, {10 * MS})


def test_every_number_of_elbenchos_row():
    """By 60 ms rank 0 has closed its file; 2, 2 and 1 reads are done."""
    first = elbencho.ElbenchoColumn(near(0.060), near(1 / 0.060), near(5 / 0.060), near(5 * MIB / 0.060), 5 * MIB, 1)
    last = elbencho.ElbenchoColumn(near(0.100), near(3 / 0.100), near(7 / 0.100), near(7 * MIB / 0.100), 7 * MIB, 3)
    assert elbencho.build_elbencho_rows(work(*THREE), shared=False) == [
        elbencho.ElbenchoRow("read", "directory", 3, first, last)
    ]
    reads = [row for row in THREE if row[1] == "read"]
    (row,) = elbencho.build_elbencho_rows(work(*reads), shared=False)
    assert (row.target, row.first_done.entries, row.first_done.entries_per_s) == ("file", None, None)
    assert (row.first_done.seconds, row.first_done.bytes) == (near(0.051), 5 * MIB)  # 4 to 55 ms


def test_every_number_of_iozones_block():
    """Rank 0 is done at 55 ms; the reads in flight end at 70 and 94 ms."""
    own = [2 * MIB / 0.050, 2 * MIB / 0.060, MIB / 0.090]
    expected = iozone.IozoneRow(
        operation="read",
        processes=3,
        children=near(sum(own)),
        parent=near(5 * MIB / 0.096),  # 4 to 100 ms, and 5 reads until rank 0 has closed
        minimum=near(own[2]),
        maximum=near(own[0]),
        average=near(sum(own) / 3),
        minimum_transferred=MIB,
    )
    assert iozone.build_iozone_rows(work(*THREE)) == [expected]


def test_the_parents_clock_of_iozone_omits_the_fsync_with_c_alone():
    assert [
        sorted(iozone.build_parent_clock(frozenset(inside)).inside)
        for inside in ((), ("close",), ("fsync",), ("fsync", "close"))
    ] == [["close", "fsync"], ["close"], ["close", "fsync"], ["close", "fsync"]]


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (fio.build_fio_rows, "close"),
        (lambda made: elbencho.build_elbencho_rows(made, shared=False), "fsync"),
        (iozone.build_iozone_rows, "open"),
    ],
)
def test_there_is_no_row_if_a_rank_has_no_operation_inside_the_clock(build, kind):
    rows = ((0, "open", 0, 1), (0, "read", 1, 9), (0, "close", 9, 10))
    assert build(work(*rows, (1, kind, 0, 10))) == []
    assert len(build(work(*rows, (1, kind, 0, 10), (1, "read", 10, 20)))) == 1


@pytest.mark.parametrize(
    ("stops", "expected"),
    [
        (LAST_DONE, 7 / 0.090),
        (FIRST_DONE, 5 / 0.060),  # 4 to 55 ms are 51
        (PARENT, 5 / 0.090),
        (SUM_OF_RANKS, 2 / 0.060 + 3 / 0.060 + 2 / 0.090),
        (SUM_UNTIL_FIRST, 2 / 0.060 + 2 / 0.060 + 1 / 0.090),
        (LONGEST_RANK, 7 / 0.090),
        (SLOWEST_RANK, 3 * min(2 / 0.090, 3 / 0.090, 2 / 0.090)),
    ],
)
def test_a_clock_that_ticks_is_rounded_up(stops, expected):
    """Own times of 50, 60 and 90 ms, with a tick of 30 ms."""
    made = work(*THREE)
    moved = made.get_bytes_by_operation("read")
    assert compute_rate(made, moved, Clock(frozenset(), stops, 30 * MS)) == pytest.approx(expected * MIB)


def test_a_timeline_moves_each_rank_by_what_is_cut_out_after_its_first_operation():
    made = work((0, "open", 0, 5), (0, "read", 5, 10), (0, "fsync", 10, 30), (0, "read", 30, 40), (1, "read", 3, 9))
    line = clock.build_timeline(made, frozenset(), made.count_of("read") * 2)
    assert ((line.start - 10**12) / MS).tolist() == [5, 10, 3] and ((line.end - 10**12) / MS).tolist() == [10, 20, 9]
    assert (line.of.tolist(), line.done.tolist()) == ([0, 0, 1], [2, 2, 2])
    assert [((x - 10**12) / MS).tolist() for x in (line.began, line.ended)] == [[5, 3], [20, 9]]
    assert compute_rate(made, np.zeros(5), Clock(frozenset(), LAST_DONE)) is None
    still = work((0, "read", 5, 5))
    for stops in STOPS:
        assert compute_rate(still, still.count_of("read"), Clock(frozenset(), stops)) is None


def test_a_line_of_mdtest_is_over_all_iterations():
    assert mdtest.summarise_rates("File stat", "stat", [100.0, 130.0, 70.0, 120.0]) == mdtest.MdtestRow(
        "File stat", "stat", 130.0, 70.0, 105.0, near(float(np.std([100, 130, 70, 120], ddof=1))), 4
    )
