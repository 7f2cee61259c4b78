"""``survey WORD``: a command, or the directory of that name where what the command needs does not follow."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from terminal import command_of

command = command_of("survey")


def survey(*words: str) -> dict:
    return json.loads(CliRunner().invoke(command, [*words, "--json"], catch_exceptions=False).stdout)


@pytest.mark.long
@pytest.mark.parametrize("name", ["tree", "plan", "simulate"])
def test_a_directory_called_as_a_command_is_surveyed(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    (tmp_path / name / "file").write_text("text")
    for words in ((name,), (name, "--codecs", "none"), (f"./{name}",), ("tree", name)):
        assert survey(*words)["files_seen"] == 1


def test_what_a_command_needs_makes_it_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("tree", "plan", "simulate"):
        (tmp_path / name).mkdir()
        for number in range(3):
            (tmp_path / name / f"file{number}").write_text("text" * (number + 1))
    assert "plans" in survey("plan", "--population", "1000", "--capacity", "1GB")
    assert survey("simulate", "tree", "--repetitions", "2", "--draws", "2")["files"] == 3
    shown = CliRunner().invoke(command, ["plan", "--help"]).stdout
    assert "--population" in shown


def test_a_command_without_a_directory_of_its_name_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["plan"])
    assert done.exit_code == 2 and "--population" in done.output
