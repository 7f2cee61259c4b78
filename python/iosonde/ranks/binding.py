"""A core of its own for each rank, where there are enough: the scheduler puts two ranks that wake together on one
core, and moves one away only milliseconds later. Bound, ranks start within microseconds of each other.

What a launcher bound already stays as it is. Nodes may be containers or hosts of a lab on one machine: their ranks
share its cores, and are spread over them together.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .machine import reading
from .mpi import Ranks

# The same in all containers of a machine (random(4)).
BOOT_ID = "/proc/sys/kernel/random/boot_id"
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
    cpu = _choose_own(ranks, _gather_places(ranks), mine)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    return not ranks.all_max(1 if cpu is None else 0)


def crowded(ranks: Ranks) -> bool:
    """Whether ranks of any node share cores, as they are bound now; all ranks call it, and all get the same answer."""
    places = _gather_places(ranks)
    machines = list(dict.fromkeys(machine for machine, _ in places))
    return share_cores([cpus for _, cpus in places], [machines.index(machine) for machine, _ in places])


def _gather_places(ranks: Ranks) -> list[tuple[str, list[int]]]:
    """The machine of each rank, and the CPUs that it may use there."""
    machine = reading.text(BOOT_ID) or f"node {ranks.node}"
    return [(str(name), list(cpus)) for name, cpus in ranks.all_gather((machine, sorted(os.sched_getaffinity(0))))]


def _choose_own(ranks: Ranks, places: Sequence[tuple[str, Sequence[int]]], mine: Sequence[int]) -> int | None:
    """The CPU for this rank, as ``choose`` has it: among all of its machine that may use the same CPUs."""
    here = [cpus for (_, cpus), node in zip(places, ranks.node_of, strict=True) if node == ranks.node]
    if any(cpus != here[0] for cpus in here):
        return None
    sharing = [rank for rank, place in enumerate(places) if place == places[ranks.rank]]
    return choose([mine] * len(sharing), sharing.index(ranks.rank), cores(mine))


def share_cores(allowed: Sequence[Sequence[int]], machine_of: Sequence[int]) -> bool:
    """Whether there are more ranks on a machine than CPUs that all of them together may use."""
    machines: dict[int, list[Sequence[int]]] = {}
    for cpus, machine in zip(allowed, machine_of, strict=True):
        machines.setdefault(machine, []).append(cpus)
    return any(len(masks) > len(set().union(*masks)) for masks in machines.values())


def choose(allowed: Sequence[Sequence[int]], local_rank: int, cores: Sequence[int]) -> int | None:
    """The CPU for one of the ranks of a machine; None if there are fewer cores than ranks, or a launcher bound them.

    ``allowed`` are the CPUs that each rank there may use, ``cores`` one CPU of each core. Ranks are spread
    evenly over the cores, so that they are also spread over sockets.
    """
    ranks_here = len(allowed)
    if ranks_here > len(cores) or any(cpus != allowed[0] for cpus in allowed):
        return None
    # The middle of each rank's share of the cores: a lone rank keeps away from CPU 0, which serves most interrupts.
    return cores[(2 * local_rank + 1) * len(cores) // (2 * ranks_here)]


def cores(cpus: Sequence[int], siblings: str = SIBLINGS) -> list[int]:
    """One CPU of each core among ``cpus``, in order: the first of its hardware threads."""
    cpu_by_core: dict[str, int] = {}
    for cpu in cpus:
        try:
            core = Path(siblings.format(cpu)).read_text().strip()
        except OSError:
            core = str(cpu)  # no topology here: each CPU counts as a core
        cpu_by_core.setdefault(core, cpu)
    return list(cpu_by_core.values())
