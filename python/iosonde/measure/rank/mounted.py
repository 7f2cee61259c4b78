"""The mount of a path: after a remount it is another one at the same place."""

import ctypes
import os
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from iosonde.foreign.mounts import unescape_mount_word

TABLE = Path("/proc/self/mountinfo")
# statx(2), linux/stat.h: ids that are never reused, since Linux 6.8. Those of the table are reused.
_AT_FDCWD, _AT_STATX_DONT_SYNC = -100, 0x4000
_MNT_ID_UNIQUE = 0x4000
_STATX_BYTES, _AT_MASK, _AT_MNT_ID = 256, 0, 0x90


class RemountDone(TypedDict, total=False):
    """A remount that the mount table showed: the mount, its ``host``, and ``at``, when it began. Its duration is that
    of both commands, or ``seconds`` for a single hook."""

    mount: str
    host: str
    at: str
    unmount_s: float
    mount_s: float
    seconds: float


def utc_now() -> str:
    """Return the time now, as ``started_at`` of runs."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def find_mount_of_path(path: Path) -> tuple[str, str]:
    """Return (mount id, mount point) of the file system of ``path``. Different ids mean two mounts. Equal ones are one
    mount on Linux 6.8 and later; before, one may have replaced the other."""
    number, point = mount_of(str(path), TABLE.read_text())
    return _read_unique_id(point) or number, point


def _read_unique_id(point: str) -> str:
    """Return '' if the kernel has no such ids. Does not contact a server."""
    statx = getattr(ctypes.CDLL(None), "statx", None)
    if statx is None:
        return ""
    buffer = ctypes.create_string_buffer(_STATX_BYTES)
    failed = statx(_AT_FDCWD, os.fsencode(point), _AT_STATX_DONT_SYNC, _MNT_ID_UNIQUE, buffer)
    has_id = not failed and struct.unpack_from("=I", buffer, _AT_MASK)[0] & _MNT_ID_UNIQUE
    return f"unique {struct.unpack_from('=Q', buffer, _AT_MNT_ID)[0]}" if has_id else ""


def mount_of(path: str, table: str) -> tuple[str, str]:
    """Return (mount id, mount point) of the file system of ``path``, from the text of a mountinfo (proc(5))."""
    deepest = ("", "")
    for line in table.splitlines():
        fields = line.split()
        if len(fields) < 5:
            continue
        point = unescape_mount_word(fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(deepest[1]):  # the last of several mounts on one point hides the others
            deepest = (fields[0], point)
    return deepest
