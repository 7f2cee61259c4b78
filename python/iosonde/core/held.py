"""Which process holds a lock (flock) on a file, as the kernel lists them: nothing is locked to find out."""

from __future__ import annotations

import os
from pathlib import Path


def holder_of(path: Path) -> int | None:
    """The process of this machine that holds ``path``. None where none is listed: one on another machine never is, nor
    one outside of our name space of processes."""
    return next(iter(holders_of(path)), None)


def holders_of(path: Path) -> list[int]:
    """All of them: several may share a lock."""
    try:
        wanted = os.stat(path, follow_symlinks=False)
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    place = f"{os.major(wanted.st_dev):02x}:{os.minor(wanted.st_dev):02x}:{wanted.st_ino}"
    held = (words for words in map(str.split, lines) if len(words) > 5 and words[1] == "FLOCK" and words[5] == place)
    return [int(words[4]) for words in held if int(words[4]) > 0]
