"""What the watchdog decides, step by step: with clock, processes and leftovers replaced."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.ranks import listener, watchdog
from iosonde.ranks.beats import Beat
from iosonde.ranks.forked import CannotForkError
from iosonde.ranks.processes import WATCHDOG_VARIABLE
from iosonde.ranks.watchdog import NO_LIMITS, Outcome, TimeLimits
from messages import codes

PID = 4711


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleeping moves."""
    state = SimpleNamespace(now=100.0, slept=[])

    def sleep(seconds: float) -> None:
        state.slept.append(seconds)
        state.now += seconds

    fake = SimpleNamespace(
        monotonic=lambda: state.now, time=lambda: state.now + 1e9, monotonic_ns=lambda: 42, sleep=sleep
    )
    monkeypatch.setattr(watchdog, "time", fake)
    return state


class Ear:
    """A listener whose ranks moved last at ``moved_at``; they are lost from ``lost_at`` on."""

    def __init__(self, clock, moved_at=1e9, lost_at=1e9):
        self.clock, self.moved_at, self.lost_at = clock, moved_at, lost_at
        self.looks: list[float] = []

    def look(self):
        self.looks.append(self.clock.now - 100)
        return [len(self.looks)]

    def was_lost(self):
        return self.clock.now - 100 >= self.lost_at


@pytest.mark.parametrize(
    ("limits", "more", "reason", "after_s", "looks"),
    [
        (NO_LIMITS, {}, "", 3.0, [1.0, 2.0]),
        (TimeLimits(deadline_s=1.0), {}, "deadline", 1.25, [1.0, 1.25]),
        (TimeLimits(deadline_s=3.0), {}, "", 3.0, [1.0, 2.0]),
        (TimeLimits(idle_s=2.0), {"moved_at": 100.0}, "idle", 2.25, [1.0, 2.0, 2.25]),
        (TimeLimits(idle_s=2.0), {"moved_at": 100.5}, "idle", 2.75, [1.0, 2.0, 2.75]),
        (TimeLimits(idle_s=2.0), {"moved_at": 101.0}, "", 3.0, [1.0, 2.0]),
        (TimeLimits(deadline_s=2.0, idle_s=2.0), {"moved_at": 100.0}, "deadline", 2.25, [1.0, 2.0, 2.25]),
        (NO_LIMITS, {"moved_at": 0.0, "lost_at": 1.5}, "lost", 1.5, [1.0]),
        (TimeLimits(deadline_s=1.0), {"lost_at": 1.25}, "deadline", 1.25, [1.0, 1.25]),
    ],
)
def test_a_command_is_waited_for_until_its_end_or_one_of_its_limits(
    clock, monkeypatch, limits, more, reason, after_s, looks
):
    monkeypatch.setattr(watchdog, "_has_ended", lambda pid: pid != PID or clock.now >= 103.0)
    monkeypatch.setattr(watchdog, "_wait_for_end", lambda pid: watchdog.time.sleep(0.25 if pid == PID else 9.0))
    ear, ticks = Ear(clock, **more), []
    ended = watchdog._wait_until_ended(SimpleNamespace(pid=PID), ear, 100.0, limits, ticks.append)
    assert (ended, clock.now - 100, ear.looks) == (reason, after_s, looks)
    assert ticks == [[number] for number in range(1, int(min(after_s, 2.9)) + 1)]


def test_the_wait_for_an_end_is_short_and_leaves_no_descriptor_open(clock, monkeypatch):
    reading, writing = os.pipe()
    os.close(writing)
    monkeypatch.setattr(watchdog.os, "pidfd_open", lambda pid: reading)
    watchdog._wait_for_end(PID)
    with pytest.raises(OSError):
        os.fstat(reading)
    assert clock.slept == []

    def fail(pid: int) -> int:
        raise OSError

    monkeypatch.setattr(watchdog.os, "pidfd_open", fail)
    watchdog._wait_for_end(PID)
    assert clock.slept == [0.02]


@pytest.mark.parametrize(
    ("ends_at", "family_until", "after_s"), [(0, 0, 0), (0.5, 0, 0.5), (0.5, 1.0, 1.0), (9, 0, 2.0), (0, 9, 2.0)]
)
def test_after_sigterm_all_of_the_family_have_time_to_end(clock, monkeypatch, ends_at, family_until, after_s):
    sent = []
    monkeypatch.setattr(watchdog.os, "killpg", lambda pid, number: sent.append((pid, number)))
    monkeypatch.setattr(watchdog, "_has_ended", lambda pid: pid == PID and clock.now >= 100 + ends_at)
    monkeypatch.setattr(watchdog, "find_family", lambda token: [1] if clock.now < 100 + family_until else [])
    watchdog._terminate_group(SimpleNamespace(pid=PID), "token", 2.0)
    assert sent == [(PID, signal.SIGTERM)]
    assert clock.now - 100 == pytest.approx(after_s, abs=0.03)


@pytest.mark.parametrize(("rounds", "left"), [(0, []), (1, []), (3, []), (1000, [5, 6])])
def test_the_family_is_killed_until_none_is_left(clock, monkeypatch, rounds, left):
    killed, asked = [], []

    def find(token: str, after: int) -> list[int]:
        asked.append((token, after))
        return [5, 6] if len(asked) <= rounds else []

    def kill(pid: int, number: int) -> None:
        killed.append((pid, number))
        if pid == 5:
            raise ProcessLookupError

    monkeypatch.setattr(watchdog, "find_family", find)
    monkeypatch.setattr(watchdog.os, "kill", kill)
    assert watchdog._end_family("token", 9) == left
    assert set(asked) == {("token", 9)}
    assert killed[:2] == [(5, signal.SIGKILL), (6, signal.SIGKILL)][: 2 * rounds]
    assert len(killed) == 2 * min(rounds, len(asked))
    assert clock.now - 100 == pytest.approx(watchdog.KILL_S if left else watchdog.TICK_S * rounds, abs=0.03)


class World:
    """A process with its end, and all that the watchdog does with it, in order."""

    def __init__(self, monkeypatch, clock, code=0, reason="", leftover=(), took_s=0.5, ended=True):
        self.calls: list[tuple] = []
        self.code, self.reason, self.took_s, self.clock = code, reason, took_s, clock
        self.process = SimpleNamespace(pid=PID, wait=lambda: code)
        put = lambda name, function: monkeypatch.setattr(watchdog, name, function)  # noqa: E731
        put("get_process_identity", lambda: "boot:1:2:3")
        put("_start_process", self.start)
        put("_wait_until_ended", self.wait)
        put("_terminate_group", lambda process, token, grace_s: self.calls.append(("term", process.pid, grace_s)))
        put("_end_family", lambda token, after: self.calls.append(("kill", token, after)) or list(leftover))
        put("_has_ended", lambda pid: ended)
        put("Listener", self.listen)
        put("read_hosts", lambda directory: ("n1", "n2"))
        put("read_tail", lambda path, size: f"{path.name} {size}")
        put(
            "leftovers",
            SimpleNamespace(
                SURVIVORS="left",
                explain_bus_error=lambda: "full",
                record_open_files=lambda *some: self.calls.append(("record", *some[1:])) or [("/f", 1, 2)],
                remove_recorded=lambda directory, extra: self.calls.append(("remove", extra)),
                remove_since=lambda since: self.calls.append(("since", since)),
            ),
        )

    def start(self, command, environment, directory):
        self.environment, self.directory = environment, directory
        self.calls.append(("start", *command))
        return self.process

    def listen(self, directory, printed, token, idle_s):
        self.calls.append(("listen", directory, printed.name, token, idle_s))
        beats = [Beat(0, "n1", 1, "write", "waiting", 1.0, 0), Beat(1, "n2", 1, "write", "running", 1.0, 0)]
        return SimpleNamespace(beats=beats, last_words=lambda: beats[:1], lost=("gone",), open_files={"held"})

    def wait(self, process, ear, started, limits, on_tick):
        self.clock.now += self.took_s
        assert (process, started, on_tick) == (self.process, 100.0, None)
        return self.reason


def outcome(**more) -> Outcome:
    beats = (Beat(0, "n1", 1, "write", "waiting", 1.0, 0), Beat(1, "n2", 1, "write", "running", 1.0, 0))
    values = {"exit_code": 0, "seconds": 0.5, "timed_out": False, "waited_for": [], "signal": None, "beats": beats[:1]}
    values |= {"beats": beats} if more.get("timed_out") else {}
    return Outcome(**(values | {"stderr_tail": "stderr.txt 8192", "hosts": ("n1", "n2")} | more))


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ({}, outcome()),
        ({"code": 4}, outcome(exit_code=4, waited_for=[1, 2])),
        ({"code": -9}, outcome(exit_code=137, signal=9, waited_for=[1, 2])),
        ({"code": -signal.SIGBUS}, outcome(exit_code=135, signal=7, bus_error="full", waited_for=[1, 2])),
        ({"code": 135}, outcome(exit_code=135, bus_error="full", waited_for=[1, 2])),
        ({"code": 7}, outcome(exit_code=7, bus_error="full", waited_for=[1, 2])),
        ({"reason": "idle"}, outcome(timed_out=True, reason="idle", waited_for=[1, 2])),
        (
            {"reason": "lost", "code": 1},
            outcome(exit_code=1, timed_out=True, reason="lost", waited_for=[1, 2], lost=("gone",)),
        ),
        (
            {"reason": "deadline", "leftover": (8,), "ended": False, "took_s": 1.0},
            outcome(
                exit_code=137,
                signal=9,
                timed_out=True,
                reason="deadline",
                seconds=1.0,
                waited_for=[1, 2],
                leftover_pids=(8,),
                open_files=(("/f", 1, 2),),
            ),
        ),
    ],
)
def test_an_outcome_says_how_the_command_ended(tmp_path, clock, monkeypatch, end, expected):
    World(monkeypatch, clock, **end)
    assert watchdog.watch_command(["sh"], heartbeat_dir=tmp_path / "new", ranks=3) == expected
    assert (tmp_path / "new").is_dir()


TOKEN = f"boot:1:2:3:{42:020d}"


@pytest.mark.parametrize(
    ("end", "limits", "calls"),
    [
        ({}, TimeLimits(idle_s=7.0), [("kill", TOKEN, PID), ("remove", {"held"})]),
        ({"took_s": 1.0}, TimeLimits(idle_s=7.0), [("kill", TOKEN, 0), ("remove", {"held"})]),
        ({"code": 4}, NO_LIMITS, [("kill", TOKEN, PID), ("remove", {"held"}), ("since", 100.0 + 1e9)]),
        ({"reason": "deadline"}, NO_LIMITS, [("term", PID, 5.0), ("kill", TOKEN, PID), ("remove", {"held"})]),
        ({"reason": "idle"}, NO_LIMITS, [("term", PID, 2.0), ("kill", TOKEN, PID), ("remove", {"held"})]),
        ({"reason": "lost"}, NO_LIMITS, [("term", PID, 1.0), ("kill", TOKEN, PID), ("remove", {"held"})]),
        (
            {"reason": "lost"},
            TimeLimits(grace_s=0.5),
            [("term", PID, 0.5), ("kill", TOKEN, PID), ("remove", {"held"})],
        ),
        (
            {"reason": "deadline"},
            TimeLimits(grace_s=9.0),
            [("term", PID, 9.0), ("kill", TOKEN, PID), ("remove", {"held"})],
        ),
        ({"leftover": (8,)}, NO_LIMITS, [("kill", TOKEN, PID), ("record", "left", [8]), ("remove", {"held"})]),
    ],
)
def test_after_a_command_its_family_and_its_files_are_removed(tmp_path, clock, monkeypatch, end, limits, calls):
    world = World(monkeypatch, clock, **end)
    watchdog.watch_command(["sh", "-c"], heartbeat_dir=tmp_path, limits=limits, env={"A": "b"})
    begin = [("start", "sh", "-c"), ("listen", tmp_path, "stdout.txt", TOKEN, limits.idle_s)]
    assert world.calls == begin + calls
    assert (world.environment, world.directory) == ({"A": "b", WATCHDOG_VARIABLE: TOKEN}, tmp_path)


def test_without_an_environment_a_command_has_this_ones(tmp_path, clock, monkeypatch):
    monkeypatch.setenv("OWN_OF_THE_TEST", "x")
    world = World(monkeypatch, clock)
    watchdog.watch_command(["sh"], heartbeat_dir=tmp_path)
    assert world.environment["OWN_OF_THE_TEST"] == "x" and world.environment[WATCHDOG_VARIABLE] == TOKEN


def test_an_error_while_waiting_gives_the_command_its_whole_grace(tmp_path, clock, monkeypatch):
    world = World(monkeypatch, clock)

    def interrupt(*_) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(watchdog, "_wait_until_ended", interrupt)
    with pytest.raises(KeyboardInterrupt):
        watchdog.watch_command(["sh"], heartbeat_dir=tmp_path, limits=TimeLimits(grace_s=4.0))
    assert world.calls[2:] == [("term", PID, 4.0), ("kill", TOKEN, PID), ("remove", {"held"})]


class Forked:
    """Ranks forked from a process, or none of them."""

    def __init__(self, process=None):
        self.process, self.calls = process, []

    def start(self, arguments, environment, files):
        self.calls.append((arguments, environment, [file.name for file in files]))
        if self.process is None:
            raise CannotForkError
        return self.process

    def close(self):
        self.calls.append("close")


@pytest.mark.parametrize(("end", "closed"), [({}, False), ({"code": 1}, True), ({"reason": "idle"}, True)])
def test_a_forked_rank_is_started_with_its_own_words_and_forked_anew_after_a_failure(
    tmp_path, clock, monkeypatch, end, closed
):
    world = World(monkeypatch, clock, **end)
    forked = Forked(world.process)
    words = ["python", "-m", "iosonde.x", "one", "two"]
    watchdog.watch_command(words, heartbeat_dir=tmp_path, env={}, forked=forked)
    began = (["one", "two"], {WATCHDOG_VARIABLE: TOKEN}, ["stdout.txt", "stderr.txt"])
    assert forked.calls == [began, *["close"] * closed]
    assert world.calls[0][0] == "listen"


def test_what_cannot_be_forked_is_started(tmp_path, clock, monkeypatch):
    world = World(monkeypatch, clock)
    watchdog.watch_command(["python", "-m", "x"], heartbeat_dir=tmp_path, forked=Forked())
    assert world.calls[0] == ("start", "python", "-m", "x")


def test_a_process_prints_into_two_files_in_a_session_of_its_own(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(watchdog.subprocess, "Popen", lambda words, **more: started.append((words, more)))
    watchdog._start_process(["sh"], {"A": "b"}, tmp_path)
    [(words, more)] = started
    assert (words, more["env"], more["stdin"], more["start_new_session"]) == (
        ["sh"],
        {"A": "b"},
        subprocess.DEVNULL,
        True,
    )
    assert [Path(more[name].name).name for name in ("stdout", "stderr")] == ["stdout.txt", "stderr.txt"]
    assert callable(more["preexec_fn"])


@pytest.mark.parametrize(
    ("tail", "bus_error", "words"),
    [
        ("iosonde: one\nmore\niosonde: two\n", "", "one"),
        ("3: iosonde: one\n", "", "one"),
        ("iosonde: one\n", "full", "full"),
        ("reason\n-- mpiexec\n", "", "reason"),
        ("reason\n= BAD =\n", "", "reason"),
        ("reason\n[proxy:0:0@n1] x\n", "", "reason"),
        ("reason\nsrun: Job step aborted: x\n", "", "reason"),
        ("reason\nsrun: cluster configuration lacks x\n", "", "reason"),
        ("---\nboxed\n---\n[mpiexec@n1] x\n", "", "[mpiexec@n1] x"),
        ("", "", "exit code 5"),
        ("\n" + "é" * 201, "", "é" * 200),
    ],
)
def test_last_words(tail, bus_error, words):
    assert Outcome(5, 1.0, False, [], tail, None, bus_error=bus_error).last_words() == words


def test_a_silent_node_has_the_time_of_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(listener.processes, "find_family", lambda _: [])
    ear = listener.Listener(tmp_path, tmp_path / "printed", "token", 40.0)
    monkeypatch.setattr(ear._received, "silent", lambda seconds: [f"n{seconds:.0f}"])
    ear.look()
    assert codes(ear.lost) == ["node-silent"]
    assert ear.lost[0].values == {"host": "n40", "limit_s": 40.0}


@pytest.mark.parametrize(("since", "lost"), [(None, False), (97.0, False), (96.9, True)])
def test_a_process_is_lost_after_the_time_a_launcher_needs(tmp_path, monkeypatch, since, lost):
    ear = listener.Listener(tmp_path, tmp_path / "printed", "token", None)
    ear._lost_since = since
    monkeypatch.setattr(listener, "time", SimpleNamespace(monotonic=lambda: 100.0))
    assert ear.was_lost() is lost
