"""The gate of docs/start/ci.md with a real file system: a Git repository of it, two commits built, mounted and measured
in turn on this machine, and the verdict that a pull request gets. The commands are those of the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import glass_sample
from faults import faultfs

PAGE = Path(__file__).parents[2] / "docs" / "start" / "ci.md"
pytestmark = pytest.mark.skipif(bool(faultfs.why_not()), reason=f"a FUSE file system: {faultfs.why_not()}")


def commands() -> str:
    """The block of the page below the heading of file systems."""
    section = PAGE.read_text(encoding="utf-8").split("## A file system of your own", 1)[1]
    return re.search(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def gate(tmp_path):
    """What a forge would do with a branch: the last exit code, what was said, and the place."""
    glass_sample.make(tmp_path / "glassfs")
    (tmp_path / "scratch").mkdir()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def judged(branch: str, **changed: str) -> subprocess.CompletedProcess[str]:
        text = commands().replace("settle", branch)
        for old, new in changed.items():
            text = re.sub(rf"--{old} \S+", f"--{old} {new}", text)
        return subprocess.run(
            ["sh", "-euc", text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    yield judged
    assert "glassfs" not in Path("/proc/mounts").read_text(), "every build unmounted itself"
    assert not list((tmp_path / "scratch").iterdir())


def test_a_commit_that_slows_the_file_system_down_does_not_pass(gate, tmp_path):
    done = gate("settle")
    assert done.returncode == 1, done.stderr
    verdict = (tmp_path / "verdict.md").read_text()
    assert verdict.startswith("failed") and "slower\\>5%" in verdict
    assert re.search(r"^\|  \|  \| pairs \|", verdict, re.MULTILINE) and "Traceback" not in done.stderr
    said = subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", "compare", "gate", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    (found,) = json.loads(said.stdout)["comparisons"]
    # 160 writes, 10 ms more each: 1.6 s of a trial that takes less than 2 s on any machine where tests end.
    assert found["ratio"]["low"] > 1
    run = json.loads(next((tmp_path / "gate" / "runs").glob("*/run.json")).read_text())
    head = subprocess.run(["git", "rev-parse", "settle"], cwd=tmp_path / "glassfs", capture_output=True, text=True)
    assert run["facts"]["subject_commit"] == head.stdout.strip()


def test_one_that_changes_words_alone_passes(gate, tmp_path):
    done = gate("tidy", budget="12s")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "head is slower" not in (tmp_path / "verdict.md").read_text()


def test_one_that_cannot_be_mounted_is_no_verdict(gate, tmp_path):
    glass = tmp_path / "glassfs"
    glass_sample.git(glass, "checkout", "--quiet", "-b", "broken", "main")
    (glass / "glass.py").write_text("raise SystemExit('no such device')\n")
    glass_sample.git(glass, "commit", "--quiet", "-am", "broken")
    glass_sample.git(glass, "checkout", "--quiet", "main")
    done = gate("broken")
    assert done.returncode == 1 and "no such device" in done.stderr and "incomplete" in done.stderr
    said = " ".join((tmp_path / "verdict.md").read_text().split())
    assert "no pair is complete" in said and "failed as inconclusive" in said
