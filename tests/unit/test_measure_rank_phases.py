"""All ranks take part in what all agree on, also those that have nothing to do in a phase."""

from __future__ import annotations

import json
import subprocess
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


class Counting:
    """A meter that notes what it is told."""

    def __init__(self, counts):
        self.counts, self.calls = counts, []

    def ends(self, part):
        self.calls.append(part)

    def keep(self, frame):
        self.calls.append(frame)


@pytest.mark.parametrize(
    ("counts", "changes", "cache", "flushes"),
    [
        (True, {}, "cold", True),
        (False, {}, "cold", False),
        (True, {"timed": False}, "cold", False),
        (True, {"steps": ["create", "close"]}, "cold", False),
        (True, {}, "warm", False),
    ],
)
def test_traffic_belongs_to_the_parts_of_a_phase(tmp_path, monkeypatch, counts, changes, cache, flushes):
    """Written data that the node still holds leaves it after the phase, counted apart."""
    written, budgets = [], []
    session = SimpleNamespace(
        prepare=lambda _: 0, operations_done=lambda: 0, run=lambda *_: [record()], close=lambda: 0
    )
    monkeypatch.setattr(rank_phases, "open_session", lambda *of: budgets.append(of[1:]) or session)
    monkeypatch.setattr(rank_phases.spool, "records_to_operations", lambda *_: None)
    monkeypatch.setattr(rank_phases.cache, "write_out", written.append)
    write = {"kind": "write", "transfer_size": 1, "count": 3}
    spec = {"name": "w", "files": "f", "steps": ["create", write], **changes}
    settings, meter, entered = phases.Settings([spec]), Counting(counts), []
    part = SimpleNamespace(item={"settings": {"cache": cache}}, plans=phases.plan(settings, 0, 2, 1), first=4)
    heart = SimpleNamespace(enter=lambda name, *_: entered.append(name))
    ranks = Recorder(0)
    assignment = Assignment("/r", str(tmp_path), 2, [], 1, 9)
    assert rank_phases.run_phases(part, assignment, ranks, heart, 77, meter)
    assert meter.calls == ["preparing", "timed", *(["flush"] if flushes else []), 4]
    assert written == ([Path("/r")] if flushes else [])
    assert budgets == [("/r", 1, ranks, 77 if changes.get("timed", True) else 0)]
    name = part.plans[0].operation
    assert entered[0].startswith(name) and entered[0] != name
    assert entered[1:4] == [name] * 3 and len(entered) == 4 + flushes


def run_phase(monkeypatch, tmp_path, looked=None, **more):
    """One phase of a rank alone; what it left in its spool."""
    session = SimpleNamespace(
        prepare=lambda _: 0, operations_done=lambda: 0, run=lambda *_: [record(**more)], close=lambda: 0
    )
    monkeypatch.setattr(rank_phases, "open_session", lambda *_: session)
    monkeypatch.setattr(rank_phases.spool, "records_to_operations", lambda *of: None)
    monkeypatch.setattr(
        rank_phases, "prepare_caches_before_reads", lambda plan, a, warm, ranks: looked or {"warm": warm}
    )
    read = {"kind": "read", "transfer_size": 1, "count": 3}
    settings = phases.Settings([{"name": "r", "files": "f", "steps": ["open", read]}])
    part = SimpleNamespace(item={"settings": {"cache": "warm"}}, plans=phases.plan(settings, 0, 1, 0), first=4)
    heart = SimpleNamespace(enter=lambda *_: None)
    well = rank_phases.run_phases(
        part, Assignment("/r", str(tmp_path), 1, [], 1, 9), Recorder(0), heart, 9, Counting(False)
    )
    return well, spool.read_phase(tmp_path, 0, spool.index_frames(tmp_path, 1)[0][4])


def test_a_rank_leaves_all_of_its_record(monkeypatch, tmp_path):
    error = {"kind": "read", "path": "f", "offset": 0, "errno": 5, "text": "EIO"}
    histograms = {4: ([7, 8], [1, 2])}
    more = {"complete": False, "errors": [error] * 12, "histograms": histograms, "extra_bytes": 5, "stopped": "error"}
    well, left = run_phase(monkeypatch, tmp_path, **more)
    assert not well and left.errors == [error] * 10
    assert (left.started_ns, left.ended_ns, left.stopped, left.recorded_all) == (1, 2, "error", False)
    assert (left.histograms, left.extra_bytes, left.truth, left.hints) == ({"4": [[7, 1], [8, 2]]}, 5, "", {})
    assert left.totals == record().totals and left.cache == {"warm": True}


@pytest.mark.parametrize(("own", "warm"), [(None, True), (True, True), (False, False)])
def test_a_phase_may_say_itself_whether_its_cache_is_warm(monkeypatch, tmp_path, own, warm):
    plans, asked = [phase_plan.PhasePlan("r", None, reads=("f",), warm=own)], []
    monkeypatch.setattr(
        rank_phases, "prepare_caches_before_reads", lambda p, a, w, r: asked.append(w) or {"state": "x"}
    )
    part = SimpleNamespace(item={"settings": {"cache": "warm"}}, plans=plans, first=0)
    heart = SimpleNamespace(enter=lambda *_: None)
    rank_phases.run_phases(part, Assignment("/r", str(tmp_path), 1, [], 1, 9), Recorder(0), heart, 9, Counting(False))
    assert asked == [warm]
    left = spool.read_phase(tmp_path, 0, spool.index_frames(tmp_path, 1)[0][0])
    assert (left.cache, left.started_ns, left.ended_ns, left.stopped, left.recorded_all) == ({}, 0, 0, "count", True)


@pytest.mark.parametrize(("marks", "rank", "notes"), [("marks", 0, True), ("marks", 1, False), ("", 0, False)])
def test_rank_0_notes_marks_if_somebody_reads_them(monkeypatch, marks, rank, notes):
    noted = []
    monkeypatch.setattr(rank_phases.faults, "append_mark", lambda *of: noted.append(of))
    monkeypatch.setattr(rank_phases.time, "monotonic_ns", lambda: 77)
    rank_phases.note_mark(Assignment("/r", "/s", 1, [], 1, 9, marks=marks), SimpleNamespace(rank=rank), "begun", 4, "w")
    assert noted == ([("marks", rank_phases.faults.PhaseMark("begun", 4, "w", 77))] if notes else [])


def test_hints_are_those_of_mpi_io_alone():
    access = rank_phases.MpiIo("p", "f", "read", 0, 1, 0, 1, 1, hints={"a": "b"})
    session = SimpleNamespace(hints={"c": "d"})
    assert rank_phases.list_hints(SimpleNamespace(phase=access), session) == {"asked": {"a": "b"}, "took": {"c": "d"}}
    assert rank_phases.list_hints(SimpleNamespace(phase=None), session) == {}


def test_a_rank_that_failed_does_no_more_at_the_time_limit():
    session = SimpleNamespace(wear_out=None)
    before = record(stopped="error")
    assert rank_phases._extend_to_wear_out(session, before, SimpleNamespace(all_max=lambda done: done + 5)) is before


def test_a_session_of_mpi_io_sees_the_directory_by_its_path(monkeypatch, tmp_path):
    looked = []
    monkeypatch.setattr(rank_phases.trial_root, "check_visible", looked.append)
    access = rank_phases.MpiIo("p", "f", "read", 0, 1, 0, 1, 1)
    session = rank_phases.open_session(phase_plan.PhasePlan("p", access), str(tmp_path), 5, "ranks", 9)
    assert (session._access, session._path, session._seed, session._ranks) == (access, tmp_path / "f", 5, "ranks")
    assert looked == [str(tmp_path)]


@pytest.mark.parametrize(("local_rank", "hook", "ran"), [(0, "drop ${X}", 1), (1, "drop ${X}", 0), (0, "", 0)])
@pytest.mark.parametrize("anew", [True, False])
def test_caches_before_reads(monkeypatch, local_rank, hook, ran, anew):
    calls, mounts = [], [("1", "/t"), ("2" if anew else "1", "/t")]
    monkeypatch.setattr(rank_phases.cache, "write_out", lambda root: calls.append(("write", root)))
    monkeypatch.setattr(rank_phases.cache, "drop_files", lambda root, names: calls.append(("drop", names)) or "dropped")
    monkeypatch.setattr(rank_phases.cache, "check_after_drop", lambda root, names, dropped: (names, dropped))
    monkeypatch.setattr(rank_phases.cache, "measure_residency", lambda root, names: (root, names))
    monkeypatch.setattr(rank_phases.hooks, "run", lambda text, names: calls.append((text, names)))
    monkeypatch.setattr(rank_phases.mounted, "find_mount_of_path", lambda root: mounts.pop(0))
    names = ["f000000", "f000001"]
    plan = SimpleNamespace(reads=(rank_phases.Files("f", 2),))
    ranks = SimpleNamespace(
        rank=3,
        local_rank=local_rank,
        barrier=lambda: None,
        wait_for_all=lambda: None,
        hosts=[SimpleNamespace(name="n")] * 4,
    )
    root = Path("/t/iosonde-1/trial-0000")
    assignment = Assignment(str(root), "/s", 2, [], 1, 1, cache={"before_reads": hook})
    assert rank_phases.prepare_caches_before_reads(plan, assignment, True, ranks) == (root, names) and calls == []
    found = rank_phases.prepare_caches_before_reads(plan, assignment, False, ranks)
    environment = {"TARGET": "/t", "RANK": "3"}
    first = [("write", root)] if local_rank == 0 else []
    assert calls == [*first, *[(hook, environment)] * ran, *([] if anew else [("drop", names)])]
    if anew:
        assert (found["state"], "remount" in found) == ("cold-verified", local_rank == 0)
    else:
        assert found == (names, "dropped")


@pytest.mark.parametrize("reaches", ["answer", "failure", "none"])
def test_servers_are_asked_by_rank_0_and_a_failure_leaves_no_answer(tmp_path, monkeypatch, reaches):
    def run(words, limit_s):
        assert (words, limit_s) == (["tell"], 60.0)
        if reaches == "none":
            raise OSError(2, "no")
        return subprocess.CompletedProcess(words, reaches == "failure", "counts", "")

    monkeypatch.setattr(rank_phases, "run_program", run)
    ranks = Recorder(0)
    assignment = Assignment("/r", str(tmp_path), 2, [], 1, 9, server_counts=["tell"])
    rank_phases._query_servers(assignment, ranks, "begun", 4)
    left = spool.build_server_counts_path(tmp_path, 4, "begun")
    assert (left.exists() and left.read_text()) == ("counts" if reaches == "answer" else False)
    assert ranks.called == ["wait_for_all"]
