"""NFS: the parameters negotiated with the server. BeeGFS, GPFS, ZFS and XFS: the output of one call of their tool."""

from pathlib import Path
from typing import Any

from iosonde.foreign.mounts import unescape_mount_word

from .. import command, mount, reading
from ..mount import Mount
from .family import FileSystemFamily


def parse_mountstats(content: str, mount_point: str) -> dict[str, Any]:
    """Parse the NFS mount's part of /proc/self/mountstats: version, options, age, number of connections."""
    facts: dict[str, Any] = {}
    inside = False
    for line in content.splitlines():
        words = line.split()
        if words[:1] == ["device"]:
            inside = len(words) > 4 and unescape_mount_word(words[4]) == mount_point and "nfs" in line
        elif inside and words:
            if words[0] == "opts:":
                facts["options"] = command.redact_options(words[1])
            elif words[0] == "age:":
                facts["age_s"] = reading.parse_integer(words[1])
            elif words[0] == "xprt:":
                facts["connections"] = facts.get("connections", 0) + 1
                facts.setdefault("transport", words[1])
    for option in str(facts.get("options", "")).split(","):
        name, _, value = option.partition("=")
        if name in ("vers", "rsize", "wsize", "nconnect", "acregmin", "acregmax", "acdirmin", "acdirmax"):
            facts[name] = reading.parse_integer(value) if reading.parse_integer(value) is not None else value
    return facts


def _read_nfs(target: Path, mount_entry: mount.Mount) -> dict[str, Any]:
    return parse_mountstats(reading.read_text("/proc/self/mountstats") or "", mount_entry.mount_point)


NFS = FileSystemFamily("nfs", _read_nfs, ("nfs", "nfs4"))


def _read_beegfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    output = reading.run_tool(["beegfs-ctl", "--getentryinfo", str(target)])
    output = output or reading.run_tool(["beegfs", "entry", "info", str(target)])
    return {"entry": reading.parse_key_values(output.replace("+", "")) if output else None}


def _read_gpfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    output = reading.run_tool(["mmlsfs", mount_entry.source.removeprefix("/dev/"), "-B", "-V"])
    return {"mmlsfs": output.splitlines() if output else None}


def _read_zfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    names = "recordsize,compression,atime,sync,primarycache,checksum,dedup"
    output = reading.run_tool(["zfs", "get", "-H", "-o", "property,value", names, mount_entry.source]) or ""
    return {"properties": dict(line.split("\t", 1) for line in output.splitlines() if "\t" in line)}


def _read_xfs(target: Path, mount_entry: Mount) -> dict[str, Any]:
    output = reading.run_tool(["xfs_info", mount_entry.mount_point])
    return {"xfs_info": output.splitlines() if output else None}


BEEGFS = FileSystemFamily("beegfs", _read_beegfs, ("beegfs", "beegfs_nodev"))
GPFS = FileSystemFamily("gpfs", _read_gpfs, ("gpfs",))
ZFS = FileSystemFamily("zfs", _read_zfs, ("zfs",))
XFS = FileSystemFamily("xfs", _read_xfs, ("xfs",))
