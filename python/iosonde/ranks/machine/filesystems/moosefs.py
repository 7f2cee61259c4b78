"""MooseFS: number of copies of the target's files, and connected chunk servers.

The master is queried by its own tool, which comes with the client; the mount is queried only for the goal.
"""

import re
from pathlib import Path
from typing import Any

from .. import reading
from ..fact_types import TargetCondition
from ..mount import Mount
from .family import UNKNOWN_REDUNDANCY, FileSystemFamily, Redundancy, build_condition

_PORT = "9421"
_SERVER = re.compile(r"(chunk|disconnected chunk) servers:\|([^|]+)\|(\d+)\|(?:[^|]*\|[^|]*\|([\d.]+))?", re.IGNORECASE)


def _read_identity(target: Path, mount_entry: Mount) -> dict[str, Any]:
    host, port = parse_master(mount_entry.source)
    up, down, version = parse_servers(_query_servers(mount_entry) or "")
    spread: Redundancy = {
        **UNKNOWN_REDUNDANCY,
        "copies": _read_goal(target),
        "copied_by": "servers",  # a chain: the client sends one copy, each chunk server the next
        "servers": sorted({server.rpartition(":")[0] for server in (*up, *down)}) or None,
    }
    return {"server": f"{host}:{port}", "version": version, **spread}


def _read_condition(target: Path, mount_entry: Mount) -> TargetCondition | None:
    output = _query_servers(mount_entry)
    if output is None:
        return None
    up, down, _ = parse_servers(output)
    goal = _read_goal(target)
    return build_condition(
        [f"{server} down" for server in down] if up or down else None, {"goal": str(goal)} if goal else None
    )


def _read_goal(target: Path) -> int | None:
    return parse_goal(reading.run_tool(["mfsgetgoal", str(target)]) or "")


def parse_master(source: str) -> tuple[str, str]:
    """Return host and port of ``mfs#host:port/subfolder``."""
    host, _, port = source.partition("#")[2].partition("/")[0].partition(":")
    return host, port or _PORT


def parse_goal(content: str) -> int | None:
    """Parse ``mfsgetgoal``: ``/mnt/m/d: 2``; None for a storage class that is not a number of copies."""
    return reading.parse_integer(content.strip().rpartition(":")[2].strip())


def parse_servers(content: str) -> tuple[list[str], list[str], str | None]:
    """Parse ``mfscli -SCS -n -s'|'``: connected chunk servers, disconnected ones (``10.0.0.2:9422``), and the version
    of the connected ones."""
    lists: dict[str, list[str]] = {"chunk": [], "disconnected": []}
    version = None
    for line in content.splitlines():
        if match := _SERVER.match(line):
            lists[match[1].split()[0].lower()].append(f"{match[2]}:{match[3]}")
            version = version or match[4]
    return lists["chunk"], lists["disconnected"], version


def _query_servers(mount_entry: Mount) -> str | None:
    host, port = parse_master(mount_entry.source)
    return reading.run_tool(["mfscli", "-H", host, "-P", port, "-SCS", "-n", "-s|"]) if host else None


FAMILY = FileSystemFamily(
    "moosefs", _read_identity, ("fuse.mfs", "fuse.moosefs"), source="mfs#", condition=_read_condition
)
