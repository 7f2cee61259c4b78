"""Quotas for writing on the target: of the user, the group, and the directory's project.

Local file systems support quotactl(2); Lustre, NFS and CephFS each have their own interface. Unset quotas are not
listed, nor unreadable ones (a project's needs root).
"""

import array
import ctypes
import fcntl
import os
import pwd
import struct
from pathlib import Path
from typing import NamedTuple

from . import mount, reading
from .fact_types import Quota

_Q_GETQUOTA = 0x800007
_KINDS = {"user": 0, "group": 1, "project": 2}
_FS_IOC_FSGETXATTR = 0x801C581F
_BLOCK_BYTES = 1024  # quotactl counts limits in blocks of 1 KiB, usage in bytes


class _Amount(NamedTuple):
    """An amount of bytes or files; a limit of 0 means none."""

    used: int
    soft: int
    hard: int


class _Dqblk(ctypes.Structure):
    """The struct if_dqblk of <linux/quota.h>."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "hard_blocks",
            "soft_blocks",
            "used_bytes",
            "hard_files",
            "soft_files",
            "used_files",
            "block_grace",
            "file_grace",
        )
    ] + [("valid", ctypes.c_uint32)]


def query_quotas(target: Path, mount_entry: mount.Mount) -> list[Quota]:
    """Return each quota as {kind, id, used_bytes, soft_bytes, hard_bytes, used_files, soft_files, hard_files}; unset
    limits are None."""
    if mount_entry.type == "lustre":
        return _query_lustre(target, mount_entry.mount_point)
    if mount_entry.type.startswith("nfs"):
        return parse_quota(reading.run_tool(["quota", "-u", "-w", "-p"]) or "", mount_entry.source, os.getuid())
    if mount_entry.type in ("ceph", "fuse.ceph", "fuse.ceph-fuse"):
        return _query_ceph(target)
    if not mount_entry.source.startswith("/dev/"):
        return []
    ids = {"user": os.getuid(), "group": os.getgid(), "project": read_project_id(target)}
    answers = (_query_quotactl(mount_entry.source, kind, number) for kind, number in ids.items() if number is not None)
    return [quota for quota in answers if quota]


def read_project_id(directory: Path) -> int | None:
    """Return the project of files created in ``directory`` (XFS, ext4, f2fs); None if none."""
    answer = array.array("B", bytes(28))
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.ioctl(descriptor, _FS_IOC_FSGETXATTR, answer)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # struct fsxattr of <linux/fs.h>: xflags, extsize, nextents, projid, cowextsize, pad
    return struct.unpack_from("=IIII", answer)[3] or None


def _query_lustre(target: Path, mount_point: str) -> list[Quota]:
    """Query the quotas of the user, the group and the directory's project; stop at the first query without
    an answer."""
    requests = [("user", "-u", os.getuid(), pwd.getpwuid(os.getuid()).pw_name), ("group", "-g", os.getgid(), "")]
    if (project := read_project_id(target)) is not None:
        requests.append(("project", "-p", project, ""))
    quotas: list[Quota] = []
    for kind, option, number, name in requests:
        output = reading.run_tool(["lfs", "quota", "-q", option, name or str(number), mount_point])
        if output is None:
            break
        quotas += parse_lfs(output, number, kind)
    return quotas


def parse_lfs(content: str, number: int, kind: str = "user") -> list[Quota]:
    """Parse ``lfs quota -q -u`` (-g, -p): mount point, KiB used, quota, limit, grace, files used, quota,
    limit, grace."""
    words = content.split()
    numbers = [word.rstrip("*") for word in words[1:]]
    if len(numbers) < 7 or not all(numbers[i].isdigit() for i in (0, 1, 2, 4, 5, 6)):
        return []
    used, soft, hard, used_files, soft_files, hard_files = (int(numbers[i]) for i in (0, 1, 2, 4, 5, 6))
    space = _Amount(used * 1024, soft * 1024, hard * 1024)
    return _build_quotas(kind, number, space, _Amount(used_files, soft_files, hard_files))


def parse_quota(content: str, source: str, uid: int) -> list[Quota]:
    """Parse ``quota -u -w -p``: one line per file system, with the same columns as Lustre's."""
    return next((parse_lfs(line, uid) for line in content.splitlines() if line.split()[:1] == [source]), [])


def _query_quotactl(device: str, kind: str, number: int) -> Quota | None:
    block = _Dqblk()
    libc = ctypes.CDLL(None, use_errno=True)
    request = (_Q_GETQUOTA << 8) | _KINDS[kind]
    if libc.quotactl(ctypes.c_int(request), device.encode(), ctypes.c_int(number), ctypes.byref(block)) != 0:
        return None
    space = _Amount(block.used_bytes, block.soft_blocks * _BLOCK_BYTES, block.hard_blocks * _BLOCK_BYTES)
    listed = _build_quotas(kind, number, space, _Amount(block.used_files, block.soft_files, block.hard_files))
    return listed[0] if listed else None


def _query_ceph(target: Path) -> list[Quota]:
    limits = []
    for name in ("ceph.quota.max_bytes", "ceph.dir.rbytes", "ceph.quota.max_files", "ceph.dir.rfiles"):
        try:
            limits.append(int(os.getxattr(target, name)))
        except (OSError, ValueError):
            limits.append(0)
    return _build_quotas("directory", 0, _Amount(limits[1], 0, limits[0]), _Amount(limits[3], 0, limits[2]))


def _build_quotas(kind: str, number: int, space: _Amount, files: _Amount) -> list[Quota]:
    if not any((space.soft, space.hard, files.soft, files.hard)):
        return []
    limit, limit_files = space.hard or space.soft, files.hard or files.soft
    return [
        {
            "kind": kind,
            "id": number,
            "used_bytes": space.used,
            "soft_bytes": space.soft or None,
            "hard_bytes": space.hard or None,
            "free_bytes": max(0, limit - space.used) if limit else None,
            "used_files": files.used,
            "soft_files": files.soft or None,
            "hard_files": files.hard or None,
            "free_files": max(0, limit_files - files.used) if limit_files else None,
        }
    ]
