"""``.plot(against=X, at={Y: V})`` of ``fit`` and ``validate``: the panel is there, mistakes are said."""

from __future__ import annotations

from pathlib import Path

import pytest

import iosonde
from iosonde.core.errors import InputError

DATA = Path(__file__).parents[1] / "golden" / "data" / "sizes_by_fs.csv"


@pytest.mark.parametrize("function", [iosonde.fit, iosonde.validate])
def test_the_figure_holds_what_was_said(function):
    made = function(DATA, "speed", ["size", "fs", "sync"], families="tree")
    said = made.plot(against="size", at={"fs": "nfs"}).image("svg").decode()
    assert all(text in said for text in ("Rows not seen at fs=nfs", "also vary: sync", "speed class, of 41"))
    assert "at fs=nfs" not in made.plot().image("svg").decode()
    with pytest.raises(InputError, match="says nothing without the factor"):
        made.plot(at={"fs": "nfs"})
