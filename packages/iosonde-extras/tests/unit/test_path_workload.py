"""The study of paths: what its cells do, read from the positions that the engine really visited."""

from itertools import product

import numpy as np
import pytest

from iosonde.core.schema import RECORD
from iosonde.core.workload import Device, Workload
from iosonde.engine import _native
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
