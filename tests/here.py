"""``iosonde WORDS`` in the process of the test: its exit code, stdout and stderr.

For sentences and refusals, of which there are many. How a process starts and ends is for tests that start one.
"""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from iosonde.cli import group


@dataclass(frozen=True)
class Done:
    """As ``subprocess.run`` says it."""

    returncode: int
    stdout: str
    stderr: str


def iosonde(*words: object, where: Path) -> Done:
    """In the directory ``where``. An error that is not ours is raised: of a process it would be the traceback."""
    said, told = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        contextlib.chdir(where),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(told),
        mock.patch.object(sys, "argv", ["iosonde", *map(str, words)]),
    ):
        code = group.run_command_line()
    return Done(code, *(stream.buffer.getvalue().decode() for stream in (said, told)))
