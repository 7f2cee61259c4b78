"""Non-contiguous access: whose piece is where, what a write leaves behind, and what the plan says before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.workload import Files, MpiIo, Phase, Step
from iosonde.measure import workloads
from iosonde.measure.rank import phases as rank_phases
from iosonde.measure.workloads import noncontiguous
from iosonde.measure.workloads.noncontiguous import METHODS, Settings, compute_pieces, plan
from iosonde.ranks import mpi
from messages import raises

KIB = 2**10
SMALL = {"access_size": 3 * KIB, "hole_size": 5 * KIB, "file_size": 300 * KIB + 77, "sieve_buffer": 20_000}


def run(root, settings, ranks=1, spoil=lambda operation, path: None):
    """All phases of all ranks, one rank after the other, by the engine; operation → its records."""
    alone, found = mpi.connect_ranks(1), {}
    plans = [plan(settings, rank, ranks, 0) for rank in range(ranks)]
    for phases in zip(*plans, strict=True):
        for one in phases:
            if one.phase is None:
                continue
            session = rank_phases.open_session(one, str(root), 1, alone, 10_000)
            session.prepare(0)
            found.setdefault(one.operation, []).extend(session.run(0))
            session.close()
            spoil(one.operation, root / f"{one.phase.files.template}000000")
    return found


def errors(found):
    return {operation: [e for record in records for e in record.errors] for operation, records in found.items()}


@given(
    access=st.integers(1, 50),
    hole=st.integers(0, 50),
    ranks=st.integers(1, 5),
    size=st.integers(1, 2000),
    layout=st.sampled_from(noncontiguous.LAYOUTS),
)
def test_pieces_lie_in_the_file_and_belong_to_one_rank(access, hole, ranks, size, layout):
    settings = Settings(access_size=access, hole_size=hole, file_size=size, layout=layout)
    try:
        mine = [compute_pieces(settings, rank, ranks) for rank in range(ranks)]
    except InputError:
        assert size // ranks < access or size < ranks * (access + hole)
        return
    owner = np.zeros(size, int)
    for pieces in mine:
        assert pieces.count == mine[0].count
        for number in range(pieces.count):
            start = pieces.base + number * pieces.period
            assert start + access <= size
            owner[start : start + access] += 1
    assert owner.max() == 1 and owner.sum() == ranks * mine[0].count * access


def test_every_rank_has_the_same_phases_and_calls():
    for method in METHODS:
        for layout in noncontiguous.LAYOUTS:
            settings = Settings(**SMALL, method=method, layout=layout, verify=True, call_size=10 * KIB)
            plans = [plan(settings, rank, 3, 1) for rank in range(3)]
            assert len({tuple(one.operation for one in mine) for mine in plans}) == 1
            accesses = [one.phase for mine in plans for one in mine if one.operation in ("read", "write")]
            if method.startswith("mpiio"):
                assert {(one.count, one.per_call) for one in accesses} == {(accesses[0].count, 3)}
                assert {one.collective for one in accesses} == {method == "mpiio_collective"}


@pytest.mark.parametrize("layout", noncontiguous.LAYOUTS)
@pytest.mark.parametrize("method", ["naive", "sieve"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_what_is_written_is_read_and_the_holes_stay(tmp_path, method, layout, ranks):
    settings = Settings(**SMALL, method=method, layout=layout, verify=True)
    found = run(tmp_path, settings, ranks)
    assert not any(errors(found).values())
    assert set(found) >= {"write", "check_pieces", "check_holes", "read"}
    assert {path.stat().st_size for path in (tmp_path / "shared").iterdir()} == {settings.file_size}
    moved = {name: sum(record.extra_bytes for record in found[name]) for name in ("read", "write")}
    assert (moved["read"] > 0) == (moved["write"] > 0) == (method == "sieve")


@pytest.mark.parametrize(("place", "said"), [(0, "check_pieces"), (4 * KIB, "check_holes")])
def test_a_write_that_went_wrong_is_found(tmp_path, place, said):
    def spoil(operation, path):
        if operation == "write":
            data = bytearray(path.read_bytes())
            data[place] ^= 1
            path.write_bytes(data)

    wrong = errors(run(tmp_path, Settings(**SMALL, method="sieve", operations="write", verify=True), spoil=spoil))
    assert [operation for operation, found in wrong.items() if found] == [said]


def test_a_read_of_what_was_not_written_is_found(tmp_path):
    def spoil(operation, path):
        if operation == "make_read_file":
            path.write_bytes(b"x" * path.stat().st_size)

    wrong = errors(run(tmp_path, Settings(**SMALL, operations="read", verify=True), spoil=spoil))
    assert wrong["read"]


def test_the_file_on_the_target_and_what_is_moved_are_told_before():
    settings = Settings(access_size=KIB, hole_size=KIB, file_size=64 * KIB)
    assert noncontiguous.bytes_needed(settings, 2) == 128 * KIB
    assert noncontiguous.bytes_moved(settings, 2) == 2 * (64 + 32) * KIB
    sieving = Settings(access_size=KIB, hole_size=KIB, file_size=64 * KIB, method="sieve")
    assert noncontiguous.bytes_moved(sieving, 2) == (64 + 128 + 64 + 64) * KIB
    assert noncontiguous.bytes_written(settings, 2) == (64 + 32 + 64) * KIB
    assert noncontiguous.bytes_written(sieving, 2) == (64 + 64 + 64) * KIB


def test_hints_are_for_mpi_io_and_the_buffer_is_one_of_them():
    hints = {"romio_ds_read": "enable", "ind_rd_buffer_size": 4096, "striping_unit": ""}
    assert Settings(method="sieve", hints=hints).hints == {}
    independent = Settings(method="mpiio_independent", hints=hints, sieve_buffer="1MiB")
    assert independent.hints == {
        "romio_ds_read": "enable",
        "ind_rd_buffer_size": "4096",
        "ind_wr_buffer_size": str(2**20),
    }
    assert Settings(**independent.to_json()) == independent
    assert Settings(method="mpiio_collective").hints == {"cb_buffer_size": str(4 * 2**20)}


@pytest.mark.parametrize(
    ("change", "code", "values"),
    [
        ({"method": "magic"}, "unknown-option-value", {"choice": "magic"}),
        ({"layout": "x"}, "unknown-option-value", {"choice": "x"}),
        ({"operations": ["read", "read"]}, "invalid-operations", {"operations": ["read", "read"]}),
        ({"operations": "append"}, "unknown-option-value", {"choice": "append"}),
        ({"access_size": 0}, "out-of-range", {"number": 0, "minimum": 1}),
        ({"access_size": 2**31}, "out-of-range", {"number": 2**31}),
        ({"hole_size": True}, "not-an-integer", {"setting": True}),
        ({"cache": "hot"}, "unknown-option-value", {"choice": "hot"}),
    ],
)
def test_settings_that_mean_nothing_are_refused(change, code, values):
    with raises(code, InputError, **values) as caught:
        Settings(**change)
    assert caught.value.path == tuple(change)


def test_a_file_that_is_too_small_is_refused():
    with raises("file-too-small", InputError, access_size="64 KiB", ranks=3):
        plan(Settings(file_size="128KiB"), 0, 3, 0)


def test_it_is_a_workload_by_name():
    assert workloads.find_producer("noncontiguous") is noncontiguous


@pytest.mark.parametrize(
    ("layout", "size", "pieces"),
    [
        # Pieces of 10 bytes with holes of 20; two ranks.
        (noncontiguous.SEGMENTED, 200, [(0, 4, 30, 100), (100, 4, 30, 200)]),
        (noncontiguous.SEGMENTED, 199, [(0, 3, 30, 99), (99, 3, 30, 198)]),
        (noncontiguous.INTERLEAVED, 200, [(0, 3, 60, 200), (30, 3, 60, 200)]),
        (noncontiguous.INTERLEAVED, 40, [(0, 1, 60, 40), (30, 1, 60, 40)]),
    ],
)
def test_pieces_of_two_ranks_by_hand(layout, size, pieces):
    settings = Settings(access_size=10, hole_size=20, file_size=size, layout=layout)
    found = [compute_pieces(settings, rank, 2) for rank in range(2)]
    assert [(one.base, one.count, one.period, one.end) for one in found] == pieces


def test_what_is_moved_by_each_method_by_hand():
    """Two ranks, four pieces of 10 bytes each in a file of 200; each file is made before."""
    moved = {}
    for method in METHODS:
        settings = Settings(10, 20, method, ("write", "read"), file_size=200)
        assert noncontiguous.bytes_needed(settings, 2) == 400
        assert noncontiguous.files_needed(settings, 2) == 4
        assert noncontiguous.files_touched(settings, 2) == 2 * (3 * 2 + 2)
        moved[method] = noncontiguous.bytes_moved(settings, 2), noncontiguous.bytes_written(settings, 2)
    useful, made = 80, 2 * 200
    # A sieve reads and writes the whole file to write, and reads it to read.
    assert moved.pop("sieve") == (made + 2 * 200 + 200, made + 200)
    assert set(moved.values()) == {(made + 2 * useful, made + useful)}


@pytest.mark.parametrize("verify", [False, True])
def test_the_phases_of_the_last_of_three_ranks(verify):
    settings = Settings(10, 20, "naive", file_size=200, operations=("write", "read"), verify=verify)
    plans = plan(settings, 2, 3, 1)
    checks = ["check_pieces", "check_holes"] if verify else []
    assert [(one.operation, one.timed, one.phase is None) for one in plans] == [
        ("create_write_file", False, True),
        ("make_write_file", False, False),
        ("write", True, False),
        *[(name, False, False) for name in checks],
        ("create_read_file", False, True),
        ("make_read_file", False, False),
        ("read", True, False),
    ]
    by_name = {one.operation: one for one in plans}
    fill = by_name["make_write_file"].phase
    # It fills the part of rank 1; the last rank's, filled by rank 0, is 68 bytes.
    assert (fill.steps[1].base, fill.steps[1].size) == (66, 66)
    first = plan(settings, 0, 3, 1)[1].phase.steps[1]
    assert (first.base, first.size) == (132, 68)
    assert (fill.content, fill.verify) == (("zeros", False) if verify else ("incompressible", False))
    made = by_name["make_read_file"].phase
    assert (made.content, made.verify) == ("incompressible", verify)
    for name in ("write", "read"):
        one = by_name[name]
        kinds = [step.kind for step in one.phase.steps]
        assert kinds == (["open", "write", "fsync", "close"] if name == "write" else ["open", "read", "close"])
        assert (one.measures, one.counted_kind, one.counts_moved) == ("bandwidth", name, True)
        assert (one.distinct_bytes, one.phase.verify) == (3 * 2 * 10, verify)
        assert [files.template for files in one.reads] == [f"shared/{name}"]
    if verify:
        holes = by_name["check_holes"].phase.steps[0]
        assert (holes.base, holes.transfer_size, holes.size, holes.offsets) == (
            142,
            20,
            50,
            {"stride": {"hole": 10}},
        )


@pytest.mark.parametrize(
    ("hole", "size", "checks"),
    [(0, 100, ["check_pieces"]), (20, 10, ["check_pieces"]), (20, 40, ["check_pieces", "check_holes"])],
)
def test_holes_are_checked_where_there_are_any(hole, size, checks):
    plans = plan(Settings(10, hole, operations="write", file_size=size, verify=True), 0, 1, 0)
    assert [one.operation for one in plans if one.operation.startswith("check")] == checks
    assert [one.timed for one in plans if one.operation.startswith("check")] == [False] * len(checks)


def test_the_steps_of_each_method_by_hand():
    """The second of two ranks: pieces of 10 bytes, holes of 20, in a file of 200."""
    naive, sieve = (
        plan(Settings(10, 20, method, "write", file_size=200, sieve_buffer=64), 1, 2, 0)[2] for method in METHODS[:2]
    )
    stride = {"stride": {"hole": 20}}
    data = {"transfer_size": 10, "base": 100, "size": 100, "offsets": stride}
    ends = Step("fsync"), Step("close")
    assert naive.phase == Phase("write", Files("shared/write", 1), (Step("open"), Step("write", **data), *ends))
    with_buffer = Step("write", **data, sieve={"buffer": 64})
    assert sieve.phase == Phase("write", Files("shared/write", 1), (Step("open"), with_buffer, *ends))
    for method in METHODS[2:]:
        settings = Settings(10, 20, method, "read", 64, 200, call_size=25, hints={"x": 1}, verify=True)
        access = plan(settings, 1, 2, 0)[2].phase
        buffers = ("cb_buffer_size",) if method == METHODS[3] else ("ind_rd_buffer_size", "ind_wr_buffer_size")
        assert access == MpiIo(
            "read",
            "shared/read000000",
            "read",
            base=100,
            piece=10,
            hole=20,
            count=4,
            per_call=2,
            collective=method == METHODS[3],
            hints={**dict.fromkeys(buffers, "64"), "x": "1"},
            verify=True,
        )
    interleaved = plan(Settings(10, 20, METHODS[2], "read", file_size=200, layout="interleaved"), 1, 2, 0)[2].phase
    assert (interleaved.base, interleaved.hole, interleaved.count, interleaved.per_call) == (
        30,
        50,
        3,
        16 * 2**20 // 10,
    )
    assert plan(Settings(10, 20, METHODS[2], "read", file_size=200, call_size=5), 0, 2, 0)[2].phase.per_call == 1


def test_a_file_is_made_whole_in_large_transfers():
    create, fill, *_ = plan(Settings(file_size=2**24 + 5, operations="read"), 0, 2, 0)
    steps = (Step("create"), Step("close"))
    assert create.phase == Phase("create_read_file", Files("shared/read", 1), steps)
    data = Step("write", transfer_size=2**22, base=0, size=2**23 + 2)
    assert fill.phase.steps == (Step("open"), data, Step("fsync"), Step("close"))
    last = plan(Settings(file_size=2**24 + 5, operations="read"), 1, 2, 0)[1].phase.steps[1]
    assert (last.base, last.size) == (2**23 + 2, 2**23 + 3)
    alone = plan(Settings(10, 20, file_size=100, operations="read"), 0, 1, 0)[1].phase.steps[1]
    assert (alone.transfer_size, alone.size) == (100, 100)


@pytest.mark.parametrize(("size", "count"), [(9, 0), (10, 1), (39, 1), (40, 2), (69, 2), (70, 3)])
def test_the_last_piece_needs_no_hole(size, count):
    assert noncontiguous._count_fitting(size, Settings(10, 20)) == count
    assert Settings(10, 20).period == 30


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"operations": ()}, "invalid-operations"),
        ({"verify": 1}, "not-a-boolean"),
        ({"hints": ["a"]}, "not-a-mapping"),
        ({"hole_size": -1}, "out-of-range"),
        ({"call_size": 0x7FFFF001}, "out-of-range"),
        ({"sieve_buffer": 0}, "out-of-range"),
        ({"file_size": 0}, "out-of-range"),
    ],
)
def test_more_settings_that_are_refused(change, code):
    with raises(code, InputError) as caught:
        Settings(**change)
    assert caught.value.path == tuple(change)


def test_the_largest_sizes_are_taken():
    largest = Settings(access_size=0x7FFFF000, hole_size=0, sieve_buffer=0x7FFFF000, file_size=2**40)
    assert (largest.access_size, largest.hole_size, largest.operations) == (0x7FFFF000, 0, ("write", "read"))
    assert largest.to_json()["operations"] == ["write", "read"]
