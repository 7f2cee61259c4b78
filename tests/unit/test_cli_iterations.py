"""What the commands say of one imported run a setting with several iterations: those are no trials."""

import json
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
    assert "95 % intervals over the iterations within 1 trial a cell" in said("summary", store)
    figure, page = tmp_path / "f.svg", tmp_path / "p.html"
    said("plot", store, "-o", figure)
    assert "Means of the iterations of one run with 95 % intervals; dots: single iterations." in figure.read_text()
    said("report", store, "-o", page)
    html = page.read_text()
    assert "95 % intervals of the mean over the iterations within 1 trial a setting." in html
    assert "Means of the iterations of one run" in html and "Means of 1 trials" not in html


def test_what_one_run_has_no_interval_for_is_not_said_to_have_iterations(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("fs,rate\na,1\nb,2\n")
    told = said("summary", table, "--response", "rate", "--by", "fs")
    assert told.startswith("95 % intervals over 1 trial a cell") and json.loads(
        said("summary", table, "--response", "rate", "--by", "fs", "--json"))["groups"][0]["n"] == 1  # fmt: skip
