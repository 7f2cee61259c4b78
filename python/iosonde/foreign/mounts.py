"""Mount points in a directory tree, from the kernel's table; the tree itself is not accessed.

So is the network or FUSE mount of a path, which may hang.
"""

import os
import re
import time
from functools import lru_cache
from pathlib import Path

from iosonde.core.filesystems import is_fuse, is_network

_TABLE = Path("/proc/self/mountinfo")


def mount_points_in(directory: Path) -> list[str]:
    """Return the mount points at or below a directory (absolute, without links), in the order of the kernel's table."""
    top = str(directory).rstrip("/")
    points = [unescape_mount_word(fields[4]) for fields in _read_rows()]
    return [point for point in points if point == top or point.startswith(f"{top}/")]


def mount_types() -> dict[str, tuple[str, str]]:
    """Return the type and source of the file system at each mount point; the topmost if there are several."""
    types = {}
    for fields in _read_rows():
        if "-" in fields[6:-2]:
            place = fields.index("-", 6)
            types[unescape_mount_word(fields[4])] = (fields[place + 1], unescape_mount_word(fields[place + 2]))
    return types


def _read_rows() -> list[list[str]]:
    table = _TABLE.read_bytes().decode(errors="surrogateescape")
    return [fields for line in table.splitlines() if len(fields := line.split(" ")) > 4]


def unescape_mount_word(word: str) -> str:
    r"""Replace escapes such as ``\040`` by their characters (proc_pid_mountinfo(5))."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), word)


_MAX_LINKS = 40
# Reading the kernel's table costs more than a small file, so it is cached this long.
_TABLE_VALID_S = 10


def find_waiting_mount(path: Path) -> str:
    """Return the mount point of the network or FUSE file system of a path, or '' if it is local.

    On the way only directories of local file systems are accessed.
    """
    moment = int(time.monotonic() / _TABLE_VALID_S)
    points = _list_waiting_points(moment)
    if not points:
        return ""
    absolute = os.path.join(os.getcwd(), path)
    if mount := _follow_path(os.path.dirname(absolute), moment):  # cached for all files of a directory
        return mount
    needs_all = absolute in points or ".." in absolute or os.path.islink(absolute)
    return _follow_path(absolute, moment) if needs_all else ""


def forget_mounts() -> None:
    """Drop the cached mount table."""
    _follow_path.cache_clear()
    _list_waiting_points.cache_clear()


@lru_cache(maxsize=1024)
def _follow_path(path: str, moment: int) -> str:
    """Follow a path from the root until it enters a file system that may hang."""
    points, at, rest, links = _list_waiting_points(moment), "/", list(Path(path).parts[1:]), 0
    while rest:
        name = rest.pop(0)
        at = os.path.dirname(at) if name == ".." else os.path.join(at, name)
        if at in points:
            return at
        if os.path.islink(at) and links < _MAX_LINKS:
            target, links = Path(os.readlink(at)), links + 1
            rest = list(target.parts[1:] if target.is_absolute() else target.parts) + rest
            at = "/" if target.is_absolute() else os.path.dirname(at)
    return ""


@lru_cache(maxsize=1)
def _list_waiting_points(moment: int) -> frozenset[str]:
    return frozenset(
        point
        for point, (kind, source) in mount_types().items()
        if is_fuse(kind) or is_network(kind, source) or kind == "autofs"
    )
