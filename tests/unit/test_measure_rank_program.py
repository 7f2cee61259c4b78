"""The program of a rank: which parts run after a failure, what rank 0 writes and what it collects."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.measure import items, spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.rank import program
from iosonde.measure.spool import RankPhase
from iosonde.ranks.clocks import Clocks


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
