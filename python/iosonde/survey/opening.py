"""Opening a file that was drawn: by its names from the root on, no link followed, never one that has moved to tape."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from iosonde.core.errors import InputError

_PASS = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


@contextmanager
def held_root(path: str) -> Iterator[str]:
    """A path that stays that of the same directory, whatever is renamed. Raises InputError."""
    try:
        handle = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "not a path"
        raise InputError(f"{path}: {why}", "name a directory that you may read") from error
    try:
        _check_readable(path, handle)
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)


def _check_readable(path: str, handle: int) -> None:
    """Raises InputError with the user's own path: the walk knows the descriptor alone."""
    try:
        os.close(os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", "name a directory that you may read") from error


@dataclass(frozen=True)
class WalkedFile:
    """What the walk saw of a file; one that differs now is another, or was changed."""

    path: bytes
    size: int
    allocated: int
    device: int
    inode: int
    modified_ns: int

    @property
    def inode_key(self) -> tuple[int, int]:
        """What tells it from all others."""
        return self.device, self.inode

    def same(self, now: os.stat_result) -> bool:
        """Whether it is still as it was."""
        there = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)
        return there == (self.device, self.inode, self.size, self.modified_ns)


class UnansweredError(Exception):
    """A drawn file cannot be looked at; the text is one of ``REASONS``."""


RELEASED, CHANGED, VANISHED, DENIED, FAILED = "released", "changed", "vanished", "denied", "failed"
REASONS = (RELEASED, CHANGED, VANISHED, DENIED, FAILED)


@dataclass(frozen=True)
class Opened:
    """A file that is open for reading. ``touched``: its access time changes by that."""

    fd: int
    directory: int
    touched: bool


@contextmanager
def opened(root: int, seen: WalkedFile) -> Iterator[Opened]:
    """A drawn file, from the open root of the walk. Raises UnansweredError.

    It is looked at before it is opened (``O_PATH`` opens nothing): a file without a block is on tape or a hole, and to
    open it could call it back. What has another inode by now is not read.
    """
    held: list[int] = []
    try:
        *directories, name = seen.path.split(b"/")
        at = root
        for directory in directories:
            at = os.open(directory, _PASS | os.O_DIRECTORY, dir_fd=at)
            held.append(at)
            if len(held) > 1:
                os.close(held.pop(0))
        there = os.open(name, _PASS, dir_fd=at)
        held.append(there)
        _check(seen, os.fstat(there))
        fd, touched = _for_reading(there)
        held.append(fd)
        yield Opened(fd, at, touched)
        if not seen.same(os.fstat(fd)):
            raise UnansweredError(CHANGED)
    except OSError as error:
        raise UnansweredError(_reason(error)) from error
    finally:
        for one in held:
            os.close(one)


def _check(seen: WalkedFile, now: os.stat_result) -> None:
    if not stat.S_ISREG(now.st_mode) or not seen.same(now):
        raise UnansweredError(CHANGED)
    if now.st_size and not now.st_blocks:
        raise UnansweredError(RELEASED)


def _for_reading(there: int) -> tuple[int, bool]:
    """The same inode by the kernel's own link to it; its access time stays where we may ask for that."""
    link = f"/proc/self/fd/{there}"
    try:
        return os.open(link, _READ | os.O_NOATIME), False
    except PermissionError as error:
        if error.errno != errno.EPERM:
            raise
    return os.open(link, _READ), True


def _reason(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return DENIED
    if error.errno in (errno.ENOENT, errno.ESTALE, errno.ENOTDIR, errno.ELOOP):
        return VANISHED
    return FAILED
