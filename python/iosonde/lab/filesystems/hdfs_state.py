"""What HDFS's name node says, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from iosonde.core.message import Message

# Of FSNamesystem's counters → what it means.
_LACKING = {
    "MissingBlocks": "have no copy on any server that is there",
    "LowRedundancyBlocks": "have fewer copies than they should have",
}


def live(names: Mapping[str, Any]) -> set[str]:
    """Hosts of the data nodes that are heard of, and have said what they can hold (NameNodeInfo)."""
    nodes = json.loads(names.get("LiveNodes") or "{}")
    return {_host(name) for name, node in nodes.items() if node.get("capacity")}


def lacking(counters: Mapping[str, Any]) -> list[str]:
    """Blocks that are not stored as often as they should be, a sentence each (FSNamesystem)."""
    return [
        Message("missing-copies", "{count} blocks " + what, count=counters[name], state=name)
        for name, what in _LACKING.items()
        if counters.get(name)
    ]


def bytes_by_host(locations: Mapping[str, Any]) -> dict[str, int]:
    """Bytes of a file on each host that has some (GET_BLOCK_LOCATIONS)."""
    totals: dict[str, int] = {}
    for block in locations["LocatedBlocks"]["locatedBlocks"]:
        for node in block["locations"]:
            name = _host(node["hostName"])
            totals[name] = totals.get(name, 0) + int(block["block"]["numBytes"])
    return totals


def _host(name: str) -> str:
    """``server1.lab:9866`` → ``server1``."""
    return name.partition(":")[0].removesuffix(".lab")
