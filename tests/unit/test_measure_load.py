"""The load beside a benchmark: it runs until it is stopped, it leaves nothing, and one that died is no load."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from iosonde.core.errors import SystemFaultError
from iosonde.measure import load_program, user_commands
from iosonde.measure.source_tree import SourceTree
from iosonde.ranks import processes
from messages import assert_problem, raises


@pytest.fixture
def place(tmp_path, monkeypatch):
    made = tmp_path / "iosonde-x" / "trial-0000" / "rank-1"
    (made / "tree" / "d").mkdir(parents=True)
    (made / "tree" / "d" / "f").write_text("x")
    monkeypatch.setattr(load_program, "END_S", 5.0)
    yield made
    with suppress(OSError, ValueError, KeyError):
        os.killpg(json.loads((made / "load.json").read_text())["pid"], signal.SIGKILL)


def state(place):
    return json.loads((place / "load.json").read_text())


def until(true):
    give_up = time.monotonic() + 30
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_it_goes_on_until_it_is_stopped(place):
    load_program.start(place, load_program.IN_TRIAL, "echo pass >>../passes", 60)
    begun = place / "passes"
    until(lambda: begun.exists() and len(begun.read_text().split()) > 1)  # so the first of them has ended
    ended = load_program.stop(place)
    assert ended["why"] == "stopped"
    assert ended["passes"] + 1 >= len(begun.read_text().split()) >= ended["passes"] >= 1
    assert processes.is_gone(state(place)["identity"])


@pytest.mark.long
def test_a_command_in_the_middle_of_a_pass_is_ended_with_its_children(place):
    load_program.start(place, load_program.IN_TRIAL, "sleep 600 & echo $! >../child; wait", 60)
    until((place / "child").exists)
    assert load_program.stop(place)["passes"] == 0
    until(lambda: not os.path.exists(f"/proc/{(place / 'child').read_text().strip()}"))


@pytest.fixture
def room(tmp_path):
    """A directory with what a rank's has."""
    SourceTree(1, 5).write(tmp_path / "room")
    return tmp_path / "room"


def names(room):
    return sorted(path.relative_to(room) for path in room.rglob("*"))


def in_turn(room, remote=""):
    return subprocess.run(
        ["sh", "-c", user_commands.join_user_commands(remote)], cwd=room, capture_output=True, text=True
    )


def test_all_benchmarks_in_turn_leave_what_they_found(room):
    before = names(room)
    for _ in range(2):
        assert in_turn(room).returncode == 0
        assert names(room) == before


def test_a_benchmark_of_the_load_that_found_too_little_fails(room):
    next(path for path in (room / "tree").rglob("*") if path.is_file()).unlink()
    done = in_turn(room)
    assert done.returncode == 1
    left, right = map(int, re.findall(r"\d+", done.stdout.splitlines()[-1]))
    assert 0 < left < right


def test_where_there_is_a_host_they_fetch_from_it(room):
    (room / "away").write_text("/nowhere")
    assert in_turn(room, remote="host-that-is.invalid").returncode
    assert (room / "work").exists()  # those before it were done
    assert (room / "tree").exists()  # and those after it were not


def test_the_level_all_does_them_until_it_is_stopped(tmp_path):
    there = tmp_path / "iosonde-x" / "trial-0000" / "rank-1"
    SourceTree(1, 5).write(there)
    words = ["--place", str(there), "--level", "all", "--rank", "1", "--victims", "1"]
    load_program.main(["start", *words])
    until((there / "load" / "copy").exists)
    load_program.main(["stop", *words])
    assert processes.is_gone(state(there)["identity"])


def test_a_load_that_failed_is_none(place):
    load_program.start(place, load_program.IN_TRIAL, "exit 3", 60)
    with raises("load-ended-early", SystemFaultError, cause="command-failed"):
        load_program.stop(place)


def test_a_load_that_was_killed_is_none(place):
    load_program.start(place, load_program.IN_TRIAL, "sleep 0.01", 60)
    os.kill(state(place)["pid"], signal.SIGKILL)
    until(lambda: processes.is_gone(state(place)["identity"]))
    with raises("load-died", SystemFaultError):
        load_program.stop(place)


def test_it_does_not_outlive_its_time(place):
    load_program.start(place, load_program.IN_TRIAL, "sleep 0.01", 0.1)
    until(lambda: processes.is_gone(state(place)["identity"]))
    with raises("load-ended-early", SystemFaultError, cause="time-limit"):
        load_program.stop(place)


def test_it_does_not_outlive_its_trial(place):
    load_program.start(place, load_program.IN_TRIAL, "sleep 0.01", 60)
    identity = state(place)["identity"]
    place.rename(place.parent / "gone")
    until(lambda: processes.is_gone(identity))


def test_it_does_not_outlive_who_watches_the_trial(place, monkeypatch):
    boot, namespace, *_ = processes.get_process_identity().split(":")
    monkeypatch.setenv(processes.WATCHDOG_VARIABLE, f"{boot}:{namespace}:{2**22 - 1}:1")
    load_program.start(place, load_program.IN_TRIAL, "sleep 0.01", 60)
    until(lambda: processes.is_gone(state(place)["identity"]))
    with raises("load-ended-early", SystemFaultError, cause="unwatched"):
        load_program.stop(place)


def test_elsewhere_it_works_in_a_workspace_of_its_own_and_removes_it(place, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("x")
    load_program.start(place, str(elsewhere), "cat tree/d/f", 60)
    assert len(list(elsewhere.iterdir())) == 2
    load_program.stop(place)
    assert [path.name for path in elsewhere.iterdir()] == ["precious"]


def test_a_place_that_is_none_fails_at_the_start(place, tmp_path):
    with raises("load-not-started", SystemFaultError) as caught:
        load_program.start(place, str(tmp_path / "none"), "true", 60)
    assert os.strerror(errno.ENOENT) in caught.value.values["output"]


def test_stopping_what_was_not_started(place):
    with raises("load-not-running", SystemFaultError):
        load_program.stop(place)


@pytest.mark.parametrize("words", [["--level", "off"], ["--level", "on", "--rank", "0", "--victims", "1"]])
def test_who_has_no_load(place, words):
    for what in ("start", "stop"):
        load_program.main([what, "--place", str(place), *words])
    assert not (place / "load.json").exists()


def test_a_level_that_is_none(place):
    with raises("unknown-load", level="heavy"):
        load_program.main(["start", "--place", str(place), "--level", "heavy"])


# In this process


@pytest.fixture
def quick(place, monkeypatch):
    """A clock that advances at each pause, and no other process."""
    clock = [100.0]
    time_of = SimpleNamespace(
        monotonic=lambda: clock[0], sleep=lambda seconds: clock.__setitem__(0, clock[0] + seconds + 1)
    )
    monkeypatch.setattr(load_program, "time", time_of)
    monkeypatch.delenv(processes.WATCHDOG_VARIABLE, raising=False)
    return clock


@pytest.mark.parametrize(
    ("signals", "gone", "watched", "started", "code"),
    [
        ([], False, True, 95.0, None),
        ([15], True, False, 0.0, "stopped"),
        ([], True, False, 0.0, "trial-gone"),
        ([], False, False, 0.0, "unwatched"),
        ([], False, True, 94.9, "time-limit"),
    ],
)
def test_why_it_is_time_to_end(place, quick, monkeypatch, signals, gone, watched, started, code):
    monkeypatch.setenv(processes.WATCHDOG_VARIABLE, "me")
    monkeypatch.setattr(processes, "is_gone", lambda identity: not watched if identity == "me" else None)
    found = load_program._explain_end(signals, place / "none" if gone else place, started, 5.0)
    assert (found and found.code) == code


@pytest.mark.parametrize(
    ("endings", "wrote", "passes", "code"),
    [
        ([None, None, "stopped"], True, 2, "stopped"),
        (["time-limit"], True, 0, "time-limit"),
        ([None, "trial-gone"], False, None, None),
    ],
)
@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_load_passes_until_there_is_a_reason_to_end(
    place, quick, tmp_path, monkeypatch, endings, wrote, passes, code, elsewhere
):
    where, rooms, left = str(tmp_path / "there") if elsewhere else "target", [], list(endings)
    (tmp_path / "there").mkdir()
    (place / "away").write_text("n1")
    name = "load-iosonde-x-rank-1"

    def run_pass(command, room, end):
        assert command == "work" and end() is None
        state_of = json.loads((place / "load.json").read_text())
        assert state_of == {
            "pid": os.getpid(),
            "identity": processes.get_process_identity(),
            "workspace": where if elsewhere else "",
            "name": name,
        }
        rooms.append((room, sorted(path.name for path in room.iterdir() if not path.name.startswith("."))))
        quick[0] += 2.5
        if left[0] == "trial-gone":
            place.rename(place.parent / "gone")
        ending = left.pop(0)
        return load_program.Message(ending, ending) if ending else None

    monkeypatch.setattr(load_program, "_run_pass", run_pass)
    before = signal.getsignal(signal.SIGTERM)
    try:
        load_program.run(place, where, "work", 60.0)
    finally:
        signal.signal(signal.SIGTERM, before)
    room = tmp_path / "there" / f"iosonde-{name}" if elsewhere else place / "load"
    assert rooms == [(room, ["away", "tree"])] * len(endings)
    assert not list((tmp_path / "there").iterdir())
    if wrote:
        ended = json.loads((place / "load-ended.json").read_text())
        assert ended == {"why": code, "code": code, "passes": passes, "seconds": 2.5 * len(endings)}
    else:
        assert not (place.parent / "gone" / "load-ended.json").exists()


class Process:
    """A child that ends with ``code`` at its nth look."""

    def __init__(self, code, looks):
        self.code, self.looks, self.killed = code, looks, False

    def wait(self, timeout=None):
        self.looks -= 1
        if self.looks > 0 and not self.killed:
            raise subprocess.TimeoutExpired("x", timeout)
        return self.code

    def kill(self):
        self.killed = True


@pytest.mark.parametrize(
    ("code", "looks", "end_at", "wanted", "ends"),
    [
        (0, 1, 9, None, False),
        (0, 3, 9, None, False),
        (0, 1, 1, "stopped", False),
        (3, 2, 9, "command-failed", False),
        (0, 9, 2, "stopped", True),
    ],
)
def test_a_pass_ends_with_its_command_or_before(tmp_path, monkeypatch, code, looks, end_at, wanted, ends):
    asked, ended, started = [], [], []

    def end():
        asked.append(1)
        return load_program.Message("stopped", "stopped") if len(asked) >= end_at else None

    process = Process(code, looks)
    monkeypatch.setattr(
        load_program.subprocess, "Popen", lambda words, **more: started.append((words, more)) or process
    )
    monkeypatch.setattr(load_program, "_end_children", ended.append)
    found = load_program._run_pass("work", tmp_path, end)
    assert (found and found.code) == wanted and ended == ([process] if ends else [])
    assert started == [(["/bin/sh", "-c", "work"], {"cwd": tmp_path, "stdin": subprocess.DEVNULL})]
    if wanted == "command-failed":
        assert_problem(found, wanted, exit_code=3)


@pytest.mark.parametrize("stubborn", [True, False])
def test_the_whole_session_is_ended_except_ourselves(monkeypatch, stubborn):
    signals, process = [], Process(0, 2 if stubborn else 1)
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(
        load_program.os, "killpg", lambda *of: signals.append((*of, signal.getsignal(signal.SIGTERM) is signal.SIG_IGN))
    )
    load_program._end_children(process)
    assert signals == [(0, signal.SIGTERM, True)] and process.killed is stubborn
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(("looks", "killed"), [(0, False), (3, False), (99, True)])
def test_a_load_that_does_not_end_is_killed(quick, monkeypatch, looks, killed):
    left, signals = [looks], []

    def is_gone(identity):
        assert identity == "me"
        left[0] -= 1
        return left[0] < 0

    monkeypatch.setattr(processes, "is_gone", is_gone)
    monkeypatch.setattr(load_program.os, "killpg", lambda *of: signals.append(of))
    load_program._wait_until_gone({"identity": "me", "pid": 77})
    assert signals == ([(77, signal.SIGKILL)] if killed else [])


@pytest.mark.parametrize(
    ("is_gone", "ended", "code", "values"),
    [
        (False, {"code": "stopped", "why": "stopped", "passes": 2}, None, {}),
        (True, {"code": "stopped", "why": "stopped", "passes": 2}, None, {}),
        (True, {"code": "time-limit", "why": "late"}, "load-ended-early", {"reason": "late", "cause": "time-limit"}),
        (True, None, "load-died", {"output": "last"}),
    ],
)
def test_a_load_is_stopped_and_its_workspace_removed(place, tmp_path, monkeypatch, is_gone, ended, code, values):
    signals, waited = [], []
    workspace = load_program.Workspace.create(tmp_path, "load-x")
    about = {"pid": 77, "identity": "me", "workspace": str(tmp_path), "name": "load-x"}
    (place / "load.json").write_text(json.dumps(about))
    (place / "load.txt").write_text("first\nlast\n")
    if ended:
        (place / "load-ended.json").write_text(json.dumps(ended))
    monkeypatch.setattr(processes, "is_gone", lambda identity: is_gone)
    monkeypatch.setattr(load_program.os, "kill", lambda *of: signals.append(of))
    monkeypatch.setattr(load_program, "_wait_until_gone", waited.append)
    if code is None:
        assert load_program.stop(place) == ended
    else:
        with raises(code, SystemFaultError, **values):
            load_program.stop(place)
    assert (signals, waited) == (([], []) if is_gone else ([(77, signal.SIGTERM)], [about]))
    assert not workspace.path.exists()
    (place / "load.json").unlink()


@pytest.mark.parametrize(
    ("looks", "ended", "code"),
    [(0, None, None), (2, None, None), (99, 1, "load-not-started"), (99, None, "load-not-started")],
)
def test_a_load_is_started_and_waited_for(place, quick, monkeypatch, looks, ended, code):
    started, signals, left = [], [], [looks]

    def poll():
        left[0] -= 1
        if left[0] <= 0:
            (place / "load.json").write_text("{}")
        return ended

    def popen(words, **more):
        started.append((words, {name: value for name, value in more.items() if name not in ("stdout", "stderr")}))
        if not looks:
            (place / "load.json").write_text("{}")
        return SimpleNamespace(pid=77, poll=poll)

    monkeypatch.setattr(load_program.subprocess, "Popen", popen)
    monkeypatch.setattr(load_program.os, "killpg", lambda *of: signals.append(of))
    if code is None:
        load_program.start(place, "target", "work", 9.5)
    else:
        values = {"output": "no output"} if ended else {"limit_s": 60.0}
        with raises(code, SystemFaultError, **values):
            load_program.start(place, "target", "work", 9.5)
    ((words, more),) = started
    assert words[1:4] == ["-m", "iosonde.measure.load_program", "run"]
    assert words[4:] == ["--place", str(place), "--where", "target", "--at-most", "9.5", "--command", "work"]
    assert more == {"stdin": subprocess.DEVNULL, "start_new_session": True}
    assert signals == ([(77, signal.SIGKILL)] if code and not ended else [])
    assert code is None or ended or 60 < quick[0] - 100 < 63
    (place / "load.json").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("text", "line"), [("a\nb\n", "b"), ("", "no output"), ("\n", "no output"), (None, "it left nothing")]
)
def test_the_last_line_of_a_load(place, text, line):
    if text is not None:
        (place / "load.txt").write_text(text)
    expected = line
    assert load_program._read_last_output_line(place) == expected


@pytest.mark.parametrize(
    ("words", "called"),
    [
        (["start", "--level", "on"], ("start", "target", load_program.COMMAND, 14400.0)),
        (["run", "--where", "/x", "--at-most", "3"], ("run", "/x", load_program.COMMAND, 3.0)),
        (["start", "--command", "mine", "--level", "all"], ("start", "target", "mine", 14400.0)),
        (["start", "--level", "all", "--remote", "n2"], ("start", "target", "all of n2", 14400.0)),
        (["start", "--rank", "1", "--victims", "1"], ("start", "target", load_program.COMMAND, 14400.0)),
        (["start", "--rank", "0", "--victims", "1"], None),
        (["run", "--level", "off"], None),
        (["stop"], "stop"),
    ],
)
def test_what_the_program_of_the_load_does(place, monkeypatch, words, called):
    calls, printed = [], []
    for name in ("start", "run"):
        monkeypatch.setattr(load_program, name, lambda place, *of, name=name: calls.append((name, *of)))
    monkeypatch.setattr(load_program, "stop", lambda place: calls.append("stop") or {"passes": 4, "seconds": 2.25})
    monkeypatch.setattr(load_program, "join_user_commands", lambda remote: f"all of {remote}")
    monkeypatch.setattr(load_program.os, "write", lambda *of: printed.append(of))
    load_program.main([words[0], "--place", str(place), *words[1:]])
    assert calls == ([called] if called else [])
    assert [(handle, re.findall(rb"[\d.]+", text)) for handle, text in printed] == (
        [(1, [b"4", b"2.2"])] if called == "stop" else []
    )
