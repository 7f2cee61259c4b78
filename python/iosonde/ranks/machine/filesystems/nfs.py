"""NFS: the parameters negotiated between the kernel's client and the server."""

from pathlib import Path
from typing import Any

from iosonde.foreign.mounts import unescape

from .. import command, mount, reading
from .family import FileSystemFamily


def parse_mountstats(content: str, mount_point: str) -> dict[str, Any]:
    """Parse the NFS mount's part of /proc/self/mountstats: version, options, age, number of connections."""
    facts: dict[str, Any] = {}
    inside = False
    for line in content.splitlines():
        words = line.split()
        if words[:1] == ["device"]:
            inside = len(words) > 4 and unescape(words[4]) == mount_point and "nfs" in line
        elif inside and words:
            if words[0] == "opts:":
                facts["options"] = command.redact_options(words[1])
            elif words[0] == "age:":
                facts["age_s"] = reading.integer(words[1])
            elif words[0] == "xprt:":
                facts["connections"] = facts.get("connections", 0) + 1
                facts.setdefault("transport", words[1])
    for option in str(facts.get("options", "")).split(","):
        name, _, value = option.partition("=")
        if name in ("vers", "rsize", "wsize", "nconnect", "acregmin", "acregmax", "acdirmin", "acdirmax"):
            facts[name] = reading.integer(value) if reading.integer(value) is not None else value
    return facts


def _read_identity(target: Path, mount_entry: mount.Mount) -> dict[str, Any]:
    return parse_mountstats(reading.text("/proc/self/mountstats") or "", mount_entry.mount_point)


FAMILY = FileSystemFamily("nfs", _read_identity, ("nfs", "nfs4"))
