"""Write files atomically."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import InputError, SystemFaultError
from .temporary_names import build_temporary_name, list_dead_leftovers

_DISK_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_LONGEST_BYTES = 150  # of a name, to leave room for that of its writer


def replace_file(path: Path, content: bytes) -> Path:
    """Replace the file ``path`` by ``content``, as ``write_atomically`` does, and raises as that."""
    with write_atomically(path) as file:
        file.write(content)
    return path


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file next to ``path`` that replaces it when the block succeeds. Raises InputError if that is impossible,
    SystemFaultError if the disk is full or fails.

    A link is followed, and special files (``/dev/stdout``, a pipe) are written to: neither is replaced.
    """
    place = path.resolve()
    try:
        if place.exists() and not place.is_file() and not place.is_dir():
            with place.open("wb") as file:
                yield file
            return
        name = os.fsdecode(os.fsencode(place.name)[:_LONGEST_BYTES])
        _remove_leftovers(place.parent, name)
        temporary = place.parent / build_temporary_name(".", name)
        try:
            with temporary.open("xb") as file:
                yield file
            temporary.replace(place)
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()
    except OSError as error:
        kind, hint = (
            (SystemFaultError, "make room there, or name a file on another disk")
            if error.errno in _DISK_FAULTS
            else (InputError, "name a file in an existing directory that is writable")
        )
        template = "cannot write {path}: {reason}"
        raise kind("unwritable-file", template, hint, path=path, reason=error.strerror) from error


def _remove_leftovers(directory: Path, name: str) -> None:
    """Remove this user's leftovers of killed processes that were writing a file of this name there."""
    with suppress(OSError):
        for path in list_dead_leftovers(directory, ".", name):
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid():
                path.unlink(missing_ok=True)
