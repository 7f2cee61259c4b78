"""Temporary directories named after their process, so that leftovers of a killed one are recognised.

Creating one first removes those of ended processes, with the leftovers of their launchers (``leftovers``).
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iosonde.foreign.removal import remove_scratch, scratch_directory
from iosonde.ranks import leftovers
from iosonde.ranks.processes import get_process_identity, is_gone


@contextmanager
def hold_directory(what: str, where: Path | None = None) -> Iterator[Path]:
    """Create a directory for ``what`` ("rollcall") in ``where``, or in the default place, and remove it at the end."""
    remove_stale_directories(what, where)
    with scratch_directory(f"iosonde-{what}-{_identity_to_name(get_process_identity())}-", where) as path:
        yield path


def remove_stale_directories(what: str, where: Path | None = None) -> None:
    """Remove this user's directories for ``what`` whose process has ended on this host."""
    for path in (where or Path(tempfile.gettempdir())).glob(f"iosonde-{what}-*"):
        match = re.fullmatch(rf"iosonde-{what}-(.+)-\w+", path.name)
        try:
            if match and is_gone(match[1].replace("+", ":")) and path.lstat().st_uid == os.getuid():
                remove_directory(path)
        except OSError:
            continue


def remove_directory(directory: Path) -> None:
    """Remove a directory of a killed process, with its recorded and unrecorded leftovers."""
    leftovers.remove_recorded(directory)
    mtimes = [entry.stat(follow_symlinks=False).st_mtime for entry in os.scandir(directory)]
    if mtimes:  # processes started there printed into one of its files, which was created before
        leftovers.remove_since(min(mtimes))
    remove_scratch(directory)


def _identity_to_name(who: str) -> str:
    return who.replace(":", "+")  # a launcher may take ':' as the end of a path
