"""The mount of a path: type, options, source, server; free space and inodes."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iosonde.core import filesystems
from iosonde.foreign.mounts import unescape_mount_word

from . import command, reading
from .fact_types import Space


@dataclass(frozen=True)
class Mount:
    """A line of /proc/self/mountinfo (proc(5)); ``options`` of the mount, ``super_options`` of the file system."""

    mount_point: str
    type: str
    source: str
    options: str
    super_options: str
    device: tuple[int, int]
    root: str

    @property
    def server(self) -> str | None:
        """Servers of the mount (``n1`` of ``n1:/export``, ``n1,n2`` of ``n1,n2:/``); None if local, or unknown."""
        return ",".join(filesystems.parse_servers(self.type, self.source, self.super_options)) or None

    @property
    def is_network(self) -> bool:
        """Return whether the data is behind a server."""
        return filesystems.is_network(self.type, self.source)


def find_mount(path: Path) -> Mount | None:
    """Return the mount of ``path``, which need not exist yet."""
    return find_mount_entry(str(path.resolve()))


def find_mount_entry(path: str) -> Mount | None:
    """Return the mount of an absolute path without links; the path is not accessed, as it may hang."""
    return find_holding_mount(parse_mountinfo(reading.read_text("/proc/self/mountinfo") or ""), path)


def find_holding_mount(mounts: Sequence[Mount], path: str) -> Mount | None:
    """Return the mount with the longest mount point above ``path``; of equal ones the last, which hides others."""
    above = [mount for mount in mounts if _is_above(mount.mount_point, path)]
    return max(reversed(above), key=lambda mount: len(mount.mount_point), default=None)


def find_root_mount(mount: Mount) -> str | None:
    """Return the mount point of the whole file system; ``mount`` may be a directory of it (a bind mount)."""
    if mount.root == "/":
        return mount.mount_point
    mounts = parse_mountinfo(reading.read_text("/proc/self/mountinfo") or "")
    return next((other.mount_point for other in mounts if other.device == mount.device and other.root == "/"), None)


def is_below(path: str, top: str, mounts: Sequence[Mount] | None = None) -> bool:
    """Return whether ``path`` is ``top`` or below it, also under another name by a bind or second mount. Both are
    absolute, without links; neither is accessed."""
    if _is_above(top, path):
        return True
    table = parse_mountinfo(reading.read_text("/proc/self/mountinfo") or "") if mounts is None else mounts
    inner, other = (_locate_in_file_system(table, place) for place in (path, top))
    return inner is not None and other is not None and inner[0] == other[0] and _is_above(other[1], inner[1])


def _locate_in_file_system(mounts: Sequence[Mount], path: str) -> tuple[tuple[int, int], str] | None:
    """Return (device, path from the root of the file system) of an absolute path."""
    mount = find_holding_mount(mounts, path)
    if mount is None:
        return None
    inside = path[len(mount.mount_point.rstrip("/")) :]
    return mount.device, (mount.root.rstrip("/") + inside) or "/"


def parse_mountinfo(content: str) -> list[Mount]:
    """Parse all mounts in order; malformed lines are left out."""
    mounts = []
    for line in content.splitlines():
        head, sign, right = line.partition(" - ")
        words, tail = head.split(" "), right.split(" ")
        if not sign or len(words) < 6 or len(tail) < 3 or ":" not in words[2]:
            continue
        major, minor = words[2].split(":")
        mounts.append(
            Mount(
                unescape_mount_word(words[4]),
                tail[0],
                unescape_mount_word(tail[1]),
                words[5],
                unescape_mount_word(tail[2]),
                (int(major), int(minor)),
                unescape_mount_word(words[3]),
            )
        )
    return mounts


def to_json(mount: Mount, path: Path) -> dict[str, Any]:
    """Return the stored form with the space at ``path``, without secrets in mount options."""
    return {
        **asdict(mount),
        "device": "{}:{}".format(*mount.device),
        "server": mount.server,
        "source": command.redact(mount.source),
        "options": command.redact_options(mount.options),
        "super_options": command.redact_options(mount.super_options),
        **measure_space(path),
    }


def measure_space(path: Path) -> Space:
    """Return bytes and inodes, all and free for this user, from statvfs. They are None if the file system does not
    count them: it then reports 0 of 0, or -1, the largest 64-bit number.

    On ext4 and XFS a directory with an inherited project quota shows that quota here (statfs of such a directory).
    """
    status = os.statvfs(find_existing(path))
    return {
        "total_bytes": status.f_blocks * status.f_frsize if status.f_blocks > 0 else None,
        "free_bytes": get_free_bytes(status),
        "block_bytes": status.f_bsize,
        "total_inodes": status.f_files if status.f_files > 0 else None,
        "free_inodes": get_free_inodes(status),
        "fsid": f"{status.f_fsid:x}",
    }


def find_existing(path: Path) -> Path:
    """Return the path, or its nearest ancestor that exists."""
    return next((place for place in (path, *path.parents) if place.exists()), path)


def get_free_bytes(status: os.statvfs_result) -> int | None:
    """Return the bytes free for this user; None if not counted (0 of 0: a tmpfs without a limit, a MooseFS that just
    started) or unknown."""
    return status.f_bavail * status.f_frsize if status.f_blocks > 0 and status.f_bavail >= 0 else None


def get_free_inodes(status: os.statvfs_result) -> int | None:
    """Return the inodes free for this user; None if their number is not fixed (0 of 0) or unknown (CephFS
    reports -1)."""
    return status.f_favail if status.f_files > 0 and status.f_favail >= 0 else None


def _is_above(mount_point: str, path: str) -> bool:
    return mount_point == "/" or path == mount_point or path.startswith(mount_point + "/")
