"""Bind each rank to its own core, if there are enough.

The scheduler puts two ranks that wake together on one core, and moves one away only milliseconds later. Bound ranks
start within microseconds of each other. Bindings of a launcher are kept. Nodes may be containers or hosts of a lab on
one machine; their ranks are then spread over its cores together.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from .machine import reading
from .mpi import Ranks

# The same in all containers of a machine (random(4)).
BOOT_ID = "/proc/sys/kernel/random/boot_id"
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


# The CPUs allowed for this process before it was bound.
_before: set[int] = set()


def get_cpus_before_binding() -> set[int] | None:
    """Return the CPUs allowed before binding, for unmeasured long-lived processes such as a mount's daemon; None if
    nothing was bound."""
    return _before or None


def bind_to_core(ranks: Ranks) -> bool:
    """Bind this thread, and its future threads, to a core; all ranks call it. Return whether all are bound."""
    mine = sorted(os.sched_getaffinity(0))
    _before.update(mine)
    cpu = _choose_own(ranks, _gather_places(ranks), mine)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    return not ranks.all_max(1 if cpu is None else 0)


def has_shared_cores(ranks: Ranks) -> bool:
    """Return whether ranks of any node share cores as they are bound now; all ranks call it and get the same answer."""
    places = _gather_places(ranks)
    machines = list(dict.fromkeys(machine for machine, _ in places))
    return share_cores([cpus for _, cpus in places], [machines.index(machine) for machine, _ in places])


def _gather_places(ranks: Ranks) -> list[tuple[str, list[int]]]:
    """Return the machine of each rank, and its allowed CPUs."""
    machine = reading.read_text(BOOT_ID) or f"node {ranks.node}"
    return [(str(name), list(cpus)) for name, cpus in ranks.all_gather((machine, sorted(os.sched_getaffinity(0))))]


def _choose_own(ranks: Ranks, places: Sequence[tuple[str, Sequence[int]]], mine: Sequence[int]) -> int | None:
    """Return the CPU for this rank by ``choose``, among all ranks of its machine with the same allowed CPUs."""
    here = [cpus for (_, cpus), node in zip(places, ranks.node_of, strict=True) if node == ranks.node]
    if any(cpus != here[0] for cpus in here):
        return None
    sharing = [rank for rank, place in enumerate(places) if place == places[ranks.rank]]
    return choose_cpu([mine] * len(sharing), sharing.index(ranks.rank), list_cores(mine))


def share_cores(allowed: Sequence[Sequence[int]], machine_of: Sequence[int]) -> bool:
    """Return whether a machine has more ranks than CPUs allowed for them together."""
    machines: dict[int, list[Sequence[int]]] = {}
    for cpus, machine in zip(allowed, machine_of, strict=True):
        machines.setdefault(machine, []).append(cpus)
    return any(len(masks) > len(set().union(*masks)) for masks in machines.values())


def choose_cpu(allowed: Sequence[Sequence[int]], local_rank: int, cores: Sequence[int]) -> int | None:
    """Choose the CPU for one of the ranks of a machine; None if there are fewer cores than ranks, or a launcher bound
    them.

    ``allowed`` are the allowed CPUs of each rank there, ``cores`` one CPU of each core. Ranks are spread evenly over
    the cores, and so over sockets.
    """
    ranks_here = len(allowed)
    if ranks_here > len(cores) or any(cpus != allowed[0] for cpus in allowed):
        return None
    # The middle of each rank's share of the cores: a single rank avoids CPU 0, which serves most interrupts.
    return cores[(2 * local_rank + 1) * len(cores) // (2 * ranks_here)]


def list_cores(cpus: Sequence[int], siblings: str = SIBLINGS) -> list[int]:
    """Return one CPU of each core among ``cpus``, in order: the first of its hardware threads."""
    cpu_by_core: dict[str, int] = {}
    for cpu in cpus:
        try:
            core = Path(siblings.format(cpu)).read_text().strip()
        except OSError:
            core = str(cpu)  # no topology: each CPU counts as a core
        cpu_by_core.setdefault(core, cpu)
    return list(cpu_by_core.values())
