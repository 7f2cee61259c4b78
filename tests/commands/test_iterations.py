"""What the commands say of one imported run a setting with several iterations: those are no trials."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("iosonde.engine._native")
from iosonde.cli.group import cli

LOGS = Path(__file__).parents[1] / "golden" / "data" / "ior_sweep"


def said(*words: object) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s"
    said("import", *(LOGS / f"t{size}-1.txt" for size in ("4k", "64k", "1m")), "--store", path)
    return path


def test_they_are_called_iterations_in_text_figure_and_page(store, tmp_path):
    assert re.search(r"; 95 % [^;]*\biterations\b[^;]*\b1 trial ", said("summary", store))
    figure, page = tmp_path / "f.svg", tmp_path / "p.html"
    said("plot", store, "-o", figure)
    assert re.search(r"iterations\b.* 95 % [^<]*iterations", figure.read_text())
    said("report", store, "-o", page)
    html = page.read_text()
    assert re.search(r"95 % [^<]*iterations\b[^<]* 1 trial\b", html) and " 1 trials" not in html


def test_what_one_run_has_no_interval_for_is_not_said_to_have_iterations(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("fs,rate\na,1\nb,2\n")
    told = said("summary", table, "--response", "rate", "--by", "fs")
    assert re.match(r"95 % .*\b1 trial\b", told) and "iteration" not in told
    made = json.loads(said("summary", table, "--response", "rate", "--by", "fs", "--json"))
    assert made["groups"][0]["n"] == 1
