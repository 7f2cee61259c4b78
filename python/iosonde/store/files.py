"""All file-system effects of the store, in an order that survives a power loss.

A file or directory is created next to its final name, flushed and renamed; then its parent is flushed. ``Disk`` is the
only interface: tests replace it by a recorder and replay every crash (tests/unit/test_store_power_loss.py). Unfinished
files are called ``.tmp-<name>-<writer>-<random>`` (``core/temporary_names.py``).
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
from iosonde.core.temporary_names import build_temporary_name, list_dead_leftovers
from iosonde.foreign.mounts import mount_points_in

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_COPY_BYTES = 1 << 20
MARKER = "store.json"  # marks a directory as a store
TEMPORARY_PREFIX = ".tmp-"


_CURES = {
    errno.EACCES: "ask its owner for write permission, or use another store",
    errno.EPERM: "ask its owner for write permission, or use another store",
    errno.EROFS: "mount its file system for writing, or use another store",
    errno.ENOSPC: "make room there, or use another store",
    errno.EDQUOT: "make room in your quota, or use another store",
    errno.ENOENT: "check whether the store was moved or removed",
}


def read_plain(path: Path) -> bytes:
    """Read a regular file without following a link or waiting for the writer of a pipe.

    Raises OSError.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        return file.read()


def read_file_state(path: str | Path) -> tuple[int, int, int] | None:
    """Return a value that changes when a file is replaced; None if it does not exist."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


class Disk:
    """The system calls that the store needs, one method each."""

    def make_directory(self, path: Path) -> None:
        """Call mkdir. Raises FileExistsError."""
        path.mkdir()

    def open_new(self, path: Path) -> io.FileIO:
        """Create an empty file, unbuffered. Raises FileExistsError."""
        return io.FileIO(path, "x")

    def write(self, file: io.FileIO, data: ReadableBuffer) -> None:
        """Append all of ``data`` to ``file``."""
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]

    def sync_file(self, file: io.FileIO) -> None:
        """Call fsync."""
        os.fsync(file.fileno())

    def sync_directory(self, path: Path) -> None:
        """Call fsync on a directory, so that the names in it are on disk."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sync_file_system(self, path: Path) -> None:
        """Call syncfs, so that all earlier writes to the file system of ``path`` are on disk."""
        from iosonde.engine._native import sync_file_system

        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            sync_file_system(f"/proc/self/fd/{descriptor}")  # the engine accepts only UTF-8 names
        finally:
            os.close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """Rename atomically; a directory replaces only an empty directory."""
        os.rename(old, new)  # noqa: PTH104 - the plain system call is the point here

    def remove_file(self, path: Path) -> None:
        """Call unlink."""
        path.unlink()

    def remove_directory(self, path: Path) -> None:
        """Call rmdir."""
        path.rmdir()


class Unflushed(Disk):
    """A disk that does not flush single files and directories; its user calls ``sync_file_system``."""

    def __init__(self, disk: Disk) -> None:
        for name in ("make_directory", "open_new", "write", "rename", "remove_file", "remove_directory"):
            setattr(self, name, getattr(disk, name))

    def sync_file(self, file: io.FileIO) -> None:  # noqa: D102 - as in Disk
        pass

    def sync_directory(self, path: Path) -> None:  # noqa: D102 - as in Disk
        pass


class Writer(io.RawIOBase):
    """A new file that tracks size and SHA-256 of its content; ``commit`` flushes it to the disk."""

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
        """Flush to the disk and close; return the file's ``bytes`` and ``sha256``."""
        self._disk.sync_file(self._file)
        self._file.close()
        return {"bytes": self.size, "sha256": self._hash.hexdigest()}

    def abandon(self) -> None:
        """Close without flushing."""
        self._file.close()


@contextlib.contextmanager
def open_new_file(disk: Disk, path: Path) -> Iterator[Writer]:
    """Yield a Writer that is always closed; the caller commits it."""
    writer = Writer(disk, path)
    try:
        yield writer
    finally:
        writer.abandon()


def write_new(disk: Disk, path: Path, data: bytes) -> dict[str, int | str]:
    """Write a new flushed file; return its ``bytes`` and ``sha256``. Its name is not flushed yet."""
    with open_new_file(disk, path) as writer:
        writer.write(data)
        return writer.commit()


def write_copy(disk: Disk, path: Path, source: Path) -> dict[str, int | str]:
    """Copy the content of ``source`` to a new flushed file by blocks; return as ``write_new``."""
    with open_new_file(disk, path) as writer, source.open("rb") as file:
        while piece := file.read(_COPY_BYTES):
            writer.write(piece)
        return writer.commit()


def replace_file(disk: Disk, path: Path, data: bytes) -> None:
    """Replace ``path`` atomically by ``data``; it is on disk on return."""
    temporary = path.parent / build_temporary_file_name(path.name)
    try:
        write_new(disk, temporary, data)
        disk.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.remove_file(temporary)
        raise
    disk.sync_directory(path.parent)


@contextlib.contextmanager
def create_directory(disk: Disk, path: Path) -> Iterator[Path]:
    """Yield a temporary directory to fill; ``path`` appears with all its content when the block succeeds.

    The block flushes its files; names, rename and parent are flushed here. If the block fails nothing remains. Raises
    OSError; FileExistsError or ENOTEMPTY if ``path`` exists.
    """
    temporary = path.parent / build_temporary_file_name(path.name)
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


def create_directories(disk: Disk, parent: Path, fills: Mapping[str, Callable[[Disk, Path], None]]) -> list[str]:
    """Create many directories in ``parent`` with one flush for all; return the names that already existed.

    Each appears with all its content or not at all, and is on disk on return. Raises OSError; directories not yet
    renamed are then removed.
    """
    lazy, temporaries, there = Unflushed(disk), dict[str, Path](), []
    try:
        for name, fill in fills.items():
            temporaries[name] = parent / build_temporary_file_name(name)
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
def lock_directory(directory: Path) -> Iterator[None]:
    """Serialise changes to the files of a directory. Without locks in the file system the later process may win. Raises
    OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def build_write_error(error: OSError, failure: str, **values: object) -> SystemFaultError:
    """Return the error of a failed write, with the reason and a remedy; ``failure`` is a template."""
    hint = _CURES.get(error.errno or 0, "check its disk")
    return SystemFaultError("io-error", failure + ": {reason}", hint, reason=error.strerror, **values)


def make_directories(disk: Disk, path: Path) -> None:
    """Run ``mkdir -p`` and flush every new name."""
    if path.is_dir():
        return
    make_directories(disk, path.parent)
    with contextlib.suppress(FileExistsError):
        disk.make_directory(path)
    disk.sync_directory(path.parent)


def recreate_store_part(disk: Disk, directory: Path) -> None:
    """Recreate an empty directory of a store, which git and archives omit; do nothing if the whole store is gone."""
    if not directory.is_dir() and (directory.parent / MARKER).exists():
        make_directories(disk, directory)


def remove_tree(disk: Disk, path: Path) -> None:
    """Remove a directory created by the store; concurrent removal is not an error.

    No link is followed, and nothing is removed if another file system is mounted in it.
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
    """Remove leftovers of dead writers in ``directory``. Outside a store, pass ``name`` to remove only those of that
    name and this user."""
    for path in list_dead_leftovers(directory, TEMPORARY_PREFIX, name):
        if name is not None and path.lstat().st_uid != os.geteuid():
            continue
        if path.is_dir() and not path.is_symlink():
            remove_tree(disk, path)
        else:
            with contextlib.suppress(OSError):
                disk.remove_file(path)


def is_temporary(name: str) -> bool:
    """Return whether a name is that of an unfinished (or leftover) file."""
    return name.startswith(TEMPORARY_PREFIX)


def build_temporary_file_name(name: str) -> str:
    """Return a temporary name for ``name``."""
    return build_temporary_name(TEMPORARY_PREFIX, name)
