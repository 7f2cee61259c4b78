"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import InputError
from .temporary_names import dead_names, name_of_writer

_LONGEST_BYTES = 150  # of a name, so that there is room for that of its writer


def replace_file(path: Path, content: bytes) -> Path:
    """Put ``content`` in the place of ``path``, as ``write_atomically`` does. Raises InputError where that cannot
    be."""
    with write_atomically(path) as file:
        file.write(content)
    return path


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file beside ``path`` that takes its place when the block ends well. Raises InputError where it cannot.

    A link is followed, and what is no file (``/dev/stdout``, a pipe) is written to: neither is replaced.
    """
    place = path.resolve()
    try:
        if place.exists() and not place.is_file() and not place.is_dir():
            with place.open("wb") as file:
                yield file
            return
        name = os.fsdecode(os.fsencode(place.name)[:_LONGEST_BYTES])
        _remove_leftovers(place.parent, name)
        temporary = place.parent / name_of_writer(".", name)
        try:
            with temporary.open("xb") as file:
                yield file
            temporary.replace(place)
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()
    except OSError as error:
        raise InputError(
            "unwritable-file",
            "cannot write {path}: {reason}",
            "name a file in a directory that is there, yours and has room",
            path=path,
            reason=error.strerror,
        ) from error


def _remove_leftovers(directory: Path, name: str) -> None:
    """Remove what processes of this user left that were killed while they wrote a file of this name there."""
    with suppress(OSError):
        for path in dead_names(directory, ".", name):
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid():
                path.unlink(missing_ok=True)
