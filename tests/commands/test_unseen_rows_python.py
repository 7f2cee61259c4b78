"""``.plot(against=X, at={Y: V})`` of ``fit`` and ``validate``: the panel is there, mistakes are said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import iosonde
from messages import raises

DATA = Path(__file__).parents[1] / "golden" / "data" / "sizes_by_fs.csv"


@pytest.mark.parametrize("function", [iosonde.fit, iosonde.validate])
def test_the_figure_holds_what_was_said(function):
    made = function(DATA, "speed", ["size", "fs", "sync"], families="tree")
    said = made.plot(against="size", at={"fs": "nfs"}).image("svg").decode()
    assert all(text in said for text in (" fs=nfs", " sync", " 41"))
    assert "at fs=nfs" not in made.plot().image("svg").decode()
    with raises("missing-option"):
        made.plot(at={"fs": "nfs"})


def test_classes_have_intervals_in_the_figure_the_json_and_the_text():
    made = iosonde.validate(DATA, "speed", ["size", "fs", "sync"], families="tree")
    told = made.to_dict()
    assert told["class_right_low"] < told["class_right"] < told["class_right_high"]
    assert told["class_error_low"] < told["class_error"] < told["class_error_high"]
    assert re.search(
        r"[\d.]+ \([\d.]+–[\d.]+\) [a-z ]+, [\d.]+ \([\d.]+ to [\d.]+\) %", made.plot().image("svg").decode()
    )
    assert "class" in str(made)
