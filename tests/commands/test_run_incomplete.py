"""``run --incomplete``: short runs that a benchmark calls invalid end no campaign, and are shown with their mark."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from fake_tools import print_tool
from iosonde.cli.group import cli
from iosonde.store import Store


@pytest.fixture
def words(tmp_path, monkeypatch) -> list[str]:
    """A command that prints the list of IO500, with a score that it calls invalid."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list").write_text(print_tool("io500", (), 0.0).rstrip("\n") + " [INVALID]\n")
    return ["run", f"cat {tmp_path / 'list'}", "--parse", "io500", "--on", "single", "--repetitions", "4"]


def test_invalid_runs_end_a_campaign_unless_they_are_accepted(words):
    assert CliRunner().invoke(cli, [*words, "--store", "s"]).exit_code == 1
    assert len(Store.open("s").runs()) == 3
    done = CliRunner().invoke(cli, [*words, "--store", "s", "--incomplete", "--json"])
    assert done.exit_code == 1 and len(Store.open("s").runs()) == 4  # the first three are not measured again
    groups = json.loads(done.stdout)["groups"]
    assert "score" in {group["operation"] for group in groups}
    assert all(group["n"] == 4 and group["warnings"] for group in groups)


def test_an_accepted_run_stays_incomplete_for_other_commands(words):
    CliRunner().invoke(cli, [*words, "--store", "s", "--incomplete"])
    assert not any(run["complete"] for run in Store.open("s").runs())
    assert json.loads(CliRunner().invoke(cli, ["summary", "s", "--json"]).stdout)["groups"] == []
