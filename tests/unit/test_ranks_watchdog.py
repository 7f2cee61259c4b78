"""A watched command ends when it must, and leaves nobody behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.errors import LaunchError
from iosonde.ranks import beats as last_words
from iosonde.ranks import heartbeat, leftovers, listener, processes, watchdog
from iosonde.ranks.beats import Beat, read_beats
from iosonde.ranks.heartbeat import Heartbeat
from iosonde.ranks.watchdog import NO_LIMITS, TimeLimits
from messages import assert_problem, codes, raises

SOURCE = str(Path(watchdog.__file__).parents[2])


def shell(script: str, directory: Path, limits: TimeLimits = NO_LIMITS, **more) -> watchdog.Outcome:
    return watchdog.watch_command(["sh", "-c", script], heartbeat_dir=directory, limits=limits, **more)


def beat(rank: int, state: str, phase: str = "write", since: float = 100.0) -> Beat:
    return Beat(rank, "n1", 1, phase, state, since, 7)


def alive(pid: int) -> bool:
    return processes.start_time(pid) is not None


def wait_until(condition, seconds: float = 10.0) -> bool:
    give_up = time.monotonic() + seconds
    while not condition() and time.monotonic() < give_up:
        time.sleep(0.01)
    return bool(condition())


def test_a_command_that_ends_well(tmp_path):
    outcome = shell("echo out; echo err >&2", tmp_path)
    assert (outcome.exit_code, outcome.timed_out, outcome.signal, outcome.waited_for) == (0, False, None, [])
    assert outcome.stderr_tail == "err\n"
    assert (tmp_path / "stdout.txt").read_text() == "out\n"


def test_a_command_that_fails_or_is_killed(tmp_path):
    assert shell("exit 4", tmp_path).exit_code == 4
    killed = shell("kill -9 $$", tmp_path)
    assert (killed.exit_code, killed.signal) == (137, 9)


def test_the_end_of_a_long_stderr_is_kept(tmp_path):
    outcome = shell("yes x | head -c 100000 >&2; echo the end >&2", tmp_path)
    assert outcome.stderr_tail.split()[-2:] == ["the", "end"] and outcome.stderr_tail[-1] == "\n"
    assert len(outcome.stderr_tail) <= watchdog.TAIL_BYTES


def test_a_command_that_is_not_there(tmp_path):
    with raises("launch-failed", LaunchError, command="/no/such"):
        watchdog.watch_command(["/no/such"], heartbeat_dir=tmp_path)


def test_the_deadline_ends_it_and_its_children_in_other_sessions(tmp_path):
    outcome = shell(f"setsid sleep 60 & echo $! > {tmp_path}/child; sleep 60", tmp_path, TimeLimits(0.2, grace_s=0.1))
    assert (outcome.timed_out, outcome.reason, outcome.leftover_pids) == (True, "deadline", ())
    assert not alive(int((tmp_path / "child").read_text()))


def test_who_ignores_sigterm_is_killed(tmp_path):
    outcome = shell("trap '' TERM; while :; do sleep 0.05; done", tmp_path, TimeLimits(0.1, grace_s=0.2))
    assert outcome.signal == signal.SIGKILL


def test_sigterm_leaves_time_to_clean_up(tmp_path):
    script = f"trap 'touch {tmp_path}/cleaned; exit 5' TERM; while :; do sleep 0.02; done"
    assert shell(script, tmp_path, TimeLimits(0.2)).exit_code == 5
    assert (tmp_path / "cleaned").exists()


def test_children_left_by_a_command_that_ended_well_are_ended(tmp_path):
    shell(f"setsid sleep 60 & echo $! > {tmp_path}/child", tmp_path)
    assert not alive(int((tmp_path / "child").read_text()))


def test_idle_ends_it_with_the_rank_that_was_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "BEATS_EVERY_S", 0.05)
    for rank, state in ((0, heartbeat.WAITING), (1, heartbeat.RUNNING)):
        with Heartbeat(tmp_path, rank) as heart:
            heart.enter("write_large", state)
        heart.enter("write_large", state)  # leaving it said "done"
    seen = []
    outcome = shell("sleep 60", tmp_path, TimeLimits(idle_s=0.3, grace_s=0.1), ranks=3, on_tick=seen.append)
    assert (outcome.reason, outcome.waited_for) == ("idle", [1, 2])
    running, silent = outcome.sentences()
    assert_problem(running, "rank-waiting", rank=1, activity="running write_large")
    assert_problem(silent, "rank-not-started", rank=2)
    assert [beat.rank for beat in seen[-1]] == [0, 1]


def test_ranks_that_do_not_hear_sigterm_do_not_cost_the_time_that_was_promised(tmp_path):
    """Of the 10 s after the idle limit others need most: who hangs would use up all of its grace."""
    outcome = shell("trap '' TERM; while :; do sleep 0.05; done", tmp_path, TimeLimits(idle_s=0.2), ranks=1)
    assert (outcome.reason, outcome.signal) == ("idle", signal.SIGKILL)
    assert outcome.seconds < watchdog.GRACE_S


def test_that_a_rank_hangs_is_no_progress(tmp_path):
    heard = listener.Listener(tmp_path, tmp_path / "printed", "x", 5.0)
    last_words.write_beat(tmp_path, beat(0, heartbeat.RUNNING))
    heard.look()
    moved_at = heard.moved_at
    told = replace(beat(0, heartbeat.RUNNING), hangs="process 7, request_wait_answer", lost="mpiexec")
    last_words.write_beat(tmp_path, told)
    assert heard.look() == [told]
    assert heard.moved_at == moved_at
    last_words.write_beat(tmp_path, replace(told, progress=8))
    heard.look()
    assert heard.moved_at > moved_at


def test_progress_is_not_idle(tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "BEATS_EVERY_S", 0.02)
    rank = (
        f"import time; from pathlib import Path; from iosonde.ranks.heartbeat import Heartbeat\n"
        f"begin = time.monotonic()\n"
        f"with Heartbeat(Path({str(tmp_path)!r}), 0, interval_s=0.05) as heart:\n"
        f"    heart.enter('read', progress=lambda: int(1000 * (time.monotonic() - begin)))\n"
        f"    time.sleep(1.5)\n"
    )
    env = {**os.environ, "PYTHONPATH": SOURCE}
    words, limits = [sys.executable, "-c", rank], TimeLimits(idle_s=1.0)
    outcome = watchdog.watch_command(words, heartbeat_dir=tmp_path, limits=limits, env=env, ranks=1)
    assert (outcome.exit_code, outcome.timed_out) == (0, False)


def test_progress_on_another_node_is_not_idle(tmp_path, monkeypatch):
    """Its directory is not seen from here; what it relays over the launcher's stdout is. Rank 0 waits all the time."""
    monkeypatch.setattr(watchdog, "BEATS_EVERY_S", 0.02)
    (tmp_path / "there").mkdir()
    with Heartbeat(tmp_path, 0) as heart:
        heart.enter("write", heartbeat.WAITING)
    heart.enter("write", heartbeat.WAITING)
    rank = (
        f"import time; from pathlib import Path; from iosonde.ranks.heartbeat import Heartbeat\n"
        f"begin = time.monotonic()\n"
        f"with Heartbeat(Path({str(tmp_path / 'there')!r}), 1, interval_s=0.05, relays=True) as heart:\n"
        f"    heart.enter('write', progress=lambda: int(1000 * (time.monotonic() - begin)))\n"
        f"    time.sleep(1.5)\n"
        f"    heart.enter('read', 'waiting')\n"
        f"    time.sleep(60)\n"
    )
    env = {**os.environ, "PYTHONPATH": SOURCE}
    words, seen = [sys.executable, "-c", rank], []
    limits = TimeLimits(idle_s=1.0, grace_s=0.1)
    outcome = watchdog.watch_command(
        words, heartbeat_dir=tmp_path, limits=limits, env=env, on_tick=seen.extend, ranks=2
    )
    assert outcome.reason == "idle"
    assert outcome.seconds > 2
    assert [(beat.rank, beat.phase, beat.state) for beat in outcome.beats] == [
        (0, "write", "waiting"),
        (1, "read", "waiting"),
    ]
    assert {beat.rank for beat in seen} == {0, 1}


@pytest.mark.parametrize(("state", "lost"), [("running", True), ("done", False)])
def test_a_node_that_is_not_heard_any_more_is_lost(tmp_path, monkeypatch, state, lost):
    """Rank 0 works on, so that nothing is idle; the other node's power is off."""
    monkeypatch.setattr(listener, "SILENT_S", 0.2)
    last_words.write_beat(tmp_path, beat(0, "running"))
    (tmp_path / "out").write_text(f'iosonde-beat [1000.0, 1, "n2", 77, "write", "{state}", 970.0, 5]\n')
    ear = listener.Listener(tmp_path, tmp_path / "out", "token", 0.1)
    ear.look()
    assert ear.lost == ()
    if lost:
        assert wait_until(lambda: ear.look() and codes(ear.lost) == ["node-silent"])
        assert_problem(ear.lost[0], "node-silent", host="n2")
        assert not ear.was_lost()
    else:
        ear._received.heard_at["n2"] -= 3600
        ear.look()
        assert ear.lost == ()


def test_a_rank_that_had_met_the_others_is_not_called_never_started(tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "BEATS_EVERY_S", 0.05)
    last_words.write_beat(tmp_path, beat(0, "waiting"))
    last_words.write_hosts(tmp_path, ["n1", "n2"])
    outcome = shell("sleep 60", tmp_path, TimeLimits(idle_s=0.2, grace_s=0.1), ranks=2)
    (said,) = outcome.sentences()
    assert_problem(said, "rank-not-heard", rank=1, host="n2", first_host="n1")


ORPHAN = """
import os, sys, time
from pathlib import Path
from iosonde.ranks.heartbeat import Heartbeat
with Heartbeat(Path(sys.argv[1]), 1, interval_s=0.05) as heart:
    heart.enter("write_large")
    time.sleep(60)
"""


@pytest.mark.parametrize(
    ("victim", "said"), [("proxy", "died; it had started rank 1 on {host}"), ("rank", "died while running write")]
)
def test_a_launcher_that_does_not_notice_a_death_is_ended(tmp_path, monkeypatch, victim, said):
    """As Hydra, whose proxy shares its sockets with the ranks: mpiexec waited until the idle limit."""
    monkeypatch.setattr(watchdog, "BEATS_EVERY_S", 0.05)
    monkeypatch.setattr(listener, "LOST_S", 0.3)
    (tmp_path / "rank.py").write_text(ORPHAN)
    rank = f"{sys.executable} {tmp_path}/rank.py {tmp_path}"
    proxy = f"sh -c 'echo $$ >{tmp_path}/proxy; {rank} & wait; sleep 60'"

    def kill(beats):
        if beats and beats[0].phase and victim:
            pid = int((tmp_path / "proxy").read_text()) if victim == "proxy" else beats[0].pid
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    env = {**os.environ, "PYTHONPATH": SOURCE}
    words = ["sh", "-c", f"{proxy} & sleep 60"]
    outcome = watchdog.watch_command(
        words, heartbeat_dir=tmp_path, limits=TimeLimits(30), env=env, on_tick=kill, ranks=2
    )
    assert outcome.reason == "lost"
    (sentence,) = outcome.sentences()
    assert said.format(host=outcome.beats[0].host) in sentence


def test_an_interrupt_ends_the_command_and_is_raised_again(tmp_path, monkeypatch):
    monkeypatch.setattr(watchdog, "BEATS_EVERY_S", 0.05)

    def interrupt(beats):
        if (tmp_path / "child").exists() and (tmp_path / "child").read_text():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        script = f"setsid sleep 60 & echo $! > {tmp_path}/child; sleep 60"
        shell(script, tmp_path, TimeLimits(grace_s=0.1), on_tick=interrupt)
    assert not alive(int((tmp_path / "child").read_text()))


def test_when_the_watchdog_is_killed_its_command_dies(tmp_path):
    program = (
        f"from pathlib import Path; from iosonde.ranks import watchdog\n"
        f"script = 'echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 60'\n"
        f"watchdog.watch_command(['sh', '-c', script], heartbeat_dir=Path({str(tmp_path)!r}))"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": SOURCE})
    assert wait_until((tmp_path / "pid").exists)
    child = int((tmp_path / "pid").read_text())
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not alive(child))


def test_a_rank_in_a_session_of_its_own_notices_that_its_watchdog_is_gone(tmp_path):
    watched = subprocess.Popen(["sleep", "60"])
    identity = ":".join((*processes._read_namespace(), str(watched.pid), processes.start_time(watched.pid) or ""))
    rank = (
        f"import time; from pathlib import Path; from iosonde.ranks.heartbeat import Heartbeat\n"
        f"with Heartbeat(Path({str(tmp_path)!r}), 0, interval_s=0.02): time.sleep(60)\n"
    )
    env = {**os.environ, "PYTHONPATH": SOURCE, processes.WATCHDOG_VARIABLE: identity}
    child = subprocess.Popen([sys.executable, "-c", rank], env=env, start_new_session=True, stderr=subprocess.PIPE)
    assert wait_until((tmp_path / "rank-0").exists)
    assert child.poll() is None
    watched.kill()
    watched.wait()
    _, said = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert b"its watchdog process is gone" in said


def test_a_family_is_who_inherited_the_token():
    token = f"test:{os.getpid()}:{time.monotonic_ns()}"
    child = subprocess.Popen(["sleep", "60"], env={processes.WATCHDOG_VARIABLE: token}, start_new_session=True)
    try:
        assert wait_until(lambda: processes.find_family(token) == [child.pid])
    finally:
        child.kill()
        child.wait()
    assert processes.find_family(token) == []


@pytest.mark.parametrize("again", [False, True])
def test_only_younger_processes_are_looked_at_unless_ids_began_again(monkeypatch, again):
    children = [subprocess.Popen(["sleep", "60"], env={"X": "family"}) for _ in range(2)]
    older, younger = sorted(child.pid for child in children)
    try:
        while len(processes.find_family("family", "X")) < 2:
            time.sleep(0.001)
        if again:
            monkeypatch.setattr(processes, "_read_last_process_id", lambda: older - 1)
        found = set(processes.find_family("family", "X", younger))
        assert found == ({older, younger} if again else {younger})
    finally:
        for child in children:
            child.kill()
            child.wait()


def test_the_eldest_of_a_family_is_who_has_no_parent_in_it():
    child = "import os, sys; from iosonde.ranks.processes import find_eldest as f; print(f('t') == os.getpid(), f('t'))"
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    family = {**os.environ, processes.WATCHDOG_VARIABLE: "t"}
    for words, answer in (([child], "True"), ([parent, child], "False 0")):
        done = subprocess.run([sys.executable, "-c", *words], env=family, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(answer)


def test_a_rank_whose_operations_nobody_sees_shows_that_it_lives(tmp_path):
    """A command that prints nothing and waits: the pulse keeps the watchdog's idle limit away."""
    beats = iter(range(1, 1000))
    with Heartbeat(tmp_path, 3, interval_s=0.001) as heart:
        heart.enter("step-01", pulse=SimpleNamespace(beat=lambda: next(beats), hangs=""))
        seen = set()
        while len(seen) < 3:
            seen |= {beat.pulse for beat in read_beats(tmp_path)}
        (beat,) = read_beats(tmp_path)
        heart.enter("step-01", "waiting")
    sentence = beat.sentence(beat.since + 31)
    assert_problem(sentence, "rank-waiting", rank=3, host=beat.host, activity="running step-01", seconds=31.0)
    assert sentence.endswith("31 s"), "of operations that nobody sees there is no number"


@pytest.mark.parametrize(
    ("how", "full"), [("exit 7", True), ("kill -BUS $$", True), ("exit 7", False), ("exit 3", True)]
)
def test_full_shared_memory_is_named(tmp_path, monkeypatch, how, full):
    free = SimpleNamespace(f_bavail=0 if full else 2**20, f_blocks=2**20, f_frsize=4096)
    monkeypatch.setattr(leftovers.os, "statvfs", lambda _: free)
    said = shell(how, tmp_path).last_words()
    named = full and how != "exit 3"
    assert (codes([said]) == ["shared-memory-full"]) == named
    if named:
        assert_problem(said, "shared-memory-full", directory="/dev/shm", free="0 B", total="4 GiB")
