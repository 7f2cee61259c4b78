"""What one rank does in one trial: ``python -m iosonde.measure.rank_program ASSIGNMENT``.

For each phase: prepare, barrier, run, leave the result in the spool. The ranks agree after each phase whether
to go on. Everything that a rank decides it decides from the assignment, so all ranks decide alike.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError, LaunchError, TargetError
from iosonde.core.workload import Files
from iosonde.ranks import binding, clocks, machine, mpi
from iosonde.ranks.heartbeat import RUNNING, WAITING, Heartbeat

from . import cache, envelope, hooks, sessions, spool
from .envelope import PhasePlan

# All ranks spin to one agreed moment where each has a core of its own; else spinning steals the others' core.
START_DELAY_NS = 1_000_000
# Made by the parent in the spool: who sees it shares the spool with the parent.
PARENT_MARK = "parent"
BEATS = "beats"


@dataclass(frozen=True)
class Assignment:
    """One trial, as the parent describes it to the ranks. ``root`` is the trial's directory on the target.

    It travels on the command line: a rank on another node cannot read the parent's files.
    """

    root: str
    spool: str
    ranks: int
    settings: dict[str, Any]
    seed: int
    max_operations: int
    before_reads: str | None = None
    only_collect: bool = False

    def to_word(self) -> str:
        """One word that needs no quoting, whatever shells and launchers it passes through."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()

    @staticmethod
    def from_word(word: str) -> Assignment:
        """The inverse of ``to_word``."""
        return Assignment(**json.loads(base64.urlsafe_b64decode(word)))


def run(assignment: Assignment, ranks: mpi.Ranks) -> None:
    """All phases of this rank. Raises IosondeError for what is wrong with this node as a whole."""
    folder = Path(assignment.spool)
    beats = folder / BEATS
    beats.mkdir(parents=True, exist_ok=True)
    if ranks.rank == 0 and not (folder / PARENT_MARK).exists():
        raise LaunchError(
            f"rank 0 runs on {ranks.hosts[0].name} and cannot see {folder} of the node that started it",
            "start iosonde on the first of the nodes, or give a shared directory with --spool",
        )
    if not Path(assignment.root).is_dir():
        raise TargetError(
            f"{assignment.root} is not visible on this node",
            "mount the target at the same path on every node",
        )
    settings = envelope.Settings(**assignment.settings)
    nodes = list(ranks.node_of)
    hosts = [host.name for host in ranks.hosts]
    shift, reader = envelope.reader_shift(nodes)
    plans = envelope.plan(settings, ranks.rank, ranks.size, shift)
    before = clocks.estimate(ranks)
    load = machine.LoadSampler() if ranks.local_rank == 0 else None
    with Heartbeat(beats, ranks.rank) as heart:
        bound = binding.bind(ranks)  # after the heartbeat's thread has started: that one may run anywhere
        finished = _phases(plans, assignment, settings, ranks, heart)
        loads = ranks.gather(load.result() if load else None) or []
        after = clocks.estimate(ranks)
        heart.enter("collect")
        _collect(folder, ranks)
        if ranks.rank == 0:
            _write_places(folder, nodes, hosts, reader, before, after, loads, bound, finished)
    ranks.wait_for_all()
    if ranks.local_rank == 0:
        _leave_nothing(folder)


def _phases(
    plans: list[PhasePlan],
    assignment: Assignment,
    settings: envelope.Settings,
    ranks: mpi.Ranks,
    heart: Heartbeat,
) -> bool:
    """All phases in order, as long as all ranks are well; whether they were to the end."""
    # Of the run's budget every rank and every timed phase has the same part.
    budget = max(1, assignment.max_operations // (ranks.size * sum(plan.timed for plan in plans)))
    for index, plan in enumerate(plans):
        heart.enter(f"{plan.operation} (preparing)")
        well = _phase(index, plan, assignment, settings, ranks, heart, budget if plan.timed else 0)
        if ranks.all_max(0 if well else 1):
            return False
    return True


def _phase(
    index: int,
    plan: PhasePlan,
    assignment: Assignment,
    settings: envelope.Settings,
    ranks: mpi.Ranks,
    heart: Heartbeat,
    budget: int,
) -> bool:
    """One phase, of which ``budget`` operations are recorded one by one; whether it went well here."""
    looked = _before_reads(plan, assignment, settings, ranks) if plan.reads else {}
    if plan.phase is None:
        ranks.wait_for_all()
        return True
    session = sessions.open_session(plan.phase, assignment.root, assignment.seed, ranks, budget, plan.timed)
    try:
        session.prepare(0)
        heart.enter(plan.operation, WAITING)
        ranks.wait_for_all()
        heart.enter(plan.operation, RUNNING, session.operations_done)
        start_at_ns = _start(ranks) if plan.timed else 0
        (record,) = session.run(0, start_at_ns)
    finally:
        heart.enter(plan.operation, WAITING)
        session.close()
    part = spool.RankPhase(
        rank=ranks.rank,
        phase=index,
        started_ns=record.started_ns,
        ended_ns=record.ended_ns,
        stopped=record.stopped,
        recorded_all=record.complete,
        totals=record.totals,
        errors=record.errors[:10],
        cache=looked,
        histograms=_histograms(record),
        extra_bytes=record.extra_bytes,
        hints=sessions.hints_of(plan.phase, session),
        operations=spool.as_operations(record.operations, ranks.rank, index) if plan.timed else None,
    )
    spool.write(Path(assignment.spool), part)
    return record.stopped != "error"


def _start(ranks: mpi.Ranks) -> int:
    """The agreed moment on this rank's clock, or 0 (start at once) where ranks share cores."""
    ranks_here = ranks.node_of.count(ranks.node)
    crowded = ranks.all_max(1 if ranks_here > len(os.sched_getaffinity(0)) else 0)
    if crowded:
        ranks.barrier()
        return 0
    return ranks.agree_start(START_DELAY_NS)


def _before_reads(
    plan: PhasePlan, assignment: Assignment, settings: envelope.Settings, ranks: mpi.Ranks
) -> dict[str, Any]:
    """Bring the caches into the state that was asked for, and say what state they are in."""
    root = Path(assignment.root)
    if settings.cache == "warm":
        return cache.resident(root, _names(plan.reads))
    # Dirty pages cannot be dropped: every node writes out its own first, also those that others will read.
    if ranks.local_rank == 0:
        cache.write_out(root)
    ranks.barrier()
    if assignment.before_reads and ranks.local_rank == 0:
        hooks.run(assignment.before_reads, {"TARGET": str(root.parents[1]), "RANK": str(ranks.rank)})
    ranks.barrier()
    dropped = cache.drop(root, _names(plan.reads))
    # A page that another rank is just letting go of would be counted as kept.
    ranks.barrier()
    return cache.after_drop(root, _names(plan.reads), dropped)


def _names(reads: Iterable[Files]) -> list[str]:
    return [f"{files.template}{files.first + i:06d}" for files in reads for i in range(files.count)]


def _histograms(record: Any) -> dict[str, list[list[int]]]:
    return {
        str(kind): [[int(bucket), int(count)] for bucket, count in zip(buckets, counts, strict=True)]
        for kind, (buckets, counts) in record.histograms.items()
    }


def _collect(folder: Path, ranks: mpi.Ranks) -> None:
    """Bring what ranks on other nodes left to rank 0's spool, unless they wrote into the same one."""

    shared = (folder / PARENT_MARK).exists()
    if ranks.nodes > 1:
        ranks.stream_to_root(
            () if shared else spool.pieces(folder, ranks.rank),
            lambda rank, piece: spool.put(folder, rank, piece),
        )


def _leave_nothing(folder: Path) -> None:
    """On a node that does not share the parent's spool: what was sent home need not stay here."""
    if not (folder / PARENT_MARK).exists():
        shutil.rmtree(folder, ignore_errors=True)


def _write_places(
    folder: Path,
    nodes: list[int],
    hosts: list[str],
    reader: str,
    before: clocks.Clocks,
    after: clocks.Clocks,
    loads: list[dict[str, float | None] | None],
    bound: bool,
    finished: bool,
) -> None:
    """What is known about the ranks as a whole; its presence says that the ranks came to their end."""
    places = {
        "nodes": nodes,
        "hosts": hosts,
        "reader": reader,
        "offset_ns": {str(rank): offset for rank, offset in enumerate(before.offset_ns)},
        "error_ns": max(before.worst_error_ns, after.worst_error_ns),
        "drift_ns": [late - early for early, late in zip(before.offset_ns, after.offset_ns, strict=True)],
        "at_ns": [before.at_ns, after.at_ns],
        "loads": [{"host": hosts[rank], **load} for rank, load in enumerate(loads) if load],
        "bound": bound,
        "finished": finished,
    }
    beside = folder / "places.tmp"
    beside.write_text(json.dumps(places))
    beside.rename(folder / "places.json")


def rescue(assignment: Assignment, ranks: mpi.Ranks) -> None:
    """After ranks died: one process per node brings what was finished there to rank 0's spool."""
    folder = Path(assignment.spool)
    here = () if (folder / PARENT_MARK).exists() else spool.ranks_in(folder)

    def outgoing() -> Iterable[bytes]:
        for rank in here:
            for piece in spool.pieces(folder, rank):
                yield rank.to_bytes(4, "little") + piece

    ranks.stream_to_root(outgoing(), lambda _, piece: spool.put(folder, int.from_bytes(piece[:4], "little"), piece[4:]))
    _leave_nothing(folder)


def main() -> None:
    """Entry point of a rank. What goes wrong is left in the spool as one sentence; the parent shows it."""
    assignment = Assignment.from_word(sys.argv[1])
    ranks = None
    try:
        ranks = mpi.connect(assignment.ranks)
        (rescue if assignment.only_collect else run)(assignment, ranks)
    except Exception as error:
        _leave(Path(assignment.spool), error)
        if ranks:
            ranks.abort(3)
        raise


def _leave(folder: Path, error: Exception) -> None:
    message, hint = (error.message, error.hint) if isinstance(error, IosondeError) else (repr(error), "")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"error-{mpi.this_host().name}-{os.getpid()}.json"
    path.write_text(json.dumps({"message": message, "hint": hint, "trace": traceback.format_exc()}))


if __name__ == "__main__":
    main()
