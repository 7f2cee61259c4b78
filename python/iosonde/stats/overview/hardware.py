"""Repetitions of a probe → Estimates of every pair and node; the newest probe of given nodes in a store."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from iosonde.core.filesystems import is_on_own_disk
from iosonde.core.grouping import group_by_key
from iosonde.core.hardware import SOURCE, classify_medium
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.stats.estimate import summarise as means

Facts = dict[str, Any]

# Key in the JSON → accessor of the value in a node's facts of one repetition.
_OF_NODE: dict[str, Callable[[Facts], float]] = {
    "disk_write": lambda node: node["disk"]["write"],
    "disk_read": lambda node: node["disk"]["read"],
    "memory_copy_one_core": lambda node: node["copy_one"],
    "memory_copy_all_cores": lambda node: node["copy_all"],
    "cpu_write": lambda node: node["cpu"]["write"],
    "cpu_read": lambda node: node["cpu"]["read"],
}
_WAYS = ("bandwidth", "bandwidth_back")


def summarise_probe(repetitions: Sequence[Facts], level: float) -> Facts:
    """Return ``pairs``, ``tcp``, ``nodes`` and ``servers`` with Estimates over a probe's complete repetitions.
    ``tcp_error``: why TCP was not measured; ``filesystem``: type of the target's file system; ``own_disk``: whether
    that is a disk of each node, not behind a network, nor in memory."""
    first = repetitions[0]
    probes = [facts["probe"] for facts in repetitions]
    links = [link for probe in probes for link in probe.get("tcp") or ()]
    filesystem = ((first.get("machine") or {}).get("mount") or {}).get("type") if first.get("target") else None
    return {
        "pairs": [
            _summarise_pair(first, [probe["pairs"][i] for probe in probes], level)
            for i in range(len(first["probe"]["pairs"]))
        ],
        "tcp": _summarise_links(first, links, level),
        "tcp_error": next((link["error"] for link in links if link["error"]), ""),
        "nodes": [
            _summarise_node([probe["nodes"][i] for probe in probes], level) for i in range(len(first["probe"]["nodes"]))
        ],
        "servers": _summarise_servers([probe.get("servers") or () for probe in probes], level),
        "filesystem": filesystem,
        "own_disk": None if filesystem is None else is_on_own_disk(filesystem),
    }


def select_complete_probes(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """Return all complete repetitions of probes among a store's runs, the oldest first."""
    return [run for run in runs if run.source == SOURCE and run.complete and run.facts.get("probe")]


def summarise_newest_probe(probes: Sequence[StoredRun], hosts: Sequence[str], level: float) -> Facts | None:
    """Summarise the newest of the complete ``probes`` of these hosts, for these hosts only; None if there is none.

    A probe of more hosts is sufficient. ``pairs`` and ``nodes`` contain Estimates.
    """
    host_set = set(hosts)
    fitting = [run for run in probes if host_set and host_set <= set(run.facts["hosts"])]
    if not fitting:
        return None
    last = fitting[-1]
    facts = summarise_probe([dict(run.facts) for run in fitting if run.experiment == last.experiment], level)
    return {
        "experiment": last.experiment,
        "started_at": last.started_at,
        "target": last.facts["target"],
        "pairs": [pair for pair in facts["pairs"] if host_set >= set(pair["hosts"])],
        "tcp": [link for link in facts["tcp"] if host_set >= set(link["hosts"])],
        "tcp_error": facts["tcp_error"],
        "nodes": [node for node in facts["nodes"] if node["host"] in host_set],
        "servers": facts["servers"],
        "filesystem": facts["filesystem"],
        "own_disk": facts["own_disk"],
    }


def summarise_newest_parts(probes: Sequence[StoredRun], level: float) -> Facts:
    """Summarise the newest of the complete ``probes`` that measured clients, with the servers of the newest that
    measured servers, as plain JSON, whatever their hosts. Empty if there is none."""
    facts: Facts = {}
    for part in ("servers", "nodes"):
        last = next((run for run in reversed(probes) if run.facts["probe"].get(part)), None)
        if last is not None:
            summary = summarise_probe([dict(run.facts) for run in probes if run.experiment == last.experiment], level)
            client_part = summary if part == "nodes" else {"pairs": [], "nodes": [], "own_disk": None}
            facts = {**facts, **to_json(client_part), "servers": facts.get("servers") or to_json(summary["servers"])}
    return facts


def find_slowest_parts(facts: Facts) -> dict[str, float]:
    """Return the known values of ``schema.PROBE_FACTORS``: the slowest link, the slowest node, the slowest disk. Disks
    are those of the servers if probed; rates through a mounted file system are left out."""
    pairs, nodes = facts["pairs"], facts["nodes"]
    disks = [disk for server in facts["servers"] for disk in server["disks"]]
    if not disks and facts["own_disk"] is not False:
        disks = [node for node in nodes if "disk_write" in node]
    parts: dict[str, tuple[Callable[..., float], Sequence[Facts], tuple[str, ...]]] = {
        "network_bandwidth": (min, pairs, _WAYS),
        "network_latency": (max, pairs, ("latency",)),
        "tcp_bandwidth": (min, facts["tcp"], _WAYS),
        "memory_copy": (min, nodes, ("memory_copy_all_cores",)),
        "cpu_write": (max, nodes, ("cpu_write",)),
        "cpu_read": (max, nodes, ("cpu_read",)),
        "disk_write": (min, disks, ("disk_write",)),
        "disk_read": (min, disks, ("disk_read",)),
    }
    return {
        name: worst(part[key].value for part in some for key in keys)
        for name, (worst, some, keys) in parts.items()
        if some and keys[0] in some[0]
    }


def describe_servers(facts: Facts) -> dict[str, str | int]:
    """Return the number of probed servers and the file systems of their disks, as far as known: the other keys of
    ``schema.PROBE_FACTORS``."""
    kinds = sorted({str(disk["filesystem"] or "unknown") for server in facts["servers"] for disk in server["disks"]})
    return {"probed_servers": len(facts["servers"]), "base_filesystem": ", ".join(kinds)} if kinds else {}


def to_json(value: Any) -> Any:
    """Return the same with every Estimate in its stable JSON form."""
    if isinstance(value, Estimate):
        return value.to_json()
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    return [to_json(item) for item in value] if isinstance(value, (list, tuple)) else value


def _summarise_pair(facts: Facts, same: Sequence[Facts], level: float) -> Facts:
    a, b, hosts = same[0]["a"], same[0]["b"], facts["hosts"]
    return {
        "ranks": [a, b],
        "hosts": [hosts[a], hosts[b]],
        "medium": min(classify_medium(pair, facts["nodes"]) for pair in same),
        "latency": _estimate_mean([pair["sweep"][0][1] for pair in same], level),
        "bandwidth": _estimate_mean([pair["forth"] for pair in same], level),
        "bandwidth_back": _estimate_mean([pair["back"] for pair in same], level),
        "sweep": [
            {"bytes": size, "half_round_trip": _estimate_mean([pair["sweep"][i][1] for pair in same], level)}
            for i, (size, _) in enumerate(same[0]["sweep"])
        ],
    }


def _summarise_links(facts: Facts, links: Sequence[Facts], level: float) -> list[Facts]:
    same = group_by_key(((link["a"], link["b"]), link) for link in links if not link["error"])
    return [
        {
            "ranks": [a, b],
            "hosts": [facts["hosts"][a], facts["hosts"][b]],
            "bandwidth": _estimate_mean([link["forth"] for link in repeats], level),
            "bandwidth_back": _estimate_mean([link["back"] for link in repeats], level),
        }
        for (a, b), repeats in same.items()
    ]


def _summarise_node(same: Sequence[Facts], level: float) -> Facts:
    has_target = "disk" in same[0]
    return {
        "host": same[0]["host"],
        "rank": same[0]["rank"],
        "cores": same[0]["cores"],
        "disk_way": ", then ".join(dict.fromkeys(node["disk"]["way"] for node in same)) if has_target else None,
        **{
            key: _estimate_mean([read(node) for node in same], level)
            for key, read in _OF_NODE.items()
            if has_target or key.startswith("memory")
        },
    }


def _summarise_servers(repetitions: Sequence[Sequence[Facts]], level: float) -> list[Facts]:
    """Summarise each server with its disks, in the order of the first repetition."""
    return [
        {
            "host": server["host"],
            "disks": [
                {
                    "dir": disk["dir"],
                    "filesystem": disk["filesystem"],
                    "disk_way": disk["way"],
                    **{
                        f"disk_{way}": _estimate_mean([same[i]["disks"][j][way] for same in repetitions], level)
                        for way in ("write", "read")
                    },
                }
                for j, disk in enumerate(server["disks"])
            ],
        }
        for i, server in enumerate(repetitions[0])
    ]


def _estimate_mean(values: list[float], level: float) -> Estimate:
    # Rates and times are never negative, however wide the interval of few repetitions is.
    return means.estimate_mean(values, level).within(low=0.0)
