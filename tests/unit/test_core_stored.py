"""A stored run as types: each attribute of a run.json written by hand, and what of it is counted or left out."""

from __future__ import annotations

import json

import pytest

from iosonde.core.faults import FaultDone, PlannedFault
from iosonde.core.no_scaling import SERVED_BY_CACHE, find_without_efficiency
from iosonde.core.shared_reads import Counted, find_counted_ranks, find_without_writer, is_writer_excluded
from iosonde.core.stored import (
    StoredPhase,
    StoredRun,
    describe_excluded_incomplete,
    describe_included_incomplete,
    describe_incomplete_treatment,
    list_lab_properties,
    strip_factor_prefix,
)
from iosonde.core.types import Experiment, Finding, Severity
from iosonde.core.workload import FileNames, Files, Phase, Step, Workload
from messages import assert_problem


def run(phases=(), factors=None, requested=False, **more) -> StoredRun:
    document = {"id": "r", "experiment": "e", "source": "s", "started_at": "t", "seconds": 2, "phases": phases}
    return StoredRun({**document, "factors": factors or {}, **more}, requested)


def phase(name="read", **more) -> dict:
    return {"index": 1, "name": name, "counted_kind": "read", **more}


def test_what_an_old_run_does_not_say_is_unknown_or_usual():
    stored = run()
    assert (stored.complete, stored.counts, stored.imported, stored.has_experiment_digest) == (True, True, False, False)
    assert (stored.target, stored.filesystem, stored.structure, stored.maximum, stored.n_operations) == (None,) * 5
    assert (stored.subject_commit, stored.written_by, stored.file_name(1), stored.concurrent_pids) == ("", "", "", ())
    assert (stored.phases, stored.findings, stored.faults, stored.remounts, stored.initial_levels) == (
        (),
        (),
        (),
        [],
        {},
    )
    old = StoredPhase(phase())
    assert (old.operation, old.placed, old.is_step, old.is_command, old.comparable, old.in_turn) == (
        "read",
        True,
        True,
        False,
        True,
        False,
    )
    assert (old.shared, old.recorded_all, old.clock_error_ns, old.tasks_expected, old.duration_ns) == (
        False,
        False,
        0,
        None,
        None,
    )


def test_what_a_phase_says():
    stored = StoredPhase(
        phase(
            operation="op",
            placed=False,
            stage="setup",
            command=" ior ",
            comparable=False,
            on="each",
            mpi={"tool": "ior", "tasks": [4, None], "expected": 8},
            versions=[3, "x"],
            open_flags=["direct"],
            ranks=[{"rank": 0, "clock_offset_ns": 5}, {"rank": 1}],
            of_ranks_alone=[["write", "rate"]],
        )
    )
    assert (stored.operation, stored.placed, stored.is_step, stored.is_command) == ("op", False, False, True)
    assert (stored.command, stored.comparable, stored.in_turn, stored.on_all_ranks) == ("ior", False, True, False)
    assert (stored.mpi_tool, stored.tasks, stored.tasks_expected) == ("ior", (4, None), 8)
    assert (stored.tool_versions, stored.open_flags) == (("3", "x"), {"direct"})
    assert (stored.clock_offsets, stored.rank_only_metrics) == ({0: 5, 1: 0}, (("write", "rate"),))


@pytest.mark.parametrize(
    ("parse", "on", "is_read"), [("ior", "all", True), ("", "all", False), ("ior", "each", False), ("ior", None, False)]
)
def test_output_is_read_from_each_rank_that_ran_at_once(parse, on, is_read):
    assert StoredPhase(phase(parse=parse, on=on)).read_from_each is is_read


@pytest.mark.parametrize(
    ("attribute", "stored", "value", "unknown"),
    [
        ("recorded_all", {"recorded_all": 1}, True, False),
        ("measures", {"measures": "rate"}, "rate", None),
        ("shared", {"shared": True}, True, False),
        ("writer_counted", {"writer_counted": True}, True, False),
        ("writer_cache", {"writer_cache": "cold"}, "cold", ""),
        ("duration_ns", {"duration_ns": 7}, 7, None),
        ("clock_error_ns", {"clock_error_ns": 7}, 7, 0),
        ("counted_kind", {"counted_kind": "write"}, "write", None),
        ("start_spread_ns", {"start_spread_ns": 0}, 0, None),
        ("end_spread_ns", {"end_spread_ns": 7}, 7, None),
        ("totals", {"totals": {"read": {"count": 1}}}, {"read": {"count": 1}}, {}),
        ("server_calls", {"server_calls": {}}, {}, None),
        ("cache", {"cache": {"state": "warm"}}, {"state": "warm"}, {}),
        ("network", {"network": {"sent": 1}}, {"sent": 1}, {}),
        ("hints", {"hints": {"a": "b"}}, {"a": "b"}, {}),
        ("tools", {"tools": ["ior"]}, ("ior",), ()),
        ("unread", {"unread": "why"}, "why", ""),
        ("ranks", {"ranks": [{"rank": 0}]}, ({"rank": 0},), ()),
        ("histograms", {"histograms": {"read": [[1, 2]]}}, {"read": [[1, 2]]}, {}),
        ("operation", {"operation": ""}, "p", "p"),
        ("placed", {"placed": 0}, False, True),
        ("is_step", {"stage": "teardown"}, False, True),
        ("is_command", {"command": ""}, True, False),
        ("comparable", {"comparable": False}, False, True),
        ("in_turn", {"on": "all"}, False, False),
        ("on_all_ranks", {"on": "all"}, True, False),
        ("tasks_expected", {"mpi": {"expected": "8"}}, 8, None),
    ],
)
def test_each_attribute_of_a_phase_is_that_of_its_key_or_unknown(attribute, stored, value, unknown):
    plain = {"index": "2", "name": "p"}
    assert (getattr(StoredPhase(plain | stored), attribute), getattr(StoredPhase(plain), attribute)) == (value, unknown)
    assert StoredPhase(plain).index == 2


@pytest.mark.parametrize(
    ("attribute", "stored", "value", "unknown"),
    [
        ("has_experiment_digest", {"experiment_sha256": "ab"}, True, False),
        ("missing", {"missing": ["rank 1"]}, ("rank 1",), ()),
        ("complete", {"missing": ["rank 1"]}, False, True),
        ("counts", {"missing": ["rank 1"]}, False, True),
        ("n_operations", {"operations": 0}, 0, None),
        ("files", {"files": {"a": {"bytes": 1}}}, {"a": {"bytes": 1}}, {}),
        ("headlines", {"headlines": {"read": ["rate"]}}, {"read": ["rate"]}, {}),
        ("versions", {"versions": {"iosonde": "1"}}, {"iosonde": "1"}, {}),
        ("written_by", {"versions": {"iosonde": "1"}}, "1", ""),
        ("imported", {"facts": {"import": None}}, True, False),
        ("cannot_tell", {"facts": {"cannot_tell": ["x"]}}, ("x",), ()),
        ("target", {"facts": {"target": 7}}, "7", None),
        ("subject_commit", {"facts": {"subject_commit": "c"}}, "c", ""),
        ("concurrent_pids", {"facts": {"measured_beside": [7]}}, (7,), ()),
        ("maximum", {"facts": {"maximum": 5.0}}, 5.0, None),
        ("conditions", {"facts": {"conditions": {"at": 1}}}, {"at": 1}, {}),
        ("live_options", {"facts": {"conditions": {"options": {"a": "b"}}}}, {"a": "b"}, {}),
        ("filesystem", {"facts": {"machine": {"mount": {"type": "nfs4"}}}}, None, None),
        ("filesystem", {"facts": {"target": "/", "machine": {"mount": {"type": "nfs4"}}}}, "nfs4", None),
        ("structure", {"facts": {"target": "/", "machine": {"mount": {"type": "xfs"}}}}, "local", None),
    ],
)
def test_each_attribute_of_a_run_is_that_of_its_key_or_unknown(attribute, stored, value, unknown):
    assert (getattr(run(**stored), attribute), getattr(run(), attribute)) == (value, unknown)


def test_faults_of_a_run_are_those_of_its_facts():
    done = FaultDone(PlannedFault("stop", "servers"), "server-2", healed_ns=5)
    assert run(facts={"faults": [done.to_dict()]}).faults == (done,)


def test_what_a_run_says():
    stored = run(
        [phase("a", cache={"remounts": [{"at": 2}]}), phase("b")],
        {"fs": "nfs"},
        facts={
            "levels_found": {"a": ["1", "1"], "b": ["1", "2"]},
            "files": {"3": "f"},
            "target": "/mnt",
            "remounts": [{"at": 1}],
            "machine": {"mount": {"type": "nfs4", "source": "srv:/x"}, "lab": {"description": {"net_bits_per_s": 1e9}}},
            "conditions": {"options": {"net": "live", "io": "fast"}},
            "import": {},
        },
        findings=[{"code": "D1", "severity": "warning", "sentence": "x"}],
    )
    assert stored.initial_levels == {"a": "1"}
    assert (stored.file_name(3), stored.file_name(4), stored.imported) == ("f", "", True)
    assert stored.places == {"filesystem": "nfs4", "target": "/mnt", "structure": "client/server"}
    assert stored.remounts == [("", {"at": 1}), ("a", {"at": 2})]
    assert stored.target_settings == {"net": "live", "io": "fast"}
    assert stored.findings == (Finding("D1", Severity.WARNING, "x"),)
    levels = {name: stored.level(name) for name in ("fs", "factor_fs", "run", "source", "filesystem", "io", "gone")}
    assert levels == {
        "fs": "nfs",
        "factor_fs": "nfs",
        "run": "r",
        "source": "s",
        "filesystem": "nfs4",
        "io": "fast",
        "gone": None,
    }
    assert run(facts={"machine": {"mount": {"type": "nfs4"}}}).filesystem is None  # without a target
    assert strip_factor_prefix("factor_run") == "run"


def test_the_properties_of_a_lab_are_named_as_its_options():
    lab = {
        "description": {
            "name": "x",
            "net_bits_per_s": 1.5e9,
            "delay_s": 0.001,
            "cpus_per_host": 2,
            "disk_read": None,
            "options": {"replica": "3", "access": "nfs"},
        },
        "layout": {"copies": 3},
    }
    assert list_lab_properties(lab) == {
        "net": "1500mbit",
        "delay": 0.001,
        "cpus": 2,
        "replica": 3,
        "access": "nfs",
        "copies": 3,
    }
    assert list_lab_properties(None) == list_lab_properties({}) == {}


def test_incomplete_runs_are_left_out_or_included_on_request():
    whole, lacking, taken = run(), run(missing=["rank 1"]), run(missing=["rank 1"], requested=True)
    assert [one.counts for one in (whole, lacking, taken)] == [True, False, True]
    assert [bool(describe_incomplete_treatment(runs)) for runs in ([whole], [whole, lacking], [taken])] == [
        False,
        True,
        True,
    ]
    assert describe_incomplete_treatment([taken]) != describe_incomplete_treatment([lacking])
    assert describe_included_incomplete([whole, lacking]) == ""
    one, two = describe_included_incomplete([whole, taken]), describe_included_incomplete([taken, taken, lacking])
    assert_problem(one, "incomplete-runs", n_incomplete=1, trials="2 trials", verb="is")
    assert_problem(two, "incomplete-runs", n_incomplete=2, trials="3 trials", verb="are")
    assert describe_excluded_incomplete([whole, taken]) == ""
    excluded = describe_excluded_incomplete([whole, lacking, taken])
    assert_problem(excluded, "incomplete-runs", n_incomplete=1, trials="3 trials", verb="is")


NODES = {"nodes": [0, 0, 1, 2]}


@pytest.mark.parametrize(
    ("more", "nodes", "is_excluded"),
    [
        ({"shared": True}, [0, 1], True),
        ({"shared": True}, [0, 0], False),
        ({"shared": True, "writer_counted": True}, [0, 1], False),
        ({"shared": True, "counted_kind": "write"}, [0, 1], False),
        ({"shared": False}, [0, 1], False),
    ],
)
def test_the_writers_node_is_not_counted_where_others_read_its_file(more, nodes, is_excluded):
    assert is_writer_excluded(StoredPhase(phase(**more)), nodes) is is_excluded


@pytest.mark.parametrize(
    ("more", "operation", "counted"),
    [
        ({}, "read", Counted(3, False, ranks=4)),
        ({"on": "each", "shared": True, "writer_counted": True}, "read", Counted(3, True, ranks=4, in_turn=True)),
        ({"shared": True}, "read", Counted(2, True, "unknown")),
        ({"shared": True, "cache": {"state": "warm"}}, "read", Counted(2, True, "warm")),
        ({"shared": True, "writer_cache": "cold", "cache": {"state": "warm"}}, "read", Counted(2, True, "cold")),
        ({"shared": True}, "read_writer_node", Counted(1, True, "unknown")),
        ({"operation": "write"}, "write_buffered", Counted(3, False, ranks=4)),
        ({}, "other", None),
        ({"command": "ior"}, "read", None),
    ],
)
def test_the_ranks_that_a_rate_counts(more, operation, counted):
    assert find_counted_ranks(run([phase("first"), phase(**more)], facts=NODES), operation) == counted
    assert find_counted_ranks(run([phase(**more)]), operation) is None  # nodes unknown


def test_operations_without_their_writer_have_no_efficiency():
    shared = run([phase(shared=True, writer_cache="warm"), phase("stat")], facts=NODES)
    cold = run([phase(shared=True, writer_cache="cold")], facts=NODES)
    incomplete = run([phase("x", shared=True)], facts=NODES, missing=["y"])
    names, message = find_without_writer([shared, cold, incomplete])
    assert names == {"read", "read_writer_node"}
    assert_problem(message, "writer-not-counted", operations="read", states="cold")
    assert find_without_writer([run([phase()], facts=NODES), incomplete]) == (set(), "")


def test_operations_that_measure_different_things_have_no_efficiency():
    served, cached = (run([phase(cache={"state": state})]) for state in ("cold", SERVED_BY_CACHE))
    names, (note,) = find_without_efficiency([served, cached])
    assert names == {"read"}
    assert_problem(note, "mixed-caches", operations="read")
    assert find_without_efficiency([served, served]) == find_without_efficiency([cached, run([phase()])]) == (set(), ())


def test_operations_whose_reader_changed_have_no_efficiency():
    steps = [{"phases": [{"name": "read", "files": "a/${PEER}"}, {"name": "own", "files": "a"}]}]
    experiment = Experiment("e", "e", [], {"steps": steps}, [], 1, "")
    warm = [phase("read", cache={"state": "warm"}), phase("own", cache={"state": "warm"})]
    runs = [run(warm, {"reader": reader}) for reader in ("other_node", "writer")]
    names, (note,) = find_without_efficiency(runs, [experiment])
    assert names == {"read"}
    assert_problem(note, "mixed-readers", operations="read")
    assert find_without_efficiency(runs) == find_without_efficiency(runs[:1], [experiment]) == (set(), ())


@pytest.mark.parametrize(
    ("step", "operations", "moved"),
    [
        (Step("open"), 1, 0),
        (Step("stat", count=7), 7, 0),
        (Step("write", 10, size=100), 10, 100),
        (Step("write", 10, size=95), 10, 95),
        (Step("write", 10), 1, 10),
        (Step("read", 10, size=95, offsets="reverse"), 10, 95),
        (Step("read", 10, size=95, offsets="random"), 9, 90),
        (Step("read", 10, size=95, count=3, offsets="random"), 3, 30),
        (Step("read", 10, size=100, offsets={"stride": {"hole": 5}}), 7, 70),
        (Step("read", 10, size=100, offsets={"stride": {}}), 10, 100),
        (Step("read", 10, size=40, count=9), 9, 90),
    ],
)
def test_the_operations_of_a_step_and_their_bytes(step, operations, moved):
    assert (step.operations, step.moved_bytes) == (operations, moved)


def test_a_workload_is_written_without_what_is_omitted():
    steps = (Step("write", 10, offsets={"stride": {"hole": None, "n": 0}}),)
    made = Workload(
        "/x", ((Phase("w", Files("f", 2), steps),), (Phase("r", FileNames(("a",)), (), passes=2),)), 7, rank=3
    )
    document = json.loads(made.to_json())
    (first,), (second,) = (worker["phases"] for worker in document.pop("workers"))
    assert document == {"root": "/x", "seed": 7, "rank": 3, "backend": {"name": "posix"}}
    assert first["files"] == {"template": "f", "count": 2, "first": 0}
    assert first["steps"] == [{"kind": "write", "transfer_size": 10, "offsets": {"stride": {"n": 0}}}]
    assert (second["files"], second["steps"], second["passes"]) == ({"names": ["a"]}, [], 2)
    assert "arrival" not in first and first["verify"] is False


def test_the_tree_of_mdtest_has_no_efficiency():
    runs = [run(headlines={"tree_creation": ["rate"], "file_creation": ["rate"]})]
    names, (note,) = find_without_efficiency(runs)
    assert names == {"tree_creation"}
    assert_problem(note, "one-tree", operations="tree_creation")
