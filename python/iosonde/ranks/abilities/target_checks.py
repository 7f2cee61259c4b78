"""Check what can be measured on a target directory, with one small file in a temporary directory.

A helper process does it (``try_all``), because the target may hang.
"""

import mmap
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError, TargetError, TargetFaultError
from iosonde.core.filesystems import MEMORY_TYPES
from iosonde.core.message import Message
from iosonde.core.units import format_size
from iosonde.foreign.child import LIMIT_S, Child, NoAnswerError, OnWait
from iosonde.foreign.removal import remove_tree
from iosonde.ranks.machine import mount

from .ability import Ability

_BYTES = 1 << 20


def target_mount(target: Path) -> Ability:
    """Check the target's file system and its free space."""
    mount_entry = mount.find_mount(target)
    space = mount.measure_space(target)
    if mount_entry is None:
        missing = Message("no-mount", "{target}: no mount found", target=target)
        return Ability("target", False, missing, "measuring it", "check /proc/self/mountinfo")
    free = "free space unknown" if space["free_bytes"] is None else f"{format_size(space['free_bytes'])} free"
    return Ability(
        "target",
        mount_entry.type not in MEMORY_TYPES,
        f"{mount_entry.type} from {mount_entry.source}, {free}",
        "measuring storage instead of memory",
        "choose a directory on the file system to measure",
    )


def target_writable(target: Path) -> Ability:
    """Check that a file can be created, synced and removed."""
    with _create_file(target):
        return Ability("target write", True, "created, synced and removed a file", "measuring it")


def target_direct_io(target: Path) -> Ability:
    """Check O_DIRECT with an aligned write and read."""
    needed_for = "phases with the flag direct"
    with _create_file(target) as path, mmap.mmap(-1, 4096) as aligned:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_DIRECT)
        except OSError as error:
            return Ability(
                "target direct I/O",
                False,
                f"open with O_DIRECT: {error.strerror}",
                needed_for,
                "the file system lacks it: measure through the page cache",
            )
        try:
            os.pwrite(descriptor, aligned, 0)
            os.preadv(descriptor, [aligned], 0)
        finally:
            os.close(descriptor)
    return Ability("target direct I/O", True, "4 KiB written and read with O_DIRECT", needed_for)


def target_fadvise(target: Path) -> Ability:
    """Check with mincore that fadvise drops a file's pages."""
    from iosonde.engine import _native

    needed_for = "cold reads without root"
    with _create_file(target) as path:
        path.read_bytes()
        before, _ = _native.page_cache(str(path))
        _native.drop_page_cache(str(path))
        after, size = _native.page_cache(str(path))
    detail = f"{format_size(before)} of {format_size(size)} cached, {format_size(after)} after fadvise"
    if before == 0:
        return Ability("target cache", True, f"{detail}: this file system does not cache here", needed_for)
    return Ability(
        "target cache",
        after == 0,
        detail,
        needed_for,
        "this file system keeps its pages: cold reads need files larger than memory",
    )


@contextmanager
def _create_file(target: Path) -> Iterator[Path]:
    """Create a synced file of 1 MiB in a new directory below the target, and remove both."""
    directory = Path(tempfile.mkdtemp(prefix="iosonde-doctor-", dir=target))
    try:
        path = directory / "file"
        with path.open("wb") as file:
            file.write(os.urandom(_BYTES))
            file.flush()
            os.fsync(file.fileno())
        yield path
    finally:
        remove_tree(directory)


CHECKS = [target_mount, target_writable, target_direct_io, target_fadvise]


def try_all(target: Path, limit_s: float = LIMIT_S, on_wait: OnWait | None = None) -> list[Ability]:
    """Return the result of every check, in order, including failed ones. After a check without an answer no other is
    run. Raises TargetError if the target is not a directory."""
    absolute, abilities = os.path.abspath(target), []
    with closing(Child(__name__, limit_s, on_wait)) as child:
        try:
            there = child.call("is_directory", absolute, f"looking at {absolute}", path=absolute)
        except TargetFaultError as error:
            detail = error.message.prefixed("failed")
            return [Ability("target", False, detail, "measuring it", error.hint, required=True)]
        if not there:
            raise TargetError(
                "not-a-directory",
                "{target} is not a directory",
                "set {spell.target} to an existing directory",
                target=target,
            )
        if not absolute.isascii() and any(0xD800 <= ord(char) < 0xE000 for char in absolute):
            detail = Message("not-utf8", "the name of {target} is not UTF-8", target=target)
            return [Ability("target", False, detail, "measuring it", "rename it, or mount it elsewhere (mount --bind)")]
        for check in CHECKS:
            name = check.__name__.replace("_", " ")
            try:
                abilities.append(
                    Ability(**child.call(check.__name__, absolute, f"trying '{name}' in {absolute}", path=absolute))
                )
            except IosondeError as error:
                abilities.append(Ability(name, False, error.message.prefixed("failed"), "measuring it", error.hint))
                if isinstance(error, NoAnswerError):
                    break
    return abilities


def _wrap_check(check: Callable[[Path], Ability]) -> Callable[[str], dict[str, Any]]:
    return lambda path: check(Path(path)).to_json()


def is_directory(path: str) -> bool:
    """Return whether the path is a directory. Raises OSError if unknown: its server or daemon is gone."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


OPERATIONS: dict[str, Callable[..., Any]] = {check.__name__: _wrap_check(check) for check in CHECKS}
OPERATIONS["is_directory"] = is_directory
