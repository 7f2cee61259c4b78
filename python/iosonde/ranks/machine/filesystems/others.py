"""BeeGFS, GPFS, ZFS and XFS: the output of one call of their tool."""

from pathlib import Path
from typing import Any

from .. import reading
from ..mount import Mount
from .family import FileSystemFamily


def _read_beegfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    output = reading.tool(["beegfs-ctl", "--getentryinfo", str(target)])
    output = output or reading.tool(["beegfs", "entry", "info", str(target)])
    return {"entry": reading.key_values(output.replace("+", "")) if output else None}


def _read_gpfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    output = reading.tool(["mmlsfs", mount_entry.source.removeprefix("/dev/"), "-B", "-V"])
    return {"mmlsfs": output.splitlines() if output else None}


def _read_zfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    names = "recordsize,compression,atime,sync,primarycache,checksum,dedup"
    output = reading.tool(["zfs", "get", "-H", "-o", "property,value", names, mount_entry.source]) or ""
    return {"properties": dict(line.split("\t", 1) for line in output.splitlines() if "\t" in line)}


def _read_xfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    output = reading.tool(["xfs_info", mount_entry.mount_point])
    return {"xfs_info": output.splitlines() if output else None}


BEEGFS = FileSystemFamily("beegfs", _read_beegfs, ("beegfs", "beegfs_nodev"))
GPFS = FileSystemFamily("gpfs", _read_gpfs, ("gpfs",))
ZFS = FileSystemFamily("zfs", _read_zfs, ("zfs",))
XFS = FileSystemFamily("xfs", _read_xfs, ("xfs",))
