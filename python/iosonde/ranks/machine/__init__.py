"""Facts of the machine, kept with every run: numbers alone do not identify the measured system.

Facts are JSON-able and nested by subject. Unreadable facts are None or absent; nothing here raises, and nothing waits
longer than ``reading.TOOL_S`` for a tool. Secrets are removed from the user's command line and from mount options.
Names of hosts and users stay until the store removes them for sharing.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar

from . import block, emulated, filesystems, host, mount, quota, scheduler, traffic
from .command import describe_software, redact_words
from .fact_types import Facts, NodeFacts, TargetCondition, TargetFacts
from .host import compute_usable_memory, read_available_bytes
from .load import LoadSampler

__all__ = [
    "NO_TARGET",
    "Facts",
    "LoadSampler",
    "NodeFacts",
    "TargetCondition",
    "TargetFacts",
    "read_available_bytes",
    "collect_facts",
    "compute_usable_memory",
    "collect_node_facts",
    "redact_words",
    "describe_software",
    "query_target_condition",
    "collect_target_facts",
]

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Facts of the file system without a target, or of an unknown one.
NO_TARGET: TargetFacts = {"mount": None, "quota": None, "devices": None, "filesystem": None, "condition": None}


def collect_facts(target: Path, env: Mapping[str, str] = os.environ) -> Facts:
    """Return all facts of this node and the file system of ``target`` (which need not exist yet)."""
    return {**collect_node_facts(env), **collect_target_facts(target)}


def collect_node_facts(env: Mapping[str, str] = os.environ) -> NodeFacts:
    """Return all facts of this node; only the kernel's own file systems are accessed."""
    return {
        "host": _read_or_none(host.read_host_facts),
        "cpu": _read_or_none(host.read_cpu_facts),
        "memory": _read_or_none(host.read_memory_facts),
        "vm": _read_or_none(host.read_vm_settings),
        "network": _read_or_none(traffic.describe_interfaces),
        "infiniband": _read_or_none(traffic.describe_ports),
        "scheduler": _read_or_none(scheduler.identify_job, env),
        "lab": _read_or_none(emulated.read_lab),
    }


def collect_target_facts(target: Path) -> TargetFacts:
    """Return all facts of the file system of ``target``. Hangs if that hangs."""
    mount_entry = _read_or_none(mount.find_mount, target)
    if mount_entry is None:
        return NO_TARGET
    return {
        "mount": _read_or_none(mount.to_json, mount_entry, target),
        "quota": _read_or_none(quota.query_quotas, target, mount_entry),
        "devices": _read_or_none(block.list_devices, mount_entry),
        "filesystem": _read_or_none(filesystems.identify_file_system, target, mount_entry),
        "condition": _read_or_none(filesystems.query_condition, target, mount_entry),
    }


def query_target_condition(target: Path) -> TargetCondition | None:
    """Return the current state of the file system of ``target``: its health, its options; None if it reports none.
    Hangs if that hangs."""
    mount_entry = _read_or_none(mount.find_mount, target)
    return _read_or_none(filesystems.query_condition, target, mount_entry) if mount_entry else None


def _read_or_none(read: Callable[_P, _T], *arguments: _P.args, **others: _P.kwargs) -> _T | None:
    """Return a fact, or None: even an unusual machine must be measurable."""
    try:
        return read(*arguments, **others)
    except Exception:
        return None
