"""Processes that hold a lock (flock) on a file, as listed by the kernel; no lock is taken to find out.

A host of a lab has its own name spaces. From its machine it sees two directories in ``MACHINE``: the machine's locks
and the machine's /proc. The latter lists the processes of all its hosts, with the machine's numbers.
"""

import os
from pathlib import Path

MACHINE = Path("/run/iosonde-machine")  # on a host of a lab; contains LOCK and PROC
LOCK, PROC = "lock", "proc"


def find_holder(path: Path) -> int | None:
    """Return the process of this machine that holds ``path``; None if none is listed. Processes of other machines are
    never listed. Processes outside the own PID name space are listed only on a host of a lab."""
    return next(iter(list_holders(path)), None)


def list_holders(path: Path) -> list[int]:
    """Return all processes that hold ``path``; several may share a lock."""
    try:
        file_stat = os.stat(path, follow_symlinks=False)
        lines = (_find_proc() / "locks").read_text().splitlines()
    except OSError:
        return []
    place = f"{os.major(file_stat.st_dev):02x}:{os.minor(file_stat.st_dev):02x}:{file_stat.st_ino}"
    locks = (words for words in map(str.split, lines) if len(words) > 5 and words[1] == "FLOCK" and words[5] == place)
    return [int(words[4]) for words in locks if int(words[4]) > 0]


def get_own_pid() -> int:
    """Return the number of this process, as ``list_holders`` lists it."""
    try:
        return int(os.readlink(_find_proc() / "self"))
    except OSError:
        return os.getpid()


def _find_proc() -> Path:
    machines = MACHINE / PROC
    return machines if os.path.lexists(machines / "self") else Path("/proc")
