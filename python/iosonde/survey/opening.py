"""Open drawn files: by their names relative to the root, without following links, never a file migrated to tape."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class TreeCalls:
    """The calls of one thread: ``calls(os.open, …)``. Other threads may query its waiting time.

    ``since``: start of the current call (monotonic), None between calls; ``heard``: when the tree last returned
    requested data, as opposed to a lookup on the way.
    """

    def __init__(self) -> None:
        self.since: float | None = None
        self.heard = 0.0

    def __call__(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Make one call."""
        self.since = time.monotonic()
        try:
            return call(*args, **kwargs)
        finally:
            self.since = None

    def note_answer(self) -> None:
        """Note that the tree returned the requested data."""
        self.heard = time.monotonic()

    def waited_s(self, now: float) -> float:
        """Return how long the current call has been waiting."""
        since = self.since
        return 0.0 if since is None else now - since


_PASS = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True)
class WalkedFile:
    """The status of a file as walked; a file that differs now was replaced or changed."""

    path: bytes
    size: int
    allocated: int
    device: int
    inode: int
    modified_ns: int

    @property
    def inode_key(self) -> tuple[int, int]:
        """Return its unique key."""
        return self.device, self.inode

    def same(self, now: os.stat_result) -> bool:
        """Return whether it is unchanged."""
        there = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)
        return there == (self.device, self.inode, self.size, self.modified_ns)


class UnansweredError(Exception):
    """Raised for a drawn file that cannot be read; the text is one of ``REASONS``."""


RELEASED, CHANGED, VANISHED, DENIED, FAILED = "released", "changed", "vanished", "denied", "failed"
SHORT = "short"  # fewer bytes could be read than its size
HUNG, NOT_TRIED = "hung", "not tried"  # the file does not answer; the whole tree no longer answered
REASONS = (RELEASED, CHANGED, VANISHED, DENIED, FAILED, SHORT, HUNG, NOT_TRIED)


@dataclass(frozen=True)
class Opened:
    """A file open for reading. ``touched``: reading changes its access time."""

    fd: int
    directory: int
    touched: bool


@contextmanager
def open_drawn_file(root: int, walked_file: WalkedFile, calls: TreeCalls) -> Iterator[Opened]:
    """Open a drawn file from the open root of the walk. Raises UnansweredError.

    Its status is checked first with ``O_PATH``, which opens nothing. A file without blocks is on tape or a hole, and
    opening it could recall it. A file with another inode by now is not read.
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
        _raise_if_changed(walked_file, calls(os.fstat, there))
        fd, touched = _reopen_for_reading(there, calls)
        descriptors.append(fd)
        yield Opened(fd, at, touched)
        if not walked_file.same(calls(os.fstat, fd)):
            raise UnansweredError(CHANGED)
    except OSError as error:
        raise UnansweredError(_classify_error(error)) from error
    finally:
        for descriptor in descriptors:
            calls(os.close, descriptor)


def _raise_if_changed(walked_file: WalkedFile, now: os.stat_result) -> None:
    if not stat.S_ISREG(now.st_mode) or not walked_file.same(now):
        raise UnansweredError(CHANGED)
    if now.st_size and not now.st_blocks:
        raise UnansweredError(RELEASED)


def _reopen_for_reading(there: int, calls: TreeCalls) -> tuple[int, bool]:
    """Reopen the same inode by the kernel's own link, without changing its access time where permitted."""
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
    return VANISHED if error.errno in (errno.ENOENT, errno.ESTALE, errno.ENOTDIR, errno.ELOOP) else FAILED
