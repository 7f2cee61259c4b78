"""A case: one attempt to break iosonde. Its row of the table, its name, and the attack, which says what broke.

The same seed and the same name are the same attack, so that one that broke something can be repeated alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .warm import Ended

Attack = Callable[[Path], list[str]]
EXIT_CODES = (0, 1, 2, 3)
# Words of Python, not of ours, in what a user reads.
_REPR = re.compile(r"\b[A-Z]\w*(Error|Exception)\b")


@dataclass(frozen=True)
class Case:
    """``attack(folder)`` has an empty folder of its own, and returns a sentence for each thing that broke."""

    row: str
    name: str
    attack: Attack
    tries: int = 1


class NotTriedError(Exception):
    """What an attack needs is not on this machine."""


def dice(seed: int, name: str) -> random.Random:
    """The randomness of one case."""
    return random.Random(f"{seed} {name}")


def judge(ended: Ended, codes: Iterable[int] = EXIT_CODES, deadline_s: float | None = None) -> list[str]:
    """What no command may do, whatever was done to it."""
    breaches = []
    if ended.code == -signal.SIGXCPU:
        return [f"{ended.command}: had not ended after {ended.cpu_s} s of CPU"]
    if ended.seconds is None:
        return [f"{ended.command}: had not ended after {deadline_s or ended.limit_s:.0f} s"]
    if "Traceback" in ended.err or "Traceback" in ended.out:
        breaches.append(f"{ended.command}: traceback: {last_line(ended.err)}")
    elif ended.code not in codes:
        breaches.append(f"{ended.command}: exit code {ended.code}: {last_line(ended.err)}")
    elif ended.code in (2, 3) and not ended.err.strip():
        breaches.append(f"{ended.command}: exit code {ended.code} and no word")
    elif found := _REPR.search(ended.err):
        breaches.append(f"{ended.command}: Python's words in a message: {found[0]}")
    return breaches


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("hint:")]
    return lines[-1][:200] if lines else "(nothing)"


def digest(root: Path) -> dict[str, str]:
    """Every path below ``root`` with its kind and content; links are not followed."""
    digests = {}
    for folder, directories, files in os.walk(root):
        for name in (*directories, *files):
            path = Path(folder, name)
            digests[str(path.relative_to(root))] = _kind(path)
    return digests


def _kind(path: Path) -> str:
    if path.is_symlink():
        return f"link {os.readlink(path)}"
    if path.is_dir():
        return "directory"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "special"


def damage_of_run(run: Path) -> str:
    """What is wrong with the files of a run, by the digests in run.json; empty if nothing is."""
    try:
        document = json.loads((run / "run.json").read_text())
        for name, promised in document["files"].items():
            if hashlib.sha256((run / name).read_bytes()).hexdigest() != promised["sha256"]:
                return f"half a run: {name} is not as run.json says"
    except (OSError, ValueError, KeyError) as error:
        return f"half a run: {type(error).__name__} in run.json"
    return ""
