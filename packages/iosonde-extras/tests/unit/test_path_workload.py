"""The study of paths: what its cells do, read from the positions that the engine really visited."""

from itertools import product

import numpy as np
import pytest

from iosonde.core.schema import RECORD
from iosonde.core.workload import Device, Files, Phase, Step, Workload
from iosonde.engine import _native
from iosonde.measure.workloads.phase_plan import PhasePlan
from iosonde.measure.workloads.settings import SettingError
from iosonde_extras.path_study import workload as path_study
from iosonde_extras.path_study.names import pattern_name
from messages import raises

MIB = 2**20


def offsets(**settings):
    """Where the accesses of a cell go in the file."""
    asked = path_study.Settings(**{"state": "uncached", **settings})
    phase = path_study.plan(asked, 0, 1, 0)[-1].phase
    session = _native.Session(Workload("/x", ((phase,),), 7, {"name": "fake"}).to_json(), 10**6)
    session.prepare(0)
    [record] = session.run(0)
    session.close()
    return record.operations.view(RECORD)[:, 0]["offset"].astype(np.int64), asked


def test_ten_thousand_operations_but_never_more_than_the_bytes():
    assert path_study.Settings(access_size=1).count == 10_000
    assert path_study.Settings(access_size=64 * 1024).count == 10_000
    assert path_study.Settings(access_size="1MiB").count == 1024
    assert path_study.Settings(access_size="16MiB").count == 64


def test_the_first_operation_is_kept_and_every_place_does_what_its_name_says():
    at, _ = offsets(place="seq", access_size=4096, operations=100)
    assert at.tolist() == list(range(0, 409600, 4096))
    at, _ = offsets(place="reverse", access_size=4096, operations=100)
    assert at.tolist() == list(range(396 * 1024, -1, -4096))
    assert set(offsets(place="off0", operations=100)[0]) == {0}
    at, asked = offsets(place="rnd", access_size=MIB, bytes=16 * MIB, operations=16)
    assert asked.extent == 16 * MIB
    at, _ = offsets(place="rnd", access_size=1, bytes=MIB)
    assert at.size == 10_000 and at.min() < MIB / 100 and at.max() > 0.99 * MIB
    at, _ = offsets(place="rnd8", access_size=4096, bytes=2**30)
    assert np.abs(np.diff(at)).max() <= 8 * MIB and np.ptp(at) > 2**29
    at, _ = offsets(place="stride8", access_size=4096, bytes=2**30, operations=100)
    steps = np.diff(at)
    assert np.abs(steps - 8 * MIB).max() <= 16 * MIB and abs(np.median(steps) - 8 * MIB) < 4 * MIB


def test_data_that_is_discarded_touches_no_file_and_reads_and_writes_their_own_device():
    for direction, device in (("read", "zero"), ("write", "null")):
        asked = path_study.Settings(state="discard", direction=direction)
        [access] = path_study.plan(asked, 0, 1, 0)
        assert access.phase.files == Device(device) and not access.reads
        assert path_study.bytes_needed(asked, 4) == path_study.files_needed(asked, 4) == 0


def test_what_is_done_to_the_file_before_makes_its_state():
    def before(**settings):
        plans = path_study.plan(path_study.Settings(**settings), 0, 1, 0)
        kinds = [[step.kind for step in plan.phase.steps] for plan in plans[:-1]]
        return kinds, plans[-1].warm, bool(plans[-1].reads), [plan.timed for plan in plans]

    written, read = ["create", "write", "fsync", "close"], ["open", "read", "close"]
    assert before(state="uncached") == ([written], False, True, [False, True])
    assert before(state="cached") == ([written, read], True, True, [False, False, True])
    assert before(state="again", direction="write") == ([written, read], True, True, [False, False, True])
    assert before(state="first", direction="write") == ([["create", "close"]], True, False, [False, True])


@pytest.mark.parametrize(
    ("settings", "code", "values"),
    [
        ({"state": "first"}, "unknown-option-value", {"name": "state", "choice": "first"}),
        ({"state": "cached", "direction": "write"}, "unknown-option-value", {"name": "state", "choice": "cached"}),
        ({"place": "zigzag"}, "unknown-option-value", {"name": "place", "choice": "zigzag"}),
        ({"access_size": "2MiB", "bytes": "1MiB"}, "out-of-range", {"access_size": 2 * 2**20}),
        ({"time_limit": "soon"}, "invalid-duration", {"place": "time_limit"}),
    ],
)
def test_what_means_nothing_is_refused(settings, code, values):
    with raises(code, SettingError, **values) as caught:
        path_study.Settings(**settings)
    assert caught.value.path == tuple(settings)[:1]


def test_every_cell_of_the_matrix_is_understood_by_the_engine():
    for memory, place, size in product(path_study.MEMORY, path_study.PLACES, (1, 4096, 16 * MIB)):
        phase = path_study.plan(
            path_study.Settings(access_size=size, memory=memory, place=place, state="uncached"), 3, 4, 1
        )[-1].phase
        _native.Session(Workload("/x", ((phase,),), 1, {"name": "fake"}).to_json(), 10).close()


def test_names_are_those_of_the_talk():
    cell = {"memory": "seq", "place": "stride8", "direction": "read", "state": "cached"}
    assert pattern_name(cell) == "C-seq-stride8,8 R"
    assert pattern_name(cell | {"state": "again", "direction": "write", "place": "seq"}) == "C-seq-seq W W"
    assert pattern_name(cell | {"state": "uncached", "memory": "off0", "place": "rnd"}) == "U-off0-rnd R"
    assert pattern_name(cell | {"state": "discard", "memory": "reverse", "place": "off0"}) == "D-reverse-off0 R"


def test_of_what_is_moved_the_making_of_the_file_is_written_and_so_is_a_study_of_writes():
    for settings, written in (
        ({"state": "cached"}, 1),
        ({"direction": "write", "state": "first"}, 1),
        ({"direction": "write", "state": "again"}, 2),
        ({"state": "discard"}, 0),
    ):
        asked = path_study.Settings(access_size=1024, **settings)
        assert path_study.bytes_written(asked, 2) == 2 * written * 1024 * 10_000 <= path_study.bytes_moved(asked, 2)


@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        # Of 3 ranks: bytes at once, moved and written, files at once and touched. 100 accesses of 4 KiB are 409600 B.
        ({"state": "cached"}, (1228800, 3686400, 1228800, 6, 9)),
        ({"state": "uncached"}, (1228800, 2457600, 1228800, 6, 9)),
        ({"state": "uncached", "place": "off0"}, (12288, 1241088, 12288, 6, 9)),
        ({"state": "uncached", "place": "rnd"}, (3145728, 4374528, 3145728, 6, 9)),
        ({"state": "discard"}, (0, 1228800, 0, 0, 0)),
        ({"state": "discard", "direction": "write"}, (0, 1228800, 1228800, 0, 0)),
        ({"state": "first", "direction": "write"}, (1228800, 1228800, 1228800, 6, 9)),
        ({"state": "again", "direction": "write"}, (1228800, 2457600, 2457600, 6, 9)),
        ({"state": "uncached", "direction": "write", "place": "reverse"}, (1228800, 2457600, 2457600, 6, 9)),
        ({"state": "cached", "machine": "lock"}, (0, 0, 0, 0, 0)),
    ],
)
def test_what_a_trial_needs_is_counted(settings, needs):
    cell = path_study.Settings(operations=100, bytes=MIB, **settings)
    functions = (
        path_study.bytes_needed,
        path_study.bytes_moved,
        path_study.bytes_written,
        path_study.files_needed,
        path_study.files_touched,
    )
    assert tuple(function(cell, 3) for function in functions) == needs


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"operations": 10, "access_size": 4096, "bytes": 40960}, 10),
        ({"operations": 11, "access_size": 4096, "bytes": 40960}, 10),
        ({"operations": 9, "access_size": 4096, "bytes": 40960}, 9),
        ({"operations": 9, "access_size": 4096, "bytes": 4096}, 1),
    ],
)
def test_operations_end_with_their_number_or_their_bytes(settings, count):
    assert path_study.Settings(**settings).count == count


def access(**settings):
    return path_study.plan(path_study.Settings(**{"operations": 100, "bytes": MIB} | settings), 2, 4, 1)[-1]


def test_the_accesses_are_planned_as_a_whole():
    plan = access(state="uncached", place="rnd8", memory="seq", memory_size=10_000, time_limit="1.5s")
    files = Files("rank00002/study", 1)
    step = Step("read", 4096, size=MIB, count=100, offsets={"rnd_near": {"distance": 8 * MIB}}, memory="seq")
    assert plan == PhasePlan(
        "access",
        Phase("access", files, (step,), time_limit_ns=1_500_000_000, memory_size=8192),
        "bandwidth",
        "read",
        reads=(files,),
        warm=False,
    )
    wide = access(state="uncached", place="rnd8", access_size=16 * MIB, bytes=32 * MIB).phase.steps[0]
    assert wide.offsets == {"rnd_near": {"distance": 16 * MIB}}


def test_memory_is_one_access_or_whole_ones_and_at_least_two():
    regions = [access(memory=memory, memory_size=12_287).phase.memory_size for memory in ("off0", "seq", "rnd")]
    assert regions == [4096, 8192, 8192]
    assert access(memory="rnd", memory_size=12_288).phase.memory_size == 12_288
    assert access(memory="rnd", memory_size=1).phase.memory_size == 8192


@pytest.mark.parametrize(
    ("state", "direction", "begins"),
    [
        ("cached", "read", "cached"),
        ("uncached", "read", "uncached"),
        ("discard", "read", "discard"),
        ("first", "write", "none"),
        ("again", "write", "cached"),
    ],
)
def test_a_scripted_machine_begins_in_the_state_of_the_cell(state, direction, begins):
    plan = access(state=state, direction=direction, machine={"kind": "read-ahead", "window": "1MiB", "outliers": 0.5})
    machine = {"kind": "read_ahead", "window": MIB, "outliers": 0.5, "state": begins, "file_size": 409600}
    assert plan.backend == {"name": "fake", "machine": machine}


def test_limits_of_sizes_are_included():
    assert path_study.Settings(access_size="1MiB", bytes="1MiB").count == 1
    assert path_study.Settings(access_size="1GiB", bytes="2GiB").count == 2
    with raises("out-of-range", SettingError, access_size=2**30 + 1):
        path_study.Settings(access_size=2**30 + 1, bytes="2GiB")
