"""What a run keeps of its trial: factors, facts, its source, and why it is incomplete."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.errors import TargetFaultError
from iosonde.core.message import Message
from iosonde.core.types import Run, Trial
from iosonde.measure import last_words, placeholders, trial
from iosonde.measure.assignment import Assignment
from iosonde.measure.collect.assemble import Collected
from iosonde.measure.spec import CacheRegime, CommandStep, Control, NativeStep
from iosonde.ranks.watchdog import DEADLINE, IDLE, Outcome
from messages import assert_problem, codes

LOCAL, NFS = {"type": "ext4", "source": "/dev/vda"}, {"type": "nfs4", "source": "s:/x"}
TRIAL = Trial(5, {"nodes": 2, "ranks_per_node": 3, "size": 4096}, 1, 4, 99)


def outcome(exit_code=0, reason="", **more):
    return Outcome(exit_code, 12.0, bool(reason), [], "no such file\n", None, reason, **more)


@pytest.mark.parametrize(
    ("ended", "left", "places", "wanted"),
    [
        (outcome(), [], {"nodes": [0]}, []),
        (outcome(), [], {}, ["no-reason"]),
        (outcome(3), [], {}, ["ranks-failed"]),
        (outcome(3), ["full"], {}, ["full"]),
        (outcome(0), [], {"nodes": [0], "faults": [last_words.message_to_json(Message("hook", "x"))]}, ["hook"]),
        (outcome(0, DEADLINE), [], {}, ["ended-by-watchdog"]),
        (outcome(137, IDLE, leftover_pids=(7, 8)), [], {}, ["ended-by-watchdog", "leftover-processes"]),
        (outcome(0, open_files=(("/dev/shm/x", 1, 2),)), [], {}, ["mapped-file-left"]),
    ],
)
def test_an_incomplete_trial_has_its_reasons(tmp_path, ended, left, places, wanted):
    for code in left:
        text = f'{{"message": "m", "hint": "", "code": "{code}", "values": {{}}}}'
        (tmp_path / "error-n1-1.json").write_text(text)
    found = trial._explain_failure(tmp_path, ended, places)
    assert codes(found) == wanted
    for message in found:
        if message.code == "leftover-processes":
            assert_problem(message, message.code, pids="7, 8")
        if message.code == "ended-by-watchdog":
            assert_problem(message, message.code, limit=ended.reason, seconds=12.0)


@pytest.mark.parametrize(
    ("ended", "idle_s", "limit_s"),
    [
        (outcome(1), 60.0, min(trial.RESCUE_S, 60.0)),
        (outcome(1), 1e9, trial.RESCUE_S),
        (outcome(1, DEADLINE), 1e9, trial.RESCUE_S),
        (outcome(1, IDLE), 1e9, trial.SOON_S),
        (outcome(1, IDLE, leftover_pids=(1,)), 1e9, trial.VERY_SOON_S),
        (outcome(1, leftover_pids=(1,)), 1e9, trial.VERY_SOON_S),
    ],
)
def test_a_rescue_after_ranks_that_hung_is_short(ended, idle_s, limit_s):
    assert trial.compute_rescue_limit_s(ended, idle_s) == limit_s
    assert trial.VERY_SOON_S < trial.SOON_S < trial.RESCUE_S


class Workspace:
    def __init__(self, moved=False):
        self.moved, self.calls = moved, []

    def suspect(self):
        self.calls.append("suspect")

    def verify(self, name):
        self.calls.append(name)
        if self.moved:
            raise TargetFaultError("moved", "it moved")


@pytest.mark.parametrize(
    ("ended", "well", "moved", "calls", "wanted"),
    [
        (outcome(), True, False, ["trial-0005"], []),
        (outcome(), True, True, ["trial-0005"], ["moved"]),
        (outcome(), False, True, [], []),
        (outcome(0, DEADLINE), False, False, ["suspect"], []),
        (outcome(leftover_pids=(1,)), True, False, ["suspect", "trial-0005"], []),
    ],
)
def test_a_directory_is_looked_at_after_a_trial_that_went_well(ended, well, moved, calls, wanted):
    workspace = Workspace(moved)
    assert codes(trial._check_moved(SimpleNamespace(workspace=workspace), TRIAL, ended, well)) == wanted
    assert workspace.calls == calls
    assert trial._check_moved(SimpleNamespace(workspace=None), TRIAL, ended, well) == []


@pytest.mark.parametrize(
    ("mount", "regime", "state"),
    [
        (LOCAL, {"between_trials": "remount"}, "no-server"),
        (None, {}, "no-server"),
        (NFS, {}, "warm"),
        (NFS, {"between_trials": "drop"}, "warm"),
        (NFS, {"between_trials": "remount"}, "cold-requested"),
        (NFS, {"before_reads": "drop-servers"}, "cold-requested"),
        (NFS, {"before_reads": trial.CLIENTS_ANEW}, "warm"),
    ],
)
def test_the_cache_of_the_servers_is_cold_where_something_empties_it(mount, regime, state):
    bench = SimpleNamespace(cache=CacheRegime(**regime), facts={"machine": {"mount": mount}})
    assert trial._describe_server_cache(bench) == (trial.cache.NO_SERVER if state == "no-server" else state)


@pytest.mark.parametrize(
    ("steps", "source"),
    [
        ([CommandStep("x")], "iosonde commands"),
        ([NativeStep("envelope", {}), CommandStep("x"), NativeStep("envelope", {})], "iosonde envelope"),
        ([NativeStep("phases", {}), NativeStep("envelope", {})], "iosonde phases+envelope"),
    ],
)
def test_the_source_is_the_workloads_else_commands(steps, source):
    assert trial._name_source(SimpleNamespace(steps=steps)) == source


@pytest.mark.parametrize(
    ("looked", "between", "state"),
    [("", "none", "warm"), ("", "drop", "cold-requested"), ("cold-verified", "none", "cold-verified")],
)
def test_factors_are_those_that_were_set_then_those_that_were_seen(looked, between, state):
    bench = SimpleNamespace(
        cache=CacheRegime(between_trials=between), facts={"machine": {"mount": NFS}}, allocation="n[1-2]"
    )
    tool = Collected(client_cache=looked, factors={"size": 1, "api": "POSIX"})
    results = SimpleNamespace(collected=tool, reader="other_node")
    around = SimpleNamespace(factors={"level_read": "m"})
    found = trial._build_factors(bench, TRIAL, results, around)
    assert list(found.items()) == [
        ("nodes", 2),
        ("ranks_per_node", 3),
        ("size", 4096),  # of the experiment, not as the tool says it
        ("ranks", 6),
        ("repetition", 1),
        ("block", 4),
        *zip(trial.OBSERVED_FACTORS, ("other_node", state, "warm", "n[1-2]"), strict=True),
        ("level_read", "m"),
        ("api", "POSIX"),
    ]


@pytest.mark.parametrize(
    ("per_node", "steps", "counted", "ranks"),
    [
        (1, [CommandStep("fio")], {"ranks": 2}, 2),
        (1, [CommandStep("fio")], {}, 1),
        (1, [CommandStep("fio"), NativeStep("envelope", {})], {"ranks": 2}, 1),
        (3, [CommandStep("fio")], {"ranks": 2}, 3),
    ],
)
def test_the_processes_of_a_tool_that_runs_once_are_its_ranks(per_node, steps, counted, ranks):
    planned = Trial(0, {"nodes": 1, "ranks_per_node": per_node}, 0, 0, 1)
    assert trial._count_processes(SimpleNamespace(steps=steps), planned, Collected(factors=counted)) == ranks


def test_facts_are_of_the_bench_the_places_and_what_was_skipped():
    places = {"hosts": ["a"], "nodes": [0], "error_ns": 7, "loads": [1], "bound": True, "remounts": ["x"]}
    around = SimpleNamespace(lab=SimpleNamespace(facts={"settled": 1}), facts={"seen": 2})
    found = trial._build_facts(
        SimpleNamespace(facts={"target": "/t"}),
        TRIAL,
        SimpleNamespace(places=places, skipped={"write": "why"}),
        around,
    )
    assert found == {
        "target": "/t",
        "settled": 1,
        "order": 5,
        "hosts": ["a"],
        "nodes": [0],
        "clocks": {"offset_ns": None, "error_ns": 7, "drift_ns": None, "at_ns": None},
        "loads": [1],
        "mounts": [],
        "bound": True,
        "remounts": ["x"],
        "seen": 2,
        "skipped": {"write": "why"},
    }
    empty = trial._build_facts(SimpleNamespace(facts={}), TRIAL, SimpleNamespace(places={}, skipped={}), around)
    assert (empty["hosts"], empty["bound"]) == ([], None) and not {"remounts", "skipped"} & set(empty)


# From the orders to the Run


class Launcher:
    name = "mpiexec"

    def addresses(self, nodes):
        return tuple(f"10.0.0.{node}" for node in range(nodes))

    def command(self, nodes, per_node, words):
        return [f"{nodes}x{per_node}", *words]


def bench(**more):
    facts = {"target": "/t", "machine": {"filesystem": {"servers": ["s1"]}, "mount": {"type": "nfs4"}}}
    fields = {"facts": facts, "max_operations": 77, "idle_s": 9.0, "workspace": None, **more}
    return trial.Bench(
        "e", fields.pop("steps", (CommandStep("a", name="x"),)), fields.pop("launcher", Launcher()), **fields
    )


def test_the_orders_for_the_ranks_of_a_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(trial.mpi_jobs, "list_launcher_variables", lambda: ["SLURM_X"])
    monkeypatch.chdir(tmp_path)
    controls = (Control("f", "s"),)
    asked = bench(
        controls=controls, cache=CacheRegime("drop"), server_hands=SimpleNamespace(tell=("tell", "me")), servers=("s1",)
    )
    root = Path("/t/iosonde-e/trial-0005")
    found = trial._build_assignment(asked, TRIAL, root, tmp_path, "marks")
    values = placeholders.build_trial_values(TRIAL, root)
    assert found == Assignment(
        root=str(root),
        spool=str(tmp_path),
        ranks=6,
        items=trial.items.build_items((), asked.steps, (), values),
        seed=99,
        max_operations=77,
        ranks_per_node=3,
        values=values,
        controls=[{"factor": "f", "set": "s", "read": "", "on": "single", "restore": True}],
        cache={"between_trials": "drop", "unmount": "", "mount": "", "before_reads": ""},
        hosts=["10.0.0.0", "10.0.0.1"],
        directory=str(tmp_path),
        outside=["SLURM_X"],
        file_servers=["s1"],
        marks="marks",
        server_counts=["tell", "me"],
    )
    plain = trial._build_assignment(bench(facts={}), TRIAL, None, tmp_path, "")
    assert (plain.root, plain.file_servers, plain.server_counts) == ("", [], [])


@pytest.mark.parametrize(("ranks", "forked"), [(6, None), (1, "forked")])
def test_ranks_are_watched_with_the_limits_of_the_bench(tmp_path, monkeypatch, ranks, forked):
    calls = []
    monkeypatch.setattr(trial.watchdog, "watch_command", lambda *of, **more: calls.append((of, more)) or "outcome")
    asked = Assignment("/t", str(tmp_path), ranks, [], 1, 9, ranks_per_node=3 if ranks > 1 else 1)
    found = trial._watch_ranks(bench(on_tick="tick", forked="forked"), asked, 50.0)
    ((((size, _, dash_m, name, word),), more),) = calls
    assert (size, dash_m, name) == ("2x3" if ranks > 1 else "1x1", "-m", "iosonde.measure.rank.program")
    assert Assignment.from_word(word) == asked and (tmp_path / "parent").exists()
    limits = trial.watchdog.TimeLimits(50.0, 9.0)
    assert more == {
        "heartbeat_dir": tmp_path / "beats",
        "limits": limits,
        "on_tick": "tick",
        "ranks": ranks,
        "forked": forked,
    }
    assert (found.assignment, found.outcome) == (asked, "outcome")
    assert 0 <= found.seconds < 60 and found.started_at.tzinfo is not None


@pytest.mark.parametrize(
    ("exit_code", "wrote", "nodes", "launcher", "rescues"),
    [
        (0, True, 2, "mpiexec", False),
        (1, True, 2, "mpiexec", True),
        (0, False, 2, "mpiexec", True),
        (1, False, 1, "mpiexec", False),
        (1, False, 2, "local", False),
    ],
)
def test_results_are_collected_after_a_rescue_where_ranks_of_other_nodes_died(
    tmp_path, monkeypatch, exit_code, wrote, nodes, launcher, rescues
):
    calls = []
    monkeypatch.setattr(trial, "_rescue_ranks", lambda *of: calls.append(of) or ["silent"])
    monkeypatch.setattr(trial, "collect_trial", lambda source, parts: (source, parts))
    if wrote:
        (tmp_path / "places.json").write_text('{"nodes": [0, 0, 1, 1]}')
    asked = bench(parse="parse")
    asked.launcher.name = launcher
    skip = {"kind": "native", "workload": "phases", "settings": {"phases": PHASES}, "skip": ["", "why"]}
    orders = Assignment("/t", str(tmp_path), 4, [skip], 1, 9)
    ranks = SimpleNamespace(assignment=orders, outcome=outcome(exit_code))
    found = trial._collect_results(asked, Trial(5, {"nodes": nodes, "ranks_per_node": 2}, 1, 4, 99), ranks)
    asked.launcher.name = "mpiexec"
    assert len(calls) == int(rescues) and found.unreached == (["silent"] if rescues else [])
    assert found.reader == ("other_node" if wrote else "other_rank")
    assert found.places == ({"nodes": [0, 0, 1, 1]} if wrote else {}) and found.skipped == {"b": "why"}
    source, parts = found.collected
    assert source == trial.SpooledTrial(tmp_path, 4, found.places, 1, "parse", "/t", 1.0)
    (part,) = parts
    assert [plan.operation for plan in part.plans] == ["a", "b"]
    # Rank 0 reads what the rank of the shift wrote.
    assert part.plans[0].phase.files.template == ("f2" if wrote else "f1")


PHASES = [{"name": name, "files": "f${PEER}", "steps": ["open", "close"]} for name in "ab"]


@pytest.mark.parametrize(("exit_code", "wanted"), [(0, []), (1, ["silent-nodes"])])
def test_a_rescue_starts_a_process_on_each_node(tmp_path, monkeypatch, exit_code, wanted):
    calls = []
    monkeypatch.setattr(
        trial.watchdog, "watch_command", lambda *of, **more: calls.append((of, more)) or outcome(exit_code)
    )
    orders = Assignment("/t", str(tmp_path), 6, [], 1, 9, ranks_per_node=3)
    found = trial._rescue_ranks(bench(), SimpleNamespace(assignment=orders, outcome=outcome(1, IDLE)))
    assert codes(found) == wanted
    (((words,), more),) = calls
    rescue = Assignment.from_word(words[-1])
    assert words[0] == "2x1" and (rescue.ranks, rescue.ranks_per_node, rescue.only_collect) == (2, 1, True)
    limits = trial.watchdog.TimeLimits(trial.SOON_S, grace_s=0.5)
    assert more == {"heartbeat_dir": tmp_path / "rescue", "limits": limits, "ranks": 2}
    if wanted:
        assert_problem(found[0], "silent-nodes", path=tmp_path)


def test_what_a_trial_lacks_is_listed_and_its_directory_looked_at_if_it_is_nothing(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(trial, "_explain_failure", lambda folder, ended, places: list(places))
    monkeypatch.setattr(trial, "_check_moved", lambda b, t, ended, well: asked.append(well) or ["moved"])
    ranks = SimpleNamespace(assignment=SimpleNamespace(spool=str(tmp_path)), outcome=outcome())

    def lacks(places=(), unreached=(), missing=(), lab=()):
        results = SimpleNamespace(
            places=places, unreached=list(unreached), collected=SimpleNamespace(missing=list(missing))
        )
        around = SimpleNamespace(lab=SimpleNamespace(missing=list(lab)))
        return trial._list_missing(bench(), TRIAL, ranks, results, around)

    assert lacks() == ["moved"] and lacks("a", "b", "c", "d") == ["a", "b", "c", "d", "moved"]
    assert [bool(lacks(**{name: "x"})) for name in ("places", "unreached", "missing", "lab")] == [True] * 4
    assert asked == [True, False, False, False, False, False]


def test_a_run_has_what_was_collected_and_what_was_seen_around():
    started = datetime(2026, 11, 1, 2, 3, 4, 567_899, UTC)
    collected = Collected(["row"], [{"index": 0}], "operations", raw={"a": b"1"}, headlines={"x": ["seconds"]})
    results = SimpleNamespace(collected=collected, reader="other_node", places={}, skipped={})
    around = SimpleNamespace(
        factors={},
        observations=["more"],
        facts={},
        lab=SimpleNamespace(facts={}),
        servers=SimpleNamespace(raw={"b": b"2"}),
    )
    asked = bench()
    run = trial._build_run(asked, TRIAL, SimpleNamespace(started_at=started, seconds=1.5), results, around)
    assert (run.id, run.experiment, run.source) == ("", "e", "iosonde commands")
    assert (run.started_at, run.seconds, run.seed) == ("2026-11-01T02:03:04.567Z", 1.5, 99)
    assert (run.observations, run.phases, run.operations) == (["row", "more"], [{"index": 0}], "operations")
    assert (run.raw, run.headlines) == ({"a": b"1", "b": b"2"}, {"x": ["seconds"]})
    assert run.factors == trial._build_factors(asked, TRIAL, results, around)
    assert run.facts == trial._build_facts(asked, TRIAL, results, around)


@pytest.mark.parametrize("workspace", [True, False])
@pytest.mark.parametrize("is_large", [True, False])
def test_a_trial_is_begun_watched_and_collected_in_this_order(tmp_path, monkeypatch, workspace, is_large):
    calls, spool = [], SimpleNamespace(folder=tmp_path, holds_outputs=None)
    place = SimpleNamespace(trial=lambda name: calls.append(name) or Path("/t/x") / name)
    around = SimpleNamespace(marks="marks", look_before=lambda: calls.append("before"))
    around.look_after = lambda ended: calls.append(("after", ended))
    monkeypatch.setattr(trial, "check_placeholders", lambda b, factors: calls.append(("check", factors)))
    monkeypatch.setattr(trial.spools, "open_trial", lambda *of: calls.append(of) or nullcontext(spool))
    monkeypatch.setattr(trial, "Surroundings", lambda b, t, name: calls.append(("around", name)) or nullcontext(around))
    monkeypatch.setattr(trial, "_build_assignment", lambda b, t, root, folder, marks: (root, folder, marks))
    ranks = SimpleNamespace(outcome="outcome")
    monkeypatch.setattr(
        trial, "_watch_ranks", lambda b, orders, deadline_s: calls.append((orders, deadline_s)) or ranks
    )
    raw = {"a": tmp_path / "a" if is_large else b"1"}
    results = SimpleNamespace(collected=SimpleNamespace(raw=raw))
    monkeypatch.setattr(trial, "_collect_results", lambda b, t, of: results if of is ranks else None)
    monkeypatch.setattr(trial, "_list_missing", lambda *of: ["lacks"])
    run = Run("", "e", "s", "", 1.0, {}, [])
    monkeypatch.setattr(trial, "_build_run", lambda b, t, of, found, seen: run if found is results else None)
    asked = bench(workspace=place if workspace else None, spool_parent=tmp_path, remember=tmp_path / "r")
    made = trial.run_trial(asked, TRIAL, "r-5", 50.0)
    root = Path("/t/x/trial-0005") if workspace else None
    assert calls == [
        ("check", TRIAL.factors),
        *(["trial-0005"] if workspace else []),
        ("e", tmp_path, tmp_path / "r"),
        ("around", "trial-0005"),
        "before",
        ((root, tmp_path, "marks"), 50.0),
        ("after", "outcome"),
    ]
    assert (made.id, made.missing, spool.holds_outputs) == ("r-5", ["lacks"], is_large)


def test_files_of_a_trial_are_removed_by_its_place_in_the_order(tmp_path, monkeypatch):
    removed, run = [], Run("r", "e", "s", "", 1.0, {}, [], facts={"order": 12})
    trial.remove_trial_files(bench(workspace=SimpleNamespace(remove_trial=removed.append)), run)
    trial.remove_trial_files(bench(), run)
    assert removed == ["trial-0012"]
    monkeypatch.setattr(trial, "remove_scratch", removed.append)
    raw = {"a": tmp_path / "x" / "1", "b": b"2", "c": tmp_path / "x" / "3"}
    trial.discard_files(Run("r", "e", "s", "", 1.0, {}, [], raw=raw))
    assert removed[1:] == [tmp_path / "x"]
