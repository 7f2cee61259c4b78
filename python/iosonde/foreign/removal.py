"""Remove directory trees: never across a mount point, never through a link, by open descriptors."""

import fcntl
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from iosonde.core.errors import InputError

from .mounts import mount_points_in

_MIN_AGE_S = 60.0  # of a directory without a lock


class MountedError(InputError):
    """Another file system is mounted in the tree to be removed."""


def check_unmounted(directory: Path, retry: str) -> None:
    """Raise MountedError if anything is mounted at or below a directory; ``retry`` is the command to repeat."""
    if points := mount_points_in(directory.parent.resolve() / directory.name):
        umount = f"umount {points[-1]}" if len(points) == 1 else f"unmount all {len(points)} mount points in it"
        raise MountedError(
            "mounted-inside",
            "{mount_point} is a mount point: nothing in {directory} is removed",
            "{umount_command}, then {retry_command}",
            mount_point=points[0],
            directory=directory,
            umount_command=umount,
            retry_command=retry,
        )


def remove_tree(directory: Path, keep: Collection[str] = ()) -> None:
    """Remove a directory with all its content; remove nothing if anything is mounted there.

    ``keep``: entries of the directory that stay, and the directory with them. Raises MountedError; FileNotFoundError if
    it does not exist; OSError for the first entry that cannot be removed, after removing the others.
    """
    from iosonde.engine import _native

    check_unmounted(directory, "try again")
    if not keep:
        _native.remove_tree(os.fspath(directory))
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for name in sorted(set(os.listdir(descriptor)) - set(keep)):
            _remove_entry(descriptor, name)
    finally:
        os.close(descriptor)


def _remove_entry(directory: int, name: str) -> None:
    from iosonde.engine import _native

    try:
        os.unlink(name, dir_fd=directory)
    except (IsADirectoryError, PermissionError):  # POSIX lets unlink of a directory fail with either
        with suppress(FileNotFoundError):
            _native.remove_tree_at(directory, name)


def remove_scratch(directory: Path) -> None:
    """Remove a temporary directory as far as possible; leave the rest."""
    with suppress(OSError, MountedError):
        remove_tree(directory)


@contextmanager
def scratch_directory(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Create a temporary directory in ``parent``, or in the default place, and remove it at the end."""
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        yield directory
    finally:
        remove_scratch(directory)


@contextmanager
def locked_scratch_directory(prefix: str) -> Iterator[Path]:
    """Create a temporary directory as ``scratch_directory`` does, locked until its end, and remove those of this user
    whose process was killed. A young one may not be locked yet."""
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError), _lock_directory(path):
            if time.time() - path.stat().st_mtime > _MIN_AGE_S:
                remove_scratch(path)
    with scratch_directory(prefix) as directory, _lock_directory(directory):
        yield directory


@contextmanager
def _lock_directory(directory: Path) -> Iterator[None]:
    """Hold an exclusive lock on one of this user's directories. Raises OSError if it cannot be had at once."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(directory)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
