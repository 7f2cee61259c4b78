"""A child process answers, says why not, or is left behind."""

import errno
import os
import time

import pytest

from iosonde.core.errors import SystemFaultError, TargetError, TargetFaultError
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
