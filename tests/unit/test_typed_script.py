"""What `import iosonde` gives has types: a user's mypy believes them, and finds mistakes by them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from iosonde.importers import registry
from iosonde.measure import workloads
from iosonde.model import families

SCRIPT = Path(__file__).with_name("typed_script.py")
# What mypy knew the last time: it looks itself which files are others since.
CACHE = Path(__file__).parents[2] / ".mypy_cache" / "typed_script"
# Modules that are found by their name, and what their finder says that they hold.
FOUND = {
    "iosonde.importers.parsed.Importer": [f"iosonde.importers.{module}" for module in registry.OURS.values()],
    "iosonde.measure.workloads.Producer": [
        workloads.find_producer(name).__name__ for name in workloads.list_workloads()
    ],
    "iosonde.model.families.Family": [f"iosonde.model.families.{name}" for name in families.NAMES],
}


@pytest.fixture(scope="module")
def strictly(tmp_path_factory):
    # From elsewhere, so that the package is found as it is installed, by its py.typed.
    place = tmp_path_factory.mktemp("mypy")

    def check(script):
        words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(CACHE), str(script)]
        found = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
        return "" if found.returncode == 0 else found.stdout + found.stderr

    return check


@pytest.mark.slow
def test_a_users_script_type_checks(strictly):
    assert strictly(SCRIPT) == ""


@pytest.mark.slow
def test_modules_found_by_name_hold_what_their_finder_says(strictly, tmp_path):
    lines = [f"import {name}" for modules in FOUND.values() for name in modules]
    for protocol, modules in FOUND.items():
        module, _, kind = protocol.rpartition(".")
        lines += [f"from {module} import {kind}", f"{kind.lower()}s: list[{kind}] = [{', '.join(modules)}]"]
    (tmp_path / "found.py").write_text("\n".join(lines) + "\n")
    assert strictly(tmp_path / "found.py") == ""
