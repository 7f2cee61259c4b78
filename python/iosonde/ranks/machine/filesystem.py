"""What a file system says of itself: striping, volumes, transfer sizes. Read only where its tool is there.

One function for each family, chosen by the mount's type. Add one: a function (target, mount) → dict, and a
line in `_FAMILIES`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import command, mount, reading


def identity(target: Path, found: mount.Mount) -> dict[str, Any] | None:
    """The family's name and what its tool told, or None for a file system without a word of its own."""
    for family, (types, read) in _FAMILIES.items():
        if found.type in types:
            return {"family": family, **read(_existing(target), found)}
    return None


def parse_getstripe(content: str) -> dict[str, Any]:
    """``lfs getstripe -d``: stripe_count, stripe_size and the like, one or several on a line."""
    found: dict[str, Any] = {}
    words = content.split()
    for key, value in zip(words, words[1:], strict=False):
        if key.endswith(":") and not value.endswith(":"):
            name = key.rstrip(":").removeprefix("lmm_")
            found.setdefault(name, reading.integer(value) if reading.integer(value) is not None else value)
    return found


def parse_mountstats(content: str, mount_point: str) -> dict[str, Any]:
    """The NFS mount's part of /proc/self/mountstats: version, its options, age, number of connections."""
    found: dict[str, Any] = {}
    inside = False
    for line in content.splitlines():
        words = line.split()
        if words[:1] == ["device"]:
            inside = len(words) > 4 and mount.unescape(words[4]) == mount_point and "nfs" in line
        elif inside and words:
            if words[0] == "opts:":
                found["options"] = command.redact_options(words[1])
            elif words[0] == "age:":
                found["age_s"] = reading.integer(words[1])
            elif words[0] == "xprt:":
                found["connections"] = found.get("connections", 0) + 1
                found.setdefault("transport", words[1])
    for option in str(found.get("options", "")).split(","):
        name, _, value = option.partition("=")
        if name in ("vers", "rsize", "wsize", "nconnect", "acregmin", "acregmax", "acdirmin", "acdirmax"):
            found[name] = reading.integer(value) if reading.integer(value) is not None else value
    return found


def _lustre(target: Path, found: mount.Mount) -> dict[str, Any]:
    version = reading.tool(["lfs", "--version"])
    return {
        "version": version.split()[-1] if version else None,
        "striping": parse_getstripe(reading.tool(["lfs", "getstripe", "-d", str(target)]) or ""),
    }


def _gluster(target: Path, found: mount.Mount) -> dict[str, Any]:
    volume = found.source.rpartition(":")[2].strip("/")
    told = reading.key_values(reading.tool(["gluster", "volume", "info", volume, "--mode=script"]) or "")
    return {"volume": volume, **{name: told.get(name) for name in ("type", "status", "number_of_bricks")}}


def _nfs(target: Path, found: mount.Mount) -> dict[str, Any]:
    return parse_mountstats(reading.text("/proc/self/mountstats") or "", found.mount_point)


def _ceph(target: Path, found: mount.Mount) -> dict[str, Any]:
    try:
        layout = os.getxattr(target, "ceph.dir.layout").decode(errors="replace")
    except OSError:
        return {"layout": None}  # a directory without one takes that of the directory above
    return {"layout": dict(word.split("=", 1) for word in layout.split() if "=" in word)}


def _beegfs(target: Path, found: mount.Mount) -> dict[str, Any]:
    told = reading.tool(["beegfs-ctl", "--getentryinfo", str(target)])
    told = told or reading.tool(["beegfs", "entry", "info", str(target)])
    return {"entry": reading.key_values(told.replace("+", "")) if told else None}


def _gpfs(target: Path, found: mount.Mount) -> dict[str, Any]:
    told = reading.tool(["mmlsfs", found.source.removeprefix("/dev/"), "-B", "-V"])
    return {"mmlsfs": told.splitlines() if told else None}


def _zfs(target: Path, found: mount.Mount) -> dict[str, Any]:
    names = "recordsize,compression,atime,sync,primarycache,checksum,dedup"
    told = reading.tool(["zfs", "get", "-H", "-o", "property,value", names, found.source]) or ""
    return {"properties": dict(line.split("\t", 1) for line in told.splitlines() if "\t" in line)}


def _xfs(target: Path, found: mount.Mount) -> dict[str, Any]:
    told = reading.tool(["xfs_info", found.mount_point])
    return {"xfs_info": told.splitlines() if told else None}


def _existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


_FAMILIES: dict[str, tuple[tuple[str, ...], Callable[[Path, mount.Mount], dict[str, Any]]]] = {
    "lustre": (("lustre",), _lustre),
    "gluster": (("fuse.glusterfs", "glusterfs"), _gluster),
    "nfs": (("nfs", "nfs4"), _nfs),
    "ceph": (("ceph", "fuse.ceph"), _ceph),
    "beegfs": (("beegfs", "beegfs_nodev"), _beegfs),
    "gpfs": (("gpfs",), _gpfs),
    "zfs": (("zfs",), _zfs),
    "xfs": (("xfs",), _xfs),
}
