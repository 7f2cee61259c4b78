"""Native commands on real ranks beside the tools themselves: the same amounts of work, by both sides' own account.

How the rates compare is a matter of ``benches/bench_native.py``; here a wrong unit or a wrong pattern would be seen.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iosonde.importers import read, understand
from iosonde.ranks.launch import local, program

pytestmark = pytest.mark.mpi
RANKS = 2


def natively(tmp_path: Path, command: str, tool: str) -> dict:
    (tmp_path / "target").mkdir()
    words = ["run", command, "--native", "--target", tmp_path / "target", "--store", tmp_path / "store"]
    words += ["--repetitions", "1", "--ranks-per-node", str(RANKS)]
    for arguments in (words, ["show", tmp_path / "store", "--as", tool, "--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "iosonde.cli.main", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    (setting,) = json.loads(done.stdout)["settings"]
    return setting


def by_the_tool(command: str, *place: str) -> dict:
    """The factors that the tool itself prints, and its operations."""
    words = command.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not on PATH")
    start = [] if words[0] == "iozone" else local.Local().job(RANKS, 1, program.find_library_of_program(words[0]), ())
    done = subprocess.run([*map(str, start), *words, *place], capture_output=True, check=True, timeout=120)
    (run,) = understand(read(io.BytesIO(done.stdout), words[0])).runs
    return {**run.factors, "operations": {row.operation for row in run.rows}}


def test_ior_moves_the_same_bytes(tmp_path):
    command = "ior -w -r -t 64k -b 1m -s 2"
    native = natively(tmp_path, command, "ior")
    rows = {phase["phase"]: phase["rows"][0] for phase in native["phases"]}
    assert {(row["tasks"], row["transfer_size"], row["block_size"]) for row in rows.values()} == {(RANKS, 65536, 2**21)}
    real = by_the_tool(command, "-o", str(tmp_path / "file"))
    assert real["operations"] >= set(rows) == {"write", "read"}
    assert real["aggregate_size"] == RANKS * rows["write"]["block_size"]


def test_mdtest_works_on_the_same_items(tmp_path):
    command = "mdtest -F -u -n 50"
    native = natively(tmp_path, command, "mdtest")
    names = {row["operation"].lower().replace(" ", "_") for row in native["summary"]}
    real = by_the_tool(command, "-d", str(tmp_path / "real"))
    assert names == {name for name in real["operations"] if name.startswith("file")}
    assert real["items"] == RANKS * 50


def test_iozone_does_the_same_tests(tmp_path):
    command = "iozone -i 0 -i 1 -s 1m -r 64k -t 2"
    native = natively(tmp_path, command, "iozone")
    real = by_the_tool(command, "-F", *(str(tmp_path / f"real{rank}") for rank in range(RANKS)))
    assert {phase["phase"] for phase in native["phases"]} == real["operations"]
    (row,) = native["phases"][0]["rows"]
    assert (row["processes"], real["file_size"], real["record_size"]) == (RANKS, 2**20, 65536)
    assert row["minimum"] <= row["average"] <= row["maximum"] <= row["children"]
