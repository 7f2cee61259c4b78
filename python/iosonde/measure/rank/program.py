"""Program of one rank in one trial: ``python -m iosonde.measure.rank.program ASSIGNMENT``.

It sets caches and factors to the requested state, then does every step in order, leaving results in the spool. After
each step the ranks agree whether to go on. Every decision of a rank depends only on the assignment, so all ranks decide
alike.
"""

import itertools
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from iosonde.core.errors import LaunchError
from iosonde.foreign.removal import remove_scratch
from iosonde.measure import items, last_words, spool
from iosonde.measure.assignment import Assignment, Sealed
from iosonde.measure.workloads import envelope
from iosonde.ranks import binding, clocks, leftovers, machine, mpi, processes, same_target
from iosonde.ranks.beats import write_hosts
from iosonde.ranks.heartbeat import Heartbeat
from iosonde.ranks.hosts import get_this_host

from . import command, commands, controls, phases, trial_root, wire

# Created by the parent in the spool: a rank that sees it shares the spool with the parent.
PARENT_MARK = "parent"
BEATS = "beats"
PLACES = "places.json"  # written by rank 0 when all files of the ranks have arrived


def run(assignment: Assignment, ranks: mpi.Ranks) -> None:
    """Do all steps of this rank. Raises IosondeError for a fault of this node as a whole."""
    folder, beats = Path(assignment.spool), Path(assignment.spool) / BEATS
    beats.mkdir(parents=True, exist_ok=True)
    if ranks.rank == 0 and not (folder / PARENT_MARK).exists():
        raise LaunchError(
            "directory-not-shared",
            "rank 0 runs on {host} and cannot see {folder} of the node that started it",
            "start iosonde on the first node, or give a shared directory with {spell.spool}",
            host=ranks.hosts[0].name,
            folder=folder,
        )
    nodes = list(ranks.node_of)
    hosts = [host.name for host in ranks.hosts]
    shift, reader = envelope.compute_reader_shift(nodes)
    parts = items.lay_out_items(assignment.items, ranks.rank, ranks.size, shift)
    before = clocks.estimate_clocks(ranks)
    # All processes of the trial on this node descend from a single rank's eldest.
    alone = processes.find_eldest(os.environ.get(processes.WATCHDOG_VARIABLE, "")) if ranks.size == 1 else 0
    load = machine.LoadSampler(assignment.root, alone) if ranks.local_rank == 0 else None
    cpus = os.sched_getaffinity(0)  # commands may run anywhere; our own phases are bound
    # Among ranks of a node that does not share the parent's spool, the first speaks for all.
    relays = ranks.local_rank == 0 and not (folder / PARENT_MARK).exists()
    if ranks.local_rank == 0 and not alone:  # no MPI library or launcher that could hold something
        leftovers.record_open_files(beats, f"node-{ranks.node}", (os.getpid(), os.getppid()))
    if ranks.rank == 0:
        write_hosts(beats, hosts)
    with Heartbeat(beats, ranks.rank, relays=relays) as heart:
        bound = binding.bind_to_core(ranks)  # after the heartbeat's thread has started, which may run anywhere
        faults, anew = controls.prepare_caches_and_levels(assignment, ranks, heart)
        unseen, mounts = _check_visibility(assignment, ranks, heart) if not faults else ([], [])
        faults += unseen
        if assignment.root and not faults:  # a failed mount has its own message
            trial_root.check_visible(assignment.root)
        finished = not faults and _run_all(parts, assignment, ranks, heart, cpus, alone)
        loads = ranks.gather(load.result() if load else None) or []
        after = clocks.estimate_clocks(ranks)
        heart.enter("collect")
        _collect_spools(folder, ranks)
        if ranks.rank == 0:
            about = {
                "bound": bound,
                "finished": finished,
                "faults": [last_words.message_to_json(fault) for fault in faults],
                "loads": loads,
                "mounts": mounts,
                "remounts": anew,
            }
            _write_places(folder, nodes, hosts, reader, before, after, about)
    ranks.wait_for_all()
    if ranks.local_rank == 0:
        _remove_remote_spool(folder)


def _check_visibility(
    assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat
) -> tuple[list[str], list[dict[str, str]]]:
    """Return the nodes that do not see the trial's directory, and what each has mounted there; the same on all ranks.
    The heartbeat names a target that hangs."""
    if not assignment.root:
        return [], []
    heart.enter("checking the target")
    return same_target.compare_nodes(ranks, Path(assignment.root))


def _run_all(
    parts: list[items.Part], assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat, cpus: set[int], alone: int
) -> bool:
    """Run set-up, steps and tear-down; after a failure only the tear-down. Return whether all succeeded. ``alone``:
    this process if all of the trial on this node descends from it, else 0."""
    if any(part.item["kind"] == items.COMMAND for part in parts):
        _enter_directory(assignment)
        commands.write_node_files(assignment, ranks)
    meter = wire.create_meter(assignment, ranks)
    if assignment.root:
        meter.idle(ranks, heart)
    # Every rank and every timed phase gets an equal share of the run's budget.
    budget = max(1, assignment.max_operations // (ranks.size * items.count_timed_phases(parts)))
    well = True
    for part in parts:
        if not well and part.item["stage"] != items.TEAR_DOWN:
            continue
        if part.item["kind"] == items.COMMAND:
            done = not ranks.all_max(not commands.run_command_step(part, assignment, ranks, heart, cpus, meter))
        else:
            done = phases.run_phases(part, assignment, ranks, heart, budget, meter)
        well = well and done
    ranks.wait_for_all()
    if ranks.local_rank == 0:
        command.end_trial(assignment.spool, alone)
    return well


def _enter_directory(assignment: Assignment) -> None:
    try:
        os.chdir(assignment.directory)
    except OSError as error:
        raise LaunchError(
            "directory-not-accessible",
            "commands run in {directory}, which {host} cannot enter: {reason}",
            "start iosonde in a directory that exists on every node",
            directory=assignment.directory,
            host=get_this_host().name,
            reason=error.strerror,
        ) from error


def _collect_spools(folder: Path, ranks: mpi.Ranks) -> None:
    """Collect the spools of other nodes' ranks on rank 0, unless they wrote into the same one."""

    shared = (folder / PARENT_MARK).exists()
    if ranks.nodes > 1:
        ranks.stream_to_root(
            () if shared else spool.iterate_pieces(folder, ranks.rank),
            lambda _, piece: spool.append_piece(folder, piece),
        )


def _remove_remote_spool(folder: Path) -> None:
    """Remove the spool of a node that does not share the parent's: its files were sent."""
    if not (folder / PARENT_MARK).exists():
        remove_scratch(folder)


def _write_places(
    folder: Path,
    nodes: list[int],
    hosts: list[str],
    reader: str,
    before: clocks.Clocks,
    after: clocks.Clocks,
    about: dict[str, Any],
) -> None:
    """Write what is known about the ranks as a whole; the file's presence means that the ranks finished."""
    loads = [{"host": hosts[rank], **load} for rank, load in enumerate(about["loads"]) if load]
    places = about | {
        "nodes": nodes,
        "hosts": hosts,
        "reader": reader,
        "offset_ns": {str(rank): offset for rank, offset in enumerate(before.offset_ns)},
        "error_ns": max(before.worst_error_ns, after.worst_error_ns),
        "drift_ns": [late - early for early, late in zip(before.offset_ns, after.offset_ns, strict=True)],
        "at_ns": [before.at_ns, after.at_ns],
        "loads": loads,
    }
    temporary = folder / "places.tmp"
    temporary.write_text(json.dumps(places))
    temporary.rename(folder / PLACES)


def rescue_results(assignment: Assignment, ranks: mpi.Ranks) -> None:
    """Rescue the results after ranks died: one process per node ends their commands and sends finished files to rank
    0's spool, unless it has all. A transfer that a rank's death interrupted is repeated."""
    folder = Path(assignment.spool)
    command.end_trial(assignment.spool)
    shared = (folder / PARENT_MARK).exists() or not folder.is_dir()
    complete = ranks.broadcast((folder / PLACES).exists())
    here = [] if shared or complete else list(spool.list_ranks(folder))
    for rank in itertools.chain(*(ranks.gather(here) or [])):
        spool.remove_sent_files(folder, rank)
    outgoing = (piece for rank in here for piece in spool.iterate_pieces(folder, rank))
    ranks.stream_to_root(outgoing, lambda _, piece: spool.append_piece(folder, piece))
    leftovers.remove_recorded(folder / BEATS)
    _remove_remote_spool(folder)


def main() -> None:
    """Run the entry point of a rank. An error is left in the spool as one message, and printed on stderr, which reaches
    the parent from other nodes too; the parent shows it."""
    assignment = Assignment.from_word(sys.argv[1])
    ranks = None
    try:
        ranks = mpi.connect_ranks(assignment.ranks)
        if isinstance(assignment, Sealed):
            assignment = assignment.opened(ranks)
        tempfile.tempdir = str(Path(assignment.spool).parent)  # ours; commands keep the original one
        (rescue_results if assignment.only_collect else run)(assignment, ranks)
    except Exception as error:
        last_words.report_failure(Path(assignment.spool), error)
        if ranks:
            ranks.abort(3)
        raise


if __name__ == "__main__":
    main()
