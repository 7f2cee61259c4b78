"""Temporary directories that bear the name of the process that made them, so that what a killed one left is known.

Who makes one first removes those whose process has ended, with what its launchers left (``leftovers``).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iosonde.foreign.removal import remove_scratch, scratch_directory
from iosonde.ranks import leftovers
from iosonde.ranks.processes import identity, is_gone


@contextmanager
def directory(what: str, where: Path | None = None) -> Iterator[Path]:
    """One for ``what`` ("rollcall"), removed at the end; in ``where``, or where temporary files are."""
    sweep(what, where)
    with scratch_directory(f"iosonde-{what}-{_as_name(identity())}-", where) as path:
        yield path


def sweep(what: str, where: Path | None = None) -> None:
    """Remove this user's directories for ``what`` whose process has ended on this host."""
    for path in (where or Path(tempfile.gettempdir())).glob(f"iosonde-{what}-*"):
        match = re.fullmatch(rf"iosonde-{what}-(.+)-\w+", path.name)
        try:
            if match and is_gone(_as_identity(match[1])) and path.lstat().st_uid == os.getuid():
                remove(path)
        except OSError:
            continue


def remove(directory: Path) -> None:
    """Remove one that a killed process left: first what was recorded in it, and what nobody had time to record."""
    leftovers.remove_recorded(directory)
    mtimes = [entry.stat(follow_symlinks=False).st_mtime for entry in os.scandir(directory)]
    if mtimes:  # whoever was started there printed into a file of it, which was made before
        leftovers.remove_since(min(mtimes))
    remove_scratch(directory)


def _as_name(who: str) -> str:
    return who.replace(":", "+")  # a launcher may take ':' for the end of a path


def _as_identity(name: str) -> str:
    return name.replace("+", ":")
