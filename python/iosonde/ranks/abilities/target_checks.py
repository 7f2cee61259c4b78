"""What can be measured on a target directory: tried with one small file in a directory of our own, then removed."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iosonde.core.units import format_size
from iosonde.ranks.machine import mount

from . import Ability

_BYTES = 1 << 20
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")


def target_mount(target: Path) -> Ability:
    """What the target is on, and its free space."""
    found = mount.of_path(target)
    space = mount.space(target)
    if found is None:
        return Ability("target", False, f"{target}: no mount found", "measuring it", "look at /proc/self/mountinfo")
    detail = f"{found.type} from {found.source}, {format_size(space['free_bytes'])} free"
    return Ability("target", found.type not in _IN_MEMORY, detail, "measuring storage and not memory",
                   "choose a directory on the file system to be measured")  # fmt: skip


def target_writable(target: Path) -> Ability:
    """Whether a file can be made, synced and removed there."""
    with _file(target):
        return Ability("target write", True, "made, synced and removed a file", "measuring it")


def target_direct_io(target: Path) -> Ability:
    """Whether O_DIRECT works there: an aligned write and read."""
    needed_for = "phases with the flag direct"
    with _file(target) as path, mmap.mmap(-1, 4096) as aligned:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_DIRECT)
        except OSError as error:
            return Ability("target direct I/O", False, f"open with O_DIRECT: {error.strerror}", needed_for,
                           "the file system does not have it: measure through the page cache")  # fmt: skip
        try:
            os.pwrite(descriptor, aligned, 0)
            os.preadv(descriptor, [aligned], 0)
        finally:
            os.close(descriptor)
    return Ability("target direct I/O", True, "4 KiB written and read with O_DIRECT", needed_for)


def target_fadvise(target: Path) -> Ability:
    """Whether fadvise drops a file's pages, seen by mincore."""
    from iosonde import _native

    needed_for = "cold reads without root"
    with _file(target) as path:
        path.read_bytes()
        before, _ = _native.page_cache(str(path))
        _native.drop_page_cache(str(path))
        after, size = _native.page_cache(str(path))
    detail = f"{format_size(before)} of {format_size(size)} cached, {format_size(after)} after fadvise"
    if before == 0:
        return Ability("target cache", True, f"{detail}: this file system does not cache here", needed_for)
    return Ability("target cache", after == 0, detail, needed_for,
                   "this file system keeps its pages: cold reads need files larger than memory")  # fmt: skip


@contextmanager
def _file(target: Path) -> Iterator[Path]:
    """A synced file of 1 MiB in a new directory below the target; both are removed."""
    with tempfile.TemporaryDirectory(prefix="iosonde-doctor-", dir=target) as directory:
        path = Path(directory) / "file"
        with path.open("wb") as file:
            file.write(os.urandom(_BYTES))
            file.flush()
            os.fsync(file.fileno())
        yield path


CHECKS = [target_mount, target_writable, target_direct_io, target_fadvise]
