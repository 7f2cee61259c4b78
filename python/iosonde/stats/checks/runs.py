"""Data of stored runs for checks: phases by setting, facts about the cache during reads, contradictory numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.contradiction import Contradiction
from iosonde.core.device_loads import DeviceLoad, read_device_loads, select_disks
from iosonde.core.filesystems import MEMORY_TYPES, is_network
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import Finding, Severity
from iosonde.core.words import format_count

from . import MAX_LISTED, Subject

_HERE = ("localhost", "127.", "::1", "[::1")


def group_phases_by_setting(runs: Sequence[StoredRun]) -> dict[str, list[StoredPhase]]:
    """Group phases of complete runs by setting: ``operation, nodes=2``. Phases that ranks run in turn, and setup or
    teardown, are left out."""
    phases_by_setting: dict[str, list[StoredPhase]] = {}
    for run in runs:
        if not run.counts:
            continue
        nodes = run.factors.get("nodes")
        for phase in run.phases:
            if phase.is_step and not phase.in_turn:
                name = phase.operation if nodes is None else f"{phase.operation}, nodes={nodes}"
                phases_by_setting.setdefault(name, []).append(phase)
    return phases_by_setting


def iterate_read_facts(run: StoredRun) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over (operation, facts for ``s104_cache.list_cache_suspicions``) of every phase that reads."""
    machine = run.facts.get("machine") or {}
    mount = machine.get("mount") or {}
    for phase in run.phases:
        if not sum(phase.totals.get(kind, {}).get("bytes", 0) for kind in ("read", "mmap_read")):
            continue
        facts: dict[str, Any] = dict(phase.cache)
        facts["in_memory"] = mount.get("type") in MEMORY_TYPES
        facts["memory_bytes"] = get_memory(run)
        if not machine.get("infiniband"):  # its ports do not report their speed in bits
            facts |= _collect_network_facts(phase, mount, machine.get("network") or ())
        yield phase.operation, facts


def _is_elsewhere(mount: Mapping[str, Any]) -> bool:
    """Return whether the data comes from other machines, as far as known: many FUSE mounts do not name their
    servers."""
    server, kind = str(mount.get("server") or ""), str(mount.get("type") or "")
    return is_network(kind, str(mount.get("source") or "")) and not server.startswith(_HERE)


def _collect_network_facts(
    phase: StoredPhase, mount: Mapping[str, Any], interfaces: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the fastest node's rate and the speed of its interfaces, if the file system's server is elsewhere."""
    speeds = [card.get("bits_per_s") for card in interfaces if card.get("state") == "up"]
    if not _is_elsewhere(mount) or not speeds or None in speeds:
        return {}
    by_node: dict[Any, int] = {}
    for rank in phase.ranks:
        by_node[rank.get("node")] = by_node.get(rank.get("node"), 0) + rank.get("bytes", 0)
    seconds = (phase.duration_ns or 0) / 1e9
    return (
        {}
        if not by_node or not seconds
        else {
            "rate_bytes_per_s": max(by_node.values()) / seconds,
            "limit_bytes_per_s": sum(speed for speed in speeds if speed) / 8,
            "limit": "node's network",
        }
    )


def list_disk_loads(runs: Sequence[StoredRun]) -> list[tuple[StoredRun, DeviceLoad]]:
    """Return each run with each of its disks that a log has; partitions and devices made of others are left out."""
    return [(run, load) for run in runs for load in select_disks(read_device_loads(run.facts))]


def get_memory(run: StoredRun) -> int | None:
    """Return the bytes of memory that a process of a measured run can use, None if they are unknown."""
    machine = run.facts.get("machine") or {}
    return (machine.get("memory") or {}).get("usable_bytes")


def report_contradictions(
    subject: Subject,
    code: str,
    severity: Severity,
    action: str,
    is_reported: Callable[[StoredRun, Contradiction], bool] = lambda run, entry: True,
) -> Iterator[Finding]:
    """Yield one finding for each operation with contradictions of this code: that of most metrics in words, all runs in
    the evidence."""
    pairs = [
        (run.id, entry)
        for run in subject.runs
        for entry in run.contradictions
        if entry.code == code and is_reported(run, entry)
    ]
    by_operation: dict[str, list[tuple[str, Contradiction]]] = group_by_key((pair[1].operation, pair) for pair in pairs)
    for operation, some in by_operation.items():
        runs = list(dict.fromkeys(run for run, _ in some))
        metrics = list(dict.fromkeys(metric for _, entry in some for metric in entry.metrics))
        first = max((entry for run, entry in some if run == runs[0]), key=lambda entry: len(entry.metrics))
        n_others = sum(run == runs[0] for run, _ in some) - 1
        yield Finding(
            code,
            severity,
            Message(
                "contradiction",
                "{sentence}{others}{fate}{more}",
                sentence=first.sentence,
                others=f"; {format_count(n_others, 'other contradiction')}" if n_others else "",
                fate="; what is not believed is no headline" if metrics else "",
                more=f" ({len(runs)} of {len(subject.runs)} runs)" if len(subject.runs) > 1 else "",
            ),
            {
                "operation": operation,
                "metrics": metrics,
                "n_runs": len(runs),
                "runs": {run: [entry.sentence for other, entry in some if other == run] for run in runs[:MAX_LISTED]},
            },
            action,
        )
