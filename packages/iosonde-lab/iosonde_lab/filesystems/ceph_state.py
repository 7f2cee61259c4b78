"""Cluster state reported by Ceph's monitor (`ceph … --format json`).
Each function raises ValueError, LookupError or TypeError for an unknown answer.
"""

from collections.abc import Mapping
from typing import Any

from iosonde.core.message import Message

from .recipe import ServerState

_CLEAN = "active+clean"


def facts(status: Mapping[str, Any]) -> dict[str, str]:
    """Return from `status` the number of OSDs up and in, and the states of placement groups."""
    osds, states = status["osdmap"], status["pgmap"].get("pgs_by_state", ())
    groups = ", ".join(f"{state['count']} {state['state_name']}" for state in states)
    return {
        "osds": f"{osds['num_up_osds']} up and {osds['num_in_osds']} in of {osds['num_osds']}",
        "placement groups": groups or "none",
    }


def unclean(status: Mapping[str, Any]) -> int:
    """Return from `status` the number of placement groups that lack copies."""
    groups = status["pgmap"]
    clean = sum(state["count"] for state in groups.get("pgs_by_state", ()) if state["state_name"].startswith(_CLEAN))
    return int(groups["num_pgs"]) - int(clean)


def complaints(health: Mapping[str, Any]) -> list[str]:
    """Return from `health detail` the complaints, a sentence each."""
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
    """Return from `osd dump` the state of each OSD, by number."""
    states = []
    for osd in sorted(dump["osds"], key=lambda entry: int(entry["osd"])):
        words = ["up" if osd["up"] else "down", *([] if osd["in"] else ["out"])]
        states.append(ServerState(f"osd.{osd['osd']} {' '.join(words)}", words == ["up"]))
    return states


def active_mds(stat: Mapping[str, Any]) -> set[int]:
    """Return from `mds stat` the ids of active metadata servers; each start has a new id."""
    return {
        mds["gid"]
        for system in stat["fsmap"]["filesystems"]
        for mds in system["mdsmap"]["info"].values()
        if mds["state"] == "up:active"
    }
