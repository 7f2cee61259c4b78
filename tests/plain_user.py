"""A process of a user who is not root, whoever runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache

import pytest

NOBODY = 65534
_READ_ALL = "-all,+dac_read_search"  # the checkout and its Python may lie in a home that only root can look into


def run_python(program: str, *words: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a Python program as a user who is not root; the test is skipped, with the reason, where root cannot be
    dropped."""
    command = [*_drop_root(), sys.executable, "-c", program, *words]
    return subprocess.run(command, env=dict(environment), cwd="/", capture_output=True, text=True, check=False)


@cache
def _drop_root() -> Sequence[str]:
    if os.geteuid():
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root cannot be dropped: there is no setpriv (apt install util-linux)")
    words = (
        "setpriv",
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        f"--inh-caps={_READ_ALL}",
        f"--ambient-caps={_READ_ALL}",
    )
    able = subprocess.run(
        [*words, sys.executable, "-c", "import os; assert os.geteuid()"],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if able.returncode:
        pytest.skip(f"root cannot be dropped: {able.stderr.strip()}")
    return words
