"""``run`` with an MPI program: one job over the trial's ranks by the launcher of its own MPI, and what is said where a
launcher of another one started copies."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iosonde.importers import read, understand
from iosonde.ranks.launch import mpiexec, program

sys.path.insert(0, str(Path(__file__).parents[1]))
import fake_mpi

pytestmark = pytest.mark.mpi


def iosonde(*words, where, path=""):
    environment = os.environ | {"PATH": f"{path}:{os.environ['PATH']}"}
    return subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=where,
        env=environment,
    )


@pytest.fixture
def place(tmp_path):
    (tmp_path / "target").mkdir()
    return tmp_path


def documents(place):
    found = [json.loads(path.read_text()) for path in sorted((place / "st").glob("runs/*/run.json"))]
    return sorted(found, key=lambda run: run["factors"]["ranks"])


@pytest.mark.parametrize("tool", ["ior", "mdtest", "md-workbench"])
def test_a_real_tool_is_one_job_of_as_many_tasks_as_the_trial_has_ranks(place, tool):
    """With whatever MPI it was built, also another one than ours: ``mpiexec`` of ours would start copies."""
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not on PATH")
    commands = {
        "ior": "ior -t ${t} -b 4m -o ${TARGET}/f",
        "mdtest": "mdtest -n 20 -w ${t} -d ${TARGET}/d",
        "md-workbench": "md-workbench -I 2 -P 5 -S 3901 -o ${TARGET}/${t}",
    }
    levels = "t=64k,1m" if tool == "ior" else "t=1,2"
    words = ["run", commands[tool], "--set", levels, "--nodes", "1,2", "--repetitions", "2", "--target", "target"]
    done = iosonde(*words, "--store", "st", where=place, path=Path(sys.executable).parent)
    assert done.returncode == 0, done.stderr
    assert "S113" not in done.stdout
    (job,) = {json.dumps(run["facts"]["mpi_jobs"]) for run in documents(place)}
    assert json.loads(job)[0]["launcher"] in done.stderr
    runs = documents(place)
    assert len(runs) == 8 and all(not run["missing"] for run in runs)
    for run in runs:
        (raw,) = (place / "st" / "runs" / run["id"] / "raw").iterdir()
        (output,) = understand(read(raw.open("rb"), raw.name)).runs
        assert output.factors.get("ranks", run["factors"]["nodes"]) == run["factors"]["nodes"]
    assert {run["facts"]["mpi_jobs"][0]["program"] for run in runs} == {tool}
    assert not list((place / "target").iterdir())


def test_a_job_of_many_tasks_on_each_node(place):
    if not shutil.which("ior"):
        pytest.skip("ior is not on PATH")
    words = ["run", "A=b ior -w -t 64k -b 64k -o ${TARGET}/f | cat", "--nodes", "2", "--ranks-per-node", "4"]
    done = iosonde(*words, "--repetitions", "1", "--target", "target", "--store", "st", where=place)
    assert done.returncode == 0, done.stderr
    (run,) = documents(place)
    assert run["phases"][0]["mpi"] == {"tool": "ior", "expected": 8, "tasks": [8]}


def test_a_job_is_ended_at_its_timeout_and_says_how_it_failed(place):
    if not shutil.which("ior"):
        pytest.skip("ior is not on PATH")
    (place / "x.yaml").write_text(
        "target: target\nnodes: 2\nrepetitions: 1\nsteps:\n"
        '- {command: "ior -w -t 4k -b 4k -i 1000000 -d 1 -o ${TARGET}/f", parse: auto, timeout: 4s}\n'
    )
    done = iosonde("run", "x.yaml", "--store", "st", where=place)
    assert done.returncode == 1
    (run,) = documents(place)
    assert "4" in run["missing"][0] and run["missing"][0] in " ".join((done.stderr + done.stdout).split())
    assert run["seconds"] > 4
    assert not _running(str(place))
    done = iosonde(
        "run",
        "ior -w -o ${TARGET}/no/f",
        "--nodes",
        "2",
        "--repetitions",
        "1",
        "--target",
        "target",
        "--store",
        "st2",
        where=place,
    )
    assert done.returncode == 1
    stored = json.loads(next((place / "st2").glob("runs/*/run.json")).read_text())
    assert re.search(r"code [1-9]\d*", stored["missing"][0])


def _running(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found += [text] if word in text and "ior" in text and "pytest" not in text else []
    return found


def test_a_job_that_falls_apart_is_incomplete_and_a_step_of_copies_is_named(place):
    """A fake ior, and a launcher that starts it twice: each believes to be alone."""
    fake_mpi.ior(place / "bin")
    fake_mpi.launcher(place / "bin", stranger=True)
    words = ["--nodes", "2", "--repetitions", "2", "--target", "target"]
    done = iosonde("run", "ior -r", *words, "--store", "st", where=place, path=place / "bin")
    assert done.returncode == 1
    (phase,) = documents(place)[0]["phases"]
    assert phase["mpi"] == {"tool": "ior", "expected": 2, "tasks": [1, 1]} and documents(place)[0]["missing"]
    done = iosonde("run", "mpiexec -n ${RANKS} ior -r", *words, "--store", "st3", where=place, path=place / "bin")
    assert done.returncode == 0, done.stderr
    (finding,) = (line for line in done.stdout.splitlines() if "S113" in line)
    assert {"step-01", "2", "ior"} <= set(finding.split())
    said = iosonde("summary", "st3", "--json", where=place)
    assert {group["n"] for group in json.loads(said.stdout)["groups"]} == {2}  # trials, not outputs


def test_the_library_of_our_own_mpi_is_started_as_any_other():
    """The check of preflight and doctor with MPICH or what mpi4py loads: by its mpiexec two tasks, by none one."""
    from iosonde.ranks.launch import local

    assert program.check_launch(local.Local(), 2, mpiexec.find_mpi_library()) > 0
