"""Answers are waited for within one limit, whoever waits is told, and nothing that was given up stays behind."""

import os
import signal
import threading
import time
from contextvars import copy_context
from types import SimpleNamespace

import pytest

from iosonde_lab import faults, patience, tools
from iosonde_lab.tools import LabError
from messages import raises


@pytest.fixture(autouse=True)
def own_context():
    """What a test tells about waiting ends with it."""
    token = patience._patience.set(patience._Patience())
    yield
    patience._patience.reset(token)


def test_one_limit_holds_for_all_that_is_asked_also_by_threads():
    begin = time.monotonic()
    with patience.answers_within(0.4):
        for _ in range(3):
            with raises("no-response", LabError):
                patience.at_once([lambda: tools.run(["sleep", "9"], limit_s=0.3)] * 2)
    assert time.monotonic() - begin < 3
    assert tools.run(["echo", "well"]) == "well\n"


def test_of_two_limits_the_sooner_holds():
    with patience.answers_within(0.2), patience.answers_within(60):
        assert patience.shortened(10) < 0.3
    assert patience.shortened(10) == 10


def test_whoever_waits_is_told_for_what_and_how_long():
    told = []
    patience.tell_waiting(lambda what, waited_s: told.append((what, waited_s)))
    command = "master: mfscli"
    with raises("no-response", LabError, command=command):
        tools.run(["sleep", "9"], limit_s=0.5, label=command)
    assert {what for what, _ in told} == {command}
    assert [waited_s for _, waited_s in told] == sorted(waited_s for _, waited_s in told)


def test_a_command_that_is_given_up_ends_with_all_that_it_started(tmp_path):
    script = f"sleep 987 & echo $! > {tmp_path}/pid; wait"
    with raises("no-response", LabError):
        tools.run(["sh", "-c", script], limit_s=0.5)
    pid, deadline = int((tmp_path / "pid").read_text()), time.monotonic() + 10
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_input_is_given_once_however_long_it_takes():
    assert tools.run(["sh", "-c", "sleep 0.5; cat"], stdin_text="text") == "text"


def test_an_interrupt_waits_for_no_answer():
    begin, main = time.monotonic(), threading.main_thread().ident
    threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        patience.at_once([lambda: tools.run(["sleep", "9"]), lambda: tools.run(["sleep", "9"])])
    assert time.monotonic() - begin < 5


def test_results_keep_their_order_and_a_context_of_their_own():
    assert patience.at_once([lambda n=n: n for n in range(40)]) == list(range(40))
    assert patience.at_once([]) == []
    copy_context().run(patience.tell_waiting, lambda *_: None)
    assert patience._patience.get().on_wait is None


# Signals


def a_host(name: str = "master"):
    """A host whose processes are this machine's."""
    return SimpleNamespace(name=name, run=lambda *words: tools.run(list(words)))


def test_a_process_that_ended_meanwhile_is_no_failure_of_a_signal():
    with_pid = tools.patience.subprocess.Popen
    alive, gone = with_pid(["sleep", "987"]), with_pid(["true"])
    gone.wait()
    faults._signal(a_host(), "KILL", (gone.pid, alive.pid))
    assert alive.wait(10) == -signal.SIGKILL
    with raises("server-process-exited", LabError):
        faults._signal(a_host(), "STOP", (alive.pid,))


def test_a_signal_that_is_refused_is_a_failure():
    with pytest.raises(LabError):
        faults._signal(a_host(), "NOSUCH", (os.getpid(),))
