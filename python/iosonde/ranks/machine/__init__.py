"""Facts of the machine, kept with every run: what was measured cannot be told from numbers alone.

Facts are JSON-able and nested by subject. What cannot be read is None or absent; nothing here raises, and
nothing waits longer than ``reading.TOOL_S`` for a tool. Secrets are taken out of whatever came from the
user's command line or from mount options; names of hosts and users are not: the store takes them out when a
run is shared.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import block, command, filesystem, host, job, mount, network, quota
from .host import memory_bytes
from .load import Load, LoadSampler, per_node

__all__ = ["Load", "LoadSampler", "facts", "host_facts", "memory_bytes", "per_node", "target_facts"]


def facts(
    target: Path,
    repository: Path | None = None,
    argv: Sequence[str] | None = None,
    env: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Everything about this node, the target's file system and the command.

    ``repository`` is a directory whose git commit is of interest: the code that was measured.
    """
    return {
        **host_facts(env),
        "target": target_facts(target),
        "software": _or_none(command.software, repository),
        "command": _or_none(command.redact_words, sys.argv if argv is None else argv),
    }


def host_facts(env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What is true of this node, whatever the target: host, cpu, memory, kernel settings, network, job."""
    return {
        "host": _or_none(host.host),
        "cpu": _or_none(host.cpu),
        "memory": _or_none(host.memory),
        "vm": _or_none(host.vm_settings),
        "network": _or_none(network.interfaces),
        "infiniband": _or_none(network.infiniband),
        "job": _or_none(job.job, env),
    }


def target_facts(target: Path) -> dict[str, Any]:
    """The mount that holds ``target``, the space on it, quotas, the device behind it, the file system's own
    words.
    """
    found = _or_none(mount.of_path, target)
    if found is None:
        return {"path": str(target), "mount": None}
    return {
        "path": str(target),
        "mount": mount.to_json(found),
        "space": _or_none(mount.space, target),
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
