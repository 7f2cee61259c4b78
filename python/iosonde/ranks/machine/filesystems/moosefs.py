"""MooseFS: how many copies its servers make of the target's files, and which chunk servers are there.

The master is asked by its own tool, which comes with the client; the mount is only asked for the goal.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .. import reading
from ..fact_types import TargetCondition
from ..mount import Mount
from .family import NOT_KNOWN, FileSystemFamily, Redundancy, condition

_PORT = "9421"
_SERVER = re.compile(r"(chunk|disconnected chunk) servers:\|([^|]+)\|(\d+)\|(?:[^|]*\|[^|]*\|([\d.]+))?", re.IGNORECASE)


def _identity(target: Path, found: Mount) -> dict[str, Any]:
    host, port = master(found.source)
    up, down, version = parse_servers(_servers(found) or "")
    spread: Redundancy = {
        **NOT_KNOWN,
        "copies": _goal(target),
        "copied_by": "servers",  # a chain: the client sends one copy, each chunk server the next
        "servers": sorted({one.rpartition(":")[0] for one in (*up, *down)}) or None,
    }
    return {"server": f"{host}:{port}", "version": version, **spread}


def _condition(target: Path, found: Mount) -> TargetCondition | None:
    told = _servers(found)
    if told is None:
        return None
    up, down, _ = parse_servers(told)
    goal = _goal(target)
    return condition([f"{one} down" for one in down] if up or down else None, {"goal": str(goal)} if goal else None)


def _goal(target: Path) -> int | None:
    return parse_goal(reading.tool(["mfsgetgoal", str(target)]) or "")


def master(source: str) -> tuple[str, str]:
    """Host and port of ``mfs#host:port/subfolder``."""
    place = source.partition("#")[2].partition("/")[0]
    host, _, port = place.partition(":")
    return host, port or _PORT


def parse_goal(content: str) -> int | None:
    """``mfsgetgoal``: ``/mnt/m/d: 2``; None for a storage class that is no number of copies."""
    return reading.integer(content.strip().rpartition(":")[2].strip())


def parse_servers(content: str) -> tuple[list[str], list[str], str | None]:
    """``mfscli -SCS -n -s'|'``: chunk servers that are connected, those that are not (``10.0.0.2:9422``), and the
    version of the connected ones."""
    lists: dict[str, list[str]] = {"chunk": [], "disconnected": []}
    version = None
    for line in content.splitlines():
        if found := _SERVER.match(line):
            lists[found[1].split()[0].lower()].append(f"{found[2]}:{found[3]}")
            version = version or found[4]
    return lists["chunk"], lists["disconnected"], version


def _servers(found: Mount) -> str | None:
    host, port = master(found.source)
    return reading.tool(["mfscli", "-H", host, "-P", port, "-SCS", "-n", "-s|"]) if host else None


FAMILY = FileSystemFamily("moosefs", _identity, ("fuse.mfs", "fuse.moosefs"), source="mfs#", condition=_condition)
