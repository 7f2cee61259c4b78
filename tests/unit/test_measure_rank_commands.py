"""A command step on a rank: who runs it and when, the command that reaches the shell, levels and caches before it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.core.errors import SystemFaultError
from iosonde.measure import items, spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.rank import command, commands, controls, hooks
from iosonde.measure.rank.command import CommandResult, ShellCommand
from iosonde.measure.spec import CacheRegime, Control
from iosonde.ranks.heartbeat import RUNNING, WAITING
from messages import assert_problem, codes, raises

HOSTS = [SimpleNamespace(name=name) for name in ("n1", "n1", "n2", "n2")]
ITEM = {
    "kind": items.COMMAND,
    "stage": items.STEP,
    "label": "copy",
    "command": "cp ${TARGET}/a b",
    "on": "all",
    "timeout_s": 9.0,
    "keep_output": None,
    "expect": [0, 3],
}


def assignment(folder="/s", **more):
    return Assignment("", str(folder), 4, [], 1, 9, **{"ranks_per_node": 2, "values": {"TARGET": "/t"}, **more})


def rank_of(rank, called=None):
    """Rank ``rank`` of four on two nodes, which notes how it waits."""
    waits = [] if called is None else called
    return SimpleNamespace(
        rank=rank,
        size=4,
        nodes=2,
        local_rank=rank % 2,
        hosts=HOSTS,
        wait_for_all=lambda *look_s: waits.append(("wait", *look_s)),
    )


def test_the_placeholders_of_a_rank_are_those_of_its_requested_node():
    assert commands.collect_placeholder_values(assignment(), rank_of(3)) == {
        "TARGET": "/t",
        "NODENAME": 1,
        "NODE_INDEX": 1,
        "HOSTNAME": "n2",
        "RANK": 3,
        "LOCAL_RANK": 1,
        "MACHINEFILE": "/s/machinefile",
        "IOZONE_CLIENTS": "/s/iozone-clients",
    }


@pytest.mark.parametrize(
    ("hosts", "iozone", "machines", "clients"),
    [
        ([], None, ["n1", "n2"], ["n1 /t iozone", "n1 /t iozone", "n2 /t iozone", "n2 /t iozone"]),
        (["a"], "/b/iozone", ["a"], ["a /t /b/iozone"] * 2),
    ],
)
def test_the_first_rank_of_a_node_writes_the_files_of_nodes(tmp_path, monkeypatch, hosts, iozone, machines, clients):
    monkeypatch.setattr(commands.shutil, "which", lambda name: iozone if name == "iozone" else None)
    commands.write_node_files(assignment(tmp_path, hosts=hosts), rank_of(1))
    assert not list(tmp_path.iterdir())
    commands.write_node_files(assignment(tmp_path, hosts=hosts), rank_of(2))
    assert (tmp_path / "machinefile").read_text().split("\n") == [*machines, ""]
    assert (tmp_path / "iozone-clients").read_text().split("\n") == [*clients, ""]


@pytest.mark.parametrize("stage", [items.STEP, items.SET_UP])
@pytest.mark.parametrize("well", [True, False])
def test_a_step_waits_is_noted_run_and_counted_in_this_order(monkeypatch, stage, well):
    called = []
    monkeypatch.setattr(commands, "note_mark", lambda a, r, what, *of: called.append((what, *of)))
    monkeypatch.setattr(commands, "_run_on_required_ranks", lambda *_: called.append("run") or well)
    heart = SimpleNamespace(enter=lambda *of: called.append(of))
    meter = SimpleNamespace(
        ends=lambda part: called.append(("ends", part)), keep=lambda frame: called.append(("keep", frame))
    )
    part = items.Part(ITEM | {"stage": stage}, 7, [])
    assert commands.run_command_step(part, assignment(), rank_of(0, called), heart, {0}, meter) is well
    marks = [(what, 7, "copy") for what in ("begun", "ended")] if stage == items.STEP else []
    assert called == [
        ("copy", WAITING),
        ("wait",),
        ("ends", "preparing"),
        *marks[:1],
        "run",
        *marks[1:],
        ("ends", "timed"),
        ("keep", 7),
    ]


@pytest.mark.parametrize(
    ("on", "rank", "called"),
    [
        ("each", 1, [("wait",), "run", ("wait",), ("wait",), ("wait",)]),
        ("all", 1, ["run together", ("wait", commands.mpi.POLL_S)]),
        ("single", 0, ["run", ("wait", commands.mpi.POLL_S)]),
        ("single", 1, [("wait", commands.mpi.POLL_S)]),
        ("servers", 0, ["run", ("wait", commands.mpi.POLL_S)]),
        ("servers", 2, [("wait", commands.mpi.POLL_S)]),
        ("mpi", 0, ["run", ("wait", commands.LOOK_S)]),
        ("mpi", 1, [("wait", commands.LOOK_S)]),
    ],
)
def test_who_runs_a_step_and_how_the_others_wait(monkeypatch, on, rank, called):
    calls, ranks = [], rank_of(rank)
    ranks.wait_for_all = lambda *look_s: calls.append(("wait", *look_s))

    def run_here(part, assignment, ranks, heart, cpus, *begin):
        assert (heart, cpus, [each() for each in begin]) == ("heart", {5}, ["together"] * len(begin))
        calls.append("run together" if begin else "run")
        return False

    monkeypatch.setattr(commands, "_run_here", run_here)
    monkeypatch.setattr(commands, "start_together", lambda of: "together" if of is ranks else None)
    part = items.Part(ITEM | {"on": on}, 7, [])
    well = commands._run_on_required_ranks(part, assignment(), ranks, "heart", {5})
    assert calls == called and well is (not {"run", "run together"} & set(called))


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "cp /t/a b"),
        ({"command": "ior -o ${TARGET}"}, "ior -o /t"),
        (
            {"command": "A=${x} ior -o ${TARGET}", "launch": ["mpiexec", "-n 2"], "at": 7},
            "A=1 mpiexec '-n 2' ior -o /t",
        ),
    ],
)
def test_the_command_for_the_shell(more, text):
    assert commands.fill_command(ITEM | more, {"TARGET": "/t", "x": 1}) == text


def test_a_command_for_servers_is_filled_in_for_each():
    text = commands.fill_command(ITEM | {"servers": ["s1", "s2"]}, {"TARGET": "/t", "RANK": 0})
    assert [line for line in text.splitlines() if line == "pids="] == ["pids="]
    for host in ("s1", "s2"):
        assert text.count(f"export IOSONDE_TARGET=/t IOSONDE_RANK=0 IOSONDE_SERVER={host}; cp /t/a b") == 1


@pytest.mark.parametrize(
    ("result", "more", "well"),
    [
        ({"exit_code": 0}, {}, True),
        ({"exit_code": 3}, {}, True),
        ({"exit_code": 1}, {}, False),
        ({"exit_code": 0, "fault": "full"}, {}, False),
        ({"exit_code": 0, "ended_by": "timeout"}, {}, False),
        ({"signal": 9}, {}, False),
        ({"exit_code": 0}, {"on": "single", "keep_output": 5 * 2**30}, True),
        ({"exit_code": 0}, {"stage": items.SET_UP}, True),
    ],
)
def test_what_is_run_on_a_rank_and_left_in_its_spool(tmp_path, monkeypatch, result, more, well):
    calls, entered = [], []

    def run(shell_command, output, begin):
        calls.append((shell_command, output, begin()))
        return CommandResult(10, 25, 1.5, **result)

    monkeypatch.setattr(commands.command, "run", run)
    heart = SimpleNamespace(enter=lambda label, state, **_: entered.append((label, state)))
    part = items.Part(ITEM | more, 7, [])
    asked = assignment(tmp_path, outside=["SLURM_JOB_ID"])
    assert commands._run_here(part, asked, rank_of(2), heart, {5}, lambda: 77) is well
    ((shell_command, output, begin),) = calls
    once, set_up = more.get("on") == "single", more.get("stage") == items.SET_UP
    kept = more.get("keep_output") or 16 * 2**20
    values = commands.collect_placeholder_values(asked, rank_of(2))
    assert shell_command == ShellCommand(
        "cp /t/a b",
        {
            "IOSONDE_PYTHON": sys.executable,
            **commands.placeholders.values_to_environment(values),
            "IOSONDE_TRIAL_ID": str(tmp_path),
        },
        f"{tmp_path}:7:2",
        {5},
        command.STAYS if set_up else command.ENDS,
        9.0,
        max(4 * 2**30, kept),
        kept,
        outside=frozenset({"SLURM_JOB_ID"}) if once else None,
    )
    assert (output, begin) == (spool.build_output_path(tmp_path, 2, 7), 77)
    assert entered == [("copy", RUNNING), ("copy", WAITING)]
    left = spool.read_phase(tmp_path, 2, spool.index_frames(tmp_path, 3)[2][7])
    assert (left.rank, left.phase, left.started_ns, left.ended_ns) == (2, 7, 10, 25)
    assert (left.stopped, left.recorded_all, left.totals, left.errors) == ("count" if well else "error", False, [], [])
    assert left.command | result == left.command and left.command["started_at"] == 1.5


def test_a_name_that_a_shell_would_split_is_not_run(monkeypatch, tmp_path):
    monkeypatch.setattr(commands.command, "run", None)
    asked = assignment(tmp_path, values={"TARGET": "/t t"})
    with raises("unsafe-shell-text", place="copy"):
        commands._run_here(items.Part(ITEM, 7, []), asked, rank_of(0), None, {0})


# Levels and caches


def prepare(monkeypatch, regime, levels=(), fails=None):
    """What two nodes of two ranks each do and say before a trial: ((faults, remounts), calls) of each rank."""
    calls = {rank: [] for rank in range(4)}

    def drop(rank):
        calls[rank].append("caches")
        if fails == ("caches", rank):
            raise SystemFaultError("cache-fault", "no", "wait", at=rank)
        return [{"mount": f"m{rank}"}] if regime.get("between_trials") == "remount" else []

    def apply(control, variables):
        calls[variables["RANK"]].append(control.factor)
        if fails == (control.factor, variables["RANK"]):
            raise SystemFaultError("level-fault", "no", "wait", at=variables["RANK"])

    monkeypatch.setattr(controls, "drop_or_remount_caches", lambda regime, variables: drop(variables["RANK"]))
    monkeypatch.setattr(controls, "apply_level", apply)
    asked = assignment(cache=regime, controls=list(levels))
    heart = SimpleNamespace(enter=lambda *_, **__: None)
    found = thread_ranks.run_ranks(
        thread_ranks.on_hosts("n1", "n1", "n2", "n2"),
        lambda ranks: controls.prepare_caches_and_levels(asked, ranks, heart),
    )
    assert found.count(found[0]) == 4, "all ranks know the same"
    return found[0], [calls[rank] for rank in range(4)]


LEVELS = ({"factor": "first", "set": "a"}, {"factor": "each", "set": "b", "on": "each"})


@pytest.mark.parametrize(
    ("regime", "fails", "calls", "fault", "remounts"),
    [
        ({}, None, [["first", "each"], [], ["each"], []], None, []),
        ({"between_trials": "drop"}, None, [["caches", "first", "each"], [], ["caches", "each"], []], None, []),
        (
            {"between_trials": "remount"},
            None,
            [["caches", "first", "each"], [], ["caches", "each"], []],
            None,
            [("m0", "n1"), ("m2", "n2")],
        ),
        ({"between_trials": "drop"}, ("caches", 2), [["caches"], [], ["caches"], []], "cache-fault", []),
        ({}, ("first", 0), [["first"], [], [], []], "level-fault", []),
        ({}, ("each", 2), [["first", "each"], [], ["each"], []], "level-fault", []),
    ],
)
def test_caches_then_levels_are_set_once_a_node_and_a_failure_ends_it(
    monkeypatch, regime, fails, calls, fault, remounts
):
    (faults, anew), called = prepare(monkeypatch, regime, LEVELS, fails)
    assert called == calls
    assert [(entry["mount"], entry["host"]) for entry in anew] == remounts
    assert codes(faults) == ([fault] if fault else [])
    if fault:
        assert_problem(faults[0], fault, at=fails[1])
        assert faults[0].endswith(f" (on {['n1', 'n1', 'n2', 'n2'][fails[1]]})")


def test_the_node_of_a_fault_is_named_only_where_there_are_several():
    def fail():
        raise SystemFaultError("level-fault", "no", "wait")

    heart = SimpleNamespace(enter=lambda *_, **__: None)
    (found,) = thread_ranks.run_ranks(
        thread_ranks.on_hosts("n1"), lambda ranks: controls._collect_faults(ranks, heart, "x", True, fail)
    )
    assert found == ["no"] and codes(found) == ["level-fault"]
    (none,) = thread_ranks.run_ranks(
        thread_ranks.on_hosts("n1"), lambda ranks: controls._collect_faults(ranks, heart, "x", False, fail)
    )
    assert none == []


@pytest.mark.parametrize(
    ("control", "printed", "ran", "actual"),
    [
        (Control("size", "set ${LEVEL}", "get ${TARGET}"), "64KiB\n", ["set 65536", "get /t"], None),
        (Control("size", "set ${LEVEL}"), "", ["set 65536"], None),
        (Control("size", "", "get"), "65536", ["get"], None),
        (Control("size", "set", "get"), "1", ["set", "get"], "1"),
        (Control("size", "", "get"), " \n", ["get"], "nothing"),
        (Control("size", "", "get"), "9" * 81, ["get"], "9" * 80),
        (Control("size"), "", [], None),
    ],
)
def test_a_level_is_set_and_then_read(monkeypatch, control, printed, ran, actual):
    calls = []

    def run(text, environment, what):
        calls.append(text)
        assert (environment["IOSONDE_LEVEL"], environment["IOSONDE_SIZE"]) == ("65536", "65536")
        assert "size" in what
        return printed

    monkeypatch.setattr(controls.hooks, "run", run)
    values = {"size": 65536, "TARGET": "/t"}
    if actual is None:
        controls.apply_level(control, values)
    else:
        with raises("level-not-set", SystemFaultError, factor="size", level=65536, actual=actual):
            controls.apply_level(control, values)
    assert calls == ran


@pytest.mark.parametrize("control", [Control("f", "set ${TARGET}"), Control("f", "", "get ${TARGET}")])
def test_a_control_that_a_shell_would_split_is_refused(monkeypatch, control):
    monkeypatch.setattr(controls.hooks, "run", None)
    with raises("unsafe-shell-text"):
        controls.apply_level(control, {"f": 1, "TARGET": "/t t"})
    with raises("unsafe-shell-text", place="cache"):
        controls.remount_target(CacheRegime("remount", "a", "mount ${TARGET_ROOT}"), {"TARGET_ROOT": "/t t"})


@pytest.mark.parametrize(
    ("between", "did", "remounts"), [("none", [], []), ("drop", ["drop"], []), ("remount", ["remount"], ["done"])]
)
def test_caches_are_dropped_or_the_target_is_remounted(monkeypatch, between, did, remounts):
    called = []
    monkeypatch.setattr(controls, "drop_caches", lambda: called.append("drop"))
    monkeypatch.setattr(controls, "remount_target", lambda *_: called.append("remount") or "done")
    assert controls.drop_or_remount_caches(CacheRegime(between), {}) == remounts and called == did


def test_all_is_written_out_before_the_kernels_caches_are_dropped(tmp_path, monkeypatch):
    switch, written = tmp_path / "drop_caches", []
    monkeypatch.setattr(controls.os, "sync", lambda: written.append(switch.exists()))
    controls.drop_caches(switch)
    assert switch.read_text() == "3\n" and written == [False]


# Hooks


@pytest.mark.parametrize(
    ("result", "code", "values"),
    [
        ({"exit_code": 0}, None, {}),
        ({"exit_code": 2}, "command-failed", {"exit_code": 2, "signal": None, "output": "some words"}),
        ({"signal": 9}, "command-failed", {"signal": 9, "exit_code": None}),
        ({"exit_code": 0, "fault": "full"}, "command-failed", {"output": "full"}),
        ({"signal": 15, "ended_by": "timeout"}, "timeout", {"limit_s": 600.0}),
    ],
)
def test_a_hook_returns_its_output_or_says_how_it_ended(monkeypatch, result, code, values):
    calls = []

    def run(shell_command, output):
        calls.append(shell_command)
        output.write_text("some words\n")
        return CommandResult(1, 2, 3.0, **result)

    monkeypatch.setattr(hooks, "run_command", run)
    monkeypatch.setattr(hooks.binding, "get_cpus_before_binding", lambda: {4})
    if code is None:
        assert hooks.run("true", {"A": "b"}) == "some words\n"
    else:
        with raises(code, SystemFaultError, what="it", command="true", **values):
            hooks.run("true", {"A": "b"}, "it")
    assert calls == [ShellCommand("true", {"A": "b"}, cpus={4}, leftover_policy="outlives", timeout_s=600.0)]


@pytest.mark.parametrize(("printed", "output"), [("x" * 5000, "x" * 300), ("", "no output"), (" \n", "no output")])
def test_the_end_of_a_hooks_output_is_its_reason(monkeypatch, printed, output):
    def run(shell_command, path):
        path.write_text(printed)
        return CommandResult(1, 2, 3.0, exit_code=1)

    monkeypatch.setattr(hooks, "run_command", run)
    with raises("command-failed", SystemFaultError, output=output):
        hooks.run("true", {})


# The shell


def run_shell(tmp_path, **more):
    begun = []
    found = command.run(ShellCommand("true", **more), tmp_path / "output", lambda: begun.append(1) or 0)
    return found, begun


def test_without_a_guard_no_command_is_started_and_nobody_waits(tmp_path, monkeypatch):
    def fail():
        raise OSError(11, os.strerror(11))

    monkeypatch.setattr(command.Guard, "start", fail)
    open_files = len(os.listdir("/proc/self/fd"))
    found, begun = run_shell(tmp_path)
    assert begun == [1] and os.strerror(11) in found.fault
    assert found.started_ns == found.ended_ns > 0 and found.exit_code is None
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_a_shell_that_cannot_be_started_is_a_fault_and_its_guard_is_dismissed(tmp_path, monkeypatch):
    dismissed = []
    guard = SimpleNamespace(dismiss=lambda: dismissed.append(1))
    monkeypatch.setattr(command.Guard, "start", lambda: guard)
    monkeypatch.setattr(command, "_start_shell", lambda *_: (1.5, 77, -12))
    found, _ = run_shell(tmp_path)
    assert found == CommandResult(77, 77, 1.5, fault=found.fault) and os.strerror(12) in found.fault
    assert dismissed == [1]
    assert run_shell(tmp_path / "none", leftover_policy=command.OUTLIVES)[0].fault
    assert dismissed == [1]


def test_a_command_that_cannot_be_reaped_is_left_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(command.Guard, "start", lambda: None)
    monkeypatch.setattr(command, "_start_shell", lambda *_: (1.5, 77, 4242))
    monkeypatch.setattr(command, "_watch_guarded", lambda *_: ("timeout", 99))
    monkeypatch.setattr(command.os, "wait4", lambda pid, options: (0, 0, None))
    found, _ = run_shell(tmp_path)
    assert found == CommandResult(77, 99, 1.5, ended_by="timeout", left=1, fault=found.fault)
    assert "4242" in found.fault


@pytest.mark.parametrize(
    ("policy", "full", "size", "left"), [("ends", "", 9, 3), ("stays", "", 9, 0), ("ends", "full", 0, 3)]
)
def test_a_command_that_ended_is_described(tmp_path, monkeypatch, policy, full, size, left):
    usage = SimpleNamespace(ru_maxrss=2**40, ru_utime=1.5, ru_stime=0.25)
    monkeypatch.setattr(command.Guard, "start", lambda: None)

    def start(asked, handle, begin):
        os.write(handle, b"some more")
        return 1.5, 77, 4242

    monkeypatch.setattr(command, "_start_shell", start)
    monkeypatch.setattr(command, "_watch_guarded", lambda *_: ("", 99))
    monkeypatch.setattr(command.os, "wait4", lambda pid, options: (pid, 9, usage))
    monkeypatch.setattr(command, "end_leftovers", lambda pid, step_id: 3 if (pid, step_id) == (4242, "s") else None)
    monkeypatch.setattr(command, "_explain_full", lambda place: full if place == tmp_path else None)
    found, _ = run_shell(tmp_path, leftover_policy=policy, step_id="s")
    assert found == CommandResult(77, 99, 1.5, None, 9, "", left, size, 0, 2**50, 1.5, 0.25, full)


@pytest.mark.parametrize(
    ("policy", "outside", "names"),
    [
        ("ends", None, {"PATH", "SLURM_JOB_ID", "OMPI_MCA_btl", "IOSONDE_WATCHDOG_ID"}),
        ("ends", frozenset({"SLURM_JOB_ID"}), {"PATH", "SLURM_JOB_ID", "IOSONDE_WATCHDOG_ID"}),
        ("outlives", None, {"PATH", "SLURM_JOB_ID", "OMPI_MCA_btl"}),
    ],
)
def test_a_command_sees_the_variables_that_are_not_of_our_launcher(monkeypatch, policy, outside, names):
    monkeypatch.setattr(command, "WATCHDOG_VARIABLE", "IOSONDE_WATCHDOG_ID")
    theirs = ("PATH", "SLURM_JOB_ID", "OMPI_MCA_btl", "IOSONDE_WATCHDOG_ID", "PMI_RANK", "OMPI_COMM_WORLD_RANK")
    monkeypatch.setattr(command.os, "environ", dict.fromkeys(theirs, "1"))
    asked = ShellCommand("true", {"A": "b"}, "", leftover_policy=policy, outside=outside)
    assert command._build_environment(asked) == {**dict.fromkeys(names, "1"), "A": "b"}
    named = ShellCommand("true", {command.STEP_VARIABLE: "mine"}, "id", leftover_policy=policy, outside=outside)
    assert command._build_environment(named) == {**dict.fromkeys(names, "1"), command.STEP_VARIABLE: "mine"}


@pytest.mark.parametrize(
    ("family", "in_group", "count"), [([7, 8], True, 2), ([], True, 1), ([], False, 0), ([7], False, 1)]
)
def test_the_rest_of_a_command_is_ended_and_counted(monkeypatch, family, in_group, count):
    ended, alive = [], [set(family), set()]
    monkeypatch.setattr(command, "find_family", lambda *of: alive.pop(0) if of[1] == command.STEP_VARIABLE else None)
    monkeypatch.setattr(command, "_signal_group", lambda group, number: ended.append((group, number)) or in_group)
    monkeypatch.setattr(command.os, "kill", lambda pid, number: ended.append((pid, number)))
    monkeypatch.setattr(command.time, "sleep", lambda _: None)
    assert command.end_leftovers(5, "s") == count
    assert sorted(ended) == [(5, signal.SIGKILL), *((pid, signal.SIGKILL) for pid in family)]
    assert command.end_leftovers(5, "") == int(in_group)


def test_all_commands_of_a_trial_are_ended(monkeypatch):
    asked, ended = [], []
    monkeypatch.setattr(command, "find_family", lambda *of: asked.append(of) or {7, 9})
    monkeypatch.setattr(command, "_end_processes", lambda *of: ended.append(of))
    assert command.end_trial("/s", 12) == 2
    assert asked == [("/s", "IOSONDE_TRIAL_ID", 12)] and ended == [({7, 9}, "/s", "IOSONDE_TRIAL_ID")]


@pytest.mark.parametrize(
    ("size", "ended_after", "limit_s", "why"),
    [(0, 1, 60.0, ""), (0, 9, 1e-9, "timeout"), (101, 9, 60.0, "output"), (100, 2, 60.0, "")],
)
@pytest.mark.parametrize("has_pidfd", [True, False])
def test_why_a_command_has_to_be_ended(tmp_path, monkeypatch, size, ended_after, limit_s, why, has_pidfd):
    looks = iter(range(1, 99))
    looked = lambda *_: next(looks) >= ended_after  # noqa: E731
    poller = SimpleNamespace(register=lambda *_: None, poll=looked)
    monkeypatch.setattr(command.select, "poll", lambda: poller)
    monkeypatch.setattr(command, "_has_ended_within", looked)

    def open_pidfd(pid):
        if has_pidfd:
            return os.open("/dev/null", os.O_RDONLY)
        raise OSError(38, "no")

    monkeypatch.setattr(command.os, "pidfd_open", open_pidfd, raising=False)
    path, open_files = tmp_path / "output", len(os.listdir("/proc/self/fd"))
    path.write_bytes(b"x" * size)
    with path.open("r+b") as file:
        asked = ShellCommand("true", timeout_s=limit_s, output_bytes=100)
        assert command._wait_for_end(asked, 1, file.fileno(), command.time.monotonic_ns()) == why
    assert len(os.listdir("/proc/self/fd")) == open_files


@pytest.mark.parametrize(
    ("free", "is_full"), [(None, False), (command.NEARLY_FULL_BYTES + 1, False), (command.NEARLY_FULL_BYTES, True)]
)
def test_a_directory_that_is_nearly_full_is_said(tmp_path, monkeypatch, free, is_full):
    monkeypatch.setattr(command.mount, "get_free_bytes", lambda _: free)
    assert (str(tmp_path) in command._explain_full(Path(tmp_path))) is is_full


def test_memory_counts_above_our_own_alone(monkeypatch):
    monkeypatch.setattr(command.resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=100))
    assert [command._get_peak_if_above_ours(kib) for kib in (99, 100, 101)] == [None, None, 101 * 1024]


@pytest.mark.parametrize(
    ("policy", "has_guard", "dismisses"),
    [("ends", True, True), ("ends", False, False), ("stays", True, False), ("outlives", False, False)],
)
@pytest.mark.parametrize("why", ["", "timeout"])
def test_a_command_is_watched_by_its_guard_until_it_ends(monkeypatch, policy, has_guard, dismisses, why):
    calls = []
    guard = SimpleNamespace(watch=lambda pid: calls.append(("watch", pid)), dismiss=lambda: calls.append("dismiss"))
    monkeypatch.setattr(command, "_wait_for_end", lambda asked, *of: calls.append(of) or why)
    monkeypatch.setattr(command, "_terminate_group", lambda *of: calls.append(("end", *of)))
    monkeypatch.setattr(command.time, "monotonic_ns", lambda: 99)
    asked = ShellCommand("true", step_id="s", leftover_policy=policy, grace_s=1.5)
    assert command._watch_guarded(asked, 5, 6, 7, guard if has_guard else None) == (why, 99)
    assert calls == [
        *([("watch", 5)] if has_guard else []),
        (5, 6, 7),
        *([("end", 5, "s", 1.5)] if why else []),
        *(["dismiss"] if dismisses else []),
    ]


def test_a_command_whose_watch_is_interrupted_is_killed(monkeypatch):
    killed = []

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_wait_for_end", interrupt)
    monkeypatch.setattr(command, "_signal_group", lambda *of: killed.append(of))
    with pytest.raises(KeyboardInterrupt):
        command._watch_guarded(ShellCommand("true"), 5, 6, 7, None)
    assert killed == [(5, signal.SIGKILL)]


@pytest.mark.parametrize(
    ("looks", "hangs", "beats", "step_id"), [(1, "", 0, "s"), (3, "", 2, "s"), (99, "", 4, ""), (99, "in fuse", 1, "s")]
)
def test_a_group_is_asked_to_end_and_then_killed(monkeypatch, looks, hangs, beats, step_id):
    """Each look takes a second of the three that it has."""
    calls, clock, left, marks = [], [0.0], [looks], []

    class Pulse:
        def __init__(self, mark):
            marks.append(mark)
            self.hangs, self.beats = "", 0

        def beat(self):
            calls.append("beat")
            self.hangs = hangs

    def has_ended(pid, seconds):
        calls.append((pid, seconds))
        clock[0] += 1.0
        left[0] -= 1
        return left[0] <= 0

    monkeypatch.setattr(command, "Pulse", Pulse)
    monkeypatch.setattr(command, "_has_ended_within", has_ended)
    monkeypatch.setattr(command, "_signal_group", lambda *of: calls.append(of))
    monkeypatch.setattr(command.time, "monotonic", lambda: clock[0])
    command._terminate_group(5, step_id, 4.5)
    assert marks == ["IOSONDE_STEP_ID=s" if step_id else ""] and calls.count("beat") == beats
    assert calls[0] == (5, signal.SIGTERM) and calls[-2:] == [(5, signal.SIGKILL), (5, command.KILL_S)]
    assert set(calls[1:-2]) <= {(5, command.LOOK_S), "beat"}


@pytest.mark.parametrize("cpus", [None, {0}])
def test_a_shell_is_started_at_the_agreed_moment_in_a_session_of_its_own(monkeypatch, cpus):
    calls, clock = [], iter([10, 20, 30, 40])
    monkeypatch.setattr(command.os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(command.os, "sched_setaffinity", lambda pid, of: calls.append((pid, of)))
    monkeypatch.setattr(command.os, "listdir", lambda place: [])
    monkeypatch.setattr(command, "_build_environment", lambda asked: {"A": "b"})
    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic_ns=lambda: next(clock), time=lambda: 1.5))

    def spawn(path, words, environment, **more):
        actions = more.pop("file_actions")
        calls.append((path, words, environment, more))
        assert [(action[0], *action[1:3]) for action in actions] == [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null"),
            (os.POSIX_SPAWN_DUP2, 6, 1),
            (os.POSIX_SPAWN_DUP2, 6, 2),
        ]
        return 77

    monkeypatch.setattr(command.os, "posix_spawn", spawn)
    asked = ShellCommand("work", cpus=cpus)
    assert command._start_shell(asked, 6, lambda: 25) == (1.5, 40, 77)
    plain = [getattr(signal, f"SIG{name}") for name in ("PIPE", "XFSZ", "INT", "TERM", "HUP", "CHLD")]
    started = ("/bin/sh", ["sh", "-c", "work"], {"A": "b"}, {"setsid": True, "setsigmask": [], "setsigdef": plain})
    assert calls == [*([(0, cpus)] if cpus else []), started, *([(0, {0, 1})] if cpus else [])]


@pytest.mark.parametrize(("number", "code"), [(12, -12), (None, -1)])
def test_a_shell_that_does_not_start_has_its_number(monkeypatch, number, code):
    def fail(*_, **__):
        raise OSError(number, "no") if number else OSError("no")

    monkeypatch.setattr(command.os, "posix_spawn", fail)
    started_at, started_ns, pid = command._start_shell(ShellCommand("work"), 6, lambda: 0)
    assert pid == code and started_at > 0 and started_ns > 0


@pytest.mark.parametrize(("error", "is_there"), [(None, True), (ProcessLookupError, False), (PermissionError, False)])
def test_a_group_is_signalled_if_it_is_there(monkeypatch, error, is_there):
    sent = []

    def kill(*of):
        sent.append(of)
        if error:
            raise error

    monkeypatch.setattr(command.os, "killpg", kill)
    assert command._signal_group(5, signal.SIGTERM) is is_there and sent == [(5, signal.SIGTERM)]


@pytest.mark.parametrize(
    ("looks", "seconds", "has_ended"), [(1, 0.0, True), (2, 0.0, False), (3, 2.5, True), (4, 1.5, False)]
)
def test_an_end_is_looked_for_until_the_time_is_over(monkeypatch, looks, seconds, has_ended):
    clock, left = [0.0], [looks]

    def wait(kind, pid, options):
        assert (kind, pid, options) == (os.P_PID, 5, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        left[0] -= 1
        return None if left[0] else "ended"

    monkeypatch.setattr(command.os, "waitid", wait)
    pause = lambda _: clock.__setitem__(0, clock[0] + 1.0)  # noqa: E731
    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=pause))
    assert command._has_ended_within(5, seconds) is has_ended


def test_a_guard_is_told_its_group_and_dismissed(monkeypatch):
    calls = []
    monkeypatch.setattr(command.os, "kill", lambda *of: calls.append(of))
    monkeypatch.setattr(command.os, "waitpid", lambda *of: calls.append(of))
    read, write = os.pipe()
    guard = command.Guard(77, write)
    guard.watch(5)
    assert os.read(read, 99) == b"5\n"
    os.close(read)
    guard.watch(6)  # somebody killed it
    guard.dismiss()
    assert calls == [(77, signal.SIGKILL), (77, 0)]
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(write)
