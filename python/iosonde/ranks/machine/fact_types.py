"""What the facts of a machine are called, as run.json has them. What cannot be read is None.

``devices``, ``filesystem``, ``network`` and ``infiniband`` differ from machine to machine: those are plain dicts.
"""

from __future__ import annotations

from typing import Any, TypedDict


class HostFacts(TypedDict):
    """A node's name and what runs on it."""

    name: str
    boot_id: str | None
    kernel: str
    kernel_build: str
    architecture: str
    os: str | None
    clocksource: str | None
    uptime_s: float | None
    virtualisation: str | None
    container: str | None
    page_bytes: int


class CpuModel(TypedDict):
    """What /proc/cpuinfo says."""

    model: str | None
    sockets: int | None
    cores: int | None


class Cpu(CpuModel):
    """``allowed``: what this process may use; ``numa``: the CPUs of each node."""

    count: int | None
    allowed: int
    governor: list[str] | None
    smt_active: int | None
    numa: dict[str, str | None] | None


class Memory(TypedDict):
    """In bytes; ``usable_bytes`` is the memory, or the limit of the control group where that is less."""

    total_bytes: int | None
    available_bytes: int | None
    cached_bytes: int | None
    dirty_bytes: int | None
    swap_total_bytes: int | None
    cgroup_limit_bytes: int | None
    usable_bytes: int
    transparent_hugepage: str | None


class Job(TypedDict):
    """The batch job that we are in; ``walltime_end`` is ISO 8601, UTC."""

    name: str
    job: str
    nodes: int | None
    node_list: str | None
    partition: str | None
    walltime_end: str | None


class Quota(TypedDict):
    """A limit that is set: of ``kind`` user, group, project or directory. A limit that is not set is None."""

    kind: str
    id: int
    used_bytes: int
    soft_bytes: int | None
    hard_bytes: int | None
    free_bytes: int | None
    used_files: int
    soft_files: int | None
    hard_files: int | None
    free_files: int | None


class Space(TypedDict):
    """Bytes and inodes, all and free for this user; None where the file system does not count or know them."""

    total_bytes: int | None
    free_bytes: int | None
    block_bytes: int
    total_inodes: int | None
    free_inodes: int | None
    fsid: str


class NodeFacts(TypedDict):
    """Everything about a node; ``lab``: what is true of the emulated cluster that it is in, None on a real one."""

    host: HostFacts | None
    cpu: Cpu | None
    memory: Memory | None
    vm: dict[str, int] | None
    network: list[dict[str, Any]] | None
    infiniband: list[dict[str, Any]] | None
    scheduler: Job | None
    lab: dict[str, Any] | None


class TargetCondition(TypedDict):
    """What may change between two trials: ``at`` this time (ISO 8601, UTC) the file system said what is wrong with it
    (``health``: ``n2 down``; [] if it is well, None if it does not say), and which options are in effect."""

    at: str
    health: list[str] | None
    options: dict[str, str]


class TargetFacts(TypedDict):
    """Everything about the file system of a target. ``condition`` is None where it says nothing of that."""

    mount: dict[str, Any] | None
    quota: list[Quota] | None
    devices: list[dict[str, Any]] | None
    filesystem: dict[str, Any] | None
    condition: TargetCondition | None


class Facts(NodeFacts, TargetFacts):
    """What a run keeps of the machine: a node, and the target as it sees it."""
