"""Read files named by a user: only regular files, and only complete ones.

Open pipes of this process that a shell names by a path, such as ``/dev/fd/63`` for ``<(command)``, are read like
standard input. A FIFO with a name in a file system is excluded: it may never have a writer.
"""

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from iosonde.core.errors import DataError, InputError, SystemFaultError
from iosonde.core.units import format_size

MAX_BYTES = 2 << 30
_BLOCK_BYTES = 1 << 20
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})", re.ASCII)


def is_descriptor(path: Path) -> bool:
    """Return whether ``path`` names an open file of this process."""
    return str(path) == "/dev/stdin" or _DESCRIPTOR.fullmatch(str(path)) is not None


def open_pipe(path: Path) -> BinaryIO | None:
    """Open the pipe of this process that ``path`` names; None if it names anything else."""
    match = _DESCRIPTOR.fullmatch("/dev/fd/0" if str(path) == "/dev/stdin" else str(path))
    try:
        if match is None or not stat.S_ISFIFO(os.fstat(number := int(match[1])).st_mode):
            return None
        return os.fdopen(os.dup(number), "rb")
    except OSError:  # no such descriptor
        return None


def copy_pipe(source: BinaryIO, path: Path, copy: Path) -> int:
    """Copy the content of the pipe ``path`` to the file ``copy``, as it can be read only once. Return the number of
    bytes.

    Raises InputError for more than ``MAX_BYTES``, OSError.
    """
    count = 0
    with source, copy.open("wb") as file:
        while block := source.read(_BLOCK_BYTES):
            count += len(block)
            if count > MAX_BYTES:
                raise InputError(
                    "file-too-large",
                    "{path} yields more than {max_bytes}",
                    "split it",
                    path=path,
                    max_bytes=format_size(MAX_BYTES),
                )
            file.write(block)
    return count


_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}
# Errors that the user can correct; others are the system's.
_USERS = (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError)


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading, or a pipe that this process has open (``open_pipe``). It never waits for a
    writer or wakes a device.

    Raises InputError if it is missing, not readable or of another kind; SystemFaultError if the system fails.
    """
    if pipe := open_pipe(path):
        return pipe
    try:
        _check_kind(path, os.stat(path))
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise _explain_error(path, error) from error
    try:
        _check_kind(path, os.fstat(descriptor))  # it may have been replaced
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """Return the content of a regular file, or its first ``limit`` bytes.

    Raises as ``open_file``; DataError if the file ends before the size it had when opened.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        promised = size if limit is None else min(size, limit)
        try:
            content = file.read() if limit is None else file.read(limit)
        except OSError as error:
            raise _explain_error(path, error) from error
    if len(content) < promised:
        raise DataError(
            "truncated-file",
            "{path} ends after {read_bytes} of {expected_bytes} bytes",
            "check whether it is still being written",
            path=path,
            read_bytes=len(content),
            expected_bytes=promised,
        )
    return content


def read_text(path: Path) -> str:
    """Return the content of a regular file as text; bytes that are not UTF-8 become U+FFFD. Raises as
    ``read_bytes``."""
    return read_bytes(path).decode("utf-8", errors="replace")


def read_tail(path: Path, count: int) -> str:
    """Return the last ``count`` bytes of our own file as text; empty if it is unreadable."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - count))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _check_kind(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise InputError("not-a-regular-file", "{path} is {kind}", "name a regular file", path=path, kind=kind)


def _explain_error(path: Path, error: OSError) -> InputError | SystemFaultError:
    reason = error.strerror or error
    if isinstance(error, _USERS):
        hint = "name a file that you may read"
        return InputError("unreadable-file", "{path}: {reason}", hint, path=path, reason=reason)
    return SystemFaultError("io-error", "{path}: {reason}", "check its file system", path=path, reason=reason)
