"""All ranks take part in what all agree on, also those that have nothing to do in a phase."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.measure import spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.rank import phases as rank_phases
from iosonde.measure.rank.wire import Meter
from iosonde.measure.workloads import phase_plan, phases
from iosonde.ranks.heartbeat import WAITING


class Recorder:
    """A communicator of two that answers at once and remembers which collective calls were made."""

    def __init__(self, rank):
        self.rank, self.size, self.nodes, self.node_of, self.local_rank = rank, 2, 1, (0, 0), rank
        self.called = []

    def __getattr__(self, name):
        def call(value=None, *_):
            self.called.append(name)
            return [value] * self.size if name == "all_gather" else value

        return call


def record(**more):
    totals = [{"kind": 2, "count": 3, "bytes": 3, "errors": 0, "sum_duration_ns": 1}]
    fields = {
        "started_ns": 1,
        "ended_ns": 2,
        "stopped": "count",
        "complete": True,
        "totals": totals,
        "errors": [],
        "histograms": {},
        "extra_bytes": 0,
        "operations": None,
    }
    return SimpleNamespace(**(fields | more))


WORN = {"time_limit": "1s", "passes": 0, "wear_out": True}


@pytest.mark.parametrize("more", [{}, {"timed": False}, WORN, {"timed": False, **WORN}])
def test_a_phase_of_the_first_rank_alone_has_the_same_collective_calls_on_all(monkeypatch, more):
    """A timed one hung with two ranks: the first entered an agreed start that the others left out."""
    session = SimpleNamespace(
        prepare=lambda _: 0, operations_done=lambda: 0, run=lambda *_: [record()], close=lambda: 0
    )
    monkeypatch.setattr(rank_phases, "open_session", lambda *_: session)
    monkeypatch.setattr(rank_phases.spool, "append_phase", lambda *_: None)
    monkeypatch.setattr(rank_phases.spool, "records_to_operations", lambda *_: None)
    steps = ["create", {"kind": "write", "transfer_size": 1, "count": 3}]
    settings = phases.Settings([{"name": "w", "by": "first", "files": "f", "steps": steps, **more}])
    called = []
    for rank in (0, 1):
        ranks, said = Recorder(rank), []
        heart = SimpleNamespace(enter=lambda phase, state="", *_, said=said: said.append((phase, state)))
        part = SimpleNamespace(item={"settings": {}}, plans=phases.plan(settings, rank, 2, 1), first=0)
        assert rank_phases.run_phases(
            part, Assignment("/r", "/s", 2, [], 1, 9), ranks, heart, 9, Meter(Path(), rank, None)
        )
        assert said[-1][1] == WAITING  # and who has nothing to do is not the one that is waited for
        called.append(ranks.called)
    assert called[0] == called[1]
    assert called[0][-2:] == ["wait_for_all", "all_max"]  # asleep until all are done, not spinning


def run_on(hosts, tmp_path, monkeypatch, stopped=lambda rank, phase: "count", **more):
    """Two phases of ranks that are threads: what each returns, the marks, and the answers of the servers."""

    class Session:
        def __init__(self, plan, rank):
            self.plan, self.rank, self.hints = plan, rank, {}

        def prepare(self, place):
            return None

        def operations_done(self):
            return 0

        def run(self, place, start_at_ns):
            return [record(stopped=stopped(self.rank, self.plan.operation))]

        def close(self):
            return None

    monkeypatch.setattr(rank_phases, "open_session", lambda plan, root, seed, ranks, budget: Session(plan, ranks.rank))
    monkeypatch.setattr(rank_phases.spool, "records_to_operations", lambda *_: None)
    monkeypatch.setattr(rank_phases.binding, "has_shared_cores", lambda _: False)
    monkeypatch.setattr(rank_phases, "run_program", lambda words, limit_s: answers(words, limit_s))
    asked = []

    def answers(words, limit_s):
        asked.append(words)
        return SimpleNamespace(stdout=f"{len(asked)}", check_returncode=lambda: None)

    (tmp_path / "marks").touch()
    assignment = Assignment("/r", str(tmp_path), len(hosts), [], 1, 9, marks=str(tmp_path / "marks"), **more)
    steps = ["create", {"kind": "write", "transfer_size": 1, "count": 3}, "fsync", "close"]
    settings = phases.Settings([{"name": name, "files": f"{name}${{RANK}}", "steps": steps} for name in ("v", "w")])

    def program(ranks):
        heart = SimpleNamespace(enter=lambda *_: None)
        plans = phases.plan(settings, ranks.rank, ranks.size, 1)
        part = SimpleNamespace(item={"settings": {}}, plans=plans, first=4)
        return rank_phases.run_phases(part, assignment, ranks, heart, 9, Meter(tmp_path, ranks.rank, None))

    ended = thread_ranks.run_ranks(thread_ranks.on_hosts(*hosts), program)
    marks = [json.loads(line) for line in (tmp_path / "marks").read_text().splitlines()]
    return ended, [(mark["what"], mark["phase"], mark["operation"]) for mark in marks], asked


def test_the_first_rank_alone_notes_the_phases_and_asks_the_servers(tmp_path, monkeypatch):
    ended, marks, asked = run_on(("a", "b", "c"), tmp_path, monkeypatch, server_counts=["count"])
    assert ended == [True] * 3
    assert marks == [("begun", 4, "v"), ("ended", 4, "v"), ("begun", 5, "w"), ("ended", 5, "w")]
    assert asked == [["count"]] * 4
    answers = [spool.build_server_counts_path(tmp_path, phase, when) for phase in (4, 5) for when in ("begun", "ended")]
    assert [answer.read_text() for answer in answers] == ["1", "2", "3", "4"]
    frames = spool.index_frames(tmp_path, 3)
    assert [sorted(frame) for frame in frames] == [[4, 5]] * 3
    first = spool.read_phase(tmp_path, 1, frames[1][4])
    assert (first.rank, first.phase, first.started_ns, first.stopped) == (1, 4, 1, "count")


def test_an_error_of_one_rank_ends_the_phases_of_all(tmp_path, monkeypatch):
    def stopped(rank, phase):
        return "error" if (rank, phase) == (1, "v") else "count"

    ended, marks, asked = run_on(("a", "b"), tmp_path, monkeypatch, stopped)
    assert ended == [False] * 2 and asked == []
    assert marks == [("begun", 4, "v"), ("ended", 4, "v")]
    assert [sorted(frame) for frame in spool.index_frames(tmp_path, 2)] == [[4], [4]]


@pytest.mark.parametrize(("counts", "most", "more"), [((3, 5), 5, {0: 5}), ((5, 5), 5, {}), ((0, 2), 2, {0: 2})])
def test_a_rank_that_did_less_goes_on_until_it_did_as_much(monkeypatch, counts, most, more):
    asked = {}
    monkeypatch.setattr(rank_phases.wear_out, "join_phase_parts", lambda before, after: after)

    def program(ranks):
        def wear_out(place, until):
            asked[ranks.rank] = until
            return [f"{until}"]

        before = record(totals=[{"count": counts[ranks.rank]}])
        after = rank_phases._extend_to_wear_out(SimpleNamespace(wear_out=wear_out), before, ranks)
        return after is before

    kept = thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b"), program)
    assert asked == more and kept == [rank not in more for rank in range(2)]


@pytest.mark.parametrize(("shared", "starts"), [(True, [0, 0]), (False, [7, 7])])
def test_ranks_start_at_an_agreed_moment_unless_they_share_cores(monkeypatch, shared, starts):
    monkeypatch.setattr(rank_phases.binding, "has_shared_cores", lambda _: shared)
    monkeypatch.setattr(rank_phases.mpi.Ranks, "agree_start", lambda ranks, delay_ns: 7)
    assert thread_ranks.run_ranks(thread_ranks.on_hosts("a", "b"), rank_phases.start_together) == starts


def test_names_of_files_are_numbered_from_their_first():
    files = (rank_phases.Files("a", 2, 9, ".x"), rank_phases.Files("b"))
    assert rank_phases._list_names(files) == ["a000009.x", "a000010.x", "b000000"]


@pytest.mark.parametrize(
    ("kinds", "writes"),
    [(["read"], False), (["create", "write"], True), (["append"], True), (["mmap_write"], True), (["fsync"], False)],
)
def test_a_phase_writes_where_one_of_its_steps_does(kinds, writes):
    steps = tuple(phase_plan.Step(kind) for kind in kinds)
    phase = phase_plan.Phase("p", rank_phases.Files("f"), steps)
    assert phase_plan.PhasePlan("p", phase).writes is writes
    assert phase_plan.PhasePlan("p", None).writes is False
