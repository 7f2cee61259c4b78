"""The notebooks in docs/examples run in a real kernel, without noise, and say what they show."""

from __future__ import annotations

import nbformat
import pytest

from console import ROOT
from iosonde.layout.figure import MIME_TYPE
from notebook import executed, shown

NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("*.ipynb"))


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.name for path in NOTEBOOKS])
def test_a_notebook_runs_and_says_what_it_shows(path):
    made = executed(path)
    assert shown(made) == shown(nbformat.read(path, as_version=4))
    outputs = [one for cell in made.cells for one in cell.get("outputs", ())]
    assert not [one for one in outputs if one.get("name") == "stderr"], "a warning in a paper's supplement"
    figures = [one.data for one in outputs if "image/svg+xml" in one.get("data", {})]
    assert figures and all(MIME_TYPE in one for one in figures)
