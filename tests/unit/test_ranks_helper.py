"""A helper process answers, says why not, or is left behind."""

import os
import time

import pytest

from iosonde.core.errors import SystemFaultError, TargetError, TargetFaultError
from iosonde.ranks.helper import Helper, NoAnswerError

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
    raise TargetError("it is full", "make room")

def fail():
    os.stat("/no/such/file")

def die():
    os.kill(os.getpid(), 9)

OPERATIONS = {one.__name__: one for one in (slow, refuse, fail, die)}
OPERATIONS["pid"] = os.getpid
"""


@pytest.fixture
def helper(tmp_path, monkeypatch):
    (tmp_path / "some_work.py").write_text(WORK)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    made = Helper("some_work", limit_s=30.0)
    yield made
    made.close()


def ask(helper, operation, **arguments):
    return helper.call(operation, "/mnt/x", "doing it", **arguments)


def test_it_is_one_process_that_answers_and_says_what_is_wrong(helper):
    pid = ask(helper, "pid")
    assert pid != os.getpid()
    with pytest.raises(TargetError, match="it is full") as caught:
        ask(helper, "refuse")
    assert caught.value.hint == "make room"
    with pytest.raises(TargetFaultError, match="/no/such/file: No such file"):
        ask(helper, "fail")
    assert ask(helper, "pid") == pid


def test_one_that_does_not_answer_is_left_and_the_next_call_has_another(helper):
    first, told = ask(helper, "pid"), []
    helper._on_wait = lambda what, waited_s: told.append((what, waited_s))
    helper.limit_s = 0.5
    with pytest.raises(NoAnswerError, match="/mnt/x does not answer: doing it hangs since") as caught:
        ask(helper, "slow", steps=1, each_s=600)
    assert caught.value.exit_code == 3
    assert {what for what, _ in told} == {"doing it"} and told[-1][1] > told[0][1]
    helper.limit_s = 30.0
    assert ask(helper, "pid") != first
    assert helper.left == []  # it slept, and could be ended


def test_one_that_gets_on_is_waited_for(helper):
    ask(helper, "pid")
    helper.limit_s = 2.0
    began = time.monotonic()
    assert ask(helper, "slow", steps=5, each_s=0.6) == 5
    assert time.monotonic() - began > 2.0


def test_one_that_is_killed_is_a_sentence(helper):
    with pytest.raises(SystemFaultError, match="looks after /mnt/x ended"):
        ask(helper, "die")
    assert ask(helper, "pid")


def test_an_interrupt_leaves_no_answer_for_the_next_question(helper):
    def interrupt(what, waited_s):
        raise KeyboardInterrupt

    ask(helper, "pid")
    helper._on_wait = interrupt
    with pytest.raises(KeyboardInterrupt):
        ask(helper, "slow", steps=1, each_s=0.3)
    helper._on_wait = None
    assert ask(helper, "slow", steps=0, each_s=0) == 0
