"""Where labs live: one directory each, with all that is needed to find and to remove what belongs to it.

Nothing else says that a lab is there: its processes carry the directory's path in their arguments, its loop devices
have their files below it, its control groups its name. So a lab can be removed whoever made it, and wherever that one
was ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

ROOT = "IOSONDE_LAB_ROOT"  # the environment's word for another place
_DEFAULT = Path("/var/lib/iosonde-lab")
_MADE = "made-directories"


def root() -> Path:
    """The directory of all labs."""
    return Path(os.environ.get(ROOT) or _DEFAULT).absolute()


def directory(name: str) -> Path:
    """The directory of one."""
    return root() / name


def names() -> list[str]:
    """Those that have a directory, whole or not."""
    try:
        return sorted(one.name for one in root().iterdir() if one.is_dir())
    except OSError:
        return []


def make_directories(lab: Path, wanted: Iterable[str]) -> None:
    """Make the directories of the machine's that are not there, and note them first, for ``remove_directories``."""
    absent = [one for one in wanted if not Path(one).exists()]
    (lab / _MADE).write_text("".join(f"{one}\n" for one in absent))
    for one in absent:
        Path(one).mkdir()


def remove_directories(lab: Path) -> None:
    """Remove those that were made for this lab, if they are empty: another lab may still use them."""
    with suppress(OSError):
        for one in (lab / _MADE).read_text().splitlines():
            with suppress(OSError):
                Path(one).rmdir()
