"""A child process answers, says why not, or is left behind."""

import errno
import json
import os
import socket
import subprocess
import sys
import time

import pytest

from iosonde.core.errors import SystemFaultError, TargetError, TargetFaultError
from iosonde.foreign import child as child_module
from iosonde.foreign.child import Child, NoAnswerError
from messages import raises

WORK = """
import os, time
from iosonde.core.errors import TargetError

done = 0

def progress():
    return done

def slow(steps, each_s):
    global done
    for _ in range(steps):
        time.sleep(each_s)
        done += 1
    return done

def refuse():
    raise TargetError("no-space", "{place} is full", "make room", place="/mnt/x")

def fail():
    os.stat("/no/such/file")

def die():
    os.kill(os.getpid(), 9)

OPERATIONS = {one.__name__: one for one in (slow, refuse, fail, die)}
OPERATIONS["pid"] = os.getpid
"""


@pytest.fixture
def child(tmp_path, monkeypatch):
    (tmp_path / "some_work.py").write_text(WORK)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    child = Child("some_work", limit_s=30.0)
    yield child
    child.close()


def ask(child, operation, **arguments):
    return child.call(operation, "/mnt/x", "doing it", **arguments)


def test_it_is_one_process_that_answers_and_says_what_is_wrong(child):
    pid = ask(child, "pid")
    assert pid != os.getpid()
    with raises("no-space", TargetError, place="/mnt/x") as caught:
        ask(child, "refuse")
    assert str(caught.value).startswith("/mnt/x ") and caught.value.hint
    with raises("io-error", TargetFaultError, path="/no/such/file", reason=os.strerror(errno.ENOENT)):
        ask(child, "fail")
    assert ask(child, "pid") == pid


def test_one_that_does_not_answer_is_left_and_the_next_call_has_another(child):
    first, waits = ask(child, "pid"), []
    child._on_wait = lambda what, waited_s: waits.append((what, waited_s))
    child.limit_s = 0.5
    with raises("no-response", NoAnswerError, path="/mnt/x", operation="doing it") as caught:
        ask(child, "slow", steps=1, each_s=600)
    assert caught.value.exit_code == 3
    assert {what for what, _ in waits} == {caught.value.values["operation"]} and waits[-1][1] > waits[0][1]
    child.limit_s = 30.0
    assert ask(child, "pid") != first
    assert child.stuck_pids == []  # it slept, and could be ended


@pytest.mark.long
def test_one_that_gets_on_is_waited_for(child):
    ask(child, "pid")
    child.limit_s = 2.0
    began = time.monotonic()
    assert ask(child, "slow", steps=5, each_s=0.6) == 5
    assert time.monotonic() - began > 2.0


def test_one_that_is_killed_is_a_sentence(child):
    with raises("helper-process-died", SystemFaultError, path="/mnt/x"):
        ask(child, "die")
    assert ask(child, "pid")


def test_an_interrupt_leaves_no_answer_for_the_next_question(child):
    def interrupt(what, waited_s):
        raise KeyboardInterrupt

    ask(child, "pid")
    child._on_wait = interrupt
    with pytest.raises(KeyboardInterrupt):
        ask(child, "slow", steps=1, each_s=0.3)
    child._on_wait = None
    assert ask(child, "slow", steps=0, each_s=0) == 0


class Process:
    """A process that ends when it is killed, or hangs."""

    pid = 4711

    def __init__(self, hangs: bool = False) -> None:
        self.hangs, self.steps = hangs, []

    def kill(self):
        self.steps.append("kill")

    def wait(self, seconds):
        self.steps.append("wait")
        if self.hangs:
            raise subprocess.TimeoutExpired("x", seconds)


def connect(monkeypatch, hangs: bool = False):
    """A Child whose process is the other end of a socket."""
    monkeypatch.setattr(child_module, "_POLL_S", 0.001)
    child, (ours, theirs) = Child("module", limit_s=0.01), socket.socketpair()
    child._socket, child._process = ours, Process(hangs)
    return child, theirs


def test_messages_arrive_in_parts_or_several_at_once(monkeypatch):
    child, theirs = connect(monkeypatch)
    alive, waits = [], []
    child._on_alive, child._on_wait = alive.append, lambda what, waited_s: waits.append(what)
    theirs.sendall(b'{"alive": 1}\n{"alive": [2]}\n{"answer": 3}\n{"ans')
    assert child._receive_message("it", 1.0) == {"answer": 3} and alive == [1, [2]]
    assert waits and set(waits) == {"it"}
    theirs.sendall(b'wer": 4}\n')
    child._on_wait = None
    assert child._receive_message("it", 1.0) == {"answer": 4}
    theirs.close()
    with pytest.raises(EOFError):
        child._receive_message("it", 1.0)
    child.close()


@pytest.mark.parametrize("hangs", [False, True])
def test_a_silent_process_is_killed_and_named_if_it_hangs(monkeypatch, hangs):
    child, theirs = connect(monkeypatch, hangs)
    process, ours = child._process, child._socket
    monkeypatch.setattr(child_module.time, "time", lambda: 1e6)
    with raises("no-response", NoAnswerError, path="/mnt/x", operation="doing it") as caught:
        ask(child, "look", a=1)
    values = caught.value.values
    assert json.loads(theirs.recv(100)) == {"operation": "look", "arguments": {"a": 1}} and theirs.recv(1) == b""
    assert 0.01 < values["seconds"] < 5
    assert values["since"] == time.strftime("%H:%M:%S", time.localtime(1e6 - values["seconds"]))
    assert ("4711" in values["stuck_process"]) == bool(values["stuck_process"]) == hangs
    assert process.steps == ["kill", "wait"] and child.stuck_pids == ([4711] if hangs else [])
    assert child._socket is None and child._process is None and ours.fileno() == -1
    theirs.close()
    assert child._abandon_process() == 0


def test_a_process_is_started_apart_from_its_parent(monkeypatch):
    started = []

    def start(command, **how):
        started.append((command, how))
        os.write(how["pass_fds"][0], b'{"alive": 0}\n{"ready": 1}\n')
        return Process()

    monkeypatch.setattr(child_module.subprocess, "Popen", start)
    child = Child("module")
    channel = child._connect()
    assert child._connect() is channel and len(started) == 1 and child.limit_s == 30.0
    [(command, how)] = started
    descriptor = how["pass_fds"][0]
    assert command == [sys.executable, "-m", "iosonde.foreign.child_program", "module", str(descriptor)]
    null = subprocess.DEVNULL
    assert [how[name] for name in ("stdin", "stdout", "stderr", "cwd")] == [null, null, null, "/"]
    assert how["start_new_session"] is True and callable(how["preexec_fn"])
    child.close()
