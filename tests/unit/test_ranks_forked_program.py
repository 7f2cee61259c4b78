"""A forked rank takes over files, words and environment of its request, also where the kernel shows them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from types import SimpleNamespace

import pytest

from iosonde.ranks import forked, forked_program
from iosonde.ranks.processes import WATCHDOG_VARIABLE

TOKEN = "boot:ns:1:2:00000000000000000347"


@pytest.mark.parametrize("token", [TOKEN, "b:n:10:20:9", "w:00001"])
def test_the_token_of_a_rank_replaces_the_whole_placeholder(tmp_path, monkeypatch, token):
    descriptors = []
    monkeypatch.setattr(os, "dup2", lambda _, number: descriptors.append(number))
    monkeypatch.setattr(sys, "argv", ["program", "module", "3"])
    monkeypatch.setattr(os, "environ", {"STALE": "1"})
    entry = ctypes.create_string_buffer(forked.create_unused_token(token).encode() + b"\0NEXT=kept")
    request = {
        "files": [str(tmp_path / "out"), str(tmp_path / "err")],
        "arguments": ["a", "b"],
        "environment": {WATCHDOG_VARIABLE: token, "MARK": "m"},
    }
    forked_program._take_over(request, ctypes.addressof(entry))
    assert entry.raw == token.encode() + b"\0NEXT=kept\0"
    assert os.environ == {WATCHDOG_VARIABLE: token, "MARK": "m"}
    assert sys.argv == ["program", "a", "b"]
    assert descriptors == [1, 2]
    assert (tmp_path / "out").exists() and (tmp_path / "err").exists()


def test_a_placeholder_is_as_long_as_the_token_and_belongs_to_no_trial():
    expected = "boot:ns:1:2:00000000000000000000"
    assert forked.create_unused_token(TOKEN) == expected
    assert forked.create_unused_token("w:7") == "w:0"


def test_an_entry_of_the_environment_is_found_by_its_whole_name(monkeypatch):
    monkeypatch.setenv("IOSONDE_ENTRY_LONGER", "no")
    monkeypatch.setenv("IOSONDE_ENTRY", "yes=1")
    address = forked_program._find_environment_entry("IOSONDE_ENTRY")
    assert address is not None and ctypes.string_at(address) == b"yes=1"
    assert forked_program._find_environment_entry("IOSONDE_ENT") is None


class LeftError(BaseException):
    """The process has ended."""


@pytest.fixture
def ends(monkeypatch):
    """The exit codes with which this process would have ended."""
    codes = []

    def leave(code):
        codes.append(code)
        raise LeftError

    monkeypatch.setattr(forked_program.os, "_exit", leave)
    return codes


@pytest.mark.parametrize(
    ("end", "go", "code"),
    [
        (None, True, 0),
        (SystemExit(3), True, 3),
        (SystemExit("text"), True, 1),
        (SystemExit(), True, 1),
        (ValueError("x"), True, 1),
        (None, None, 1),
    ],
)
def test_a_forked_rank_ends_with_the_code_of_its_module(ends, monkeypatch, capsys, end, go, code):
    steps = []

    def main():
        steps.append("main")
        if end:
            raise end

    monkeypatch.setattr(forked_program, "_follow_parent", lambda parent: steps.append(("parent", parent)))
    monkeypatch.setattr(forked_program, "_take_over", lambda request, written: steps.append(("over", written)))
    monkeypatch.setattr(forked_program.signal, "sigtimedwait", lambda signals, limit_s: steps.append(limit_s) or go)
    monkeypatch.setattr(forked_program.signal, "pthread_sigmask", lambda how, signals: steps.append((how, signals)))
    with pytest.raises(LeftError):
        forked_program._run_as_rank(SimpleNamespace(main=main), {"parent": 7}, 99)
    assert ends[-1] == code
    begin = [("parent", 7), ("over", 99), forked.FORK_S]
    started = [(signal.SIG_UNBLOCK, [forked.GO]), "main"]
    assert steps == begin + started * bool(go)
    assert ("ValueError" in capsys.readouterr().err) is isinstance(end, ValueError)


@pytest.mark.parametrize(("adopted_after", "leaves"), [(0, False), (3, False), (10**9, True)])
def test_a_forked_rank_ends_with_the_process_that_asked_for_it(ends, monkeypatch, adopted_after, leaves):
    state = SimpleNamespace(now=0.0, looks=0, signals=[])

    def get_parent():
        state.looks += 1
        return 7 if state.looks > adopted_after else 1

    def sleep(seconds):
        state.now += 1000 * seconds

    monkeypatch.setattr(forked_program, "time", SimpleNamespace(monotonic=lambda: state.now, sleep=sleep))
    monkeypatch.setattr(forked_program.os, "getppid", get_parent)
    monkeypatch.setattr(
        forked_program, "signal_on_parent_death", lambda number: lambda: state.signals.append((number, state.now))
    )
    if leaves:
        with pytest.raises(LeftError):
            forked_program._follow_parent(7)
    else:
        forked_program._follow_parent(7)
    expected_s = forked.FORK_S if leaves else 0.2 * adopted_after
    assert state.signals == [(signal.SIGKILL, pytest.approx(expected_s))]
    assert ends == [1] * leaves
