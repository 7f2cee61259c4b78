"""A probe before and between its repetitions: what is refused, planned, stored and warned of."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.campaign import probe
from iosonde.campaign.caller import Caller
from iosonde.campaign.request import ProbeRequest
from iosonde.core.errors import TargetError
from iosonde.core.types import Experiment, Trial
from iosonde.measure.probe.servers import ServerDisks
from iosonde.measure.target.space import Limits, Need, QuotaFree
from messages import raises

MIB = 2**20
FREE = [(5, None), (3, 9), (None, 4)]
FACTS = {"quota": [{"free_bytes": size, "free_files": files} for size, files in FREE], "mount": None}


@pytest.fixture
def keeper():
    """Access to a target, and what was checked."""
    state = SimpleNamespace(calls=[], error=None)

    def check(*some):
        state.calls.append(some)
        if state.error:
            raise state.error

    state.check = check
    return state


def test_the_room_of_all_nodes_and_what_quotas_leave_is_checked(keeper):
    probe._check_room(keeper, Path("/t"), FACTS, 8 * MIB, 3)
    assert keeper.calls == [(Path("/t"), Need(24 * MIB, 12), Limits(), QuotaFree(3, 4))]
    keeper.error = TargetError("no-space", "it is full", "other")
    with raises("no-space", TargetError) as caught:
        probe._check_room(keeper, Path("/t"), FACTS, MIB, 1)
    expected = "it is full"
    assert (str(caught.value.message), caught.value.hint != "other") == (expected, True)


@pytest.mark.parametrize(
    ("size", "is_valid"), [(MIB, True), (5 * MIB, True), (0, False), (MIB + 1, False), (MIB // 2, False)]
)
def test_a_size_is_whole_mebibytes(keeper, monkeypatch, size, is_valid):
    monkeypatch.setattr(probe.preflight, "refuse_temporary_on_target", lambda target: keeper.calls.append(target))
    if is_valid:
        probe._check_target(keeper, Path("/t"), Path("/s"), size)
        assert keeper.calls == [Path("/t"), (Path("/t"), Need(0, 0), Limits())]
    else:
        with raises("invalid-size", size=size):
            probe._check_target(keeper, Path("/t"), Path("/s"), size)


@pytest.mark.parametrize("store", ["/t", "/t/s"])
def test_a_store_on_the_target_is_refused(keeper, store):
    with raises("store-on-target", store=store, target="/t"):
        probe._check_target(keeper, Path("/t"), Path(store), MIB)
    assert keeper.calls == []


@pytest.mark.parametrize(
    ("options", "code", "values"),
    [
        ({"servers": "s1"}, "options-require-each-other", {}),
        ({"disk_dir": ("/d",)}, "options-require-each-other", {}),
        ({"servers": "s1", "disk_dir": ("/d", "e")}, "relative-path", {"path": "e"}),
        ({"servers": "s1", "disk_dir": ("/d",), "size": 7}, "invalid-size", {"size": 7}),
        ({"servers": "s1,-x", "disk_dir": ("/d",)}, "unknown-host", {"host": "-x"}),
        ({"servers": ",", "disk_dir": ("/d",)}, "unknown-host", {"host": ","}),
    ],
)
def test_servers_that_cannot_be_measured_are_refused(options, code, values):
    with raises(code, **values):
        probe._read_servers(ProbeRequest(**({"size": MIB} | options)))


def test_servers_are_names_or_a_file(tmp_path):
    assert probe._read_servers(ProbeRequest()) is None
    expected = ServerDisks(("s1", "s2"), ("/d", "/e"))
    (tmp_path / "hosts").write_text("s1\ns2:4\n")
    for servers in ("s1,s2", str(tmp_path / "hosts")):
        assert probe._read_servers(ProbeRequest(servers=servers, disk_dir=("/d", "/e"), size=MIB)) == expected


@pytest.mark.parametrize(
    ("target", "servers", "settings"),
    [
        (None, None, {"target": "", "servers": [], "disk_dir": []}),
        (Path("/t"), ServerDisks(("s1",), ("/d",)), {"target": "/t", "servers": ["s1"], "disk_dir": ["/d"]}),
    ],
)
def test_a_probe_is_an_experiment_of_its_repetitions(monkeypatch, target, servers, settings):
    monkeypatch.setattr(probe, "draw_seed", lambda: 7)
    monkeypatch.setattr(probe, "create_experiment_id", lambda: "p1")
    request = ProbeRequest(size=MIB, repetitions=3, disk_dir=servers.directories if servers else ())
    made = probe._build_experiment(request, 4, target, servers)
    assert (made.id, made.name, made.seed) == ("p1", "probe", 7)
    assert made.settings == {"probe": settings | {"size": MIB, "nodes": 4}}
    assert [(trial.index, trial.repetition, trial.factors) for trial in made.trials] == [
        (at, at, {"nodes": 4, "ranks_per_node": 1}) for at in range(3)
    ]


@pytest.mark.parametrize(
    ("mount", "in_turn"),
    [(None, False), ({"type": "xfs", "source": "/dev/x"}, False), ({"type": "nfs4", "source": "s:/x"}, True)],
)
def test_nodes_write_in_turn_where_they_share_a_server(mount, in_turn):
    experiment = Experiment("p1", "probe", [], {}, [], 1, "")
    launcher = SimpleNamespace(name="mpirun")
    facts = {"mount": mount, "x": 1}
    caller = Caller(command=("iosonde", "--password", "secret"))
    request = ProbeRequest(size=MIB, idle_timeout=9.0)
    bench = probe._build_bench(request, experiment, launcher, 4, Path("/t"), facts, caller)
    assert (bench.experiment, bench.launcher, bench.nodes, bench.target) == ("p1", launcher, 4, Path("/t"))
    assert (bench.size, bench.in_turn, bench.idle_s, bench.servers) == (MIB, in_turn, 9.0, None)
    assert {key: bench.facts[key] for key in ("machine", "launcher", "target")} == {
        "machine": facts,
        "launcher": "mpirun",
        "target": "/t",
    }
    assert bench.facts["command"] == ["iosonde", "--password", "***"] and bench.facts["software"]["iosonde"]
    assert probe._build_bench(request, experiment, launcher, 4, None, facts, caller).facts["target"] == ""


class Bench(SimpleNamespace):
    """A bench of a probe, as far as its repetitions go."""


@pytest.fixture
def measuring(monkeypatch, tmp_path):
    """A probe of three repetitions in a store, with the order of events."""
    state = SimpleNamespace(events=[], fails_at=None, workspace=None)
    note = state.events.append

    def run(bench, repetition, run_id):
        note(("run", repetition, run_id))
        return SimpleNamespace(complete=repetition != state.fails_at, facts={})

    @contextmanager
    def lock(path, experiment):
        note(("lock", experiment))
        yield
        note("unlock")

    store = SimpleNamespace(path=tmp_path, save_experiment=lambda one: note("save"), append=lambda run: note("append"))
    progress = SimpleNamespace(
        clear=lambda: note("clear"), tick=None, trial=lambda trial, place, total: note(("trial", place, total))
    )
    monkeypatch.setattr(probe.Store, "create", lambda place: store)
    monkeypatch.setattr(probe, "lock_experiment", lock)
    monkeypatch.setattr(probe, "replace", lambda bench, on_tick: bench)
    monkeypatch.setattr(probe.repetition, "run_repetition", run)
    monkeypatch.setattr(probe.repetition, "estimate_network_seconds", lambda nodes, n: 10.0 * nodes * n)
    monkeypatch.setattr(probe.turn, "list_other_processes", list)
    monkeypatch.setattr(probe.preflight, "remove_leftovers", lambda *some: note(("leftovers", some[1], some[2])))
    workspace = SimpleNamespace(create=lambda **words: note(("create", words)), remove=lambda: note("remove"))
    state.keeper = SimpleNamespace(workspace=lambda target, experiment: workspace)
    stop = SimpleNamespace(check=lambda: None)
    state.caller = Caller(progress=lambda s: note(("expect", s)) or progress, stopping=lambda: nullcontext(stop))
    trials = [Trial(at, {}, at, 0, 0) for at in range(3)]
    state.experiment = Experiment("p1", "probe", [], {}, trials, 1, "")
    return state


def measure(state, target):
    bench = Bench(nodes=2, target=target)
    return probe._measure_repetitions(bench, state.experiment, Path("s"), state.keeper, state.caller)


def repetitions(*places):
    return [event for at in places for event in (("trial", at, 3), ("run", at, f"p1-000{at}"), "append")]


def test_each_repetition_is_stored_before_the_next(measuring):
    assert len(measure(measuring, None)) == 3
    begin = ["save", ("expect", 60.0), ("lock", "p1")]
    assert measuring.events == [*begin, *repetitions(0, 1, 2), "clear", "unlock"]


def test_the_first_failure_ends_a_probe_and_its_files_are_removed(measuring):
    measuring.fails_at = 1
    assert [run.complete for run in measure(measuring, Path("/t"))] == [True, False]
    begin = ["save", ("expect", 60.0), ("lock", "p1"), ("leftovers", Path("/t"), "p1")]
    begin.append(("create", {"resumed": False, "hold": True}))
    assert measuring.events == [*begin, *repetitions(0, 1), "clear", "remove", "unlock"]


@pytest.mark.parametrize(
    ("more", "only"),
    [
        ({}, False),
        ({"servers": "s"}, True),
        ({"servers": "s", "target": "/t"}, False),
        ({"servers": "s", "nodes": 1}, False),
        ({"servers": "s", "hosts": "a"}, False),
        ({"servers": "s", "launcher": "local"}, False),
    ],
)
def test_a_probe_of_servers_alone_names_nothing_of_nodes(more, only):
    assert ProbeRequest(**more).only_servers is only


@pytest.mark.parametrize(
    ("options", "name", "count", "has_place", "calls"),
    [
        ({}, "local", 1, False, []),
        ({"nodes": 3}, "local", 3, False, []),
        ({}, "mpirun", 2, False, [(2, ())]),
        ({"target": "/t"}, "mpirun", 2, True, [(2, (Path("/t"),))]),
        ({"servers": "s1", "disk_dir": ("/d",)}, "mpirun", 0, False, []),
    ],
)
def test_a_probe_calls_its_nodes_before_it_measures(monkeypatch, options, name, count, has_place, calls):
    events, rolls = [], []
    launcher = SimpleNamespace(name=name, max_nodes=2 if name == "mpirun" else None, addresses=lambda n: ("x",) * n)
    keeper = SimpleNamespace(resolve=lambda path: path, facts=lambda path: {"mount": {"type": "xfs"}})
    target_facts = {"mount": {"type": "here"}}
    put = monkeypatch.setattr
    put(probe.preflight, "open_keeper", lambda idle_s, waiting: nullcontext(keeper))
    put(probe.launch, "find_launcher", lambda chosen, hosts: launcher)
    put(probe.launch, "check_nodes", lambda launcher, nodes: events.append(("nodes", nodes)))
    put(probe.rollcall, "call_roll", lambda launcher, nodes, targets: rolls.append((nodes, targets)))
    put(probe.machine, "collect_node_facts", lambda: {"node": 1})
    put(probe.machine, "collect_target_facts", lambda path: target_facts)
    put(probe, "_check_target", lambda keeper, target, store, size: events.append(("target", target)))
    put(probe, "_check_room", lambda keeper, target, facts, size, nodes: events.append(("room", nodes)))
    put(probe.turn, "is_here", lambda names: len(names))
    put(probe.turn, "hold_machine", lambda turn, here, say: nullcontext(events.append(("hold", here))))
    put(probe, "_measure_repetitions", lambda bench, *_: [bench])
    put(probe, "_summarise_runs", lambda request, runs, mount, level: (*runs, mount, level))
    bench, mount, level = probe.probe_nodes(ProbeRequest(size=MIB, **options), 0.9)
    checked = [("target", Path("/t"))] if has_place else []
    room = [("room", count)] if has_place else []
    assert events == [("nodes", count), *checked, *room, ("hold", count)]
    assert (rolls, bench.nodes, level) == (calls, count, 0.9)
    assert mount == ({"type": "xfs"} if has_place else None)
    assert bench.facts["machine"] == {"node": 1, "mount": {"type": "xfs" if has_place else "here"}}
    assert bench.servers == (ServerDisks(("s1",), ("/d",)) if "servers" in options else None)
