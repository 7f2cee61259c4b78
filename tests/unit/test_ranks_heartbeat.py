"""A heartbeat round by round, with clock, parent and files replaced; and what a hanging process is."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.ranks import heartbeat
from iosonde.ranks.beats import DONE, RUNNING, STARTING, Beat
from iosonde.ranks.heartbeat import Heartbeat, Process, find_hanging_process
from iosonde.ranks.processes import WATCHDOG_VARIABLE


class Stop:
    """A stop event after a number of rounds."""

    def __init__(self, rounds: int) -> None:
        self.rounds, self.waits = rounds, []

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return len(self.waits) > self.rounds


class FailedError(Exception):
    """The rank fails."""


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Clock, parent and watchdog of a rank, and the beats that it wrote."""
    state = SimpleNamespace(now=1000.0, parent=7, gone=[], written=[], ended=[])
    monkeypatch.setattr(heartbeat, "time", SimpleNamespace(time=lambda: state.now + 1e9, monotonic=lambda: state.now))
    monkeypatch.setattr(heartbeat.os, "getppid", lambda: state.parent)
    monkeypatch.setattr(heartbeat, "name_of", lambda pid: {7: "proxy"}.get(pid, ""))
    monkeypatch.setattr(heartbeat, "is_gone", lambda identity: identity in state.gone)
    monkeypatch.setattr(heartbeat, "write_beat", lambda directory, beat: state.written.append((directory, beat)))
    monkeypatch.setenv(WATCHDOG_VARIABLE, "who")
    state.heart = Heartbeat(tmp_path, 3, interval_s=0.5)
    state.written.clear()
    return state


def play(world, rounds: int) -> list[tuple[str, str, int, int, str, str]]:
    """What is written in some rounds: phase, state, progress, pulse, lost, hangs."""
    world.heart._stop = Stop(rounds)
    world.heart._run_thread()
    assert world.heart._stop.waits == [0.5] * (rounds + 1)
    return [(b.phase, b.state, b.progress, b.pulse, b.lost, b.hangs) for _, b in world.written]


def test_a_rank_begins_as_starting_and_each_phase_anew(world, tmp_path):
    heart = world.heart
    expected = Beat(3, os.uname().nodename, os.getpid(), "", STARTING, 1000.0 + 1e9, 0)
    assert heart._beat == expected
    heart._beat = replace(heart._beat, progress=5, pulse=6, lost="proxy", hangs="process 9")
    world.now = 1001.0
    heart.enter("write")
    later = replace(expected, phase="write", state=RUNNING, since=1001.0 + 1e9, lost="proxy")
    assert world.written == [(tmp_path, later)]


def test_a_round_writes_what_has_changed(world):
    counts = iter([0, 5, 5, 8])
    world.heart.enter("write", progress=lambda: next(counts))
    assert play(world, 4) == [("write", RUNNING, progress, 0, "", "") for progress in (0, 5, 8)]


def test_the_pulse_of_a_command_and_where_it_hangs_are_written(world):
    states = iter([(1, ""), (1, ""), (2, ""), (2, "process 9, nfs_wait")])
    pulse = SimpleNamespace(hangs="")

    def beat() -> int:
        number, pulse.hangs = next(states)
        return number

    pulse.beat = beat
    world.heart.enter("step-01", "waiting", pulse=pulse)
    expected = [(0, ""), (1, ""), (2, ""), (2, "process 9, nfs_wait")]
    assert play(world, 4) == [("step-01", "waiting", 0, number, "", hangs) for number, hangs in expected]


def test_a_rank_whose_launcher_is_gone_says_so_and_ends_itself_later(world, monkeypatch):
    monkeypatch.setattr(world.heart, "_end_rank", world.ended.append)
    assert world.heart._detect_lost() == ""
    world.parent = 1
    assert play(world, 2) == [("", STARTING, 0, 0, "proxy", "")]
    world.now += heartbeat.ORPHAN_S
    assert (world.heart._detect_lost(), world.ended) == ("proxy", [])
    world.now += 0.5
    assert (world.heart._detect_lost(), len(world.ended)) == ("proxy", 1)
    assert world.ended[0].startswith("proxy ")


def test_a_launcher_without_a_name_is_a_process(world, monkeypatch, tmp_path):
    world.parent = 8
    heart = Heartbeat(tmp_path, 0)
    world.parent = 1
    expected = "the process"
    assert heart._detect_lost() == expected
    assert (heart._interval_s, heart._relay, heart._thread.daemon, heart._thread.name) == (1.0, None, True, "heartbeat")


@pytest.mark.parametrize(("gone", "ends"), [([], 0), (["another"], 0), (["who"], 2)])
def test_a_rank_whose_watchdog_is_gone_ends_itself(world, monkeypatch, gone, ends):
    world.gone = gone
    monkeypatch.setattr(world.heart, "_end_rank", world.ended.append)
    play(world, 2)
    assert len(world.ended) == ends


def test_a_rank_ends_itself_with_its_number_and_the_reason(world, monkeypatch):
    said = []
    monkeypatch.setattr(heartbeat.os, "write", lambda file, content: said.append((file, content)))
    monkeypatch.setattr(heartbeat.os, "kill", lambda pid, number: said.append((pid, number)))
    world.heart._end_rank("gone")
    assert said == [(2, b"iosonde: rank 3: gone\n"), (os.getpid(), signal.SIGKILL)]


def test_the_rank_of_another_node_relays_each_round(world, tmp_path):
    looks = []
    world.heart._relay = SimpleNamespace(look=lambda: looks.append(1))
    play(world, 3)
    assert len(looks) == 3
    assert Heartbeat(tmp_path, 0, relays=True)._relay._directory == tmp_path


def test_a_rank_that_leaves_well_is_done_and_one_that_fails_is_not(world, monkeypatch):
    steps = []
    thread = SimpleNamespace(start=lambda: steps.append("start"), join=lambda: steps.append("join"))
    monkeypatch.setattr(world.heart, "_thread", thread)
    with world.heart as heart:
        assert heart is world.heart and not heart._stop.is_set()
    assert heart._stop.is_set() and steps == ["start", "join"]
    assert [beat.state for _, beat in world.written] == [STARTING, DONE]
    assert world.written[-1][1].phase == ""
    world.written.clear()
    with pytest.raises(FailedError), world.heart:
        raise FailedError
    assert [beat.state for _, beat in world.written] == [DONE]


SHELL, DD, CAT, OTHER = (
    Process(11, 10, False, "", 0),
    Process(12, 11, False, "nfs_wait", 0),
    Process(13, 11, False, "?", 0),
    Process(14, 10, False, "", 0),
)


@pytest.mark.parametrize(
    ("family", "hanging"),
    [
        ([], None),
        ([SHELL], None),
        ([DD], DD),
        ([SHELL, DD], DD),
        ([SHELL, DD, CAT], DD),
        ([SHELL, CAT, DD], CAT),
        ([SHELL, DD, OTHER], None),  # one that waits for something else
        ([SHELL, replace(DD, runs=True)], None),
        ([replace(SHELL, runs=True), DD], None),
        ([Process(9, 1, False, "", 0), Process(10, 9, False, "", 0), SHELL, DD], DD),  # each waits for the one below
        ([SHELL, DD, replace(CAT, hangs_in="")], None),
    ],
)
def test_a_family_hangs_if_all_of_it_hangs_or_waits_for_one_that_does(family, hanging):
    assert find_hanging_process(family) == hanging


@pytest.mark.parametrize(
    ("state", "wchan", "where"),
    [
        ("D", "nfs_wait\n", "nfs_wait"),
        ("D", "0", "?"),
        ("D", "", "?"),
        ("D", None, "?"),
        ("S", "request_wait_answer.part.0", "request_wait_answer.part.0"),
        ("S", "__fuse_request_send", "__fuse_request_send"),
        ("S", "fuse_request_send", "fuse_request_send"),
        ("S", "fuse_dev_do_read", ""),
        ("S", None, ""),
        ("R", "request_wait_answer", ""),
        ("R", "nfs_wait", ""),
    ],
)
def test_where_a_thread_hangs_in_the_kernel(tmp_path, state, wchan, where):
    if wchan is not None:
        (tmp_path / "wchan").write_text(wchan)
    assert heartbeat._find_kernel_wait(tmp_path / "wchan", state) == where


def process_files(root: Path, state: str, threads: list[tuple[str, str]], io: str) -> Path:
    place = root / "12"
    for number, (one, wchan) in enumerate(threads):
        (place / f"task/{12 + number}").mkdir(parents=True)
        (place / f"task/{12 + number}/stat").write_text(f"{12 + number} (a (b) c) {one} 11 9\n")
        (place / f"task/{12 + number}/wchan").write_text(wchan)
    (place / "stat").write_text(f"12 (a (b) c) {state} 11 {'9 ' * 9}30 4 70 80\n")
    if io:
        (place / "io").write_text(io)
    return place


IO = "rchar: 100\nwchar: 200\nsyscr: 1000\nsyscw: 2000\nread_bytes: 10000\nwrite_bytes: 20000\ncancelled: 7\n"


@pytest.mark.parametrize(
    ("state", "threads", "io", "process"),
    [
        ("S", [("S", "pipe_read")], IO, Process(12, 11, False, "", 33334)),
        ("S", [("S", "pipe_read"), ("R", "0")], "", Process(12, 11, True, "", 34)),
        ("R", [("R", "0"), ("D", "io_schedule"), ("D", "nfs_wait")], "", Process(12, 11, True, "io_schedule", 34)),
        ("Z", [("Z", "0")], "", None),
        ("X", [("X", "0")], "", None),
    ],
)
def test_a_process_has_its_parent_its_threads_and_the_sum_of_its_counters(tmp_path, state, threads, io, process):
    assert heartbeat._read_process(process_files(tmp_path, state, threads, io)) == process
