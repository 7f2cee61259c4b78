"""Each experiment file in examples/ runs, with small sizes; where it needs a tool or root, it is a valid plan."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from iosonde.store import Store

EXAMPLES = Path(__file__).parents[2] / "examples"
# Those of `upgrade` and `bound` describe clusters.
FILES = sorted(
    path
    for path in EXAMPLES.iterdir()
    if path.suffix in (".yaml", ".json") and not path.name.startswith(("upgrade", "cluster"))
)
SHELL = {"tasks_to_data.yaml"}  # commands that every machine has
NEED = {"iozone", "ior", "mdtest", "mpiexec", "dd"}
TINY = {
    "file_size": "1MiB",
    "record_size": "64KiB",
    "time": "50ms",
    "servers": "1,2",
    "queue_depth": "4",
    "access_size": "2KiB",
    "hole_size": "8KiB",
    "sieve_buffer": "4MiB",
    "layout": "interleaved",
    "sieving": "enable",
    "request_size": "128KiB",
    "access": "buffered",
    "files": "4",
}


def iosonde(*words: object, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=where,
        check=False,
    )


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_an_example_runs_or_is_a_valid_plan(tmp_path: Path, path: Path) -> None:
    """Those that need nothing installed run with small sizes; the others are planned."""
    (tmp_path / "target").mkdir()
    content = yaml.safe_load(path.read_text())
    native = "commands" not in content and not any("command" in step for step in content["steps"])
    target = [] if "commands" in content else ["--target", "target"]
    if any(isinstance(factor, dict) and "set" in factor for factor in content.get("factors", {}).values()):
        done = iosonde("plan", path, *target, where=tmp_path)  # its factors are set by commands that are not here
        assert done.returncode == 0 and "set by " in done.stdout, done.stderr
        return
    if not native and path.name not in SHELL:
        done = iosonde("plan", path, *target, "--json", where=tmp_path)
        assert done.returncode == 0, done.stderr
        commands = " ".join(step.get("command", "") for step in json.loads(done.stdout)["steps"])
        assert NEED & set(commands.replace("/", " ").split())
        return
    small = [f"--set={name}={TINY[name]}" for name in content.get("factors", {}) if name in TINY]
    small += ["--ranks-per-node", "1,2"] if "ranks_per_node" in content else []
    small += ["--nodes", "1,2"] if len(content.get("nodes", [])) > 1 else []
    small += ["--quick", "--small-files", "5"] if path.name == "envelope.yaml" else ["--repetitions", "1"]
    done = iosonde("run", path, *target, "--store", "store", *small, where=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = list(Store.open(tmp_path / "store").runs())
    assert runs
    assert not any(run["missing"] for run in runs)


@pytest.mark.parametrize("path", sorted((EXAMPLES / "seeds").glob("*.yaml")), ids=lambda path: path.stem)
def test_an_experiment_of_a_document_is_a_plan_on_a_real_system_too(tmp_path: Path, path: Path) -> None:
    """Its section ``lab`` is left out, and what its design says of the lab's factors."""
    (tmp_path / "target").mkdir()
    spared = ["--set", "fault=none"] if "faults" in yaml.safe_load(path.read_text()) else []  # nobody real is hit
    done = iosonde("plan", path, "--quick", "--target", "target", "--json", *spared, where=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"]
