"""Ranks that are forked are as those that are started: environment, files, exit codes, and no life without us."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iosonde.ranks import forked, processes, watchdog
from iosonde.ranks.processes import WATCHDOG_VARIABLE
from iosonde.store import Store

TOKEN = "boot:ns:1:2:00000000000000000042"
PROGRAM = """
import os, signal, sys, time

def main():
    print("hello", *sys.argv[1:], os.environ["MARK"], os.environ.get("OPENBLAS_NUM_THREADS"), flush=True)
    print("an error", file=sys.stderr, flush=True)
    match sys.argv[1]:
        case "three": sys.exit(3)
        case "raise": raise ValueError("no")
        case "killed": os.kill(os.getpid(), signal.SIGKILL)
        case "sleep": time.sleep(60)
"""


@pytest.fixture
def ranks(tmp_path, monkeypatch):
    (tmp_path / "a_rank.py").write_text(PROGRAM)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)  # an analysis in this process may have set it
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    made = forked.ForkedRanks("a_rank")
    yield made
    made.close()


def start(ranks, tmp_path, *words, mark="x"):
    environment = {**os.environ, WATCHDOG_VARIABLE: TOKEN, "MARK": mark}
    return ranks.start(words, environment, (tmp_path / "out", tmp_path / "err"))


def gone(pid):
    """Whether it ends; also one whose parent has died, and that process 1 of a container may never wait for."""
    give_up = time.monotonic() + 60
    while processes.start_time(pid) is not None and time.monotonic() < give_up:
        time.sleep(0.01)
    return processes.start_time(pid) is None


@pytest.mark.parametrize(("word", "code"), [("well", 0), ("three", 3), ("raise", 1), ("killed", -9)])
def test_it_ends_as_a_process_that_was_started(ranks, tmp_path, word, code):
    for mark in ("first", "second"):
        assert start(ranks, tmp_path, word, "2", mark=mark).wait() == code
        assert (tmp_path / "out").read_text() == f"hello {word} 2 {mark} None\n"
        assert (tmp_path / "err").read_text().splitlines()[0].split() == ["an", "error"]


def test_it_is_our_child_in_a_session_of_its_own_and_of_the_family(ranks, tmp_path):
    child = start(ranks, tmp_path, "sleep")
    fields = processes._read_stat(child.pid)
    assert (int(fields[1]), int(fields[3])) == (os.getpid(), child.pid)
    give_up = time.monotonic() + 60
    while child.pid not in processes.find_family(TOKEN) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert processes.find_family(TOKEN) == [child.pid]
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM
    assert processes.find_family(TOKEN) == []


def test_it_starts_anew_after_its_process_died(ranks, tmp_path):
    assert start(ranks, tmp_path, "well").wait() == 0
    os.kill(ranks._process.pid, signal.SIGKILL)
    ranks._process.wait()
    with pytest.raises(forked.CannotForkError):
        start(ranks, tmp_path, "well")
    assert start(ranks, tmp_path, "well").wait() == 0


def test_a_module_that_cannot_be_loaded_leaves_the_ordinary_way(tmp_path):
    none = forked.ForkedRanks("there_is_no_such_module")
    seen = watchdog.watch_command([sys.executable, "-m", "platform"], heartbeat_dir=tmp_path / "beats", forked=none)
    assert seen.exit_code == 0
    assert (tmp_path / "beats" / watchdog.STDOUT).read_text()


def test_a_rank_that_hangs_is_ended_and_the_next_is_forked_anew(ranks, tmp_path, monkeypatch):
    monkeypatch.setenv("MARK", "m")
    first = watchdog.watch_command(
        [sys.executable, "-m", "a_rank", "sleep"],
        heartbeat_dir=tmp_path / "a",
        limits=watchdog.TimeLimits(0.5),
        forked=ranks,
    )
    assert (first.reason, first.leftover_pids) == ("deadline", ())
    assert ranks._process is None
    assert (
        watchdog.watch_command(
            [sys.executable, "-m", "a_rank", "well"], heartbeat_dir=tmp_path / "b", forked=ranks
        ).exit_code
        == 0
    )
    assert ranks._process is not None


def test_kill_nine_of_the_campaign_takes_all_with_it(tmp_path):
    words = [sys.executable, "-m", "iosonde.cli.main", "run", "sleep 31.25", "--store", str(tmp_path / "s")]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ours = []
    give_up = time.monotonic() + 120
    # Not the text alone: for a moment what is forked of the campaign has its words, which hold it, too.
    while time.monotonic() < give_up and not any(command == b"sleep\x0031.25\x00" for _, command in ours):
        time.sleep(0.1)
        ours = descendants(process.pid)
    assert any(b"forked_program" in command for _, command in ours)
    process.kill()
    process.wait()
    assert all(gone(pid) for pid, _ in ours)


def descendants(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir() if Path(f"/proc/{pid}/task").exists() else ():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue  # a thread that has just ended
        for child in children:
            try:
                found.append((int(child), Path(f"/proc/{child}/cmdline").read_bytes()))
            except OSError:
                continue
            found += descendants(int(child))
    return found


@pytest.mark.parametrize("killed_after_s", [1.5, 3.0])
def test_a_comparison_that_was_killed_goes_on_under_its_seal(tmp_path, killed_after_s):
    words = [
        sys.executable,
        "-m",
        "iosonde.cli.main",
        "run",
        "sleep 0.1",
        "--against",
        "sleep 0.4",
        "--a-name",
        "a",
        "--b-name",
        "b",
        "--store",
        "s",
    ]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and not list(tmp_path.glob("s/experiments/*.json")):
        time.sleep(0.05)
    time.sleep(killed_after_s)
    process.kill()
    process.wait()
    sealed = [one.settings["decision"] for one in Store.open(tmp_path / "s").experiments()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (experiment,) = Store.open(tmp_path / "s").experiments()
    assert experiment.id in done.stderr
    (pairs,) = json.loads(
        subprocess.run([*words[:3], "compare", "s", "--json"], cwd=tmp_path, capture_output=True, text=True).stdout
    )["comparisons"]
    assert pairs["verdict"] == "different" and pairs["ratio"]["low"] > 1
    assert [experiment.settings["decision"]] == sealed


class Line:
    """A socket that is only closed."""

    is_closed = False

    def close(self):
        self.is_closed = True


class Helper:
    """A process that is only ended."""

    def __init__(self):
        self.calls = []

    def kill(self):
        self.calls.append("kill")

    def wait(self):
        self.calls.append("wait")


def test_closing_ends_the_helper_and_its_line_once():
    ranks = forked.ForkedRanks("a_rank")
    ranks.close()
    line, helper = Line(), Helper()
    ranks._line, ranks._process = line, helper
    assert ranks._start_helper(TOKEN) is line
    ranks.close()
    ranks.close()
    assert (line.is_closed, helper.calls, ranks._line, ranks._process) == (True, ["kill", "wait"], None, None)


def test_a_token_that_no_trial_has_is_as_long():
    assert forked.create_unused_token("boot:ns:1:2:0042") == "boot:ns:1:2:0000"
