"""Program of one rank in one repetition of a probe: ``python -m iosonde.measure.probe.program ASSIGNMENT``.

Each node first measures alone: memory, disk, CPU time. The network follows, pair by pair. Only one rank of a host
measures the host. Rank 0 leaves all results in one file for the parent.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError, LaunchError
from iosonde.foreign.removal import remove_scratch
from iosonde.measure import last_words
from iosonde.measure.target import space
from iosonde.measure.target.workspace import Workspace
from iosonde.measure.task_words import TaskWord
from iosonde.ranks import binding, machine, mpi
from iosonde.ranks.heartbeat import Heartbeat

from . import local, network, tcp

# Created by the parent in the folder: a rank that sees it shares the folder with the parent.
PARENT_MARK = "parent"
BEATS = "beats"
RESULT = "result.json"


@dataclass(frozen=True)
class ProbeAssignment(TaskWord):
    """Assignment of one repetition. ``target`` is the directory to measure (empty: no disk); only the workspace of
    ``experiment`` in it is written. ``size`` is the number of bytes that each node writes and reads there.

    ``addresses``: addresses of the ranks' nodes for other programs. ``in_turn``: one node after the other, if all write
    to the same servers. ``only_clean``: measure nothing, and remove the workspace on every node.
    """

    target: str
    experiment: str
    folder: str
    ranks: int
    size: int
    in_turn: bool
    addresses: tuple[str, ...] = ()
    only_clean: bool = False

    @property
    def workspace(self) -> Workspace:
        """The only place on the target that is written; it need not exist."""
        return Workspace(Path(self.target) / f"iosonde-{self.experiment}", self.experiment)


def run(assignment: ProbeAssignment, ranks: mpi.Ranks) -> None:
    """Do all work of this rank. Raises IosondeError for a fault of any node."""
    folder = Path(assignment.folder)
    (folder / BEATS).mkdir(parents=True, exist_ok=True)
    # All ranks report together: another node's fault must reach the parent too.
    wrong = next((error for error in ranks.all_gather(_check_rank(assignment, ranks, folder)) if error), None)
    if wrong:
        raise wrong
    relays = ranks.local_rank == 0 and not (folder / PARENT_MARK).exists()
    with Heartbeat(folder / BEATS, ranks.rank, relays=relays) as heart:
        node = _measure_node(assignment, ranks, heart)
        heart.enter("network")
        everywhere = os.sched_getaffinity(0)
        binding.bind_to_core(ranks)
        pairs = network.measure_all_pairs(ranks)
        os.sched_setaffinity(0, everywhere)
        heart.enter("network, TCP")
        slowest = min((min(pair["forth"], pair["back"]) for pair in pairs), default=0.0)
        links = tcp.measure_all_links(ranks, assignment.addresses, ranks.broadcast(slowest))
        nodes = [result for result in ranks.gather(node) or () if result]
        if ranks.rank == 0:
            hosts = [host.name for host in ranks.hosts]
            temporary = folder / f"{RESULT}.new"
            temporary.write_text(
                json.dumps({"pairs": pairs, "tcp": links, "nodes": nodes, "hosts": hosts, "node_of": ranks.node_of})
            )
            temporary.rename(folder / RESULT)
    ranks.wait_for_all()
    if ranks.local_rank == 0 and not (folder / PARENT_MARK).exists():
        remove_scratch(folder)


def _check_rank(assignment: ProbeAssignment, ranks: mpi.Ranks, folder: Path) -> IosondeError | None:
    """Return why this rank cannot take part; None if it can."""
    here = ranks.hosts[ranks.rank].name
    if ranks.rank == 0 and not (folder / PARENT_MARK).exists():
        return LaunchError(
            "directory-not-shared",
            "rank 0 runs on {host} and cannot see {folder} of the node that started it",
            "start iosonde on the first node, or set TMPDIR to a shared directory",
            host=here,
            folder=folder,
        )
    try:
        if assignment.target and ranks.local_rank == 0:
            space.check_space(Path(assignment.target), space.Need(assignment.size, 4), space.Limits())
    except IosondeError as error:
        return error.prefixed(f"on {here}")
    return None


def _measure_node(assignment: ProbeAssignment, ranks: mpi.Ranks, heart: Heartbeat) -> dict[str, Any] | None:
    """Return this node's part; None for further ranks of a node. All ranks go through the same barriers."""
    result: dict[str, Any] | None = None
    if ranks.local_rank == 0:
        heart.enter("memory copy")
        available, cores = machine.read_available_bytes(), local.count_cores()
        free = machine.compute_usable_memory() // 2 if available is None else available
        result = {
            "rank": ranks.rank,
            "host": ranks.hosts[ranks.rank].name,
            "cores": cores,
            "copy_one": local.measure_memory_copy(1, free),
            "copy_all": local.measure_memory_copy(cores, free),
        }
    ranks.wait_for_all()
    if assignment.target:
        for turn in range(ranks.size if assignment.in_turn else 1):
            if result is not None and turn == (ranks.rank if assignment.in_turn else 0):
                result |= _measure_disk(assignment, ranks.rank, heart)
            ranks.wait_for_all()
    return result


def _measure_disk(assignment: ProbeAssignment, rank: int, heart: Heartbeat) -> dict[str, Any]:
    name = f"rank-{rank}"
    with _open_workspace(assignment) as workspace:
        place = workspace.trial(name)
        try:
            heart.enter("disk")
            result: dict[str, Any] = {"disk": local.measure_disk(place, assignment.size)}
            heart.enter("CPU time")
            return result | {"cpu": local.measure_cpu_per_byte(place, max(local.TRANSFER, assignment.size // 4))}
        finally:
            workspace.remove_trial(name)


@contextmanager
def _open_workspace(assignment: ProbeAssignment) -> Iterator[Workspace]:
    """Yield the parent's workspace if this node shares the target with it; else its own, removed at the end."""
    if assignment.workspace.is_ours():
        yield assignment.workspace
        return
    own = Workspace.create(Path(assignment.target), assignment.experiment)
    try:
        yield own
    finally:
        own.remove()


def main() -> None:
    """Run the entry point of a rank. An error is left in the folder as one line, which the parent shows."""
    assignment = ProbeAssignment.from_word(sys.argv[1])
    ranks = None
    try:
        if assignment.only_clean:
            remove_scratch(Path(assignment.folder))
            if assignment.target:
                assignment.workspace.remove()
            return
        ranks = mpi.connect_ranks(assignment.ranks)
        run(assignment, ranks)
    except Exception as error:
        last_words.report_failure(Path(assignment.folder), error)
        if ranks:
            ranks.abort(3)
        raise


if __name__ == "__main__":
    main()
