"""Location of labs: a directory each, with all that is needed to find and remove their resources.
No other record of a lab exists. Its processes have the directory's path in their arguments, its loop devices have their
files below it, its control groups carry its name. So any process can remove a lab, wherever its creator was
interrupted.
"""

import json
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError

ROOT = "IOSONDE_LAB_ROOT"  # environment variable for another location
FILE = "lab.json"  # in a lab's directory: its own description
FACTS = "/run/iosonde-lab.json"  # on each host: a copy of FILE
OWNER = 0  # uid that owns labs
_DEFAULT = Path("/var/lib/iosonde-lab")
_DIRECTORY_LIST = "made-directories"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH  # as in /tmp, also sticky, where anybody could plant our files
# Characters that shells, ssh, mount tables and brick names accept unquoted.
_PLAIN = re.compile(r"[A-Za-z0-9/._+=@-]{1,200}")


def root() -> Path:
    """Return the directory of all labs, without symbolic links, as the kernel names loop devices' files.
    Raises InputError.
    """
    if (lab := around()) is not None:
        return lab.parent
    path = Path(os.environ.get(ROOT) or _DEFAULT).resolve()
    if not _PLAIN.fullmatch(str(path)):
        raise InputError(
            "invalid-path",
            "{variable}={path}: not a valid location of labs",
            "use at most 200 letters, digits and / . _ + = @ -",
            variable=ROOT,
            path=path,
        )
    return path


def around() -> Path | None:
    """Return the directory of the lab whose host we are on; None on the machine itself."""
    with suppress(OSError, ValueError, KeyError):
        return Path(json.loads(Path(FACTS).read_text())["directory"])
    return None


def on_host() -> bool:
    """Return whether we are on a host of a lab, and not on the machine itself."""
    return around() is not None


def directory(name: str) -> Path:
    """Return the directory of a lab."""
    return root() / name


def claim(name: str) -> bool:
    """Create the directory of a new lab; return False if the name is taken.
    It is sticky, which distinguishes it from other directories even while it is empty.
    """
    try:
        directory(name).mkdir(mode=0o1755)
    except FileExistsError:
        return False
    (directory(name) / FILE).touch()
    return True


def names() -> list[str]:
    """Return the names of labs with a directory, complete or not; other directories are ignored."""
    try:
        return sorted(entry.name for entry in root().iterdir() if _is_ours(entry))
    except OSError:
        return []


def make_directories(lab: Path, paths: Iterable[str]) -> None:
    """Create missing directories of the machine, and record them first for ``remove_directories``."""
    absent = [candidate for candidate in paths if not Path(candidate).exists()]
    (lab / _DIRECTORY_LIST).write_text("".join(f"{missing_path}\n" for missing_path in absent))
    for path in absent:
        Path(path).mkdir()


def remove_directories(lab: Path) -> None:
    """Remove directories created for this lab if they are empty: another lab may still use them."""
    with suppress(OSError):
        for line in (lab / _DIRECTORY_LIST).read_text().splitlines():
            with suppress(OSError):
                Path(line).rmdir()


def _is_ours(directory: Path) -> bool:
    with suppress(OSError):
        status = directory.lstat()
        ours = status.st_uid == OWNER and status.st_mode & stat.S_ISVTX and not status.st_mode & _OTHERS_WRITE
        if stat.S_ISDIR(status.st_mode) and ours:
            return (directory / FILE).exists() or not any(directory.iterdir())
    return False
