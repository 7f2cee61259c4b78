"""The program of a rank: which parts run after a failure, what rank 0 writes and what it collects."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.measure import items, spool
from iosonde.measure.assignment import Assignment, Sealed
from iosonde.measure.rank import program
from iosonde.measure.spool import RankPhase
from iosonde.ranks.clocks import Clocks
from messages import raises


@pytest.mark.parametrize(
    ("fails", "ran", "well"),
    [
        (None, ["prepare", "native", "copy", "clean"], True),
        ("prepare", ["prepare", "clean"], False),
        ("native", ["prepare", "native", "clean"], False),
        ("clean", ["prepare", "native", "copy", "clean"], False),
    ],
)
def test_after_a_failure_of_one_rank_all_only_tear_down(tmp_path, monkeypatch, fails, ran, well):
    called, budgets, ended = {0: [], 1: []}, set(), []

    def run_command_step(part, assignment, ranks, *_):
        called[ranks.rank].append(part.item["label"])
        return part.item["label"] != fails or ranks.rank != 1

    def run_phases(part, assignment, ranks, heart, budget, meter):
        called[ranks.rank].append("native")
        budgets.add(budget)
        return fails != "native"

    monkeypatch.setattr(program, "_enter_directory", lambda _: None)
    monkeypatch.setattr(program.commands, "write_node_files", lambda *_: None)
    monkeypatch.setattr(program.commands, "run_command_step", run_command_step)
    monkeypatch.setattr(program.phases, "run_phases", run_phases)
    monkeypatch.setattr(program.wire, "create_meter", lambda *_: None)
    monkeypatch.setattr(program.command, "end_trial", lambda folder, alone: ended.append((folder, alone)))
    timed = SimpleNamespace(timed=True)
    parts = [
        items.Part({"kind": items.COMMAND, "stage": items.SET_UP, "label": "prepare"}, 0, []),
        items.Part(
            {"kind": items.NATIVE, "stage": items.STEP, "label": "x"}, 1, [timed, SimpleNamespace(timed=False), timed]
        ),
        items.Part({"kind": items.COMMAND, "stage": items.STEP, "label": "copy"}, 4, []),
        items.Part({"kind": items.COMMAND, "stage": items.TEAR_DOWN, "label": "clean"}, 5, []),
    ]
    assignment = Assignment("", str(tmp_path), 2, [], 1, 1001)
    found = thread_ranks.run_ranks(
        thread_ranks.on_hosts("a", "b"), lambda ranks: program._run_all(parts, assignment, ranks, None, {0}, 0)
    )
    assert found == [well] * 2 and called == {0: ran, 1: ran}
    assert budgets <= {1001 // (2 * 2)}, "two ranks, two timed phases"
    assert ended == [(str(tmp_path), 0)] * 2


def test_places_say_where_ranks_ran_and_how_their_clocks_drifted(tmp_path):
    before, after = Clocks((0, 100), (0, 7), 1000), Clocks((0, 130), (0, 9), 5000)
    about = {"bound": True, "loads": [{"busy": 1}, None]}
    program._write_places(tmp_path, [0, 1], ["a", "b"], "other_node", before, after, about)
    assert [path.name for path in tmp_path.iterdir()] == [program.PLACES]
    assert json.loads((tmp_path / program.PLACES).read_text()) == {
        "bound": True,
        "nodes": [0, 1],
        "hosts": ["a", "b"],
        "reader": "other_node",
        "offset_ns": {"0": 0, "1": 100},
        "error_ns": 9,
        "drift_ns": [0, 30],
        "at_ns": [1000, 5000],
        "loads": [{"host": "a", "busy": 1}],
    }


def finished(rank):
    return RankPhase(rank, 0, 1, 2, stopped="count", recorded_all=True, totals=[], errors=[])


@pytest.mark.parametrize("rescued", [False, True])
def test_the_spools_of_other_nodes_reach_that_of_rank_0(tmp_path, monkeypatch, rescued):
    """Rank 0's spool has the parent's mark; the second node has a spool of its own."""
    folders = [tmp_path / "here", tmp_path / "there"]
    for rank, folder in enumerate(folders):
        folder.mkdir()
        spool.append_phase(folder, finished(rank))
    (folders[0] / program.PARENT_MARK).touch()
    removed = []
    monkeypatch.setattr(program, "remove_scratch", removed.append)
    monkeypatch.setattr(program.command, "end_trial", lambda *_: None)
    monkeypatch.setattr(program.leftovers, "remove_recorded", lambda *_: [])

    def collect(ranks):
        folder = folders[ranks.rank]
        if rescued:
            program.rescue_results(Assignment("", str(folder), 2, [], 1, 9), ranks)
        else:
            program._collect_spools(folder, ranks)

    thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b"), collect)
    assert [sorted(frames) for frames in spool.index_frames(folders[0], 2)] == [[0], [0]]
    assert removed == ([folders[1]] if rescued else [])


# The whole rank, in this process


class Traced:
    """Stands in for what a rank calls, and notes the calls of each rank in order."""

    def __init__(self, monkeypatch, folders, faults=(), unseen=(), well=True):
        self.calls = {rank: [] for rank in range(len(folders))}
        self.folders, self.removed, self.hearts = folders, [], []
        clocks = iter([Clocks((0,) * 3, (0,) * 3, 10)] * 3 + [Clocks((0, 5, 5), (0, 1, 1), 20)] * 3)
        patches = {
            (program.clocks, "estimate_clocks"): lambda ranks: self.note(ranks.rank, "clocks", next(clocks)),
            (program.machine, "LoadSampler"): lambda root, alone: SimpleNamespace(result=lambda: {"root": root}),
            (program.leftovers, "record_open_files"): lambda place, name, pids: self.removed.append((name, pids)),
            (program, "write_hosts"): lambda place, hosts: self.removed.append((place.name, hosts)),
            (program.binding, "bind_to_core"): lambda ranks: self.note(ranks.rank, "bound", ranks.rank == 0),
            (program.controls, "prepare_caches_and_levels"): lambda a, ranks, h: self.note(
                ranks.rank, "caches", (list(faults), ["anew"])
            ),
            (program, "_check_visibility"): lambda a, ranks, h: self.note(ranks.rank, "look", (list(unseen), ["m"])),
            (program.trial_root, "check_visible"): lambda root: None,
            (program, "_run_all"): lambda parts, a, ranks, h, cpus, alone: self.note(ranks.rank, "all", well),
            (program, "_collect_spools"): lambda folder, ranks: self.note(ranks.rank, "collect", None),
            (program, "remove_scratch"): self.removed.append,
            (program, "Heartbeat"): self.beat,
        }
        for (place, name), value in patches.items():
            monkeypatch.setattr(place, name, value)

    def note(self, rank, name, value):
        self.calls[rank].append(name)
        return value

    def beat(self, beats, rank, relays):
        self.hearts.append((beats, rank, relays))
        entered = lambda *_: None  # noqa: E731
        return nullcontext(SimpleNamespace(enter=entered))

    def run(self, hosts, root="/t", **more):
        def rank_program(ranks):
            program.run(Assignment(root, str(self.folders[ranks.rank]), len(hosts), [], 1, 9, **more), ranks)

        thread_ranks.run_ranks(thread_ranks.on_hosts(*hosts), rank_program)


@pytest.fixture
def folders(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / program.PARENT_MARK).touch()
    return [tmp_path / "here", tmp_path / "there", tmp_path / "there"]


FAULT = program.LaunchError("some-fault", "no")


@pytest.mark.parametrize(
    ("faults", "unseen", "well", "root", "called", "finished"),
    [
        ([], [], True, "/t", ["caches", "look", "all"], True),
        ([], [], False, "/t", ["caches", "look", "all"], False),
        ([FAULT.message], [], True, "/t", ["caches"], False),
        ([], [FAULT.message], True, "/t", ["caches", "look"], False),
        ([], [], True, "", ["caches", "look", "all"], True),
    ],
)
def test_a_rank_goes_through_its_trial_in_order(folders, monkeypatch, faults, unseen, well, root, called, finished):
    traced = Traced(monkeypatch, folders, faults, unseen, well)
    looked = []
    monkeypatch.setattr(program.trial_root, "check_visible", looked.append)
    traced.run(("a", "b", "b"), root)
    assert traced.calls == {rank: ["clocks", "bound", *called, "clocks", "collect"] for rank in range(3)}
    assert looked == (["/t"] * 3 if root and not faults and not unseen else [])
    beats = [(folders[rank] / "beats", rank, rank == 1) for rank in range(3)]
    assert sorted(traced.hearts, key=lambda heart: heart[1]) == beats
    here = (os.getpid(), os.getppid())
    assert traced.removed[-1] == folders[1] and len(traced.removed) == 4
    assert [("node-0", here) in traced.removed, ("node-1", here) in traced.removed] == [True, True]
    assert ("beats", ["a", "b", "b"]) in traced.removed
    places = json.loads((folders[0] / program.PLACES).read_text())
    left = {name: places.pop(name) for name in ("faults", "loads")}
    assert [fault["code"] for fault in left["faults"]] == ["some-fault"] * len(faults + unseen)
    assert left["loads"] == [{"host": "a", "root": root}, {"host": "b", "root": root}]
    assert places == {
        "bound": True,
        "finished": finished,
        "mounts": [] if faults else ["m"],
        "remounts": ["anew"],
        "nodes": [0, 1, 1],
        "hosts": ["a", "b", "b"],
        "reader": "other_rank",
        "offset_ns": {"0": 0, "1": 0, "2": 0},
        "error_ns": 2,
        "drift_ns": [0, 5, 5],
        "at_ns": [10, 20],
    }


@pytest.mark.parametrize(("eldest", "records"), [(0, True), (77, False)])
def test_a_rank_alone_knows_its_eldest_process(folders, monkeypatch, eldest, records):
    traced = Traced(monkeypatch, folders[:1])
    asked, ran = [], []
    monkeypatch.setenv(program.processes.WATCHDOG_VARIABLE, "me")
    monkeypatch.setattr(program.processes, "find_eldest", lambda identity: asked.append(identity) or eldest)
    monkeypatch.setattr(program, "_run_all", lambda parts, a, ranks, h, cpus, alone: ran.append((cpus, alone)) or True)
    monkeypatch.setattr(program.clocks, "estimate_clocks", lambda _: Clocks((0,), (0,), 1))
    traced.run(("a",))
    assert asked == ["me"] and ran == [(os.sched_getaffinity(0), eldest)]
    assert (len(traced.removed) == 2) is records


def test_rank_0_has_to_see_the_folder_of_the_parent(tmp_path, monkeypatch):
    traced = Traced(monkeypatch, [tmp_path])
    with raises("directory-not-shared", program.LaunchError, host="a", folder=tmp_path):
        traced.run(("a",))


def test_the_target_is_compared_between_nodes_if_there_is_one(monkeypatch):
    monkeypatch.setattr(program.same_target, "compare_nodes", lambda ranks, path: (ranks, path))
    entered = []
    heart = SimpleNamespace(enter=entered.append)
    assert program._check_visibility(Assignment("", "/s", 1, [], 1, 9), "ranks", heart) == ([], [])
    assert entered == []
    found = program._check_visibility(Assignment("/t", "/s", 1, [], 1, 9), "ranks", heart)
    assert found == ("ranks", Path("/t")) and len(entered) == 1


def test_commands_run_in_a_directory_that_each_node_can_enter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    program._enter_directory(Assignment("", "/s", 1, [], 1, 9, directory=str(tmp_path / "d")))
    assert Path.cwd() == tmp_path / "d"
    with raises("directory-not-accessible", program.LaunchError, directory=tmp_path / "x"):
        program._enter_directory(Assignment("", "/s", 1, [], 1, 9, directory=str(tmp_path / "x")))


@pytest.mark.parametrize(
    ("root", "kind", "entered", "idle"),
    [("/t", items.COMMAND, 1, 1), ("", items.NATIVE, 0, 0), ("/t", items.NATIVE, 0, 1)],
)
def test_a_directory_is_entered_for_commands_and_idle_traffic_measured_for_a_target(
    tmp_path, monkeypatch, root, kind, entered, idle
):
    calls = []
    monkeypatch.setattr(program, "_enter_directory", lambda a: calls.append("enter"))
    monkeypatch.setattr(program.commands, "write_node_files", lambda *_: calls.append("nodes"))
    monkeypatch.setattr(program.commands, "run_command_step", lambda *_: True)
    monkeypatch.setattr(program.phases, "run_phases", lambda *_: True)
    monkeypatch.setattr(program.command, "end_trial", lambda *of: calls.append(of))
    meter = SimpleNamespace(idle=lambda ranks, heart: calls.append("idle"))
    monkeypatch.setattr(program.wire, "create_meter", lambda *_: meter)
    parts = [items.Part({"kind": kind, "stage": items.STEP, "label": "x"}, 0, [])]
    asked = Assignment(root, str(tmp_path), 1, [], 1, 9)
    (well,) = thread_ranks.run_ranks(
        thread_ranks.on_hosts("a"), lambda ranks: program._run_all(parts, asked, ranks, None, {0}, 5)
    )
    assert well and calls == [*["enter", "nodes"] * entered, *["idle"] * idle, (str(tmp_path), 5)]


@pytest.mark.parametrize("kind", ["run", "rescue", "sealed", "fails"])
def test_the_entry_point_of_a_rank(tmp_path, monkeypatch, kind):
    asked = Assignment("/t", str(tmp_path / "spool"), 2, [], 1, 9, only_collect=kind == "rescue")
    calls, aborted = [], []
    ranks = SimpleNamespace(abort=aborted.append)
    monkeypatch.setattr(program.mpi, "connect_ranks", lambda count: ranks if count == 2 else None)
    monkeypatch.setattr(program.tempfile, "tempdir", None)

    def run(assignment, of):
        calls.append(("run", assignment, of, program.tempfile.tempdir))
        if kind == "fails":
            raise FAULT

    monkeypatch.setattr(program, "run", run)
    monkeypatch.setattr(program, "rescue_results", lambda assignment, of: calls.append(("rescue", assignment, of, "")))
    left = []
    monkeypatch.setattr(program.last_words, "report_failure", lambda folder, error: left.append((folder, error)))
    if kind == "sealed":
        monkeypatch.setattr(program.Sealed, "opened", lambda self, of: asked)
        word = Sealed("/other", 2)
        monkeypatch.setattr(program.Assignment, "from_word", staticmethod(lambda _: word))
    monkeypatch.setattr(program.sys, "argv", ["program", asked.to_word()])
    if kind == "fails":
        with raises("some-fault"):
            program.main()
    else:
        program.main()
    name = "rescue" if kind == "rescue" else "run"
    assert calls == [(name, asked, ranks, "" if name == "rescue" else str(tmp_path))]
    assert (left, aborted) == (([(tmp_path / "spool", FAULT)], [3]) if kind == "fails" else ([], []))
