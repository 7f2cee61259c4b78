"""Operations of a child on a file system that may hang: look at a path, list the files below it, copy a file."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError

from .reading import open_file
from .walking import walk_files

_BLOCK_BYTES = 1 << 20
# Errors of a path that does not exist.
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)
_progress = 0


def progress() -> int:
    """Return a counter that increases with every step of work."""
    return _progress


def kind(path: str) -> str:
    """Return ``directory``, ``file`` for anything else, or ``missing``."""
    try:
        return "directory" if stat.S_ISDIR(os.stat(path).st_mode) else "file"
    except OSError as error:
        if error.errno in _MISSING:
            return "missing"
        raise


def look(path: str, leave_out: str, marker: str = "") -> dict[str, Any]:
    """Return ``kind`` (``directory``, ``file`` for anything else, ``missing``), ``files`` (path, size) and ``skipped``
    (path, reason). The directory ``leave_out``, without links, is not entered, nor those below with a file
    ``marker``."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return {"kind": "missing", "files": [], "skipped": []}
    if not stat.S_ISDIR(status.st_mode):
        return {"kind": "file", "files": [(path, status.st_size)], "skipped": []}
    files: list[tuple[str, int]] = []
    skipped: list[tuple[str, str]] = []

    def add_skipped(where: Path, why: str) -> None:
        skipped.append((str(where), why))

    def is_excluded(where: Path) -> bool:
        return os.path.realpath(where) == leave_out or bool(marker and (where / marker).exists())

    for file in walk_files(Path(path), add_skipped, is_excluded):
        _advance_progress()
        try:
            files.append((str(file), file.stat().st_size))
        except OSError as error:
            skipped.append((str(file), error.strerror or str(error)))
    return {"kind": "directory", "files": files, "skipped": skipped}


def copy(path: str, to: str, limit: int) -> int:
    """Copy a regular file, or its first ``limit`` bytes, to an open file ``to``. Return the number of bytes."""
    count = 0
    with open_file(Path(path)) as source, open(to, "wb") as copied:
        promised = min(os.fstat(source.fileno()).st_size, limit)
        while block := source.read(min(_BLOCK_BYTES, limit - count)):
            copied.write(block)
            count += len(block)
            _advance_progress()
    check_complete(Path(path), count, promised)
    return count


def check_complete(path: Path, count: int, promised: int) -> None:
    """Raise DataError if a file ended before the size it had when opened."""
    if count < promised:
        raise DataError(
            "truncated-file",
            "{path} ends after {read_bytes} of {expected_bytes} bytes",
            "check whether it is still being written",
            path=path,
            read_bytes=count,
            expected_bytes=promised,
        )


def _advance_progress() -> None:
    global _progress
    _progress += 1


OPERATIONS = {"look": look, "copy": copy, "kind": kind}
