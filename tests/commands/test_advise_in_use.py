"""The setting of a system before a campaign changed anything."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from test_data_stored import run

from iosonde.commands.advise import in_use
from iosonde.core.table import build_table
from iosonde.core.types import Experiment


def in_use_of(levels: list[dict], rows: dict, names=("fs", "n")):
    runs = tuple(run(f"r{place}", {"levels_found": found}) for place, found in enumerate(levels))
    source = SimpleNamespace(
        experiments=(Experiment("e", "e", [], {}, [], 1, ""),), all_runs=(*runs, run("x", experiment="other"))
    )
    return in_use.find_initial_levels(source, build_table(rows), names)


ROWS = {"fs": ["nfs", "xfs"], "n": [4, 8]}


@pytest.mark.parametrize(
    ("levels", "setting", "code"),
    [
        ([{"fs": ["nfs", "nfs"], "n": ["4"]}], {"fs": "nfs", "n": "4"}, "settings-in-use"),
        ([{"fs": ["xfs"], "n": ["8.0"]}], {"fs": "xfs", "n": "8"}, "settings-in-use"),
        ([{"fs": ["nfs"], "n": ["8"]}], None, "unmeasured-settings"),  # not together
        ([{"fs": ["nfs"]}], None, ""),
        ([{"fs": ["nfs"], "n": ["4"]}, {"fs": ["xfs"], "n": ["8"]}], None, ""),
        ([], None, ""),
    ],
)
def test_the_setting_before_a_campaign(levels, setting, code):
    found, note = in_use_of(levels, ROWS)
    assert (found, getattr(note, "code", "")) == (setting, code)
    if code:
        assert note.values["settings"] == ",".join(f"{name}={states[0]}" for name, states in levels[0].items())
