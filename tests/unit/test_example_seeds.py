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
def test_it_can_be_planned_in_every_extent(file):
    quick, usual, full = seconds(file, "--quick"), seconds(file), seconds(file, "--full")
    assert 0 < quick < usual < full
