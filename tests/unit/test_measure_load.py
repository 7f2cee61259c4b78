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

import pytest

from iosonde.core.errors import SystemFaultError
from iosonde.measure import load_program, user_commands
from iosonde.measure.source_tree import SourceTree
from iosonde.ranks import processes
from messages import raises


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
