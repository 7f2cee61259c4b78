"""The recipes of docs/start/nightly.md: the script does what the page says, and what starts it can be read by that."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from iosonde.store import Store

FOLDER = Path(__file__).parents[2] / "examples" / "nightly"
EXPERIMENT = "steps:\n  - command: 'echo ${n}'\nfactors: {n: [1, 2]}\nrepetitions: 1\n"


@pytest.fixture
def night(tmp_path):
    """The script, as it is started in a directory with an experiment."""
    (tmp_path / "nightly.yaml").write_text(EXPERIMENT)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COMMIT": "c1",
        "TMPDIR": str(tmp_path),
        "LOCK": str(tmp_path / "lock"),
    }

    def start(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", FOLDER / "nightly.sh", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return start


def test_a_night_is_measured_and_looked_at(night, tmp_path):
    done = night("nightly.yaml", "history")
    assert done.returncode == 0, done.stderr
    store = Store.open(tmp_path / "history")
    runs = store.runs()
    assert len(runs) == 2 and {run["facts"]["subject_commit"] for run in runs} == {"c1"}
    assert re.fullmatch(r"nightly-\d{4}-\d\d-\d\d", store.experiments()[0].name)
    assert "Inconclusive" in done.stdout


def test_two_nights_do_not_measure_at_once(night, tmp_path):
    with (tmp_path / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = night("nightly.yaml", "history")
    assert done.returncode == 75 and "nothing" in done.stderr and not (tmp_path / "history").exists()


def test_a_wrong_experiment_is_said_and_nothing_looked_at(night):
    done = night("missing.yaml", "history")
    assert done.returncode == 2 and "missing.yaml" in done.stderr and "iosonde: history" not in done.stderr


def test_the_line_of_cron_is_what_sh_reads(tmp_path):
    (line,) = [one for one in (FOLDER / "crontab").read_text().splitlines() if not one.startswith("#")]
    words = line.split(None, 5)
    assert len(words[:5]) == 5 and all(re.fullmatch(r"\*|\d+", one) for one in words[:5])
    assert "%" not in words[5].replace("\\%", ""), "cron ends the command at a bare %"
    started = words[5].replace("/srv/zeus", str(tmp_path)).replace("git pull --quiet", "true")
    started = started.replace("make --silent", "true").replace("/srv/nightly/nightly.sh", "echo started")
    done = subprocess.run(["/bin/sh", "-c", started], capture_output=True, text=True, check=True)
    assert done.stdout == "started nightly.yaml /srv/history --target /mnt/zeus/scratch\n"


def test_the_lines_of_slurm_have_a_time_and_options_that_are_known():
    text = (FOLDER / "scrontab").read_text().splitlines()
    options = [line.removeprefix("#SCRON ").split("=")[0] for line in text if line.startswith("#SCRON")]
    assert set(options) <= {"--job-name", "--nodes", "--exclusive", "--time", "--output", "--mail-type"}
    assert text[-1].startswith("0 2 * * * ")


def test_systemd_reads_its_units(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not on this machine")
    for name in ("iosonde-nightly.service", "iosonde-nightly.timer"):
        text = (FOLDER / name).read_text()
        (tmp_path / name).write_text(text.replace("/srv/nightly", str(FOLDER)).replace("User=bench\n", ""))
    done = subprocess.run(
        ["systemd-analyze", "verify", *sorted(map(str, tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if "iosonde-nightly" in line]
    assert not said
    when = re.search("OnCalendar=(.*)", (FOLDER / "iosonde-nightly.timer").read_text())[1]
    done = subprocess.run(["systemd-analyze", "calendar", when], capture_output=True, text=True, check=True)
    assert "02:00:00" in done.stdout


def test_the_workflow_is_one():
    made = yaml.safe_load((FOLDER / "workflow.yml").read_text())
    (job,) = made["jobs"].values()
    for step in job["steps"]:
        if "run" in step:
            subprocess.run(["/bin/sh", "-n", "-c", step["run"]], check=True)
    assert made[True]["schedule"] == [{"cron": "0 2 * * *"}]  # YAML 1.1 reads `on` as true
