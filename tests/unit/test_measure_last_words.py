"""What a rank says when it fails reaches the parent by file and by stderr, whatever its names and whatever is full."""

from __future__ import annotations

import errno
import json
import os

import pytest

from iosonde.core.errors import TargetError
from iosonde.engine import _native
from iosonde.measure import last_words
from iosonde.measure.probe import program as probe_program
from iosonde.measure.rank import program as rank_program
from iosonde.ranks.hosts import get_this_host
from iosonde.ranks.watchdog import Outcome
from messages import assert_problem

HOST = get_this_host().name


FULL = TargetError("is-full", "it is full", "make room")


def heard(capfd) -> str:
    return Outcome(3, 1.0, False, [], capfd.readouterr().err, None).ours


def left_by(folder, error):
    try:
        raise error
    except Exception as caught:
        last_words.report_failure(folder, caught)


@pytest.mark.parametrize("program", [rank_program, probe_program])
def test_a_name_that_is_no_utf8_is_said_by_file_and_by_stderr(program, tmp_path, capfd, monkeypatch):
    word = os.fsdecode(b"/t/\xff\x1b[31m")

    def fails(_):
        raise TargetError("is-full", "{word}: is full", "make room", word=word)

    class Given:
        from_word = staticmethod(
            lambda _: type(
                "One",
                (),
                {
                    "spool": str(tmp_path),
                    "folder": str(tmp_path),
                    "ranks": 1,
                    "only_clean": False,
                    "only_collect": False,
                },
            )
        )

    monkeypatch.setattr(program, "ProbeAssignment" if program is probe_program else "Assignment", Given)
    monkeypatch.setattr(program.mpi, "connect_ranks", fails)
    monkeypatch.setattr(program.sys, "argv", ["program", "word"])
    with pytest.raises(TargetError):
        program.main()
    (left,) = last_words.read_errors(tmp_path)
    assert_problem(left, "is-full", word=word)
    assert word in left and heard(capfd).startswith(f"on {HOST}: /t/?\x1b[31m: ")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/t/a"), "/t/a: No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (_native.EngineError("no such pattern"), "the engine cannot do this workload: no such pattern"),
        (ValueError("one\n  two"), "ValueError: one two"),
    ],
)
def test_what_the_system_and_the_engine_said_is_kept_without_pythons_spelling(error, said, tmp_path, capfd):
    left_by(tmp_path / "new", error)
    assert last_words.read_errors(tmp_path / "new") == [f"{said}."]
    assert heard(capfd) == f"on {HOST}: {said}."


def test_a_sentence_is_one_line_and_names_its_host_once(tmp_path, capfd):
    left_by(tmp_path, TargetError("on-two-lines", "on {host}: two\nlines", "mend\nit", host=HOST))
    assert heard(capfd).split() == ["on", f"{HOST}:", "two", "lines.", "mend", "it"]
    assert "\n" not in heard(capfd)
    (path,) = tmp_path.glob("error-*.json")
    assert "TargetError" in json.loads(path.read_text())["trace"]


def test_a_folder_that_cannot_be_written_does_not_silence_a_rank(tmp_path, capfd):
    (tmp_path / "file").touch()
    left_by(tmp_path / "file" / "folder", FULL)
    assert heard(capfd) == f"on {HOST}: {FULL.message}. {FULL.hint}"


def test_a_closed_stderr_does_not_cost_the_file(tmp_path, monkeypatch):
    def closed(*_):
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(last_words.os, "write", closed)
    left_by(tmp_path, FULL)
    assert last_words.read_errors(tmp_path) == [f"{FULL.message}. {FULL.hint}"]


def test_a_file_that_was_cut_says_so(tmp_path):
    (tmp_path / "error-n1-7.json").write_text('{"message": "it is f')
    assert_problem(*last_words.read_errors(tmp_path), "unreadable-failure", path=tmp_path.parent)


def test_a_disk_that_is_full_says_so_and_one_that_was_ended_in_the_middle_says_nothing(tmp_path, monkeypatch):
    def full(path, *_):
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    def ended(path, *_):
        path.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(last_words.Path, "write_text", full)
    left_by(tmp_path, FULL)
    assert_problem(*last_words.read_errors(tmp_path), "unreadable-failure", path=tmp_path.parent)
    for path in tmp_path.iterdir():
        path.unlink()
    monkeypatch.setattr(last_words.Path, "write_text", ended)
    with pytest.raises(KeyboardInterrupt):
        left_by(tmp_path, FULL)
    assert last_words.read_errors(tmp_path) == []


def test_what_an_older_version_left_is_read(tmp_path):
    (tmp_path / "error-n1-7.json").write_text('{"message": "/mnt/x: is full", "hint": "make room", "trace": ""}')
    (message,) = last_words.read_errors(tmp_path)
    expected = ("/mnt/x: is full. make room", "unexpected-error")
    assert (message, message.code) == expected


def test_errors_are_read_in_the_order_of_their_files(tmp_path):
    for number in (3, 1, 2):
        text = json.dumps({"message": f"number {number}", "hint": "wait", "code": "x", "values": {"n": number}})
        (tmp_path / f"error-{number}.json").write_text(text)
    (tmp_path / "error-4.txt").write_text("no")
    found = last_words.read_errors(tmp_path)
    assert [(message.code, message.values["n"], str(message)) for message in found] == [
        ("x", number, f"number {number}. wait") for number in (1, 2, 3)
    ]


def test_a_message_travels_with_code_and_values():
    message = last_words.message_from_json(last_words.message_to_json(FULL.message))
    assert (message, message.code) == (FULL.message, "is-full")
    sent = last_words.message_to_json(TargetError("c", "{a} {b}", a=1, b="x").message)
    assert (sent["code"], sent["values"]) == ("c", {"a": "1", "b": "x"})
    assert last_words.message_to_json("plain") == {"code": "", "text": "plain", "values": {}}


@pytest.mark.parametrize(("signal", "values"), [(None, {"exit_code": 3, "signal": None}), (9, {"signal": 9})])
def test_ranks_that_ended_without_a_reason_have_how_they_ended(signal, values):
    ended = Outcome(3, 1.0, False, [], "last line\n", signal)
    assert_problem(last_words.describe_failed_ranks(ended), "ranks-failed", output=ended.last_words(), **values)


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (OSError(errno.EIO, "x"), "OSError", "io-error"),
        (OSError("no number"), "OSError", "unexpected-error"),
        (_native.EngineError("x"), "EngineError", "unsupported-workload"),
        (KeyError("x"), "KeyError", "unexpected-error"),
    ],
)
def test_errors_of_others_have_a_code(error, kind, code):
    found = last_words._describe_error(error)
    assert (found["kind"], found["code"], found["hint"], found["values"]) == (kind, code, "", {})
    assert set(found) == {"kind", "code", "message", "hint", "values"} and found["message"]
