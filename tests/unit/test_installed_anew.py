"""A campaign is of what was asked for, wherever iosonde lies: installed anew at another place it goes on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import iosonde
from iosonde.store import Store

WORDS = (
    "run",
    "--target",
    "target",
    "--store",
    "store",
    "--repetitions",
    "4",
    "--seed",
    "1",
    "--small-files",
    "5",
    "--large-size",
    "256KiB",
    "--transfer-size",
    "64KiB",
)


def command(place: Path, *words: str) -> dict:
    """What starts a command of the package in ``place``."""
    return {
        "args": [sys.executable, "-m", "iosonde.cli.main", *words],
        "cwd": place.parent,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
        "env": {**os.environ, "PYTHONPATH": str(place)},
    }


@pytest.mark.long
@pytest.mark.slow
def test_killed_and_installed_at_another_place_the_same_command_resumes(tmp_path):
    """The first place is gone by then, as a module of a software stack is after its update."""
    one, two = tmp_path / "one", tmp_path / "two"
    shutil.copytree(Path(iosonde.__file__).parent, one / "iosonde", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "target").mkdir()
    with subprocess.Popen(**command(one, *WORDS)) as killed:
        while not list(tmp_path.glob("store/runs/[!.]*/run.json")):
            assert killed.poll() is None, killed.communicate()[1]
            time.sleep(0.01)
        killed.kill()
    (experiment,) = Store.open(tmp_path / "store").experiments()
    kept = Store.open(tmp_path / "store").run_ids()
    one.rename(two)
    again = subprocess.run(**command(two, *WORDS), timeout=120, check=False)
    assert again.returncode == 0, again.stderr
    line = again.stderr.split(f"{experiment.id}: ")[1]
    assert re.findall(r"\d+", line)[:2] == [str(len(kept)), str(4 - len(kept))]
    store = Store.open(tmp_path / "store")
    assert [each.id for each in store.experiments()] == [experiment.id]
    assert sorted(run["facts"]["order"] for run in store.runs()) == [0, 1, 2, 3]
    assert set(kept) <= set(store.run_ids()) and not list((tmp_path / "target").iterdir())
