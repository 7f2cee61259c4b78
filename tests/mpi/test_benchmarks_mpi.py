"""A user-level benchmark on two ranks, and interference: who is loaded, who measures, and that nothing stays."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from iosonde.store import Store

pytestmark = pytest.mark.mpi


@pytest.fixture
def iosonde(tmp_path):
    (tmp_path / "t").mkdir()

    def run(*words):
        always = ("--target", "t", "--nodes", "2", "--repetitions", "1", "--store", "s", "--set", "files=4")
        command = [sys.executable, "-m", "iosonde.cli.main", "run", *words, *always]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert not list((tmp_path / "t").iterdir())
        return Store.open(tmp_path / "s").runs()

    return run


def test_every_rank_works_on_a_tree_of_its_own(iosonde, tmp_path):
    (run,) = iosonde("user:mab")
    assert run["complete"], run["missing"]
    rows = Store.open(tmp_path / "s").results().to_pylist()
    compiled = [row["rank"] for row in rows if row["operation"] == "mab_compile" and row["metric"] == "seconds"]
    assert sorted(compiled, key=str) == [0, 1, None]


def test_interference_is_a_load_on_the_others_or_none(iosonde, tmp_path):
    runs = iosonde("interference:find")
    assert {run["factors"]["load"] for run in runs} == {"off", "on"}
    for run in runs:
        assert run["complete"], run["missing"]
        (find,) = [phase for phase in run["phases"] if phase["name"] == "find"]
        assert [rank["rank"] for rank in find["ranks"]] == [0]
        said = "".join(
            path.read_text() for path in (tmp_path / "s" / "runs" / run["id"] / "raw").glob("tear-down-*rank-0001*")
        )
        assert ("passes" in said) == (run["factors"]["load"] == "on")
    assert not _loads(tmp_path)


def test_the_victim_works_on_a_disk_of_its_own_while_others_do_all(iosonde, tmp_path):
    (tmp_path / "disk").mkdir()
    (run,) = iosonde("interference:cp", "--set", "load=all", "--set", f"victim_where={tmp_path}/disk")
    assert run["complete"], run["missing"]
    assert not list((tmp_path / "disk").iterdir())
    assert not _loads(tmp_path)


def _loads(place: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "iosonde.measure.load_program" in words and any(word.startswith(str(place)) for word in words):
            found.append(" ".join(words))
    return found


def test_a_load_that_fails_leaves_the_trial_incomplete(tmp_path):
    (tmp_path / "t").mkdir()
    program = f"{sys.executable} -m iosonde.measure.load_program"
    words = '--place "${TARGET}/rank-${RANK}" --level ${load} --rank ${RANK} --victims 1'
    make = f'{sys.executable} -m iosonde.measure.tree_program make "${{TARGET}}/rank-${{RANK}}" --files 4'
    experiment = {
        "target": str(tmp_path / "t"),
        "nodes": 2,
        "repetitions": 1,
        "factors": {"load": ["on"]},
        "set_up": [
            {"command": make, "on": "all"},
            {"command": f"{program} start {words} --command 'exit 4'", "on": "all"},
        ],
        "steps": [{"command": "sleep 1", "on": "single"}],
        "tear_down": [{"command": f"{program} stop {words}", "on": "all", "name": "load_end"}],
    }
    (tmp_path / "x.json").write_text(json.dumps(experiment))
    command = [sys.executable, "-m", "iosonde.cli.main", "run", "x.json", "--store", "s"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 1
    (run,) = Store.open(tmp_path / "s").runs()
    assert re.search(r"load_end: .* 4;", run["missing"][0]), run["missing"]
