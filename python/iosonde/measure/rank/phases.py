"""The phases of a native workload on one rank: prepare, wait, run the engine, leave the result."""

import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from iosonde.core import faults, truth
from iosonde.core import wire as words
from iosonde.core.faults import BEGUN, ENDED
from iosonde.core.program_output import run_program
from iosonde.core.workload import Files, MpiIo, Workload
from iosonde.measure import spool
from iosonde.measure.assignment import Assignment
from iosonde.measure.items import Part
from iosonde.measure.workloads.phase_plan import PhasePlan
from iosonde.ranks import binding, mpi
from iosonde.ranks.heartbeat import RUNNING, WAITING, Heartbeat

from . import cache, hooks, mounted, trial_root, wear_out
from .wire import Meter

# All ranks spin to one agreed moment if each has its own core; else spinning steals the others' core.
START_DELAY_NS = 1_000_000
_ANSWERS_S = 60.0


def run_phases(
    part: Part, assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat, budget: int, meter: Meter
) -> bool:
    """Run all phases in order, as long as all ranks succeed. Return whether they did to the end. ``budget``: the most
    operations that a timed phase records one by one. ``meter`` counts the network traffic meanwhile."""
    usual = part.item["settings"].get("cache") == "warm"
    for index, plan in enumerate(part.plans, part.first):
        warm = usual if plan.warm is None else plan.warm
        heart.enter(f"{plan.operation} (preparing)")
        looked = prepare_caches_before_reads(plan, assignment, warm, ranks) if plan.reads else {}
        done = _run_phase(index, plan, assignment, ranks, heart, budget if plan.timed else 0, meter)
        spool.append_phase(Path(assignment.spool), replace(done, cache=looked if plan.phase else {}))
        ranks.wait_for_all()  # sleep: spinning would take the CPU from ranks that still measure
        if plan.timed:
            note_mark(assignment, ranks, ENDED, index, plan.operation)
        meter.ends(words.TIMED)
        if meter.counts and plan.timed and plan.writes and not warm:
            heart.enter(f"{plan.operation} (writing out)", WAITING)
            cache.write_out(Path(assignment.root))  # data that this node still held leaves it now, counted separately
            meter.ends(words.FLUSH)
        meter.keep(index)
        if plan.timed:
            _query_servers(assignment, ranks, ENDED, index)
        if ranks.all_max(0 if done.stopped != "error" else 1):
            return False
    return True


def _run_phase(
    index: int,
    plan: PhasePlan,
    assignment: Assignment,
    ranks: mpi.Ranks,
    heart: Heartbeat,
    budget: int,
    meter: Meter,
) -> spool.RankPhase:
    if plan.phase is None:
        return _stand_by(index, plan, assignment, ranks, heart, meter)
    session = open_session(plan, assignment.root, assignment.seed, ranks, budget)
    try:
        session.prepare(0)
        start_at_ns = _begin_phase(index, plan, assignment, ranks, heart, meter, session.operations_done)
        (record,) = session.run(0, start_at_ns)
        if plan.wears_out:
            record = _extend_to_wear_out(session, record, ranks)
    finally:
        heart.enter(plan.operation, WAITING)
        session.close()
    return spool.RankPhase(
        rank=ranks.rank,
        phase=index,
        started_ns=record.started_ns,
        ended_ns=record.ended_ns,
        stopped=record.stopped,
        recorded_all=record.complete,
        totals=record.totals,
        errors=record.errors[:10],
        histograms=_build_histograms(record),
        extra_bytes=record.extra_bytes,
        truth=truth.encode_classes(record.truth) if "machine" in plan.backend else "",
        hints=list_hints(plan, session),
        operations=spool.records_to_operations(record.operations, ranks.rank, index) if plan.timed else None,
    )


def _stand_by(
    index: int, plan: PhasePlan, assignment: Assignment, ranks: mpi.Ranks, heart: Heartbeat, meter: Meter
) -> spool.RankPhase:
    """Stand by in a phase without work for this rank. It takes part in all collective steps, as in `_run_phase`, and
    leaves a record with ``started_ns`` 0, because the phase would otherwise lack this rank."""
    _begin_phase(index, plan, assignment, ranks, heart, meter)
    if plan.wears_out:
        ranks.all_max(0)
    return spool.RankPhase(ranks.rank, index, 0, 0, stopped="count", recorded_all=True, totals=[], errors=[])


def _begin_phase(
    index: int,
    plan: PhasePlan,
    assignment: Assignment,
    ranks: mpi.Ranks,
    heart: Heartbeat,
    meter: Meter,
    progress: Callable[[], int] | None = None,
) -> int:
    """Wait for all ranks, and return the agreed start on this rank's clock (0: at once). ``progress`` counts the
    operations of a rank with work."""
    heart.enter(plan.operation, WAITING)
    ranks.wait_for_all()
    if plan.timed:
        _query_servers(assignment, ranks, BEGUN, index)
    meter.ends(words.PREPARING)
    if progress:
        heart.enter(plan.operation, RUNNING, progress)
    if not plan.timed:
        return 0
    note_mark(assignment, ranks, BEGUN, index, plan.operation)
    return start_together(ranks)


def _extend_to_wear_out(session: Any, record: Any, ranks: mpi.Ranks) -> Any:
    """Add work until this rank has done as much as the fastest one at the time limit. Return the joined record."""
    done = sum(entry["count"] for entry in record.totals)
    most = ranks.all_max(done)
    if done == most or record.stopped == "error":
        return record
    (more,) = session.wear_out(0, most)
    return wear_out.join_phase_parts(record, more)


def start_together(ranks: mpi.Ranks) -> int:
    """Return the agreed moment on this rank's clock, or 0 (start at once) if ranks share cores."""
    if binding.has_shared_cores(ranks):
        ranks.barrier()
        return 0
    return ranks.agree_start(START_DELAY_NS)


def prepare_caches_before_reads(
    plan: PhasePlan, assignment: Assignment, warm: bool, ranks: mpi.Ranks
) -> dict[str, Any]:
    """Bring the caches into the requested state, and return their actual state."""
    root, hook = Path(assignment.root), assignment.regime.before_reads
    if warm:
        return cache.measure_residency(root, _list_names(plan.reads))
    # Dirty pages cannot be dropped: every node first writes out its own, also those that others will read.
    if ranks.local_rank == 0:
        cache.write_out(root)
    before = mounted.find_mount_of_path(root)
    ranks.barrier()
    at, began_s = mounted.utc_now(), time.monotonic()
    if hook:
        if ranks.local_rank == 0:
            hooks.run(hook, {"TARGET": str(root.parents[1]), "RANK": str(ranks.rank)})
        ranks.wait_for_all()  # sleep: a hook may take seconds, and spinning would take its CPU
    took_s = time.monotonic() - began_s
    anew = mounted.find_mount_of_path(root) != before
    dropped = anew or cache.drop_files(root, _list_names(plan.reads))
    # A page that another rank is just dropping would be counted as kept.
    ranks.barrier()
    # A fresh client has nothing of the files, and each check may bring a file in.
    if anew:
        done: mounted.RemountDone = {
            "mount": before[1],
            "host": ranks.hosts[ranks.rank].name,
            "at": at,
            "seconds": took_s,
        }
        return {**cache.JUST_MOUNTED, **({"remount": done} if ranks.local_rank == 0 else {})}
    return cache.check_after_drop(root, _list_names(plan.reads), dropped)


def _list_names(reads: Iterable[Files]) -> list[str]:
    return [f"{files.template}{files.first + i:06d}{files.suffix or ''}" for files in reads for i in range(files.count)]


def _build_histograms(record: Any) -> dict[str, list[list[int]]]:
    return {
        str(kind): [[int(bucket), int(count)] for bucket, count in zip(buckets, counts, strict=True)]
        for kind, (buckets, counts) in record.histograms.items()
    }


def open_session(plan: PhasePlan, root: str, seed: int, ranks: mpi.Ranks, budget: int) -> Any:
    """Return an object with the methods of ``_native.Session`` that runs this rank's phase below ``root``.

    ``budget``: the most operations that the engine records one by one.
    """
    from iosonde.engine import _native

    if isinstance(plan.phase, MpiIo):
        from . import mpi_io

        trial_root.check_visible(root)  # MPI accepts paths only
        return mpi_io.Session(plan.phase, root, seed, ranks)
    assert plan.phase is not None
    with trial_root.open_trial_root(root) as here:
        workload = Workload(here, ((plan.phase,),), seed, plan.backend, ranks.rank)
        return _native.Session(workload.to_json(), budget, record=plan.timed)


def list_hints(plan: PhasePlan, session: Any) -> dict[str, dict[str, str]]:
    """Return the hints that a phase requested and those in force; empty for a phase of the engine."""
    return {"asked": dict(plan.phase.hints), "took": session.hints} if isinstance(plan.phase, MpiIo) else {}


def _query_servers(assignment: Assignment, ranks: mpi.Ranks, when: str, phase: int) -> None:
    """Have rank 0 query the servers' counters, if servers count, and keep the answer, if any, in the spool. ``when``:
    core.faults.BEGUN, ENDED.

    All ranks wait for the answer, so that the servers' work meanwhile belongs to no rank.
    """
    if not assignment.server_counts:
        return
    if ranks.rank == 0:
        with suppress(OSError, subprocess.SubprocessError):
            result = run_program(assignment.server_counts, _ANSWERS_S)
            result.check_returncode()
            spool.build_server_counts_path(Path(assignment.spool), phase, when).write_text(result.stdout)
    ranks.wait_for_all()


def note_mark(assignment: Assignment, ranks: mpi.Ranks, what: str, phase: int, operation: str) -> None:
    """Have rank 0 note that a phase or step has BEGUN or ENDED, for the process that inflicts the trial's faults.

    A line of a file, before the clock runs and after it has stopped; nothing if no faults are planned.
    """
    if assignment.marks and ranks.rank == 0:
        faults.append_mark(assignment.marks, faults.PhaseMark(what, phase, operation, time.monotonic_ns()))
