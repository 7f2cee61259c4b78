"""BeeGFS, GPFS, ZFS and XFS: what one call of their tool prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import reading
from ..mount import Mount
from .family import FileSystemFamily


def _beegfs(target: Path, found: Mount) -> dict[str, Any]:
    told = reading.tool(["beegfs-ctl", "--getentryinfo", str(target)])
    told = told or reading.tool(["beegfs", "entry", "info", str(target)])
    return {"entry": reading.key_values(told.replace("+", "")) if told else None}


def _gpfs(target: Path, found: Mount) -> dict[str, Any]:
    told = reading.tool(["mmlsfs", found.source.removeprefix("/dev/"), "-B", "-V"])
    return {"mmlsfs": told.splitlines() if told else None}


def _zfs(target: Path, found: Mount) -> dict[str, Any]:
    names = "recordsize,compression,atime,sync,primarycache,checksum,dedup"
    told = reading.tool(["zfs", "get", "-H", "-o", "property,value", names, found.source]) or ""
    return {"properties": dict(line.split("\t", 1) for line in told.splitlines() if "\t" in line)}


def _xfs(target: Path, found: Mount) -> dict[str, Any]:
    told = reading.tool(["xfs_info", found.mount_point])
    return {"xfs_info": told.splitlines() if told else None}


BEEGFS = FileSystemFamily("beegfs", _beegfs, ("beegfs", "beegfs_nodev"))
GPFS = FileSystemFamily("gpfs", _gpfs, ("gpfs",))
ZFS = FileSystemFamily("zfs", _zfs, ("zfs",))
XFS = FileSystemFamily("xfs", _xfs, ("xfs",))
