"""The workload of one's own phases: data → plans of every rank, what they need, and what is said about wrong ones."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.schema import RECORD
from iosonde.core.workload import Device, FileNames, Files, MixPart, Phase, Step, Workload
from iosonde.engine import _native
from iosonde.measure.rank import wear_out
from iosonde.measure.workloads import phase_maker, phases
from iosonde.measure.workloads import settings as workload_settings
from iosonde.measure.workloads.phases import Settings
from iosonde.measure.workloads.settings import SettingError, parse_integer
from messages import assert_problem, raises

WRITE = {"kind": "write", "transfer_size": "1MiB", "size": "4MiB"}


def phase(**changes):
    return {"name": "write", "files": "rank${RANK}/f", "steps": ["create", WRITE, "fsync", "close"]} | changes


def plan(*given, rank=0, ranks=4, shift=1, **settings):
    return phases.plan(Settings(list(given), **settings), rank, ranks, shift)


def test_buffered_is_no_flag_and_others_stay():
    assert plan(phase(open_flags=["buffered"]))[0].phase.open_flags == ()
    assert plan(phase(open_flags=["direct"]))[0].phase.open_flags == ("direct",)


def test_a_task_reads_one_file_and_makes_another_beside_it(tmp_path):
    tiles = {"template": "tile", "count": 2}
    made = phase(files=tiles, steps=["create", WRITE, "close"])
    reads = ["open", {"kind": "read", "transfer_size": "1MiB", "size": "4MiB"}, "close"]
    task = [*reads, {"kind": "create", "to": ".out"}, WRITE | {"size": "1MiB"}, "close"]
    settings = Settings([made, phase(name="task", files=tiles, measures="rate", counts="create", steps=task)])
    both = phases.plan(settings, 0, 1, 0)
    assert both[1].reads == (both[1].phase.files,) and both[1].counted_kind == "create"
    assert phases.bytes_needed(settings, 1) == 10 * 2**20  # what is made beside is counted besides
    session = _native.Session(Workload(str(tmp_path), (tuple(one.phase for one in both),)).to_json(), 100)
    for place in range(2):
        session.prepare(place)
        session.run(place, 0)
    session.close()
    assert {path.name: path.stat().st_size >> 20 for path in tmp_path.iterdir()} == {
        "tile000000": 4,
        "tile000001": 4,
        "tile000000.out": 1,
        "tile000001.out": 1,
    }


def test_a_name_beside_and_a_rename_in_one_phase_are_refused():
    with raises("invalid-phase", SettingError):
        plan(phase(steps=[{"kind": "create", "to": ".a"}, "close", {"kind": "rename", "to": ".a"}]))


def test_names_and_numbers_know_the_rank():
    (one,) = plan(
        phase(files={"template": "part${PART}/of${RANKS}/by${PEER}-", "count": 3, "first": 2}), rank=3, parts=2
    )
    assert one.phase.files == Files("part1/of4/by0-", 3, 2)
    (one,) = plan(phase(files={"names": ["a${RANK}", "b"]}), rank=2)
    assert one.phase.files == FileNames(("a2", "b"))
    segment = {**WRITE, "base": "${RANK} * 4MiB"}
    (one,) = plan(phase(steps=["open", segment, "close"]), rank=3)
    assert (one.phase.steps[1].base, one.phase.steps[1].size) == (12 * 2**20, 4 * 2**20)


def test_bytes_are_bandwidth_and_names_are_rates():
    counted = [
        (one.measures, one.counted_kind)
        for one in plan(
            phase(name="a"),
            phase(name="b", steps=["create", "close"]),
            phase(name="c", steps=["create", WRITE, "close"], measures="rate"),
            phase(name="d", steps=[{**WRITE, "kind": "read", "offsets": "rnd"}], measures="rate"),
            phase(name="e", steps=["stat"]),
        )
    ]
    assert counted[0] == ("bandwidth", "write")
    assert counted[1:] == [("rate", kind) for kind in ("create", "close", "read", "stat")]


def test_a_write_that_nothing_makes_durable_is_called_so():
    names = [
        one.operation
        for one in plan(
            phase(),
            phase(name="write_b", steps=["create", WRITE]),
            phase(name="dump", steps=[WRITE]),
            phase(name="write_c", steps=[WRITE], open_flags=["direct"]),
        )
    ]
    assert names == ["write", "write_buffered_b", "dump_buffered", "write_c"]


def test_caches_matter_to_reads_of_files_and_a_shared_one_has_a_writer():
    read = {**WRITE, "kind": "read"}
    made = phase(name="make", files="shared", by="first", timed=False)
    shared = phase(name="read_shared", files="shared", steps=["open", read, "close"])
    own = phase(name="read_own", steps=["open", read, "close"])
    plans = plan(made, shared, own, phase(name="update", steps=[read, WRITE]), rank=1)
    assert [one.phase is None for one in plans] == [True, False, False, False]
    assert [bool(one.reads) for one in plans] == [False, True, True, False]
    assert [one.shared for one in plans] == [False, True, False, False]
    assert [one.timed for one in plans] == [False, True, True, True]


def test_the_rules_of_a_phase():
    (one,) = plan(
        phase(
            passes=0,
            time_limit="1.5s",
            wear_out=True,
            order="shuffled",
            backend={"name": "io_uring", "queue_depth": "8"},
            arrival={"rate_per_s": 100, "distribution": "poisson"},
            steps=[{"kind": "compute", "time": "5us"}],
        )
    )
    assert one.phase.time_limit_ns == 1_500_000_000
    assert one.phase.steps[0].ns == 5000
    assert one.backend == {"name": "io_uring", "queue_depth": 8}
    assert one.wears_out


def test_a_mix_counts_what_it_holds():
    mix = {
        "kind": "mix",
        "count": 10,
        "of": [
            {"weight": 7, "step": {**WRITE, "kind": "read", "offsets": "rnd"}},
            {"weight": 3, "step": {**WRITE, "offsets": "rnd"}},
        ],
    }
    (one,) = plan(phase(name="mix", steps=[mix], counts="write", measures="rate"))
    assert one.counted_kind == "write"
    assert phases.bytes_moved(Settings([phase(name="mix", steps=[mix])]), 1) == 10 * 2**20
    assert phases.bytes_written(Settings([phase(name="mix", steps=[mix])]), 1) == 3 * 2**20


def test_what_is_needed_is_what_all_ranks_write():
    settings = Settings([phase(files={"template": "r${RANK}/f", "count": 3})])
    assert phases.bytes_needed(settings, 5) == 5 * 3 * 4 * 2**20
    assert phases.bytes_moved(settings, 5) == phases.bytes_written(settings, 5) == 5 * 3 * 4 * 2**20
    assert phases.files_needed(settings, 5) >= 15
    shared = {**WRITE, "base": "${RANK} * 4MiB"}
    assert phases.bytes_needed(Settings([phase(files="one", steps=["open", shared])]), 5) == 20 * 2**20


@given(st.integers(1, 9))
def test_the_engine_takes_what_is_planned(tmp_path_factory, ranks):
    root = str(tmp_path_factory.getbasetemp())
    settings = Settings([phase(), phase(name="read", files="rank${PEER}/f", steps=[{**WRITE, "kind": "read"}])])
    for rank in range(ranks):
        for one in phases.plan(settings, rank, ranks, 1 % ranks):
            _native.Session(Workload(root, ((one.phase,),), rank=rank).to_json(), 10)


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        ({"nam": 1}, ("phases", 0, "nam"), "unknown-key"),
        ({"steps": []}, ("phases", 0, "steps"), "no-steps"),
        ({"steps": ["craete"]}, ("phases", 0, "steps", 0, "kind"), "unknown-operation"),
        ({"steps": [{"kind": "write"}]}, ("phases", 0, "steps", 0), "missing-key"),
        ({"steps": [{**WRITE, "size": "some"}]}, ("phases", 0, "steps", 0, "size"), "not-an-integer"),
        ({"steps": [{**WRITE, "siz": 1}]}, ("phases", 0, "steps", 0, "siz"), "unknown-key"),
        ({"steps": [{"kind": "mix"}]}, ("phases", 0, "steps", 0, "of"), "no-parts"),
        ({"files": {"count": 3}}, ("phases", 0, "files"), "missing-key"),
        ({"files": {"template": "a", "count": 0}}, ("phases", 0, "files", "count"), "out-of-range"),
        ({"passes": 0}, ("phases", 0, "passes"), "endless-phase"),
        ({"wear_out": True}, ("phases", 0, "wear_out"), "missing-time-limit"),
        ({"time_limit": "soon"}, ("phases", 0, "time_limit"), "invalid-duration"),
        ({"measures": "speed"}, ("phases", 0, "measures"), "unknown-option-value"),
        ({"counts": "read"}, ("phases", 0, "counts"), "unknown-step"),
        ({"measures": "bandwidth", "counts": "fsync"}, ("phases", 0, "measures"), "no-bytes-moved"),
        ({"backend": "mpi"}, ("phases", 0, "backend"), "unknown-backend"),
        ({"by": "last"}, ("phases", 0, "by"), "unknown-option-value"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(changes, path, code):
    with raises(code, SettingError) as caught:
        Settings([phase(**changes)])
    assert caught.value.path == path


@pytest.mark.parametrize(("given", "number"), [("3 * 64KiB + 1", 196609), (7, 7), ("8", 8), ("2 * (3 - 1) // 4", 1)])
def test_numbers_may_be_computed(given, number):
    assert parse_integer(given) == number


@pytest.mark.parametrize(
    "given", ["", "a", "__import__('os')", "2 ** 9", "1 / 2", "1.5", 1.5, True, "9" * 500, "1 // 0"]
)
def test_nothing_else_is_evaluated(given):
    with pytest.raises(InputError):
        parse_integer(given)


class Record:
    """As ``_native.PhaseRecord``."""

    def __init__(self, durations, started_ns, complete=True):
        rows = np.zeros(len(durations), RECORD)
        rows["packed"] = np.array(durations, np.uint64) << np.uint64(16)
        self.operations = rows.view(np.uint64).reshape(-1, 4)
        self.started_ns, self.ended_ns = started_ns, started_ns + sum(durations)
        self.complete, self.stopped, self.errors = complete, "count", []
        self.extra_bytes = 7 * len(durations)
        count = len(durations)
        self.totals = [
            {
                "kind": 0,
                "count": count,
                "bytes": 10 * count,
                "errors": 0,
                "sum_duration_ns": sum(durations),
                "first_start_ns": started_ns,
                "last_end_ns": self.ended_ns,
            }
        ]
        buckets, counts = np.unique(
            np.searchsorted(_native.bucket_edges_ns(), durations, "right") - 1, return_counts=True
        )
        self.histograms = {} if complete else {0: (buckets, counts)}


@pytest.mark.parametrize("complete", [(True, True), (True, False), (False, False)])
def test_two_parts_of_a_worn_out_phase_are_one(complete):
    first, second = Record([100, 200], 1000, complete[0]), Record([300], 5000, complete[1])
    joined = wear_out.join_phase_parts(first, second)
    assert (joined.started_ns, joined.ended_ns, joined.complete) == (1000, 5300, all(complete))
    assert joined.extra_bytes == 21
    assert joined.totals == [
        {
            "kind": 0,
            "count": 3,
            "bytes": 30,
            "errors": 0,
            "sum_duration_ns": 600,
            "first_start_ns": 1000,
            "last_end_ns": 5300,
        }
    ]
    assert len(joined.operations) == (3 if all(complete) else 2)
    if not all(complete):
        buckets, counts = joined.histograms[0]
        edges = _native.bucket_edges_ns()
        assert counts.tolist() == [1, 1, 1]
        assert [
            edges[bucket] <= value < edges[bucket + 1] for bucket, value in zip(buckets, (100, 200, 300), strict=True)
        ]


def test_settings_are_plain_data_again():
    settings = Settings([phase()], cache="warm", parts=3)
    assert Settings(**json.loads(json.dumps(settings.to_json()))) == settings


def test_a_sieve_is_a_step_of_a_phase_and_its_buffer_a_size():
    stride = {"transfer_size": "1KiB", "size": "64KiB", "offsets": {"stride": {"hole": "3KiB"}}}
    step = {"kind": "read", **stride, "sieve": {"buffer": "16KiB"}}
    (one,) = phases.plan(phases.Settings([{"name": "p", "files": "f", "steps": [step]}]), 0, 1, 0)
    assert one.phase.steps[0].sieve == {"buffer": 16384}
    with raises("unknown-key", SettingError, key="bufer"):
        phases.Settings([{"name": "p", "files": "f", "steps": [{**step, "sieve": {"bufer": 1}}]}])


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        (
            {"steps": ["create", {**WRITE, "offsets": {"rnd_near": 3}}]},
            ("steps", 1, "offsets", "rnd_near"),
            "not-a-mapping",
        ),
        ({"steps": ["create", {**WRITE, "offsets": "zipf"}]}, ("steps", 1, "offsets"), "invalid-phase"),
        ({"files": "../f"}, ("files", "template"), "invalid-phase"),
        ({"steps": ["create", "rename"]}, ("steps", 1), "invalid-phase"),
        ({"backend": {"name": "io_uring", "queue_depth": 10**5}}, ("backend", "queue_depth"), "invalid-phase"),
    ],
)
def test_what_the_engine_would_refuse_is_refused_before_anything_starts(changes, path, code):
    with raises(code, SettingError) as caught:
        plan(phase(**changes))
    assert caught.value.path == ("phases", 0, *path)
    assert caught.value.hint.startswith("see docs/workload.md")


def test_a_phase_may_read_from_nowhere_and_needs_no_space_for_it():
    phase = {
        "name": "zeros",
        "files": {"device": "zero"},
        "steps": [{"kind": "read", "transfer_size": 4096, "count": 3}],
    }
    settings = phases.Settings(phases=[phase])
    [plan] = phases.plan(settings, 0, 1, 0)
    assert plan.phase.files == Device("zero") and plan.reads == ()
    assert phases.bytes_needed(settings, 4) == phases.files_needed(settings, 4) == 0
    with raises("invalid-phase", SettingError):
        phases.Settings(phases=[phase | {"steps": [{"kind": "write", "transfer_size": 1, "count": 1}]}])


def at(kind, **more):
    return {"kind": kind, **more}


@pytest.mark.parametrize(
    ("steps", "passes", "needed", "moved", "written"),
    [
        ([at("truncate", to="8KiB")], 1, 8192, 0, 0),
        ([at("write", transfer_size=1000, count=3)], 1, 3000, 3000, 3000),
        ([at("write", transfer_size=1000, count=3, base=500)], 2, 3500, 6000, 6000),
        ([at("append", transfer_size=1000, count=3)], 2, 6000, 6000, 6000),
        ([at("write", transfer_size=1000, size=5000), at("read", transfer_size=100, size=4000)], 1, 5000, 9000, 5000),
        ([at("read", transfer_size=100, size=4000)], 3, 0, 12000, 0),
        (
            [
                {
                    "kind": "mix",
                    "count": 10,
                    "of": [
                        {"weight": 3, "step": at("read", transfer_size=100, size=4000)},
                        {"weight": 1, "step": at("write", transfer_size=1000, size=2000)},
                    ],
                }
            ],
            1,
            2000,
            10 * (3 * 100 + 1000) // 4,
            10 * 1000 // 4,
        ),
    ],
)
def test_the_bytes_of_each_kind_of_step(steps, passes, needed, moved, written):
    """Two files for each of three ranks."""
    files = {"template": "r${RANK}/f", "count": 2}
    first = "open" if steps[0]["kind"] in ("read", "mix") else "create"
    settings = Settings([phase(files=files, steps=[first, *steps, "close"], passes=passes)])
    assert phases.bytes_needed(settings, 3) == 3 * 2 * needed
    assert phases.bytes_moved(settings, 3) == 3 * 2 * moved
    assert phases.bytes_written(settings, 3) == 3 * 2 * written
    assert phases.files_needed(settings, 3) == 3 * (2 + 3)
    assert phases.files_touched(settings, 3) == 3 * (passes * 2 + 2)


def test_a_part_without_work_keeps_the_times_of_the_other():
    """The engine's times are 0 where it did nothing."""
    worked, idle = Record([100, 200], 1000), Record([], 0)
    idle.totals = []
    for parts in ((worked, idle), (idle, worked)):
        joined = wear_out.join_phase_parts(*parts)
        assert (joined.started_ns, joined.ended_ns, joined.totals) == (1000, 1300, worked.totals)


def test_a_phase_takes_over_all_of_its_keys():
    step = {
        "kind": "write",
        "transfer_size": "1KiB",
        "base": "${RANK} * 2KiB",
        "count": "2",
        "offsets": {"stride": {"hole": "3KiB"}},
        "memory": "seq",
    }
    spec = {
        "name": "w",
        "files": {"template": "f${RANK}", "count": "2", "first": 0, "suffix": ".x"},
        "steps": ["open", step, {"kind": "compute", "time": "2ms", "ns_per_byte": 3}, "close"],
        "order": "shuffled",
        "passes": "3",
        "time_limit": "2s",
        "max_operations": "9",
        "on_error": "continue",
        "arrival": {"rate_per_s": 5, "distribution": "poisson"},
        "open_flags": ["direct", "buffered", "sync"],
        "content": "zeros",
        "verify": False,
        "memory_size": "8KiB",
        "alignment": "512",
        "min_nodes": "2",
    }
    planned = phases.PhaseMaker({"RANK": 1, "RANKS": 2}, ()).plan(spec, set())
    phase_of = planned.phase
    assert phase_of == Phase(
        "w",
        Files("f1", 2, 0, ".x"),
        (
            Step("open"),
            Step(
                "write",
                transfer_size=1024,
                base=2048,
                count=2,
                offsets={"stride": {"hole": 3072}},
                memory="seq",
            ),
            Step("compute", ns=2_000_000, ns_per_byte=3),
            Step("close"),
        ),
        order="shuffled",
        passes=3,
        time_limit_ns=2 * 10**9,
        max_operations=9,
        on_error="continue",
        arrival={"rate_per_s": 5, "distribution": "poisson"},
        open_flags=("direct", "sync"),
        content="zeros",
        verify=False,
        memory_size=8192,
        alignment=512,
    )
    assert (planned.operation, planned.measures, planned.counted_kind) == ("w", "bandwidth", "write")
    assert (planned.timed, planned.reads, planned.shared, planned.wears_out, planned.min_nodes) == (
        True,
        (),
        False,
        False,
        2,
    )
    assert planned.backend == {"name": "posix"}


def test_what_a_phase_does_not_say_has_its_default():
    (planned,) = plan({"name": "p", "files": "f", "steps": ["stat"]})
    assert planned.phase == Phase("p", Files("f"), (Step("stat"),), passes=1, alignment=4096)
    assert (planned.min_nodes, planned.backend, planned.timed) == (1, {"name": "posix"}, True)
    (ring,) = plan({"name": "p", "files": "f", "steps": ["stat"], "backend": "io_uring", "verify": True, "timed": 0})
    assert (ring.backend, ring.phase.verify, ring.timed) == ({"name": "io_uring"}, True, False)


@pytest.mark.parametrize(
    ("steps", "flags", "name"),
    [
        (["write"], (), "w_buffered"),
        (["write", "fdatasync"], (), "w"),
        (["write", "close"], (), "w"),
        (["write", "open"], (), "w_buffered"),
        (["write"], ("dsync",), "w"),
        (["write"], ("append",), "w_buffered"),
        (["read"], (), "w"),
    ],
)
def test_a_write_is_durable_by_a_step_or_a_flag(steps, flags, name):
    phase_of = Phase("w", Files("f"), tuple(Step(kind) for kind in steps), open_flags=flags)
    assert phase_maker._name_operation(phase_of, steps[0], steps) == name
    named = Phase("buffered w", Files("f"), (Step("write"),))
    assert phase_maker._name_operation(named, "write", ["write"]) == named.name


@pytest.mark.parametrize(
    ("measures", "kinds", "moving", "counted"),
    [
        ("bandwidth", ["open", "read", "write"], ["read", "write"], "read"),
        ("rate", ["open", "read", "close"], ["read"], "close"),
        ("rate", ["open", "read"], ["read"], "read"),
        ("rate", ["open", "close"], [], "open"),
        ("bandwidth", ["open", "close"], [], "open"),
    ],
)
def test_which_operation_counts(measures, kinds, moving, counted):
    assert phase_maker._choose_counted(measures, kinds, moving) == counted


def test_kinds_of_steps_are_listed_once_with_those_of_a_mix():
    mix = Step("mix", of=(MixPart(1, Step("read")), MixPart(2, Step("write"))))
    assert phase_maker.list_kinds_of_steps((Step("open"), mix, Step("write"), Step("open"))) == [
        "open",
        "read",
        "write",
    ]
    assert [phase_maker._name_place(files) for files in (Files("f"), FileNames(("a", "b")), Device("zero"))] == [
        "f",
        "a",
        "zero",
    ]


@pytest.mark.parametrize(
    ("changes", "path", "code", "values"),
    [
        ({"passes": -1}, ("passes",), "out-of-range", {"number": -1, "minimum": 0}),
        ({"max_operations": 0}, ("max_operations",), "out-of-range", {"number": 0, "minimum": 1}),
        ({"files": {"template": "a", "first": -1}}, ("files", "first"), "out-of-range", {"minimum": 0}),
        ({"files": {"device": "zero", "x": 1}}, ("files", "x"), "unknown-key", {"key": "x"}),
        ({"files": {"names": ["a"], "count": 1}}, ("files", "count"), "unknown-key", {"key": "count"}),
        ({"files": 3}, ("files",), "not-a-mapping", {"setting": 3}),
        ({"steps": "write"}, ("steps",), "no-steps", {}),
        ({"steps": [3]}, ("steps", 0), "not-a-mapping", {"setting": 3}),
        ({"steps": [{**WRITE, "base": -1}]}, ("steps", 0, "base"), "out-of-range", {"minimum": 0}),
        ({"steps": [{**WRITE, "transfer_size": 0}]}, ("steps", 0, "transfer_size"), "out-of-range", {"minimum": 1}),
        ({"steps": [{**WRITE, "count": 0}]}, ("steps", 0, "count"), "out-of-range", {"minimum": 1}),
        ({"steps": [{"kind": "truncate", "to": -1}]}, ("steps", 0, "to"), "out-of-range", {"minimum": 0}),
        ({"steps": [{"kind": "mmap_read"}]}, ("steps", 0), "missing-key", {"kind": "mmap_read"}),
        ({"steps": [{"kind": "append"}]}, ("steps", 0), "missing-key", {"key": "transfer_size"}),
        ({"steps": [{"kind": "mix", "of": []}]}, ("steps", 0, "of"), "no-parts", {}),
        (
            {"steps": [{"kind": "mix", "of": [{"step": WRITE}]}]},
            ("steps", 0, "of", 0),
            "missing-key",
            {"key": "weight"},
        ),
        (
            {"steps": [{"kind": "mix", "of": [{"weight": 0, "step": WRITE}]}]},
            ("steps", 0, "of", 0, "weight"),
            "out-of-range",
            {},
        ),
        ({"steps": [{**WRITE, "sieve": {}}]}, ("steps", 0, "sieve"), "missing-key", {"key": "buffer"}),
        ({"steps": [{**WRITE, "sieve": {"buffer": 0}}]}, ("steps", 0, "sieve", "buffer"), "out-of-range", {}),
        (
            {"steps": [{**WRITE, "offsets": {"stride": {"hole": -1}}}]},
            ("steps", 0, "offsets", "stride", "hole"),
            "out-of-range",
            {"minimum": 0},
        ),
        ({"steps": [{"kind": "compute", "time": "x"}]}, ("steps", 0, "time"), "invalid-duration", {}),
        ({"backend": {"name": "io_uring", "queue_depth": 0}}, ("backend", "queue_depth"), "out-of-range", {}),
        ({"backend": 3}, ("backend",), "unknown-backend", {}),
        ({"order": "x"}, ("order",), "unknown-option-value", {"choice": "x"}),
        ({"on_error": "x"}, ("on_error",), "unknown-option-value", {"choice": "x"}),
        ({"passes": 0, "wear_out": True, "max_operations": 3}, ("wear_out",), "missing-time-limit", {}),
    ],
)
def test_the_place_and_values_of_a_wrong_key(changes, path, code, values):
    with raises(code, SettingError, **values) as caught:
        phases.plan(SimpleNamespace(phases=[phase(**changes)], parts=1), 0, 1, 0)
    assert caught.value.path == ("phases", 0, *path)


def test_what_a_phase_with_zero_passes_needs():
    endless = phase(passes=0, max_operations=5, files={"template": "f", "count": 2})
    settings = Settings([endless])
    assert phases.bytes_moved(settings, 2) == 2 * 2 * 4 * 2**20
    assert phases.files_touched(settings, 2) == 2 * 2 + 2
    assert phases.bytes_needed(settings, 2) == 2 * 4 * 2**20
    assert phases.files_needed(settings, 2) == 2 + 3


@pytest.mark.parametrize(
    ("step", "passes", "extent", "read", "written"),
    [
        (Step("write", transfer_size=10), 1, 10, 0, 10),
        (Step("write", transfer_size=10, count=3, base=5), 2, 35, 0, 30),
        (Step("write", transfer_size=10, size=25, base=5), 1, 30, 0, 25),
        (Step("append", transfer_size=10, size=25), 2, 50, 0, 25),
        (Step("mmap_write", transfer_size=10, count=2), 1, 20, 0, 20),
        (Step("mmap_read", transfer_size=10, count=2), 1, 0, 20, 0),
        (Step("read", transfer_size=10), 1, 0, 10, 0),
        (Step("truncate", to=7), 3, 7, 0, 0),
        (Step("truncate"), 3, 0, 0, 0),
        (Step("fsync"), 3, 0, 0, 0),
        (
            Step(
                "mix",
                count=8,
                of=(
                    MixPart(1, Step("read", transfer_size=10, count=9)),
                    MixPart(3, Step("write", transfer_size=20, size=100)),
                ),
            ),
            1,
            100,
            8 * 10 // 4,
            8 * 60 // 4,
        ),
        (
            Step("mix", of=(MixPart(1, Step("read", transfer_size=10)), MixPart(3, Step("write", transfer_size=20)))),
            1,
            20,
            10 // 4,
            60 // 4,
        ),
    ],
)
def test_how_far_a_step_reaches_and_what_it_moves(step, passes, extent, read, written):
    assert phases._compute_extent(step, passes) == extent
    assert phases._count_moved(step, phase_maker.READS) == read
    assert phases._count_moved(step, phase_maker.WRITES) == written


@pytest.mark.parametrize(
    ("value", "more", "wanted"),
    [
        (3, {}, 3),
        ("3", {}, 3),
        ("4KiB", {"size": True}, 4096),
        ("4KiB", {}, "not-an-integer"),
        ("many", {"size": True}, "invalid-size"),
        (True, {}, "not-an-integer"),
        (1.0, {}, "not-an-integer"),
        (0, {}, "out-of-range"),
        (0, {"least": 0}, 0),
        (-1, {"least": 0}, "out-of-range"),
    ],
)
def test_a_count_is_a_whole_number_and_a_size_may_have_a_unit(value, more, wanted):
    if isinstance(wanted, int):
        assert workload_settings.read_count("n", value, **more) == wanted
        return
    with raises(wanted, SettingError) as caught:
        workload_settings.read_count("n", value, **more)
    assert caught.value.path == ("n",)
    if wanted == "out-of-range":
        assert_problem(caught.value, wanted, name="n", number=value, minimum=more.get("least", 1))


def test_numbers_have_64_bits():
    assert parse_integer(str(2**63 - 1)) == 2**63 - 1 and parse_integer(f"-1 * {2**63 - 1}") == 1 - 2**63
    for text in (str(2**63), f"{2**62} * 2"):
        with raises("not-an-integer", setting=text):
            parse_integer(text)
    assert parse_integer(4.0) == 4 and parse_integer("1.5KiB + 1") == 1537
