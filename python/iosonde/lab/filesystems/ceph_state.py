"""What Ceph's monitor says of the cluster, as `ceph … --format json` has it. Each raises ValueError, LookupError or
TypeError for another answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iosonde.core.message import Message

from .recipe import ServerState

_CLEAN = "active+clean"


def facts(status: Mapping[str, Any]) -> dict[str, str]:
    """`status`: how many OSDs are up and in, and the states of placement groups."""
    osds, states = status["osdmap"], status["pgmap"].get("pgs_by_state", ())
    groups = ", ".join(f"{state['count']} {state['state_name']}" for state in states)
    return {"osds": f"{osds['num_up_osds']} up and {osds['num_in_osds']} in of {osds['num_osds']}",
            "placement groups": groups or "none"}  # fmt: skip


def unclean(status: Mapping[str, Any]) -> int:
    """`status`: placement groups that do not have all their copies."""
    groups = status["pgmap"]
    clean = sum(state["count"] for state in groups.get("pgs_by_state", ()) if state["state_name"].startswith(_CLEAN))
    return int(groups["num_pgs"]) - int(clean)


def complaints(health: Mapping[str, Any]) -> list[str]:
    """`health detail`: what it complains of, a sentence each."""
    checks = sorted(health.get("checks", {}).items())
    messages: list[str] = [
        Message("ceph-health", "{check}: {summary}", check=code, summary=check["summary"]["message"])
        for code, check in checks
        if not check.get("muted")
    ]
    if messages or health["status"] == "HEALTH_OK":
        return messages
    return [Message("ceph-health", "{status}", status=health["status"])]


def osds(dump: Mapping[str, Any]) -> list[ServerState]:
    """`osd dump`: the state of each, by number."""
    states = []
    for osd in sorted(dump["osds"], key=lambda entry: int(entry["osd"])):
        words = ["up" if osd["up"] else "down", *([] if osd["in"] else ["out"])]
        states.append(ServerState(f"osd.{osd['osd']} {' '.join(words)}", words == ["up"]))
    return states


def active_mds(stat: Mapping[str, Any]) -> set[int]:
    """`mds stat`: the metadata servers that serve; each has a number for its life."""
    return {mds["gid"] for system in stat["fsmap"]["filesystems"] for mds in system["mdsmap"]["info"].values()
            if mds["state"] == "up:active"}  # fmt: skip
