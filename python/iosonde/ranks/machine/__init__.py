"""Facts of the machine, kept with every run: what was measured cannot be told from numbers alone.

Facts are JSON-able and nested by subject. What cannot be read is None or absent; nothing here raises, and
nothing waits longer than ``reading.TOOL_S`` for a tool. Secrets are taken out of whatever came from the
user's command line or from mount options; names of hosts and users are not: the store takes them out when a
run is shared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar

from . import block, emulated, filesystems, host, mount, network, quota, scheduler
from .command import redacted, software
from .fact_types import Facts, NodeFacts, TargetCondition, TargetFacts
from .host import available_bytes, memory_bytes
from .load import LoadSampler

__all__ = [
    "TargetCondition",
    "Facts",
    "LoadSampler",
    "NO_TARGET",
    "NodeFacts",
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

# What is known of the file system where there is no target, or one that nobody knows.
NO_TARGET: TargetFacts = {"mount": None, "quota": None, "devices": None, "filesystem": None, "condition": None}


def facts(target: Path, env: Mapping[str, str] = os.environ) -> Facts:
    """Everything about this node and the file system of ``target`` (which need not exist yet)."""
    return {**node_facts(env), **target_facts(target)}


def node_facts(env: Mapping[str, str] = os.environ) -> NodeFacts:
    """Everything about this node; no file system but the kernel's own is touched."""
    return {
        "host": _or_none(host.host),
        "cpu": _or_none(host.cpu),
        "memory": _or_none(host.memory),
        "vm": _or_none(host.vm_settings),
        "network": _or_none(network.interfaces),
        "infiniband": _or_none(network.infiniband),
        "scheduler": _or_none(scheduler.job, env),
        "lab": _or_none(emulated.lab),
    }


def target_facts(target: Path) -> TargetFacts:
    """Everything about the file system of ``target``. Hangs where that does."""
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
    """How the file system of ``target`` is just now: its health, its options; None where it does not say. Hangs where
    that does."""
    mount_entry = _or_none(mount.find_mount, target)
    return _or_none(filesystems.condition, target, mount_entry) if mount_entry else None


def _or_none(read: Callable[_P, _T], *arguments: _P.args, **others: _P.kwargs) -> _T | None:
    """A fact, or None: a machine that is unlike all others must still be measurable."""
    try:
        return read(*arguments, **others)
    except Exception:
        return None
