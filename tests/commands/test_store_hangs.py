"""A store on a file system that does not answer: one sentence, within a limit, whatever is asked of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

import sample_store

PROGRAM = (
    "from iosonde.foreign import guarded, reach; guarded.limit_s = reach.LIMIT_S = {}; "
    "from iosonde.cli.main import main; main()"
)
COMMANDS = (
    "summary {}",
    "show {}",
    "store check {}",
    "verify {}",
    "report {} -o /dev/null",
    "compare {} {}",
    "serve {}",
    "explain-difference {}:a {}:b",
    "store merge {} {}",
    "store prune {} --keep-last 1",
    "run true --store {}",
    "watch {}",
)


@pytest.fixture
def store(faulty):
    path = faulty.path / "results"
    sample_store.main(str(path))
    yield path
    faulty.clear()


def start(command: str, store, limit_s: int = 1) -> subprocess.Popen[str]:
    words = [word.format(store) for word in command.split()]
    program = [sys.executable, "-c", PROGRAM.format(limit_s)]
    return subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/")


def test_every_command_says_that_it_does_not_answer(faulty, store):
    faulty.set({"on": "any", "do": "hang"})
    for command in COMMANDS:
        process = start(command, store)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 3 and str(store) in said, (command, said)


@pytest.mark.parametrize("operation", ["lookup", "getattr", "open", "read", "readdir"])
def test_whatever_hangs(faulty, store, operation):
    faulty.set({"on": operation, "do": "hang"})
    process = start("summary {}", store)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3 and str(store) in said


def test_ctrl_c_ends_it(faulty, store):
    faulty.set({"on": "any", "do": "hang"})
    process = start("summary {}", store, limit_s=60)
    faulty.wait_until_hung()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in said and time.monotonic() - began < 15
