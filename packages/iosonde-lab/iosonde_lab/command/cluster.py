"""A lab in the form of a cluster file: its hosts by name and role, and its rates, to draw it alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.answers.cluster import read_cluster
from iosonde.commands.bound.lab_truth import read_lab_fields
from iosonde.commands.upgrade.answer import Upgrade, upgrade
from iosonde.core.cluster_nodes import ROLES

if TYPE_CHECKING:
    from iosonde_lab.status import LabStatus

# Role of the metadata server in recipes.
_MANAGERS = ("master", "monitor", "namenode", "redirector")
_RATES = ("network", "disk_read", "disk_write")
_FOLLOW = ("servers", "disks")  # from the hosts


def cluster_of(lab: LabStatus, level: float = 0.95) -> Upgrade:
    """Describe the lab as the cluster of today, with nothing to buy. Raises InputError."""
    truth = read_lab_fields(lab.description, lab.emulated, lab.layout)
    today = {
        name: f"{value}B/s" if name in _RATES else str(value) for name, value in truth.items() if name not in _FOLLOW
    }
    both = [host.name for host in lab.hosts if host.role == "server"][: lab.description.clients_on_servers]
    nodes = {
        host.name: {"role": ["client", "server"] if host.name in both else _translate_role(host.role)}
        | ({"disks": 1} if host.role == "server" else {})
        for host in lab.hosts
    }
    name = f"lab {lab.name}: {lab.file_system}"
    return upgrade(read_cluster({"name": name, "nodes": nodes, "today": {"operation": "write", **today}}), level=level)


def _translate_role(in_lab: str) -> str:
    return "metadata" if in_lab in _MANAGERS else in_lab if in_lab in ROLES else "other"
