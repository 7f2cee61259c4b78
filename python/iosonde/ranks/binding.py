"""A core of its own for each rank, where there are enough: the scheduler puts two ranks that wake together on one
core, and moves one away only milliseconds later. Bound, ranks start within microseconds of each other.

What a launcher bound already stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .mpi import Ranks

SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


# The CPUs that this process might use before it was bound.
_before: set[int] = set()


def before() -> set[int] | None:
    """The CPUs for what is not measured itself and may stay, as the daemon of a mount; None: nothing was bound."""
    return _before or None


def bind(ranks: Ranks) -> bool:
    """Bind this thread, and those that it starts from now on, to a core; all ranks call it. Whether all are bound."""
    mine = sorted(os.sched_getaffinity(0))
    _before.update(mine)
    here = [cpus for cpus, node in zip(ranks.all_gather(mine), ranks.node_of, strict=True) if node == ranks.node]
    cpu = choose(here, ranks.local_rank, cores(mine))
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    return not ranks.all_max(1 if cpu is None else 0)


def crowded(ranks: Ranks) -> bool:
    """Whether ranks of any node share cores, as they are bound now; all ranks call it, and all get the same answer."""
    return share_cores(ranks.all_gather(sorted(os.sched_getaffinity(0))), ranks.node_of)


def share_cores(allowed: Sequence[Sequence[int]], node_of: Sequence[int]) -> bool:
    """Whether there are more ranks on a node than CPUs that all of them together may use."""
    nodes: dict[int, list[Sequence[int]]] = {}
    for cpus, node in zip(allowed, node_of, strict=True):
        nodes.setdefault(node, []).append(cpus)
    return any(len(masks) > len(set().union(*masks)) for masks in nodes.values())


def choose(allowed: Sequence[Sequence[int]], local_rank: int, cores: Sequence[int]) -> int | None:
    """The CPU for one of the ranks of a node; None if there are fewer cores than ranks, or a launcher bound them.

    ``allowed`` are the CPUs that each rank of the node may use, ``cores`` one CPU of each core. Ranks are spread
    evenly over the cores, so that they are also spread over sockets.
    """
    ranks_here = len(allowed)
    if ranks_here > len(cores) or any(cpus != allowed[0] for cpus in allowed):
        return None
    # The middle of each rank's share of the cores: a lone rank keeps away from CPU 0, which serves most interrupts.
    return cores[(2 * local_rank + 1) * len(cores) // (2 * ranks_here)]


def cores(cpus: Sequence[int], siblings: str = SIBLINGS) -> list[int]:
    """One CPU of each core among ``cpus``, in order: the first of its hardware threads."""
    found: dict[str, int] = {}
    for cpu in cpus:
        try:
            core = Path(siblings.format(cpu)).read_text().strip()
        except OSError:
            core = str(cpu)  # no topology here: each CPU counts as a core
        found.setdefault(core, cpu)
    return list(found.values())
