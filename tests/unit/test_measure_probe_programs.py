"""The programs of a probe, in this process: who measures what in which order, what is written, and why one failed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.core.errors import LaunchError, SystemFaultError, TargetError
from iosonde.measure.probe import local, program, repetition, server_program, servers
from iosonde.measure.probe.program import ProbeAssignment
from iosonde.measure.probe.server_program import ServerAssignment
from iosonde.measure.probe.servers import ServerDisks
from iosonde.ranks.watchdog import DEADLINE, IDLE, Outcome, TimeLimits
from messages import assert_problem, codes, raises

HEART = SimpleNamespace(enter=lambda *_: None)


def outcome(exit_code=0, reason="", seconds=12.0, stderr="no such file\n"):
    return Outcome(exit_code, seconds, bool(reason), [], stderr, None, reason)


# Ranks of nodes


def probe_assignment(folder, target="", **more):
    fields = {"experiment": "x", "ranks": 3, "size": 8 * 2**20, "in_turn": False, **more}
    return ProbeAssignment(str(target), folder=str(folder), **fields)


class Heart:
    def __init__(self, folder, rank, relays):
        self.about = (folder, rank, relays)

    def __enter__(self):
        return HEART

    def __exit__(self, *_):
        return None


def run_probe(monkeypatch, folders, assignment_of, hosts=("n1", "n2", "n2")):
    calls, hearts, affinity = [], [], os.sched_getaffinity(0)
    pairs = [{"forth": 5.0, "back": 7.0}, {"forth": 9.0, "back": 4.0}]
    links = lambda ranks, addresses, rate: calls.append((ranks.rank, addresses, rate)) or ["link"]  # noqa: E731
    monkeypatch.setattr(program, "Heartbeat", lambda *of, **more: hearts.append((*of, more["relays"])) or Heart(*of, 1))
    monkeypatch.setattr(
        program, "_measure_node", lambda asked, ranks, heart: {"rank": ranks.rank} if ranks.rank < 2 else None
    )
    monkeypatch.setattr(program.binding, "bind_to_core", lambda ranks: calls.append((ranks.rank, "bound")))
    monkeypatch.setattr(program.os, "sched_setaffinity", lambda pid, cpus: calls.append((pid, cpus == affinity)))
    monkeypatch.setattr(program.network, "measure_all_pairs", lambda ranks: pairs if ranks.rank == 0 else [])
    monkeypatch.setattr(program.tcp, "measure_all_links", links)
    thread_ranks.run_ranks(thread_ranks.on_hosts(*hosts), lambda ranks: program.run(assignment_of(ranks.rank), ranks))
    return calls, sorted(hearts, key=lambda heart: heart[1])


def test_the_ranks_of_a_probe_leave_one_file_and_nothing_on_other_nodes(tmp_path, monkeypatch):
    folders = [tmp_path / "here", tmp_path / "there", tmp_path / "there"]
    folders[0].mkdir()
    (folders[0] / program.PARENT_MARK).touch()
    removed = []
    monkeypatch.setattr(program, "remove_scratch", removed.append)
    calls, hearts = run_probe(
        monkeypatch, folders, lambda rank: probe_assignment(folders[rank], addresses=("a", "b", "c"))
    )
    assert json.loads((folders[0] / program.RESULT).read_text()) == {
        "pairs": [{"forth": 5.0, "back": 7.0}, {"forth": 9.0, "back": 4.0}],
        "tcp": ["link"],
        "nodes": [{"rank": 0}, {"rank": 1}],
        "hosts": ["n1", "n2", "n2"],
        "node_of": [0, 1, 1],
    }
    assert sorted(path.name for path in folders[0].iterdir()) == ["beats", "parent", "result.json"]
    assert hearts == [(folders[rank] / "beats", rank, rank == 1) for rank in range(3)], "the first of a node relays"
    assert sorted(call for call in calls if len(call) == 3) == [(rank, ("a", "b", "c"), 4.0) for rank in range(3)]
    assert calls.count((0, True)) == 3 and sorted(call for call in calls if call[1] == "bound") == [
        (rank, "bound") for rank in range(3)
    ]
    assert removed == [folders[1]]


def test_a_fault_of_one_rank_is_that_of_all(tmp_path, monkeypatch):
    def check(asked, ranks, folder):
        return TargetError("is-full", "full") if ranks.rank == 1 else None

    monkeypatch.setattr(program, "_check_rank", check)
    monkeypatch.setattr(program, "Heartbeat", None)

    def run(ranks):
        with raises("is-full", TargetError):
            program.run(probe_assignment(tmp_path), ranks)

    thread_ranks.run_ranks(thread_ranks.on_hosts("n1", "n2"), run)


@pytest.mark.parametrize(
    ("rank", "local_rank", "mark", "target", "code"),
    [
        (0, 0, True, "fits", None),
        (0, 0, False, "fits", "directory-not-shared"),
        (1, 0, False, "fits", None),
        (1, 0, False, "full", "is-full"),
        (1, 1, False, "full", None),
        (1, 0, False, "", None),
    ],
)
def test_why_a_rank_cannot_take_part(tmp_path, monkeypatch, rank, local_rank, mark, target, code):
    def check(place, need, limits):
        assert (need, limits) == (program.space.Need(8 * 2**20, 4), program.space.Limits())
        if place == Path("full"):
            raise TargetError("is-full", "full")

    monkeypatch.setattr(program.space, "check_space", check)
    if mark:
        (tmp_path / program.PARENT_MARK).touch()
    ranks = SimpleNamespace(rank=rank, local_rank=local_rank, hosts=[SimpleNamespace(name=f"n{i}") for i in range(2)])
    found = program._check_rank(probe_assignment(tmp_path, target), ranks, tmp_path)
    assert (found and found.code) == code
    if code == "is-full":
        assert found.message.startswith("on n1: ")
    if code == "directory-not-shared":
        assert_problem(found, code, host="n0", folder=tmp_path)
        assert isinstance(found, LaunchError)


@pytest.mark.parametrize("available", [1000, None])
@pytest.mark.parametrize(("in_turn", "target"), [(True, "/t"), (False, "/t"), (True, "")])
def test_each_node_is_measured_by_its_first_rank(tmp_path, monkeypatch, in_turn, target, available):
    order, copies = [], []

    def measure_disk(asked, rank, heart):
        order.append(rank)
        return {"disk": rank}

    monkeypatch.setattr(program, "_measure_disk", measure_disk)
    monkeypatch.setattr(local, "count_cores", lambda: 6)
    monkeypatch.setattr(program.machine, "read_available_bytes", lambda: available)
    monkeypatch.setattr(program.machine, "compute_usable_memory", lambda: 501)
    monkeypatch.setattr(local, "measure_memory_copy", lambda cores, free: copies.append((cores, free)) or float(cores))
    asked = probe_assignment(tmp_path, target, in_turn=in_turn)
    found = thread_ranks.run_ranks(
        thread_ranks.on_hosts("n1", "n1", "n2"), lambda ranks: program._measure_node(asked, ranks, HEART)
    )
    node = {"cores": 6, "copy_one": 1.0, "copy_all": 6.0}
    disk = (lambda rank: {"disk": rank}) if target else lambda rank: {}
    assert found == [{"rank": 0, "host": "n1", **node, **disk(0)}, None, {"rank": 2, "host": "n2", **node, **disk(2)}]
    assert (order if in_turn else sorted(order)) == ([0, 2] if target else [])
    assert sorted(copies) == [(cores, available or 250) for cores in (1, 1, 6, 6)]


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize(("size", "share"), [(2**20, 2**20), (16 * 2**20, 4 * 2**20)])
def test_a_disk_is_measured_in_the_workspace_and_its_files_are_removed(tmp_path, monkeypatch, fails, size, share):
    calls = []

    def measure_disk(place, size):
        calls.append((place, size))
        if fails:
            raise SystemFaultError("disk-not-measurable", "no")
        return {"write": 1.0}

    monkeypatch.setattr(local, "measure_disk", measure_disk)
    monkeypatch.setattr(local, "measure_cpu_per_byte", lambda place, size: {"place": place.name, "size": size})
    asked = probe_assignment(tmp_path, tmp_path, size=size)
    if fails:
        with raises("disk-not-measurable"):
            program._measure_disk(asked, 3, HEART)
    else:
        assert program._measure_disk(asked, 3, HEART) == {
            "disk": {"write": 1.0},
            "cpu": {"place": "rank-3", "size": share},
        }
    assert calls == [(tmp_path / "iosonde-x" / "rank-3", size)]
    assert not list(tmp_path.iterdir())


def test_the_workspace_of_the_parent_is_shared_and_stays(tmp_path):
    asked = probe_assignment(tmp_path, tmp_path)
    with program._open_workspace(asked) as own:
        assert own.path.exists()
    assert not own.path.exists()
    parent = program.Workspace.create(tmp_path, "x")
    with program._open_workspace(asked) as shared:
        assert shared == asked.workspace and shared.path == tmp_path / "iosonde-x"
    assert parent.is_ours()


@pytest.mark.parametrize("target", [True, False])
def test_a_process_that_only_cleans_removes_folder_and_workspace(tmp_path, monkeypatch, target):
    folder, place = tmp_path / "folder", tmp_path / "target"
    folder.mkdir()
    workspace = program.Workspace.create(place, "x") if place.mkdir() is None else None
    removed = []
    monkeypatch.setattr(program, "remove_scratch", removed.append)
    monkeypatch.setattr(program.mpi, "connect_ranks", None)
    asked = probe_assignment(folder, place if target else "", only_clean=True)
    monkeypatch.setattr(program.sys, "argv", ["program", asked.to_word()])
    program.main()
    assert removed == [folder] and workspace.path.exists() is not target


@pytest.mark.parametrize("connects", [True, False])
def test_a_rank_that_fails_leaves_its_reason_and_ends_the_others(tmp_path, monkeypatch, connects):
    aborted, left = [], []

    def connect(count):
        assert count == 3
        if not connects:
            raise LaunchError("no-mpi", "no")
        return SimpleNamespace(abort=aborted.append)

    def fail(asked, ranks):
        raise TargetError("is-full", "full")

    monkeypatch.setattr(program.mpi, "connect_ranks", connect)
    monkeypatch.setattr(program, "run", fail)
    monkeypatch.setattr(program.last_words, "report_failure", lambda folder, error: left.append((folder, error.code)))
    monkeypatch.setattr(program.sys, "argv", ["program", probe_assignment(tmp_path).to_word()])
    with raises("is-full" if connects else "no-mpi"):
        program.main()
    assert left == [(tmp_path, "is-full" if connects else "no-mpi")] and aborted == ([3] if connects else [])


# Memory


def test_all_threads_copy_from_the_first_start_to_the_last_end(monkeypatch):
    asked, clock = [], iter(range(0, 10**6, 500))
    monkeypatch.setattr(local, "sum_last_level_caches", lambda: 4096)
    monkeypatch.setattr(local, "copy_bytes", lambda *of: asked.append(of) or 1000)
    monkeypatch.setattr(local, "time", SimpleNamespace(monotonic_ns=lambda: next(clock)))
    rate = local.measure_memory_copy(2, 10**9)
    # Four looks at the clock; the first is a start, the last an end.
    assert rate == pytest.approx(2 * 3 * 1000 / 1.5e-6) and asked == [(4096, 2, 10**9)]


@pytest.mark.parametrize(
    ("cache_bytes", "threads", "free_bytes", "size"),
    [
        (0, 1, 2**40, 64 * 2**20),
        (16 * 2**20, 1, 2**40, 64 * 2**20),
        (32 * 2**20, 1, 2**40, 128 * 2**20),
        (32 * 2**20, 4, 2**40, 32 * 2**20),
        (32 * 2**20, 4, 2**20, 2**15),
        (0, 4, 3, 1),
    ],
)
def test_the_length_of_an_array(cache_bytes, threads, free_bytes, size):
    assert local.copy_bytes(cache_bytes, threads, free_bytes) == size


@pytest.mark.parametrize(
    ("stopped", "errors", "why"), [("count", [], None), ("error", [{"text": "EIO"}], "EIO"), ("time", [], "time")]
)
def test_a_phase_that_did_not_end_by_itself_is_refused(tmp_path, monkeypatch, stopped, errors, why):
    record = SimpleNamespace(stopped=stopped, errors=errors, started_ns=10**9, ended_ns=3 * 10**9)
    session = SimpleNamespace(prepare=lambda phase: None, run=lambda phase: [record], close=lambda: None)
    with local._Files(tmp_path, "f-", 2**20, local._POSIX, ()) as files:
        files._session.close()
        files._session = session
        if why is None:
            assert files.run(0) == 2.0
        else:
            with pytest.raises(local._RefusedError, match=why):
                files.run(0)


@pytest.mark.parametrize(
    ("refusals", "way"),
    [(0, f"O_DIRECT, {local.DEPTH} at a time"), (1, "O_DIRECT"), (2, "dropped"), (3, None)],
)
def test_a_disk_is_measured_the_best_way_that_is_allowed(monkeypatch, tmp_path, refusals, way):
    tried = []

    class Files:
        def __init__(self, root, name, size, backend, flags):
            tried.append((backend["name"], backend.get("queue_depth"), flags))
            if len(tried) <= refusals:
                raise local._RefusedError(f"refused {len(tried)}")

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def run(self, phase):
            return (2.0, 4.0)[phase]

        def drop(self):
            return "dropped"

    monkeypatch.setattr(local, "_Files", Files)
    if way is None:
        with raises("disk-not-measurable", SystemFaultError, root=tmp_path, reason="refused 3"):
            local.measure_disk(tmp_path, 80)
    else:
        assert local.measure_disk(tmp_path, 80) == {"write": 40.0, "read": 20.0, "way": way}
    assert tried == [("io_uring", 8, ("direct",)), ("posix", None, ("direct",)), ("posix", None, ())][: refusals + 1]


@pytest.mark.parametrize(
    ("state", "word"), [("cold-verified", "verified"), ("cold-requested", "not verified"), ("warm", "kept it")]
)
def test_how_far_a_dropped_cache_was_verified(tmp_path, monkeypatch, state, word):
    asked = []
    monkeypatch.setattr(local.cache, "drop_files", lambda root, names: asked.append((root, names)) or "dropped")
    monkeypatch.setattr(
        local.cache, "check_after_drop", lambda root, names, dropped: asked.append(dropped) or {"state": state}
    )
    with local._Files(tmp_path, "f-", 2**20, local._POSIX, ()) as files:
        assert files.drop().endswith(f" ({word})")
    assert asked == [(tmp_path, ["f-000000"]), "dropped"]


def test_cpu_time_is_that_of_user_and_system(monkeypatch):
    usage = iter([SimpleNamespace(ru_utime=1.0, ru_stime=10.0), SimpleNamespace(ru_utime=1.5, ru_stime=12.0)])
    monkeypatch.setattr(local.resource, "getrusage", lambda who: next(usage))
    ran = []
    assert local._measure_cpu_s(SimpleNamespace(run=ran.append), 1) == 2.5 and ran == [1]


# Servers

DISKS = ServerDisks(("s1", "s2"), ("/a", "/b"))


@pytest.mark.parametrize(
    ("lines", "results", "missing"),
    [
        (['s1: {"disks": [1]}', 's2: {"disks": [2]}'], [("s1", [1]), ("s2", [2])], []),
        (
            ["s1: hello", 's1: {"disks": [1]}', 's2: {"error": "full", "hint": "wait"}'],
            [("s1", [1])],
            [("server-probe-failed", {"host": "s2", "reason": "full", "hint": "wait"})],
        ),
        (
            ["s1: ssh: no route", "s1: more"],
            [],
            [
                ("server-not-reached", {"host": "s1", "reason": "ssh: no route"}),
                ("server-not-reached", {"host": "s2", "reason": "no output"}),
            ],
        ),
        (
            ['s1: {"error": "full"}', "s2: [1]"],
            [],
            [("server-not-reached", {"host": "s1"}), ("server-not-reached", {"host": "s2", "reason": "[1]"})],
        ),
    ],
)
def test_the_answers_of_servers_are_results_or_reasons(tmp_path, lines, results, missing):
    (tmp_path / servers.STDOUT).write_text("\n".join(lines[:1]))
    (tmp_path / servers.STDERR).write_text("\n".join(lines[1:]))
    found, messages = servers._read_answers(DISKS.hosts, tmp_path)
    assert found == [{"host": host, "disks": disks} for host, disks in results]
    assert codes(messages) == [code for code, _ in missing]
    for message, (code, values) in zip(messages, missing, strict=True):
        assert_problem(message, code, **values)


@pytest.mark.parametrize(
    ("answers", "timed_out", "missing", "cleans"),
    [
        ((["s1", "s2"], []), False, [], False),
        ((["s1"], ["no s2"]), False, ["no s2"], True),
        ((["s1"], ["no s2"]), True, ["no s2"], True),
        (([], []), True, ["timeout"], True),
    ],
)
def test_disks_of_servers_are_measured_and_their_files_removed_where_something_is_missing(
    monkeypatch, answers, timed_out, missing, cleans
):
    calls = []

    def run(disks, assignment, folder, limit_s):
        calls.append((disks, assignment, limit_s))
        return outcome(1, DEADLINE if timed_out else "")

    monkeypatch.setattr(servers, "_run_program", run)
    monkeypatch.setattr(servers, "_read_answers", lambda hosts, folder: answers if hosts == DISKS.hosts else None)
    found, lacking = servers.measure_server_disks(DISKS, "x", 100, 7.0)
    assert found == answers[0] and [getattr(each, "code", each) for each in lacking] == missing
    asked = ServerAssignment(DISKS.directories, "x", 100)
    clean = (DISKS, replace(asked, only_clean=True), servers.CLEAN_S)
    assert calls == [(DISKS, asked, 14.0), *([clean] if cleans else [])]


def test_an_interrupt_removes_the_files_of_servers(monkeypatch):
    calls = []

    def run(disks, assignment, folder, limit_s):
        calls.append(assignment.only_clean)
        if not assignment.only_clean:
            raise KeyboardInterrupt

    monkeypatch.setattr(servers, "_run_program", run)
    with pytest.raises(KeyboardInterrupt):
        servers.measure_server_disks(DISKS, "x", 100, 7.0)
    assert calls == [False, True]


def test_the_program_of_servers_is_started_on_each_by_one_shell(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(servers.watchdog, "watch_command", lambda words, **more: calls.append((words, more)))
    asked = ServerAssignment(("/a",), "x", 9)
    servers._run_program(DISKS, asked, tmp_path, 3.0)
    ((words, more),) = calls
    assert words[:2] == ["/bin/sh", "-c"] and words[2].count(f"server_program {asked.to_word()}") == 2
    assert more == {"heartbeat_dir": tmp_path, "limits": TimeLimits(deadline_s=3.0)}


@pytest.mark.parametrize(("kind", "is_disk"), [("xfs", True), (None, True), ("nfs4", False)])
@pytest.mark.parametrize("fails", [False, True])
def test_a_disk_of_a_server_is_measured_in_a_workspace(tmp_path, monkeypatch, kind, is_disk, fails):
    def measure(place, size):
        assert (place, size) == (tmp_path / "iosonde-x" / "rank-0", 100) and place.is_dir()
        if fails:
            raise SystemFaultError("disk-not-measurable", "no")
        return {"write": 1.0, "read": 2.0, "way": "w"}

    monkeypatch.setattr(local, "measure_disk", measure)
    facts = {"mount": kind and {"type": kind}}
    monkeypatch.setattr(server_program.machine, "collect_target_facts", lambda place: facts)
    asked = ServerAssignment((str(tmp_path),), "x", 100)
    if not is_disk:
        with raises("not-on-disk", TargetError, path=tmp_path, file_system=kind):
            server_program.run(asked)
    elif fails:
        with raises("disk-not-measurable"):
            server_program.run(asked)
    else:
        found = {"dir": str(tmp_path), "filesystem": kind, "write": 1.0, "read": 2.0, "way": "w"}
        assert server_program.run(asked) == [found]
    assert not list(tmp_path.iterdir())


def test_directories_on_one_disk_are_not_measured_as_two(tmp_path, monkeypatch):
    checked = []
    monkeypatch.setattr(server_program.space, "check_space", lambda *of: checked.append(of))
    monkeypatch.setattr(server_program, "_measure_disk", lambda place, asked: place.name)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    both = tuple(str(tmp_path / name) for name in "ab")
    with raises("same-file-system", TargetError, other_path=tmp_path / "a", path=tmp_path / "b"):
        server_program.run(ServerAssignment(both, "x", 100))
    need = server_program.space.Need(100, 4)
    assert checked == [(Path(place), need, server_program.space.Limits()) for place in both]
    assert server_program.run(ServerAssignment(both[:1], "x", 100)) == ["a"]


def test_files_of_an_ended_repetition_are_removed_and_nothing_else(tmp_path):
    ours = server_program.Workspace.create(tmp_path, "x")
    other = server_program.Workspace.create(tmp_path, "y")
    server_program.clean(ServerAssignment((str(tmp_path / "none"), str(tmp_path)), "x", 1))
    assert not ours.path.exists() and other.path.exists()


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (None, {"disks": ["disk"]}),
        (TargetError("is-full", "full", "wait"), {"error": "full", "hint": "wait"}),
        (OSError(28, "No space", "/a"), {"error": f"{'/a'}: No space"}),
    ],
)
def test_a_server_prints_one_line(monkeypatch, error, answer):
    printed = []

    def run(asked):
        assert asked == ServerAssignment(["/a"], "x", 9)
        if error:
            raise error
        return ["disk"]

    monkeypatch.setattr(server_program, "run", run)
    monkeypatch.setattr(server_program, "clean", None)
    monkeypatch.setattr(server_program.os, "write", lambda handle, text: printed.append((handle, text)))
    monkeypatch.setattr(server_program.sys, "argv", ["program", ServerAssignment(("/a",), "x", 9).to_word()])
    server_program.main()
    ((handle, text),) = printed
    found = json.loads(text)
    assert handle == 1 and text.endswith(b"\n") and found | answer == found
    assert set(found) == ({"disks"} if error is None else {"error", "hint"}) and all(found.values())


def test_a_server_that_only_cleans_prints_nothing(monkeypatch):
    cleaned = []
    monkeypatch.setattr(server_program, "run", None)
    monkeypatch.setattr(server_program, "clean", cleaned.append)
    monkeypatch.setattr(server_program.os, "write", None)
    word = ServerAssignment(("/a",), "x", 9, only_clean=True).to_word()
    monkeypatch.setattr(server_program.sys, "argv", ["program", word])
    server_program.main()
    assert [asked.only_clean for asked in cleaned] == [True]


# A repetition


def bench(**more):
    launcher = SimpleNamespace(
        name="mpiexec",
        addresses=lambda nodes: tuple(f"10.0.0.{i}" for i in range(nodes)),
        command=lambda nodes, per_node, words: [f"{nodes}x{per_node}", *words],
    )
    fields = {"facts": {"target": "/t"}, "idle_s": 9.0, "size": 100, "in_turn": True, "target": Path("/t"), **more}
    return repetition.ProbeBench("x", launcher, fields.pop("nodes", 2), **fields)


@pytest.mark.parametrize(
    ("nodes", "server_disks", "servers_lack", "nodes_lack", "measures", "has_results"),
    [
        (2, None, [], [], True, True),
        (2, DISKS, [], [], True, True),
        (0, DISKS, [], [], False, True),
        (2, DISKS, ["no s2"], [], False, False),
        (2, None, [], ["rank died"], True, False),
    ],
)
def test_a_repetition_is_a_run_whole_or_with_what_it_lacks(
    monkeypatch, nodes, server_disks, servers_lack, nodes_lack, measures, has_results
):
    calls = []
    link = {"a": 0, "b": 1, "forth": 1.0, "back": 2.0, "error": "", "outputs": ["{1}", "{2}"]}
    nodes_found = {"pairs": [], "tcp": [link], "nodes": [], "hosts": ["n1", "n2"], "node_of": [0, 1]}

    def measure_servers(*of):
        calls.append(of)
        return [{"host": "s1", "disks": []}], servers_lack

    def measure_nodes(of):
        calls.append("nodes")
        return ({} if nodes_lack else dict(nodes_found)), nodes_lack

    monkeypatch.setattr(repetition.server_disks, "measure_server_disks", measure_servers)
    monkeypatch.setattr(repetition, "_measure_nodes", measure_nodes)
    run = repetition.run_repetition(bench(nodes=nodes, servers=server_disks), 3, "r-3")
    assert calls == [*([(DISKS, "x", 100, 9.0)] if server_disks else []), *(["nodes"] if measures else [])]
    assert (run.id, run.experiment, run.missing) == ("r-3", "x", servers_lack or nodes_lack)
    assert run.factors == {"nodes": nodes, "ranks_per_node": 1, "ranks": nodes, "repetition": 3, "block": 3}
    assert run.started_at.endswith("Z") and len(run.started_at) == len("2026-01-01T00:00:00.000Z")
    measured = measures and has_results
    shown = {key: value for key, value in link.items() if key != "outputs"}
    assert run.facts == {
        "target": "/t",
        "order": 3,
        "hosts": ["n1", "n2"] if measured else [],
        "nodes": [0, 1] if measured else [],
        "probe": {
            "pairs": [],
            "tcp": [shown] if measured else [],
            "nodes": [],
            "servers": [{"host": "s1", "disks": []}] if server_disks and has_results else [],
        },
    }
    assert [row.value for row in run.observations] == ([1.0, 2.0] if measured else [])
    assert len(run.raw) == (2 if measured else 0) and 0 <= run.seconds < 60


@pytest.mark.parametrize(
    ("wrote", "launcher", "nodes", "cleans"),
    [
        (True, "mpiexec", 2, False),
        (False, "mpiexec", 2, True),
        (False, "mpiexec", 1, False),
        (False, "local", 2, False),
    ],
)
def test_the_ranks_are_watched_and_what_they_left_is_removed(monkeypatch, wrote, launcher, nodes, cleans):
    calls, cleaned = [], []

    def watch(command, heartbeat_dir, **more):
        calls.append((command, heartbeat_dir, more))
        folder = heartbeat_dir.parent
        assert (folder / "parent").exists()
        if wrote:
            (folder / "result.json").write_text('{"pairs": []}')
        return outcome(0 if wrote else 1)

    monkeypatch.setattr(repetition.watchdog, "watch_command", watch)
    monkeypatch.setattr(repetition, "_clean_nodes", lambda *of: cleaned.append(of))
    tick = lambda _: None  # noqa: E731
    asked = bench(nodes=nodes, on_tick=tick)
    asked.launcher.name = launcher
    results, missing = repetition._measure_nodes(asked)
    assert (results, codes(missing)) == (({"pairs": []}, []) if wrote else ({}, ["ranks-failed"]))
    (((size, python, dash_m, name, word), beats, more),) = calls
    assignment = ProbeAssignment.from_word(word)
    assert (size, dash_m, name) == (f"{nodes}x1", "-m", "iosonde.measure.probe.program") and python
    expected = ProbeAssignment("/t", "x", str(beats.parent), nodes, 100, True)
    addresses = [f"10.0.0.{i}" for i in range(nodes)]
    assert assignment == replace(expected, addresses=addresses) and beats.name == "beats"
    assert more == {"limits": TimeLimits(idle_s=9.0), "on_tick": tick, "ranks": nodes}
    assert len(cleaned) == int(cleans)


def test_the_workspaces_of_ended_ranks_are_removed_on_each_node(monkeypatch):
    calls = []
    monkeypatch.setattr(repetition.watchdog, "watch_command", lambda words, **more: calls.append((words, more)))
    repetition._clean_nodes(bench(), ProbeAssignment("/t", "x", "/f", 2, 100, True))
    ((words, more),) = calls
    assert words[0] == "2x1" and ProbeAssignment.from_word(words[-1]).only_clean
    assert (more["limits"], more["ranks"]) == (TimeLimits(60.0), 2)


@pytest.mark.parametrize(
    ("ended", "finished", "left", "code"),
    [
        (outcome(), True, 0, None),
        (outcome(1), True, 0, "ranks-failed"),
        (outcome(), False, 0, "ranks-failed"),
        (outcome(1), False, 2, "is-full"),
        (outcome(1, IDLE), False, 1, "is-full"),
        (outcome(1, IDLE), False, 0, "no-progress"),
        (outcome(1, stderr=f"{repetition.watchdog.MESSAGE_PREFIX}on n2: full\n"), False, 0, ""),
    ],
)
def test_why_ranks_of_a_probe_did_not_finish(tmp_path, ended, finished, left, code):
    for number in range(left):
        text = {"message": f"full {number}", "hint": "", "code": "is-full", "values": {}}
        (tmp_path / f"error-n1-{number}.json").write_text(json.dumps(text))
    found = repetition._explain_failure(tmp_path, ended, finished)
    assert [getattr(message, "code", "") for message in found] == ([] if code is None else [code])
    if left:
        assert "full 0" in found[0]
    if code == "no-progress":
        assert_problem(found[0], code, seconds=12.0)
