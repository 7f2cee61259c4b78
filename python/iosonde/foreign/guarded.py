"""Read files anywhere; on a network or FUSE mount a child process reads them, with a deadline.

A process that reads from a dead server cannot be ended. On other file systems a child would only cost time: 0.1 s to
start, and 0.3 ms per file.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from iosonde.core.errors import InputError, IosondeError
from iosonde.core.units import format_size
from iosonde.foreign.mounts import find_waiting_mount, forget_mounts

from . import guarded_operations as operations
from .child import LIMIT_S, Child, NoAnswerError
from .reading import open_file

# Seconds without progress on a mount before it is given up.
limit_s = LIMIT_S
# A copy is kept in memory.
MAX_COPY_BYTES = 2 << 30
_silent_mounts: dict[str, NoAnswerError] = {}


@dataclass(frozen=True)
class Look:
    """The result of ``look``. ``kind`` is ``directory``, ``file`` or ``missing``. ``files`` has path and size of each
    regular file below a directory, or of the file itself, of any type. ``skipped`` has the paths not entered, with the
    reason."""

    kind: str
    files: tuple[tuple[Path, int], ...]
    skipped: tuple[tuple[Path, str], ...]


def inspect_path(path: Path, leave_out: Path, marker: str = "") -> Look:
    """Look at a path and list the files below it, except in the directory ``leave_out`` (without links), and in those
    below that have a file ``marker``.

    Raises NoAnswerError, SystemFaultError, OSError.
    """
    top = str(path)
    if mount := find_waiting_mount(path):
        top = os.path.abspath(path)
        listing = _call_child(mount, "look", path, f"looking at {path}", leave_out=str(leave_out), marker=marker)
    else:
        listing = operations.look(top, str(leave_out), marker)
    return Look(
        listing["kind"],
        tuple((path / Path(file).relative_to(top), size) for file, size in listing["files"]),
        tuple((path / Path(where).relative_to(top), why) for where, why in listing["skipped"]),
    )


def detect_path_kind(path: Path) -> str:
    """Return ``directory``, ``file`` for anything else, or ``missing``. Raises as ``look``."""
    if mount := find_waiting_mount(path):
        return str(_call_child(mount, "kind", path, f"looking at {path}"))
    return operations.kind(str(path))


def forget_silence() -> None:
    """Retry mounts that did not answer earlier."""
    _silent_mounts.clear()
    forget_mounts()


@contextmanager
def open_checked(path: Path, limit: int | None = None) -> Iterator[BinaryIO]:
    """Open a regular file for reading, or its first ``limit`` bytes.

    Raises as ``reading.open_file``; NoAnswerError; DataError at the end if the file is shorter than when it was opened.
    """
    if mount := find_waiting_mount(path):
        with _open_copy(mount, path, limit) as file:
            yield file
        return
    with open_file(path) as file:
        if not file.seekable():  # a pipe has no known size
            yield file
            return
        promised = min(os.fstat(file.fileno()).st_size, limit if limit is not None else 1 << 63)
        yield file
        if (count := file.tell()) < promised and not file.read(1):
            operations.check_complete(path, count, promised)


def begin_of(path: Path, limit: int) -> bytes:
    """Return the first bytes of a file; empty if it is missing or unreadable."""
    try:
        with open_checked(path, limit) as file:
            return file.read(limit)
    except (IosondeError, OSError):
        return b""


@contextmanager
def _open_copy(mount: str, path: Path, limit: int | None) -> Iterator[BinaryIO]:
    descriptor = os.memfd_create("iosonde", os.MFD_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        to = f"/proc/{os.getpid()}/fd/{descriptor}"
        most = MAX_COPY_BYTES + 1 if limit is None else limit
        count = _call_child(mount, "copy", path, f"reading {path}", to=to, limit=most)
        if count > MAX_COPY_BYTES:
            raise InputError(
                "file-too-large",
                "{path} is larger than {max_copy_bytes}",
                "copy it to a local disk",
                path=path,
                max_copy_bytes=format_size(MAX_COPY_BYTES),
            )
        yield file


def _call_child(mount: str, operation: str, path: Path, what: str, **arguments: object) -> Any:
    if mount in _silent_mounts:
        raise NoAnswerError(
            "no-response",
            "{path} was not read: {mount} does not answer",
            "check its server and the network; a hung process ends when they respond again",
            path=path,
            mount=mount,
        )
    child, absolute = _get_child(os.getpid()), os.path.abspath(path)
    child.limit_s = limit_s
    try:
        return child.call(operation, str(path), what, path=absolute, **arguments)
    except NoAnswerError as error:
        _silent_mounts[mount] = error
        raise
    except IosondeError as error:
        raise error.with_words(error.message.replaced(absolute, str(path))) from error


@cache
def _get_child(pid: int) -> Child:
    """Return the child of this process; a forked process must not share it."""
    return Child("iosonde.foreign.guarded_operations")
