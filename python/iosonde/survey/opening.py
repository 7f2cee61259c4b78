"""Opening a file that was drawn: by its names from the root on, no link followed, never one that has moved to tape."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .calls import TreeCalls

_PASS = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


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
SHORT = "short"  # fewer bytes could be read than its size promises
HUNG, NOT_TRIED = "hung", "not tried"  # it does not answer; the whole tree did not answer any more
REASONS = (RELEASED, CHANGED, VANISHED, DENIED, FAILED, SHORT, HUNG, NOT_TRIED)


@dataclass(frozen=True)
class Opened:
    """A file that is open for reading. ``touched``: its access time changes by that."""

    fd: int
    directory: int
    touched: bool


@contextmanager
def opened(root: int, walked_file: WalkedFile, calls: TreeCalls) -> Iterator[Opened]:
    """A drawn file, from the open root of the walk. Raises UnansweredError.

    It is looked at before it is opened (``O_PATH`` opens nothing): a file without a block is on tape or a hole, and to
    open it could call it back. What has another inode by now is not read.
    """
    descriptors: list[int] = []
    try:
        *directories, name = walked_file.path.split(b"/")
        at = root
        for directory in directories:
            at = calls(os.open, directory, _PASS | os.O_DIRECTORY, dir_fd=at)
            descriptors.append(at)
            if len(descriptors) > 1:
                os.close(descriptors.pop(0))
        there = calls(os.open, name, _PASS, dir_fd=at)
        descriptors.append(there)
        _check_unchanged(walked_file, calls(os.fstat, there))
        fd, touched = _for_reading(there, calls)
        descriptors.append(fd)
        yield Opened(fd, at, touched)
        if not walked_file.same(calls(os.fstat, fd)):
            raise UnansweredError(CHANGED)
    except OSError as error:
        raise UnansweredError(_classify_error(error)) from error
    finally:
        for descriptor in descriptors:
            calls(os.close, descriptor)


def _check_unchanged(walked_file: WalkedFile, now: os.stat_result) -> None:
    if not stat.S_ISREG(now.st_mode) or not walked_file.same(now):
        raise UnansweredError(CHANGED)
    if now.st_size and not now.st_blocks:
        raise UnansweredError(RELEASED)


def _for_reading(there: int, calls: TreeCalls) -> tuple[int, bool]:
    """The same inode by the kernel's own link to it; its access time stays where we may ask for that."""
    link = f"/proc/self/fd/{there}"
    try:
        return calls(os.open, link, _READ | os.O_NOATIME), False
    except PermissionError as error:
        if error.errno != errno.EPERM:
            raise
    return calls(os.open, link, _READ), True


def _classify_error(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return DENIED
    if error.errno in (errno.ENOENT, errno.ESTALE, errno.ENOTDIR, errno.ELOOP):
        return VANISHED
    return FAILED
