"""The names of a machine's facts, as in run.json. Unreadable facts are None.

``devices``, ``filesystem``, ``network`` and ``infiniband`` differ between machines: those are plain dicts.
"""

from typing import Any, TypedDict


class HostFacts(TypedDict):
    """Facts of a node and its kernel."""

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
    """Facts from /proc/cpuinfo."""

    model: str | None
    sockets: int | None
    cores: int | None


class Cpu(CpuModel):
    """Facts of the CPUs. ``allowed``: CPUs that this process may use; ``numa``: CPUs of each node."""

    count: int | None
    allowed: int
    governor: list[str] | None
    smt_active: int | None
    numa: dict[str, str | None] | None


class Memory(TypedDict):
    """Memory in bytes; ``usable_bytes`` is the memory, or the limit of the control group if smaller."""

    total_bytes: int | None
    available_bytes: int | None
    cached_bytes: int | None
    dirty_bytes: int | None
    swap_total_bytes: int | None
    cgroup_limit_bytes: int | None
    usable_bytes: int
    transparent_hugepage: str | None


class Job(TypedDict):
    """The current batch job; ``walltime_end`` is ISO 8601, UTC."""

    name: str
    job: str
    nodes: int | None
    node_list: str | None
    partition: str | None
    walltime_end: str | None


class Quota(TypedDict):
    """A quota of ``kind`` user, group, project or directory. Unset limits are None."""

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
    """Bytes and inodes, all and free for this user; None if the file system does not count them."""

    total_bytes: int | None
    free_bytes: int | None
    block_bytes: int
    total_inodes: int | None
    free_inodes: int | None
    fsid: str


class NodeFacts(TypedDict):
    """All facts of a node; ``lab`` describes its emulated cluster, None on a real one."""

    host: HostFacts | None
    cpu: Cpu | None
    memory: Memory | None
    vm: dict[str, int] | None
    network: list[dict[str, Any]] | None
    infiniband: list[dict[str, Any]] | None
    scheduler: Job | None
    lab: dict[str, Any] | None


class TargetCondition(TypedDict):
    """State of the file system that may change between trials. ``at`` is the time (ISO 8601, UTC), ``health`` lists
    problems (``n2 down``; [] if healthy, None if unknown), ``options`` those in effect."""

    at: str
    health: list[str] | None
    options: dict[str, str]


class TargetFacts(TypedDict):
    """All facts of a target's file system. ``condition`` is None if it reports none."""

    mount: dict[str, Any] | None
    quota: list[Quota] | None
    devices: list[dict[str, Any]] | None
    filesystem: dict[str, Any] | None
    condition: TargetCondition | None


class Facts(NodeFacts, TargetFacts):
    """The facts of the machine in a run: a node, and the target as it sees it."""
