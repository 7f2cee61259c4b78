"""Small readers that never raise: a file of /proc or /sys, a tool's output."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from iosonde.core.program_output import run_program

TOOL_S = 5.0  # no fact is worth a longer wait


def read_text(path: Path | str) -> str | None:
    """Return the file's text, stripped; None if it is unreadable."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def read_number(path: Path | str) -> int | None:
    """Return the file's content as an integer; None if it is not one."""
    return parse_integer(read_text(path))


def list_pids() -> list[int]:
    """Return the ids of all processes of this machine."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def parse_integer(word: str | None) -> int | None:
    """Return ``word`` as an integer; None if it is not one."""
    try:
        return int(word) if word is not None else None
    except ValueError:
        return None


def run_tool(words: Sequence[str], timeout_s: float = TOOL_S, whatever_code: bool = False) -> str | None:
    """Return a tool's output, in English; None if it is not on PATH, takes too long, or fails. ``whatever_code`` keeps
    the output of a failed tool."""
    if not shutil.which(words[0]):
        return None
    try:
        done = run_program(words, timeout_s, environment={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 or whatever_code else None


def parse_key_values(content: str, separator: str = ":") -> dict[str, str]:
    """Parse ``key: value`` lines into a dict with lower-case keys, words joined by _; other lines are left out."""
    values = {}
    for line in content.splitlines():
        key, sign, value = line.partition(separator)
        if sign and key.strip():
            values["_".join(key.strip().lower().split())] = value.strip()
    return values
