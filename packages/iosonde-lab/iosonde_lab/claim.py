"""Lock of a lab's bring-up: a file in its directory, held until it is up, released when the process ends."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from . import place

_LOCK = "bringing-up"
_CLAIMED_S = 5.0  # at most, from the creation of the directory to that of its lock


def hold(name: str) -> int | None:
    """Return the descriptor of the lock of a lab to bring up, or to remove after an interrupted bring-up.
    None if another process holds it.
    """
    lock = place.directory(name) / _LOCK
    with suppress(FileExistsError):
        return _make(lock)
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    if _take(descriptor) and _is_that(descriptor, lock):  # the lab was not removed meanwhile
        return descriptor
    os.close(descriptor)
    return None


def is_locked(name: str) -> bool:
    """Return whether a lab is being brought up; True if the user may not look."""
    directory = place.directory(name)
    try:
        descriptor = os.open(directory / _LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        with suppress(OSError):
            return time.time() - directory.stat().st_mtime < _CLAIMED_S
        return False
    except OSError:
        return True
    try:
        return not _take(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _make(lock: Path) -> int | None:
    """Create the lock such that it is held from the start. Raises FileExistsError."""
    temporary_file = lock.with_name(f".{_LOCK}-{os.getpid()}")
    try:
        descriptor = os.open(temporary_file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:  # the lab has just been removed
        return None
    try:
        _take(descriptor)
        os.link(temporary_file, lock)
    except BaseException:
        os.close(descriptor)
        raise
    finally:
        temporary_file.unlink(missing_ok=True)
    return descriptor


def _take(lock: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_that(descriptor: int, lock: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    return False
