"""Whatever a name holds, no command lets it steer the terminal, end in a traceback, or break its JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click.utils
import pytest
import store_samples

from iosonde.cli import group
from iosonde.cli.output import show_json
from iosonde.store import Store

STEERS = "x\x1b[31m\u202e"
NOT_UTF8 = os.fsdecode(b"n\xff\x1b[1m") + "\u202e"
TABLE = "a,b,y\n" + "".join(f"{a},{b},{a + 2 * b + n / 7}\n" for n in range(3) for a in (1, 2) for b in (1, 2))
LOG = (
    "1.23user 0.40system 0:02.10elapsed 77%CPU (0avgtext+0avgdata 5000maxresident)k\n"
    "0inputs+8outputs (0major+300minor)pagefaults 0swaps\n"
)


@pytest.fixture
def told(monkeypatch, capfd):
    """Runs a command line as on a terminal; its exit code, and what was written as it was written."""
    monkeypatch.setattr(click.utils, "should_strip_ansi", lambda *_: False)  # a pipe is spared them, a terminal not

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["iosonde", *map(str, words)])
        capfd.readouterr()
        code = group.run_command_line()
        out, err = capfd.readouterr()
        for said in (out, err):
            assert not {char for char in said if char != "\n" and not char.isprintable()}, ascii(said)
        return code, out, err

    return run


@pytest.mark.parametrize(
    "words",
    [
        [STEERS],
        ["--" + STEERS],
        ["plan", "x.yaml", STEERS],
        ["check", "x.csv", "--" + STEERS],
        ["plan", "--nodes", STEERS],
        ["plan", "--max-bytes", STEERS],
        ["rank", "x.csv", "--level", STEERS],
        ["store", STEERS],
        ["show", "x", "--export", STEERS],
    ],
)
def test_what_click_cites_of_the_command_line_is_escaped(told, words):
    code, out, err = told(*words)
    assert (code, out) == (2, "")
    assert "x\\x1b[31m" in err


def test_words_of_click_keep_their_form(told):
    code, _, err = told("plan", "x.yaml", "y")
    usage, cure, empty, error = err.splitlines()
    assert code == 2 and usage.startswith("Usage: ") and "plan --help'" in cure
    assert empty == "" and error.startswith("Error: ") and error.endswith(" (y)")


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "--file"],
        ["bound", "--net", "1GB/s", "--probe"],
        ["advise", "x.csv", "--choose", "a", "--response", "y", "--against"],
        ["plan", "--target", ".", "--store"],
    ],
)
def test_a_name_that_is_too_long_is_a_mistake_and_not_a_fault(told, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(TABLE)
    code, _, err = told(*words, "a" * 5000)
    assert (code, err.count("\n")) == (2, 2) and "hint: " in err


@pytest.mark.parametrize(
    "words",
    [
        ["summary", "--response", "y", "--by", "a"],
        ["check"],
        ["anova", "--response", "y", "--on", "a,b"],
        ["regress", "--response", "y", "--on", "a"],
        ["compare", "--response", "y", "--group", "a"],
        ["report", "--response", "y", "--output", "page.html"],
    ],
)
def test_the_json_of_a_table_whose_name_is_no_utf8_is_json(told, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path(f"{NOT_UTF8}.csv").write_text(TABLE)
    code, out, _ = told(words[0], f"{NOT_UTF8}.csv", *words[1:], "--json")
    assert code in (0, 1)
    json.loads(out, parse_constant=pytest.fail)


def test_a_store_may_lie_where_the_name_is_no_utf8(told, tmp_path):
    (tmp_path / "time.txt").write_text(LOG)
    assert told("import", tmp_path / "time.txt", "--store", tmp_path / NOT_UTF8)[0] == 0
    assert len(Store.open(tmp_path / NOT_UTF8).runs()) == 1


@pytest.mark.parametrize("words", [["one", "--printed"], ["--export", "csv"], ["--export", "json"]])
def test_what_was_printed_and_is_exported_is_escaped_on_a_terminal_and_nowhere_else(
    told, tmp_path, monkeypatch, capfd, words
):
    store = Store.create(tmp_path / "s")
    store.append(store_samples.run("one", factors={"fs": STEERS}, raw={"step-01.rank00000.txt": STEERS.encode()}))
    monkeypatch.setattr("sys.argv", ["iosonde", "show", str(store.path), *words])
    assert group.run_command_line() == 0
    piped = capfd.readouterr().out
    assert "\u202e" in piped and "\\u202e" not in piped
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, _ = told("show", store.path, *words)
    assert code == 0 and "x\\x1b[31m\\u202e" in out.replace("\\u001b", "\\x1b")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_json_is_never_written_as_json(number):
    with pytest.raises(ValueError):
        show_json({"value": number})


@pytest.mark.parametrize("files", [["notes.txt"], ["notes.txt", "gone.txt"], ["dir"]])
@pytest.mark.parametrize("place", ["new", "deep/new"])
def test_what_is_not_understood_makes_no_store(told, tmp_path, monkeypatch, files, place):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("hi\n")
    Path("dir").mkdir()
    before = sorted(tmp_path.rglob("*"))
    code, _, err = told("import", *files, "--store", place)
    assert code == 2 and "hint: " in err
    assert sorted(tmp_path.rglob("*")) == before


def test_an_import_into_what_cannot_be_a_store_is_refused_before_a_file_is_read(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("time.txt").write_text(LOG)
    Path("dir").mkdir()
    Path("dir", "mine").touch()
    for words in (
        ["--store", "time.txt"],
        ["--store", "dir"],
        ["--store", "s", "--experiment", ""],
        ["--store", "s", "--format", "nope"],
        ["--store", "time.txt/s"],
    ):
        code, _, err = told("import", "time.txt", *words)
        assert code == 2 and "hint: " in err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dir", "mine", "time.txt"]
