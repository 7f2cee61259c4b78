"""State reported by HDFS's name node, as data."""

import json
from collections.abc import Mapping
from typing import Any

from iosonde.core.message import Message

# Counter of FSNamesystem → its meaning.
_LACKING = {
    "MissingBlocks": "have no copy on any live server",
    "LowRedundancyBlocks": "have too few copies",
}


def live(names: Mapping[str, Any]) -> set[str]:
    """Return the hosts of live data nodes that have reported their capacity (NameNodeInfo)."""
    nodes = json.loads(names.get("LiveNodes") or "{}")
    return {_host(name) for name, node in nodes.items() if node.get("capacity")}


def lacking(counters: Mapping[str, Any]) -> list[str]:
    """Return complaints about blocks that lack copies, a sentence each (FSNamesystem)."""
    return [
        Message("missing-copies", "{count} blocks " + what, count=counters[name], state=name)
        for name, what in _LACKING.items()
        if counters.get(name)
    ]


def bytes_by_host(locations: Mapping[str, Any]) -> dict[str, int]:
    """Return the bytes of a file by host (GET_BLOCK_LOCATIONS)."""
    totals: dict[str, int] = {}
    for block in locations["LocatedBlocks"]["locatedBlocks"]:
        for node in block["locations"]:
            name = _host(node["hostName"])
            totals[name] = totals.get(name, 0) + int(block["block"]["numBytes"])
    return totals


def _host(name: str) -> str:
    """Return ``server1`` of ``server1.lab:9866``."""
    return name.partition(":")[0].removesuffix(".lab")
