"""A command step as one rank does it: whether it is its turn, when it starts, and what it leaves in the spool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from iosonde.core.types import FactorValue
from iosonde.measure import placeholders, spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.items import SET_UP, Part
from iosonde.measure.spec import EACH, SINGLE
from iosonde.ranks import mpi
from iosonde.ranks.heartbeat import RUNNING, WAITING, Heartbeat
from iosonde.ranks.pulse import Pulse

from . import command
from .phases import start_together

MACHINEFILE = "machinefile"


def values(assignment: Assignment, ranks: mpi.Ranks) -> dict[str, FactorValue]:
    """What every placeholder stands for on this rank.

    The node is the one that the launcher was asked for: ranks that stand in for nodes have numbers of their own.
    """
    node, per_node = ranks.rank // assignment.ranks_per_node, assignment.ranks_per_node
    here: dict[str, FactorValue] = {
        "NODENAME": node,
        "NODE_INDEX": node,
        "HOSTNAME": ranks.hosts[ranks.rank].name,
        "RANK": ranks.rank,
        "LOCAL_RANK": ranks.rank % per_node,
        "MACHINEFILE": str(Path(assignment.spool) / MACHINEFILE),
    }
    return assignment.values | here


def write_machinefile(assignment: Assignment, ranks: mpi.Ranks) -> None:
    """One address per line, one line per node, on every node: what ``mpiexec -f`` wants."""
    if ranks.local_rank == 0:
        names = assignment.hosts or [host.name for host in ranks.hosts[:: assignment.ranks_per_node]]
        (Path(assignment.spool) / MACHINEFILE).write_text("".join(f"{name}\n" for name in names))


def run(part: Part, assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat, cpus: set[int]) -> bool:
    """One command step; whether it went well here. All ranks call it, and come out of it together."""
    where, label = part.item["on"], part.item["label"]
    heart.enter(label, WAITING)
    ranks.wait_for_all()
    well = True
    if where == EACH:
        for turn in range(ranks.size):
            if turn == ranks.rank:
                well = _here(part, assignment, ranks, heart, cpus)
            ranks.wait_for_all()
        return well
    if where == SINGLE:
        if ranks.rank == 0:
            well = _here(part, assignment, ranks, heart, cpus)
    else:
        well = _here(part, assignment, ranks, heart, cpus, lambda: start_together(ranks))
    ranks.wait_for_all()
    return well


def _here(
    part: Part,
    assignment: Assignment,
    ranks: mpi.Ranks,
    heart: Heartbeat,
    cpus: set[int],
    begin: Callable[[], int] = lambda: 0,
) -> bool:
    item, folder, known = part.item, Path(assignment.spool), values(assignment, ranks)
    placeholders.check_plain(item["command"], known, item["label"])
    step_id = f"{assignment.spool}:{part.first}:{ranks.rank}"
    heart.enter(item["label"], RUNNING, pulse=Pulse(f"{command.STEP_VARIABLE}={step_id}"))
    asked = command.ShellCommand(
        placeholders.fill(item["command"], known),
        placeholders.as_environment(known) | {command.TRIAL_VARIABLE: assignment.spool},
        step_id,
        cpus,
        command.STAYS if item["stage"] == SET_UP else command.ENDS,  # a set-up may start a server
        item["timeout_s"],
    )
    result = command.run(asked, spool.output_of(folder, ranks.rank, part.first), begin)
    heart.enter(item["label"], WAITING)
    well = not result.fault and not result.ended_by and result.exit_code in item["expect"]
    spool.write(
        folder,
        spool.RankPhase(
            rank=ranks.rank,
            phase=part.first,
            started_ns=result.started_ns,
            ended_ns=result.ended_ns,
            stopped="count" if well else "error",
            recorded_all=False,
            totals=[],
            errors=[],
            command=result.to_json(),
        ),
    )
    return well
