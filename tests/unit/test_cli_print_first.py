"""Numbers are printed before a figure or a page is made, which may fail: a measurement is not lost with its page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

import corpus_sample
import survey_tree
from here import iosonde
from iosonde.cli import output

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = "nodes,size,rate\n" + "".join(
    f"{nodes},{size},{100 * nodes + size + repeat}\n"
    for nodes in (1, 2, 4)
    for size in (1, 2, 4)
    for repeat in range(3)
)
DATA = ("runs.csv", "--response", "rate", "--on", "nodes,size")
COMMANDS = {
    "rank": ("rank", *DATA, "--plot", "d.svg"),
    "regress": ("regress", *DATA, "--plot", "d.svg"),
    "scale": ("scale", "runs.csv", "--response", "rate", "--on", "nodes", "--by", "size", "--plot", "d.svg"),
    "advise": ("advise", "runs.csv", "--response", "rate", "--choose", "size", "--given", "nodes", "--plot", "d.svg"),
    "fit": ("fit", *DATA, "--family", "linear", "--plot", "d.svg"),
    "validate": ("validate", *DATA, "--family", "linear", "--plot", "d.svg"),
    "upgrade": ("upgrade", EXAMPLES / "upgrade.yaml", "--plot", "d.svg"),
    "corpus": ("corpus", "corpus", "--cluster", "institution,system", "--page", "d.svg"),
    "survey": ("survey", "tree", "./tree", "--codecs", "none", "--page", "d.svg"),
    "simulate": ("survey", "simulate", "tree", "--repetitions", "2", "--draws", "5", "--plot", "d.svg"),
    "bound": (
        "bound",
        "runs.csv",
        "--clients",
        "1",
        "--servers",
        "1",
        "--net",
        "1MB/s",
        "--response",
        "rate",
        "--unit",
        "MB/s",
        "--plot",
        "d.svg",
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory stands where the figure is to be."""
    root = tmp_path_factory.mktemp("place")
    (root / "d.svg").mkdir()
    (root / "runs.csv").write_text(ROWS)
    survey_tree.make(root / "tree", files=20)
    corpus_sample.write(root / "corpus", corpus_sample.corpus(6, 2))
    return root


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_numbers_are_printed_although_the_figure_cannot_be_written(name, place):
    done = iosonde(*COMMANDS[name], "--json", where=place)
    assert done.returncode == 2 and "d.svg" in done.stderr, done.stderr
    assert json.loads(done.stdout)["schema"]


def test_what_is_asked_for_is_written_for_a_reader_who_went_away(monkeypatch):
    def gone(lines: Iterable[str]) -> None:
        raise BrokenPipeError

    written: list[str] = []
    monkeypatch.setattr(output, "print_lines", gone)
    with pytest.raises(BrokenPipeError):
        output.print_result(object(), [], False, lambda: written.append("page"))
    assert written == ["page"]
