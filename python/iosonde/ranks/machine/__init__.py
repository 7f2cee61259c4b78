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
from typing import Any

from . import block, filesystem, host, mount, network, quota, scheduler
from .command import redacted, software
from .host import available_bytes, memory_bytes
from .load import LoadSampler

__all__ = [
    "LoadSampler",
    "available_bytes",
    "facts",
    "memory_bytes",
    "node_facts",
    "redacted",
    "software",
    "target_facts",
]


def facts(target: Path, env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Everything about this node and the file system of ``target`` (which need not exist yet)."""
    return node_facts(env) | target_facts(target)


def node_facts(env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Everything about this node; no file system but the kernel's own is touched."""
    return {
        "host": _or_none(host.host),
        "cpu": _or_none(host.cpu),
        "memory": _or_none(host.memory),
        "vm": _or_none(host.vm_settings),
        "network": _or_none(network.interfaces),
        "infiniband": _or_none(network.infiniband),
        "scheduler": _or_none(scheduler.job, env),
    }


def target_facts(target: Path) -> dict[str, Any]:
    """Everything about the file system of ``target``. Hangs where that does."""
    found = _or_none(mount.of_path, target)
    return {
        "mount": _or_none(mount.to_json, found, target),
        "quota": _or_none(quota.quotas, target, found),
        "devices": _or_none(block.devices, found),
        "filesystem": _or_none(filesystem.identity, target, found),
    }


def _or_none(read: Callable[..., Any], *arguments: Any) -> Any:
    """A fact, or None: a machine that is unlike all others must still be measurable."""
    try:
        return read(*arguments)
    except Exception:
        return None
