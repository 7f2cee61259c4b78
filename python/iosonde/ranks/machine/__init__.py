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
from .command import redacted, software
from .fact_types import Facts, NodeFacts, TargetCondition, TargetFacts
from .host import available_bytes, memory_bytes
from .load import LoadSampler

__all__ = [
    "NO_TARGET",
    "Facts",
    "LoadSampler",
    "NodeFacts",
    "TargetCondition",
    "TargetFacts",
    "available_bytes",
    "facts",
    "memory_bytes",
    "node_facts",
    "redacted",
    "software",
    "target_condition",
    "target_facts",
]

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Facts of the file system without a target, or of an unknown one.
NO_TARGET: TargetFacts = {"mount": None, "quota": None, "devices": None, "filesystem": None, "condition": None}


def facts(target: Path, env: Mapping[str, str] = os.environ) -> Facts:
    """Return all facts of this node and the file system of ``target`` (which need not exist yet)."""
    return {**node_facts(env), **target_facts(target)}


def node_facts(env: Mapping[str, str] = os.environ) -> NodeFacts:
    """Return all facts of this node; only the kernel's own file systems are accessed."""
    return {
        "host": _or_none(host.host),
        "cpu": _or_none(host.cpu),
        "memory": _or_none(host.memory),
        "vm": _or_none(host.vm_settings),
        "network": _or_none(traffic.describe_interfaces),
        "infiniband": _or_none(traffic.describe_ports),
        "scheduler": _or_none(scheduler.job, env),
        "lab": _or_none(emulated.lab),
    }


def target_facts(target: Path) -> TargetFacts:
    """Return all facts of the file system of ``target``. Hangs if that hangs."""
    mount_entry = _or_none(mount.find_mount, target)
    if mount_entry is None:
        return NO_TARGET
    return {
        "mount": _or_none(mount.to_json, mount_entry, target),
        "quota": _or_none(quota.quotas, target, mount_entry),
        "devices": _or_none(block.devices, mount_entry),
        "filesystem": _or_none(filesystems.identity, target, mount_entry),
        "condition": _or_none(filesystems.condition, target, mount_entry),
    }


def target_condition(target: Path) -> TargetCondition | None:
    """Return the current state of the file system of ``target``: its health, its options; None if it reports none.
    Hangs if that hangs."""
    mount_entry = _or_none(mount.find_mount, target)
    return _or_none(filesystems.condition, target, mount_entry) if mount_entry else None


def _or_none(read: Callable[_P, _T], *arguments: _P.args, **others: _P.kwargs) -> _T | None:
    """Return a fact, or None: even an unusual machine must be measurable."""
    try:
        return read(*arguments, **others)
    except Exception:
        return None
