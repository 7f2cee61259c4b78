"""The files of examples/seeds: each can be planned as it is, quick and full; quick takes least, full most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli

FILES = sorted((Path(__file__).parents[2] / "examples" / "seeds").glob("*.yaml"))


def seconds(file, *words):
    done = CliRunner().invoke(cli, ["plan", str(file), "--json", *words])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["seconds"]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_it_can_be_planned(file):
    assert seconds(file, "--quick") > 0


@pytest.mark.long
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_it_can_be_planned_in_every_extent(file):
    quick, usual, full = seconds(file, "--quick"), seconds(file), seconds(file, "--full")
    assert 0 < quick < usual < full


@pytest.mark.long
def test_the_whole_table_of_the_thesis_says_how_many_layouts_cannot_be():
    file = next(path for path in FILES if path.stem == "gluster-hardware")
    done = CliRunner().invoke(cli, ["plan", str(file), "--json", "--full"])
    found = json.loads(done.stdout)
    cells = 2 * 2 * 2 * 2 * 5 * 7  # link, base file system, disk, pieces, clients, size
    dropped = [one["cells"] for one in found["design"]["dropped_by"]]
    layouts = [(n, copies) for n in range(1, 6) for copies in range(1, 6) if copies <= n and n % copies == 0]
    assert dropped == [10 * cells, 5 * cells] and len(found["trials"]) == 2 * len(layouts) * cells
