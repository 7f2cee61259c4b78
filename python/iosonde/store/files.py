"""Everything the store does to the file system goes through here, in the order that survives a power loss.

A file or a directory is made beside its final name, flushed, renamed, and its parent flushed. ``Disk`` is the
whole seam: tests put a recorder in its place and replay every crash (tests/unit/test_store_power_loss.py).

What is being made is called ``.tmp-<name>-<writer>-<random>`` (``core/temporary_names.py``).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.errors import SystemFaultError
from iosonde.core.temporary_names import dead_names, name_of_writer
from iosonde.foreign.mounts import mount_points_in

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_COPY_BYTES = 1 << 20
MARKER = "store.json"  # a directory that holds it is a store
TEMPORARY_PREFIX = ".tmp-"


_CURES = {
    errno.EACCES: "ask its owner for permission to write, or use another store",
    errno.EPERM: "ask its owner for permission to write, or use another store",
    errno.EROFS: "mount its file system for writing, or use another store",
    errno.ENOSPC: "make room there, or use another store",
    errno.EDQUOT: "make room in your quota, or use another store",
    errno.ENOENT: "check whether the store was moved or removed",
}


def read_plain(path: Path) -> bytes:
    """The content of a file that is one: no link is followed, and nobody waits for a pipe to be written to.

    Raises OSError.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        return file.read()


def state_of(path: str | Path) -> tuple[int, int, int] | None:
    """What changes when a file becomes another one; None where there is none."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


class Disk:
    """The effects that the store needs, one method each, straight to the operating system."""

    def make_directory(self, path: Path) -> None:
        """mkdir; raises FileExistsError."""
        path.mkdir()

    def open_new(self, path: Path) -> io.FileIO:
        """A new empty file, unbuffered; raises FileExistsError."""
        return io.FileIO(path, "x")

    def write(self, file: io.FileIO, data: ReadableBuffer) -> None:
        """All of ``data`` at the end of ``file``."""
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]

    def sync_file(self, file: io.FileIO) -> None:
        """fsync."""
        os.fsync(file.fileno())

    def sync_directory(self, path: Path) -> None:
        """fsync of a directory: the names in it are on disk afterwards."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sync_file_system(self, path: Path) -> None:
        """syncfs: everything written so far to the file system that holds ``path`` is on disk afterwards."""
        from iosonde.engine._native import sync_file_system

        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            sync_file_system(f"/proc/self/fd/{descriptor}")  # the engine takes names in UTF-8 only
        finally:
            os.close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """Atomic rename; a directory replaces nothing but an empty directory."""
        os.rename(old, new)  # noqa: PTH104 - the plain system call is the point here

    def remove_file(self, path: Path) -> None:
        """unlink."""
        path.unlink()

    def remove_directory(self, path: Path) -> None:
        """rmdir."""
        path.rmdir()


class Unflushed(Disk):
    """Another disk whose files and directories are not flushed one by one: the user of it calls
    ``sync_file_system``."""

    def __init__(self, disk: Disk) -> None:
        for name in ("make_directory", "open_new", "write", "rename", "remove_file", "remove_directory"):
            setattr(self, name, getattr(disk, name))

    def sync_file(self, file: io.FileIO) -> None:  # noqa: D102 - as in Disk
        pass

    def sync_directory(self, path: Path) -> None:  # noqa: D102 - as in Disk
        pass


class Writer(io.RawIOBase):
    """A new file that knows size and SHA-256 of what was written; ``commit`` flushes it to the disk."""

    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk = disk
        self._file = disk.open_new(path)
        self._hash = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:  # noqa: D102 - as in io.RawIOBase
        return True

    def tell(self) -> int:  # noqa: D102 - as in io.RawIOBase
        return self.size

    def write(self, data: ReadableBuffer, /) -> int:  # noqa: D102 - as in io.RawIOBase
        content = memoryview(data)
        self._disk.write(self._file, content)
        self._hash.update(content)
        self.size += content.nbytes
        return content.nbytes

    def commit(self) -> dict[str, int | str]:
        """Flush to the disk and close; the file's ``bytes`` and ``sha256``."""
        self._disk.sync_file(self._file)
        self._file.close()
        return {"bytes": self.size, "sha256": self._hash.hexdigest()}

    def abandon(self) -> None:
        """Close without flushing."""
        self._file.close()


@contextlib.contextmanager
def new_file(disk: Disk, path: Path) -> Iterator[Writer]:
    """A Writer that is closed whatever happens; the caller commits it."""
    writer = Writer(disk, path)
    try:
        yield writer
    finally:
        writer.abandon()


def write_new(disk: Disk, path: Path, data: bytes) -> dict[str, int | str]:
    """A new flushed file with this content; its ``bytes`` and ``sha256``. Its name is not yet flushed."""
    with new_file(disk, path) as writer:
        writer.write(data)
        return writer.commit()


def write_copy(disk: Disk, path: Path, source: Path) -> dict[str, int | str]:
    """The same with the content of another file, a piece at a time."""
    with new_file(disk, path) as writer, source.open("rb") as file:
        while piece := file.read(_COPY_BYTES):
            writer.write(piece)
        return writer.commit()


def replace_file(disk: Disk, path: Path, data: bytes) -> None:
    """``path`` has the old content or ``data``, never anything else; on disk on return."""
    temporary = path.parent / temporary_name(path.name)
    try:
        write_new(disk, temporary, data)
        disk.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.remove_file(temporary)
        raise
    disk.sync_directory(path.parent)


@contextlib.contextmanager
def new_directory(disk: Disk, path: Path) -> Iterator[Path]:
    """A directory to fill under a temporary name; ``path`` appears with all of it when the block ends well.

    The block flushes its files; names, rename and parent are flushed here. When the block fails nothing stays
    behind. Raises OSError; FileExistsError or ENOTEMPTY where ``path`` exists.
    """
    temporary = path.parent / temporary_name(path.name)
    try:
        disk.make_directory(temporary)
        yield temporary
        for directory, _, _ in os.walk(temporary, topdown=False):
            disk.sync_directory(Path(directory))
        disk.rename(temporary, path)
    except BaseException:
        remove_tree(disk, temporary)
        raise
    disk.sync_directory(path.parent)


def new_directories(disk: Disk, parent: Path, fills: Mapping[str, Callable[[Disk, Path], None]]) -> list[str]:
    """Like ``new_directory`` for many names in ``parent`` with one flush for all; the names that were there already.

    Each appears with all of its content or not at all; on disk on return. Raises OSError: those that were not yet
    renamed
    leave nothing behind.
    """
    lazy, temporaries, there = Unflushed(disk), dict[str, Path](), []
    try:
        for name, fill in fills.items():
            temporaries[name] = parent / temporary_name(name)
            disk.make_directory(temporaries[name])
            fill(lazy, temporaries[name])
        disk.sync_file_system(parent)
        for name in list(temporaries):
            try:
                disk.rename(temporaries[name], parent / name)
                del temporaries[name]
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                    raise
                there.append(name)
    finally:
        for temporary in temporaries.values():
            remove_tree(disk, temporary)
    disk.sync_directory(parent)
    return there


@contextlib.contextmanager
def locked_directory(directory: Path) -> Iterator[None]:
    """Change files of a directory one process after another. Where the file system has no locks, the later one may
    win. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_failure(error: OSError, failure: str, **values: object) -> SystemFaultError:
    """Return the error that says what could not be written, why, and what helps; ``failure``: a template."""
    hint = _CURES.get(error.errno or 0, "check the disk under it")
    return SystemFaultError("io-error", failure + ": {reason}", hint, reason=error.strerror, **values)


def make_directories(disk: Disk, path: Path) -> None:
    """``mkdir -p`` whose every new name is flushed."""
    if path.is_dir():
        return
    make_directories(disk, path.parent)
    with contextlib.suppress(FileExistsError):
        disk.make_directory(path)
    disk.sync_directory(path.parent)


def make_part(disk: Disk, directory: Path) -> None:
    """Make a directory of a store that was empty, and that git or an archive therefore did not carry; none where the
    whole store is gone."""
    if not directory.is_dir() and (directory.parent / MARKER).exists():
        make_directories(disk, directory)


def remove_tree(disk: Disk, path: Path) -> None:
    """Remove a directory that the store made; another cleaner at work is no error.

    No link is followed, and nothing is removed where another file system is mounted in it.
    """
    if mount_points_in(path.parent.resolve() / path.name):
        return
    for directory, names, files in os.walk(path, topdown=False):
        here = Path(directory)
        for name in [*files, *(name for name in names if (here / name).is_symlink())]:
            with contextlib.suppress(OSError):
                disk.remove_file(here / name)
        with contextlib.suppress(OSError):
            disk.remove_directory(here)


def clean_leftovers(disk: Disk, directory: Path, name: str | None = None) -> None:
    """Remove what dead writers left in ``directory``; of ``name`` alone, and of this user, where the directory is not a
    store's."""
    for path in dead_names(directory, TEMPORARY_PREFIX, name):
        if name is not None and path.lstat().st_uid != os.geteuid():
            continue
        if path.is_dir() and not path.is_symlink():
            remove_tree(disk, path)
        else:
            with contextlib.suppress(OSError):
                disk.remove_file(path)


def is_temporary(name: str) -> bool:
    """Whether a name is that of something being made (or left behind)."""
    return name.startswith(TEMPORARY_PREFIX)


def temporary_name(name: str) -> str:
    """The name to make ``name`` under."""
    return name_of_writer(TEMPORARY_PREFIX, name)
