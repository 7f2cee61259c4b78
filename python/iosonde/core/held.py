"""Which process holds a lock (flock) on a file, as the kernel lists them: nothing is locked to find out.

A host of a lab has name spaces of its own. What it sees of its machine (``MACHINE``) are the directory of the machine's
locks and the machine's /proc, which lists the processes of all its hosts and numbers them as the machine does.
"""

from __future__ import annotations

import os
from pathlib import Path

MACHINE = Path("/run/iosonde-machine")  # on a host of a lab; below it LOCK and PROC
LOCK, PROC = "lock", "proc"


def holder_of(path: Path) -> int | None:
    """The process of this machine that holds ``path``. None where none is listed: one on another machine never is, nor
    one outside of our name space of processes, but from a host of a lab."""
    return next(iter(holders_of(path)), None)


def holders_of(path: Path) -> list[int]:
    """All of them: several may share a lock."""
    try:
        file_stat = os.stat(path, follow_symlinks=False)
        lines = (_find_proc() / "locks").read_text().splitlines()
    except OSError:
        return []
    place = f"{os.major(file_stat.st_dev):02x}:{os.minor(file_stat.st_dev):02x}:{file_stat.st_ino}"
    locks = (words for words in map(str.split, lines) if len(words) > 5 and words[1] == "FLOCK" and words[5] == place)
    return [int(words[4]) for words in locks if int(words[4]) > 0]


def this_process() -> int:
    """Its number as holders have theirs."""
    try:
        return int(os.readlink(_find_proc() / "self"))
    except OSError:
        return os.getpid()


def _find_proc() -> Path:
    machines = MACHINE / PROC
    return machines if os.path.lexists(machines / "self") else Path("/proc")
