"""What `import iosonde` gives has types: a user's mypy believes them, and finds mistakes by them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("typed_script.py")


@pytest.mark.slow
def test_a_users_script_type_checks_strictly(tmp_path):
    # From elsewhere, so that the package is found as it is installed, by its py.typed.
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(SCRIPT)]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
