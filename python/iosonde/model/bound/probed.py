"""The system in the document of ``iosonde probe --json``: fields, each with its worst and best end.

The disk of a system is a server's. A rate probed on a mounted network file system is not a disk's: it is one client's
rate through the file system, including copies, caches and network. Disks are known if the probe measured the servers
themselves, or if its target was a disk of the node.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iosonde.core.message import Message

Document = Mapping[str, Any]
Ends = tuple[float, float, float]  # value, worst, best

_DISK = ("disk_read", "disk_write")


@dataclass(frozen=True)
class ProbedSystem:
    """``fields`` of a System with their ends; ``words`` are counts and texts; ``notes`` explain assumptions."""

    fields: dict[str, Ends] = field(default_factory=dict)
    words: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def build_probed_system(document: Document, operation: str, overrides: Collection[str]) -> ProbedSystem:
    """Build the system of a probe; ``overrides`` are fields that the user set, which take precedence."""
    ends: dict[str, Ends] = {}
    words: dict[str, Any] = {}
    notes = list(document.get("warnings") or [])
    pairs, nodes = document.get("pairs") or [], document.get("nodes") or []
    links = [pair[way] for pair in pairs for way in ("bandwidth", "bandwidth_back") if pair["medium"] == "network"]
    if links:
        ends["network"] = _select_slowest(links)
    elif pairs:
        notes.append(Message("no-network", "the probe saw no network between its ranks: give {spell.net}"))
    notes += _add_disks(document, ends, words, overrides)
    if nodes and all(node.get("memory_copy_all_cores") for node in nodes):
        ends["memory_copy"] = _select_slowest([node["memory_copy_all_cores"] for node in nodes])
    key = "cpu_read" if operation == "read" else "cpu_write"
    if nodes and all(node.get(key) for node in nodes):
        slow = max(nodes, key=lambda node: node[key]["value"] / node["cores"])
        ends["cpu"] = tuple(_read_end(slow[key], end) / slow["cores"] for end in ("value", "high", "low"))
    for name, (value, worst, best) in ends.items():
        if worst <= 0:  # an interval of few repetitions, cut at zero: no system has a rate of nothing
            ends[name] = (value, value, best)
            notes.append(
                Message(
                    "interval-reaches-zero",
                    "the probe's interval of {field} reaches 0 and is left out below its mean: probe with "
                    "more {spell.repetitions}",
                    field=name.replace("_", " "),
                )
            )
    _attribute_network_to_clients(ends, words, overrides)
    return ProbedSystem(ends, words, tuple(dict.fromkeys(notes)))


def is_target_disk_of_node(document: Document) -> bool | None:
    """Return whether the probed target was a disk of each node, neither remote nor in memory; None if unknown."""
    if document.get("own_disk") is not None:
        return bool(document["own_disk"])
    # Documents of older versions have it only in their warnings.
    return False if any("its 'disk' is" in warning for warning in document.get("warnings") or []) else None


def _add_disks(
    document: Document, ends: dict[str, Ends], words: dict[str, Any], overrides: Collection[str]
) -> list[str]:
    """Add R, and M and P if they were counted. Return notes on the assumptions."""
    nodes, servers = document.get("nodes") or [], document.get("servers") or []
    server_disks = [disk for server in servers for disk in server["disks"]]
    if server_disks:
        for name in _DISK:
            ends[name] = _select_slowest([disk[name] for disk in server_disks])
        counted = {"servers": len(servers), "disks": len(server_disks)}
        words |= {name: count for name, count in counted.items() if name not in overrides}
        taken = " and ".join(
            f"{count} {name if count > 1 else name[:-1]}" for name, count in counted.items() if name not in overrides
        )
        return (
            [
                Message(
                    "probed-taken-for-all",
                    "{parts} were probed and are assumed to be all: {spell.servers} and {spell.disks} override this",
                    parts=taken,
                )
            ]
            if taken
            else []
        )
    own = is_target_disk_of_node(document)
    if own is False or not nodes or not all(node.get("disk_write") for node in nodes):
        return []
    for name in _DISK:
        ends[name] = _select_slowest([node[name] for node in nodes])
    if len(nodes) > 1 or {"disks", "servers"} & {*overrides}:
        return []
    words["disks"] = 1
    if own and not {"network", "client_network", "server_network"} & {*overrides}:
        words["path"] = "local"
    return [Message("single-disk", "the probed disk is assumed to be the only one: {spell.disks} overrides this")]


def _attribute_network_to_clients(ends: dict[str, Ends], words: Mapping[str, Any], overrides: Collection[str]) -> None:
    """Attribute the probed network to clients: a probe of clients does not count servers, so servers must not limit."""
    if "network" in ends and not {"servers", "network", "server_network"} & {*overrides, *words}:
        own = ends.pop("network")
        if "client_network" not in overrides:
            ends["client_network"] = own


def _select_slowest(estimates: Sequence[Mapping[str, Any]]) -> Ends:
    slow = min(estimates, key=lambda estimate: estimate["value"])
    return _read_end(slow, "value"), _read_end(slow, "low"), _read_end(slow, "high")


def _read_end(estimate: Mapping[str, Any], end: str) -> float:
    return float(estimate["value"] if estimate[end] is None else estimate[end])
