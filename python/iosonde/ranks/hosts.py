"""Find the ranks that share a node or a clock."""

import socket
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Host:
    """The host of a rank. Same ``name`` and ``boot_id``: one node. Same ``boot_id`` and ``time_namespace``:
    one clock."""

    name: str
    boot_id: str
    time_namespace: str

    @property
    def clock(self) -> tuple[str, str]:
        """Key of the clock: ranks with an equal key read the same CLOCK_MONOTONIC."""
        return self.boot_id, self.time_namespace


def get_this_host() -> Host:
    """Return the host of this process. Without a boot id the name takes its place."""
    name = socket.gethostname()
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot_id = name
    try:
        time_namespace = str(Path("/proc/self/ns/time").readlink())
    except OSError:
        time_namespace = ""  # kernels before 5.6 have none
    return Host(name, boot_id, time_namespace)


def number_nodes(keys: Sequence[Hashable]) -> tuple[int, ...]:
    """Return the node number of every rank: equal keys are one node, numbered in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)
