"""Where labs live: one directory each, with all that is needed to find and to remove what belongs to it.

Nothing else says that a lab is there: its processes carry the directory's path in their arguments, its loop devices
have their files below it, its control groups its name. So a lab can be removed whoever made it, and wherever that one
was ended.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from iosonde.core.errors import InputError

ROOT = "IOSONDE_LAB_ROOT"  # the environment's word for another place
FILE = "lab.json"  # in a lab's directory: what it is
FACTS = "/run/iosonde-lab.json"  # on each host: a copy of that
OWNER = 0  # whoever makes labs
_DEFAULT = Path("/var/lib/iosonde-lab")
_DIRECTORY_LIST = "made-directories"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH  # as in /tmp, sticky too, where anybody can make a file that we go by
# Of what the paths of labs are made: shells, ssh, mount tables and volumes' names of bricks take them as they are.
_PLAIN = re.compile(r"[A-Za-z0-9/._+=@-]{1,200}")


def root() -> Path:
    """The directory of all labs, without links: the kernel tells loop devices' files that way. Raises InputError."""
    if (lab := around()) is not None:
        return lab.parent
    path = Path(os.environ.get(ROOT) or _DEFAULT).resolve()
    if not _PLAIN.fullmatch(str(path)):
        raise InputError(
            "invalid-path",
            "{variable}={path}: no place for labs",
            "letters, digits and / . _ + = @ -, 200 at most",
            variable=ROOT,
            path=path,
        )
    return path


def around() -> Path | None:
    """The directory of the lab that we are on a host of; None on the machine itself."""
    with suppress(OSError, ValueError, KeyError):
        return Path(json.loads(Path(FACTS).read_text())["directory"])
    return None


def on_host() -> bool:
    """Whether we are on a host of a lab, and not on the machine itself."""
    return around() is not None


def directory(name: str) -> Path:
    """The directory of one."""
    return root() / name


def claim(name: str) -> bool:
    """Make the directory of a new one; False where that name is taken.

    It is sticky, so that it can be told from anybody's directory from its first moment, when nothing is in it yet.
    """
    try:
        directory(name).mkdir(mode=0o1755)
    except FileExistsError:
        return False
    (directory(name) / FILE).touch()
    return True


def names() -> list[str]:
    """Those that have a directory, whole or not; directories that we did not make are not labs."""
    try:
        return sorted(entry.name for entry in root().iterdir() if _is_ours(entry))
    except OSError:
        return []


def make_directories(lab: Path, paths: Iterable[str]) -> None:
    """Make the directories of the machine's that are not there, and note them first, for ``remove_directories``."""
    absent = [candidate for candidate in paths if not Path(candidate).exists()]
    (lab / _DIRECTORY_LIST).write_text("".join(f"{missing_path}\n" for missing_path in absent))
    for path in absent:
        Path(path).mkdir()


def remove_directories(lab: Path) -> None:
    """Remove those that were made for this lab, if they are empty: another lab may still use them."""
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
