"""Which mount a path lies on: after a remount it is another one at the same place."""

from __future__ import annotations

import ctypes
import os
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

TABLE = Path("/proc/self/mountinfo")
# statx(2), linux/stat.h: ids that are given once, since Linux 6.8. Those of the table are used again.
_AT_FDCWD, _AT_STATX_DONT_SYNC = -100, 0x4000
_MNT_ID_UNIQUE = 0x4000
_STATX_BYTES, _AT_MASK, _AT_MNT_ID = 256, 0, 0x90


class RemountDone(TypedDict, total=False):
    """A remount that the mount table showed: of what, on which ``host``, ``at`` when it began. How long it took: both
    commands, or in ``seconds`` the one hook that did it."""

    mount: str
    host: str
    at: str
    unmount_s: float
    mount_s: float
    seconds: float


def utc_now() -> str:
    """As ``started_at`` of runs."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def here(path: Path) -> tuple[str, str]:
    """(mount id, mount point) of the file system that ``path`` lies on now. Two different ones are two mounts; equal
    ones are one mount on Linux 6.8 and later, and before that may be one that took the place of the other."""
    number, point = mount_of(str(path), TABLE.read_text())
    return _read_unique_id(point) or number, point


def _read_unique_id(point: str) -> str:
    """'' where the kernel has no such ids. Asks nothing of a server."""
    statx = getattr(ctypes.CDLL(None), "statx", None)
    if statx is None:
        return ""
    buffer = ctypes.create_string_buffer(_STATX_BYTES)
    failed = statx(_AT_FDCWD, os.fsencode(point), _AT_STATX_DONT_SYNC, _MNT_ID_UNIQUE, buffer)
    has_id = not failed and struct.unpack_from("=I", buffer, _AT_MASK)[0] & _MNT_ID_UNIQUE
    return f"unique {struct.unpack_from('=Q', buffer, _AT_MNT_ID)[0]}" if has_id else ""


def mount_of(path: str, table: str) -> tuple[str, str]:
    """(mount id, mount point) of the file system that ``path`` lies on, from the text of a mountinfo (proc(5))."""
    deepest = ("", "")
    for line in table.splitlines():
        fields = line.split()
        if len(fields) < 5:
            continue
        point = _unescape(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(deepest[1]):  # of several on one point the last hides the others
            deepest = (fields[0], point)
    return deepest


def _unescape(text: str) -> str:
    """Blanks and backslashes are octal escapes in the table."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
