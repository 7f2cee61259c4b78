"""Network path and servers of a run, for a diagnosis: from its lab, and from the counts of its servers (`profile:
true`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from iosonde.commands.bound import lab_truth
from iosonde.core.emulated import compute_burst_bytes
from iosonde.core.filesystems import LOCAL, classify_structure
from iosonde.core.stored import StoredRun
from iosonde.explain.known_path import NetworkPath, ServerTimes

if TYPE_CHECKING:
    from iosonde.store import Store

_COUNTS = "servers-profile.json"


def read_network_path(run: StoredRun) -> NetworkPath | None:
    """Return the shortest round trip measured in the run's lab; None without a lab."""
    network = lab_truth.read_lab_truth(run).get("network")
    emulated = ((run.facts.get("machine") or {}).get("lab") or {}).get("emulated") or {}
    trips = [float(link["rtt_s"]) for link in emulated.get("links") or () if link.get("rtt_s")]
    if not trips or not network:
        return None
    return NetworkPath(min(trips), float(network), compute_burst_bytes(8 * float(network)))


def is_local(run: StoredRun) -> bool:
    """Return whether the file system of a run is known to be local to the node, without servers."""
    mount = (run.facts.get("machine") or {}).get("mount") or {}
    kind = str(mount.get("type") or "")
    return bool(kind) and classify_structure(kind, str(mount.get("source") or "")) == LOCAL


def read_server_times(store: Store, run: StoredRun) -> dict[str, ServerTimes]:
    """Map kinds of operation to the servers' own counts in this run; empty without counts."""
    raw_counts = store.raw_file(run.id, _COUNTS)
    if raw_counts is None:
        return {}
    servers = json.loads(raw_counts).get("servers") or ()
    counts_by_kind: dict[str, dict[str, Any]] = {}
    for server in servers:
        for each in server["operations"]:
            counts_by_kind.setdefault(each["operation"], {})[server["server"]] = each
    return {
        kind: ServerTimes(
            {name: (int(each["count"]), float(each["mean_s"])) for name, each in by_server.items()},
            max(float(each["max_s"] or 0.0) for each in by_server.values()),
            min(float(each["min_s"] or 0.0) for each in by_server.values()),
        )
        for kind, by_server in counts_by_kind.items()
    }
