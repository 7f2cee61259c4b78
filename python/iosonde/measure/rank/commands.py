"""A command step on one rank: whether it takes part, when it starts, and its entry in the spool."""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iosonde.core.faults import BEGUN, ENDED
from iosonde.core.types import FactorValue
from iosonde.core.wire import PREPARING, TIMED
from iosonde.measure import mpi_program, on_servers, placeholders, spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.items import SET_UP, STEP, Part
from iosonde.measure.spec import EACH, MPI, ONCE
from iosonde.ranks import mpi
from iosonde.ranks.heartbeat import RUNNING, WAITING, Heartbeat, Pulse

from . import command, output
from .phases import note_mark, start_together
from .wire import Meter

MACHINEFILE, IOZONE_CLIENTS = "machinefile", "iozone-clients"
# How often ranks check for the end of an MPI job, which has as many tasks as there are ranks, and needs the cores.
LOOK_S = 0.01


def collect_placeholder_values(assignment: Assignment, ranks: mpi.Ranks) -> dict[str, FactorValue]:
    """Return the value of every placeholder on this rank.

    The node is the one requested from the launcher: ranks that stand in for nodes have numbers of their own.
    """
    node, per_node = ranks.rank // assignment.ranks_per_node, assignment.ranks_per_node
    here: dict[str, FactorValue] = {
        "RANK": ranks.rank,
        "LOCAL_RANK": ranks.rank % per_node,
        "MACHINEFILE": str(Path(assignment.spool) / MACHINEFILE),
        "IOZONE_CLIENTS": str(Path(assignment.spool) / IOZONE_CLIENTS),
    }
    return placeholders.add_node_values(assignment.values, node, ranks.hosts[ranks.rank].name) | here


def write_node_files(assignment: Assignment, ranks: mpi.Ranks) -> None:
    """Write the trial's nodes to files on every node: an address per line, as ``mpiexec -f`` expects. For ``iozone
    -+m``: a line per rank with the address, the directory, and the path of IOzone (as on this node)."""
    if ranks.local_rank != 0:
        return
    names = assignment.hosts or [host.name for host in ranks.hosts[:: assignment.ranks_per_node]]
    (Path(assignment.spool) / MACHINEFILE).write_text("".join(f"{name}\n" for name in names))
    where, iozone = assignment.values.get("TARGET", ""), shutil.which("iozone") or "iozone"
    clients = [f"{name} {where} {iozone}\n" for name in names for _ in range(assignment.ranks_per_node)]
    (Path(assignment.spool) / IOZONE_CLIENTS).write_text("".join(clients))


def run_command_step(
    part: Part, assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat, cpus: set[int], meter: Meter
) -> bool:
    """Run one command step and return whether it succeeded here. All ranks call it, and leave it together. ``meter``
    counts the network traffic meanwhile."""
    heart.enter(part.item["label"], WAITING)
    ranks.wait_for_all()
    meter.ends(PREPARING)
    measured = part.item["stage"] == STEP
    if measured:
        note_mark(assignment, ranks, BEGUN, part.first, part.item["label"])
    well = _run_on_required_ranks(part, assignment, ranks, heart, cpus)
    if measured:
        note_mark(assignment, ranks, ENDED, part.first, part.item["label"])
    meter.ends(TIMED)
    meter.keep(part.first)
    return well


def _run_on_required_ranks(
    part: Part, assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat, cpus: set[int]
) -> bool:
    where, well = part.item["on"], True
    if where == EACH:
        for turn in range(ranks.size):
            if turn == ranks.rank:
                well = _run_here(part, assignment, ranks, heart, cpus)
            ranks.wait_for_all()
        return well
    if where not in ONCE:
        well = _run_here(part, assignment, ranks, heart, cpus, lambda: start_together(ranks))
    elif ranks.rank == 0:
        well = _run_here(part, assignment, ranks, heart, cpus)
    ranks.wait_for_all(LOOK_S if where == MPI else mpi.POLL_S)
    return well


def fill_command(item: dict[str, Any], variables: Mapping[str, FactorValue]) -> str:
    """Return the command of an item for the shell. An MPI job has the launcher's words before its program, a server
    command the words that start it on each server."""
    if "servers" in item:
        return on_servers.build_server_script(placeholders.fill(item["command"], variables), item["servers"], variables)
    if "launch" not in item:
        return placeholders.fill(item["command"], variables)
    before, behind = item["command"][: item["at"]], item["command"][item["at"] :]
    return (
        placeholders.fill(before, variables)
        + mpi_program.quote_launcher(item["launch"])
        + placeholders.fill(behind, variables)
    )


def _run_here(
    part: Part,
    assignment: Assignment,
    ranks: mpi.Ranks,
    heart: Heartbeat,
    cpus: set[int],
    begin: Callable[[], int] = lambda: 0,
) -> bool:
    item, folder, variables = part.item, Path(assignment.spool), collect_placeholder_values(assignment, ranks)
    placeholders.check_plain(item["command"], variables, item["label"])
    step_id = f"{assignment.spool}:{part.first}:{ranks.rank}"
    heart.enter(item["label"], RUNNING, pulse=Pulse(f"{command.STEP_VARIABLE}={step_id}"))
    retained_bytes = output.limit_of(item["keep_output"], 1 if item["on"] in ONCE else ranks.size)
    shell_command = command.ShellCommand(
        fill_command(item, variables),
        {placeholders.PYTHON_VARIABLE: sys.executable}
        | placeholders.values_to_environment(variables)
        | {command.TRIAL_VARIABLE: assignment.spool},
        step_id,
        cpus,
        command.STAYS if item["stage"] == SET_UP else command.ENDS,  # a set-up may start a server
        item["timeout_s"],
        max(command.OUTPUT_BYTES, retained_bytes),
        retained_bytes,
        outside=frozenset(assignment.outside) if item["on"] in ONCE else None,
    )
    result = command.run(shell_command, spool.build_output_path(folder, ranks.rank, part.first), begin)
    heart.enter(item["label"], WAITING)
    well = not result.fault and not result.ended_by and result.exit_code in item["expect"]
    spool.append_phase(
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
            command=asdict(result),
        ),
    )
    return well
