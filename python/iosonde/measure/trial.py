"""Trial → Run: make its directory, start and watch the ranks, collect; clean up once the Run is stored."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iosonde.core.errors import TargetFaultError
from iosonde.core.filesystems import is_network
from iosonde.core.message import Message
from iosonde.core.schema import OBSERVED_FACTORS
from iosonde.core.types import FactorValue, Run, Trial
from iosonde.foreign.removal import remove_scratch
from iosonde.ranks import watchdog

from . import items, last_words, mpi_jobs, on_servers, placeholders, spools
from .asked_commands import check_placeholders
from .assignment import Assignment
from .bench import Bench
from .collect import wire
from .collect.assemble import Collected, SpooledTrial, collect_trial
from .rank import cache
from .rank.program import BEATS, PARENT_MARK, PLACES
from .spec import CACHE_NONE, CACHE_REMOUNT, CLIENTS_ANEW, NativeStep
from .surroundings import Surroundings
from .workloads import envelope

RESCUE_S = 60.0
# Remaining time for a rescue out of the promised 10 s after the idle limit: with ranks that ended on request, and
# without.
SOON_S, VERY_SOON_S = 5.0, 2.0
SILENT_NODES = "silent-nodes"


def run_trial(bench: Bench, trial: Trial, run_id: str, deadline_s: float | None) -> Run:
    """Run one trial. A failed trial is a Run too, with ``missing`` saying what it lacks.

    ``raw`` of the Run may hold paths of large outputs: once it is stored, ``discard_files`` removes them, and
    ``remove_trial_files`` the trial's files on the target. Raises KeyboardInterrupt after having ended the ranks,
    InputError for an unknown placeholder, TargetFaultError if the trial's directory cannot be created.
    """
    check_placeholders(bench, trial.factors)
    root = bench.workspace.trial(name_trial_directory(trial.index)) if bench.workspace else None
    with (
        spools.open_trial(bench.experiment, bench.spool_parent, bench.remember) as spool,
        Surroundings(bench, trial, name_trial_directory(trial.index)) as around,
    ):
        around.look_before()
        ranks = _watch_ranks(bench, _build_assignment(bench, trial, root, spool.folder, around.marks), deadline_s)
        around.look_after(ranks.outcome)
        results = _collect_results(bench, trial, ranks)
        missing = _list_missing(bench, trial, ranks, results, around)
        # An output that is too large for the memory stays in its file.
        spool.holds_outputs = any(isinstance(content, Path) for content in results.collected.raw.values())
    return replace(_build_run(bench, trial, ranks, results, around), id=run_id, missing=missing)


def remove_trial_files(bench: Bench, run: Run) -> None:
    """Remove the trial's files from the target once its Run is stored. Raises TargetFaultError."""
    if bench.workspace:
        bench.workspace.remove_trial(name_trial_directory(run.facts["order"]))


def name_trial_directory(index: int) -> str:
    """Return the name of a trial's directory."""
    return f"trial-{index:04d}"


def discard_files(run: Run) -> None:
    """Remove the files that a Run of ``run_trial`` still refers to."""
    for folder in {content.parent for content in run.raw.values() if isinstance(content, Path)}:
        remove_scratch(folder)


def _build_assignment(bench: Bench, trial: Trial, root: Path | None, spool: Path, marks: str) -> Assignment:
    nodes, per_node = trial.nodes, trial.ranks_per_node
    values = placeholders.build_trial_values(trial, root)
    trial_items = items.build_items(bench.set_up, bench.steps, bench.tear_down, values)
    trial_items = items.mark_skipped_phases(
        on_servers.assign_servers(trial_items, bench.servers), nodes * per_node, bench.filesystem_type, nodes
    )
    return Assignment(
        root=str(root or ""),
        spool=str(spool),
        ranks=nodes * per_node,
        items=mpi_jobs.prepare_mpi_items(trial_items, bench.launcher, values),
        seed=trial.seed,
        max_operations=bench.max_operations,
        ranks_per_node=per_node,
        values=values,
        controls=[asdict(control) for control in bench.controls],
        cache=asdict(bench.cache),
        hosts=list(bench.launcher.addresses(nodes)),
        directory=os.getcwd(),
        outside=mpi_jobs.list_launcher_variables(),
        file_servers=list(bench.filesystem.get("servers") or ()),
        server_counts=list(bench.server_hands.tell) if bench.server_hands else [],
        marks=marks,
    )


@dataclass(frozen=True)
class _Ranks:
    """The ranks of a trial once they have ended: their orders, their outcome, start and duration."""

    assignment: Assignment
    outcome: watchdog.Outcome
    started_at: datetime
    seconds: float


def _watch_ranks(bench: Bench, assignment: Assignment, deadline_s: float | None) -> _Ranks:
    started_at, started = datetime.now(UTC), time.monotonic()
    folder = Path(assignment.spool)
    (folder / PARENT_MARK).touch()
    outcome = watchdog.watch_command(
        _build_command(bench, assignment),
        heartbeat_dir=folder / BEATS,
        limits=watchdog.TimeLimits(deadline_s, bench.idle_s),
        on_tick=bench.on_tick,
        ranks=assignment.ranks,
        forked=bench.forked if assignment.ranks == 1 else None,
    )
    return _Ranks(assignment, outcome, started_at, time.monotonic() - started)


def _build_command(bench: Bench, assignment: Assignment) -> list[str]:
    program = [sys.executable, "-m", "iosonde.measure.rank.program", assignment.to_word()]
    return bench.launcher.command(assignment.ranks // assignment.ranks_per_node, assignment.ranks_per_node, program)


@dataclass(frozen=True)
class _Results:
    """The ranks' results, as far as they arrived here. ``places`` is rank 0's record of where they ran (empty: none).
    ``reader`` says who reads a file, ``skipped`` what was skipped, and why; ``unreached`` names nodes that keep their
    results.
    """

    places: dict[str, Any]
    reader: str
    skipped: dict[str, str]
    unreached: list[str]
    collected: Collected


def _collect_results(bench: Bench, trial: Trial, ranks: _Ranks) -> _Results:
    assignment, folder = ranks.assignment, Path(ranks.assignment.spool)
    places, unreached = _read_places(folder), []
    # Ranks that had sent everything may have died before they removed it.
    if (ranks.outcome.exit_code or not places) and trial.nodes > 1 and bench.launcher.name != "local":
        unreached = _rescue_ranks(bench, ranks)
    shift, reader = envelope.compute_reader_shift(places.get("nodes") or [0] * assignment.ranks)
    parts = items.lay_out_items(assignment.items, 0, assignment.ranks, shift)
    skipped = {plan.operation: plan.skipped for part in parts for plan in part.plans if plan.skipped}
    target, copies = str(bench.facts.get("target") or ""), wire.count_copies_sent(bench.filesystem)
    spooled_trial = SpooledTrial(folder, assignment.ranks, places, trial.repetition, bench.parse, target, copies)
    return _Results(places, reader, skipped, unreached, collect_trial(spooled_trial, parts))


def _rescue_ranks(bench: Bench, ranks: _Ranks) -> list[str]:
    """Fetch the finished results of dead ranks on other nodes. A node that is gone keeps its own: the rest is used, and
    the missing nodes are named.

    After ranks that hung it has to be quick: it may hang as they did, and the campaign's limit has passed.
    """
    assignment, folder = ranks.assignment, Path(ranks.assignment.spool)
    nodes = assignment.ranks // assignment.ranks_per_node
    fetched = watchdog.watch_command(
        _build_command(bench, replace(assignment, ranks=nodes, ranks_per_node=1, only_collect=True)),
        heartbeat_dir=folder / "rescue",
        limits=watchdog.TimeLimits(compute_rescue_limit_s(ranks.outcome, bench.idle_s), grace_s=0.5),
        ranks=nodes,
    )
    if not fetched.exit_code:
        return []
    return [
        Message(
            SILENT_NODES,
            "{path} and processes may be left on nodes that did not answer; the same command removes the files",
            path=folder,
        )
    ]


def compute_rescue_limit_s(ended: watchdog.Outcome, idle_s: float) -> float:
    """Return the time limit of a rescue after this outcome."""
    if ended.leftover_pids:
        return VERY_SOON_S
    return SOON_S if ended.reason == watchdog.IDLE else min(RESCUE_S, idle_s)


def _read_places(folder: Path) -> dict[str, Any]:
    file = folder / PLACES
    return dict(json.loads(file.read_text())) if file.exists() else {}


def _explain_failure(folder: Path, outcome: watchdog.Outcome, places: dict[str, Any]) -> list[str]:
    """Return the reasons why the ranks did not finish; empty if they did."""
    faults = [last_words.message_from_json(fault) for fault in places.get("faults", [])]
    messages: list[str] = [*last_words.read_errors(folder), *faults]
    if outcome.timed_out:
        messages.append(
            Message(
                "ended-by-watchdog",
                "ended by the watchdog ({limit}) after {seconds:.0f} s; {states}",
                limit=outcome.reason,
                seconds=outcome.seconds,
                states="; ".join(outcome.sentences()[:5]),
            )
        )
    elif outcome.exit_code and not messages:
        messages.append(last_words.describe_failed_ranks(outcome))
    if outcome.leftover_pids:
        messages.append(
            Message(
                "leftover-processes",
                "some processes could not be ended: {pids}",
                pids=", ".join(map(str, outcome.leftover_pids)),
            )
        )
    messages += [
        Message(
            "mapped-file-left",
            "{path} is left: a rank that hangs in the kernel maps it; the next run of this store removes it",
            path=path,
        )
        for path, *_ in outcome.open_files
    ]
    if not places and not messages:
        messages.append(Message("no-reason", "the ranks ended early and left no reason"))
    return messages


def _list_missing(bench: Bench, trial: Trial, ranks: _Ranks, results: _Results, around: Surroundings) -> list[str]:
    """Return what the trial lacks, in words; empty if it is complete."""
    messages = [
        *_explain_failure(Path(ranks.assignment.spool), ranks.outcome, results.places),
        *results.unreached,
        *results.collected.missing,
        *around.lab.missing,
    ]
    return messages + _check_moved(bench, trial, ranks.outcome, not messages)


def _check_moved(bench: Bench, trial: Trial, outcome: watchdog.Outcome, well: bool) -> list[str]:
    """Return, in words, whether the measured directory moved, so that another place may have been measured."""
    if not bench.workspace:
        return []
    if outcome.timed_out or outcome.leftover_pids:
        bench.workspace.suspect()
    try:
        if well:
            bench.workspace.verify(name_trial_directory(trial.index))
    except TargetFaultError as error:
        return [error.message]
    return []


def _build_run(bench: Bench, trial: Trial, ranks: _Ranks, results: _Results, around: Surroundings) -> Run:
    """Build the Run, except for its id and what it lacks."""
    collected = results.collected
    factors = _build_factors(bench, trial, results, around)
    return Run(
        id="",
        experiment=bench.experiment,
        source=_name_source(bench),
        started_at=ranks.started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        seconds=ranks.seconds,
        seed=trial.seed,
        factors=factors,
        observations=[*collected.observations, *around.observations],
        facts=_build_facts(bench, trial, results, around),
        operations=collected.operations,
        phases=collected.phases,
        raw=collected.raw | around.servers.raw,
        headlines=collected.headlines,
        row_settings=_list_row_settings(collected, factors),
    )


def _list_row_settings(collected: Collected, factors: Mapping[str, FactorValue]) -> dict[str, dict[str, Any]]:
    """Return the settings of rows, without factors of the trial: its ``ranks`` are not the threads of a job. Rows that
    nothing else distinguishes keep their key."""
    rows = {
        key: {**row, "factors": {name: value for name, value in row["factors"].items() if name not in factors}}
        for key, row in collected.row_settings.items()
    }
    several = Counter(repr(row) for row in rows.values())
    return {key: row for key, row in rows.items() if row["factors"] and several[repr(row)] == 1}


def _build_factors(bench: Bench, trial: Trial, results: _Results, around: Surroundings) -> dict[str, FactorValue]:
    """Return the factors, with those that were set first: an analysis groups by the first of several that separate the
    same runs."""
    nobody_looked = cache.WARM if bench.cache.between_trials == CACHE_NONE else cache.COLD_REQUESTED
    client_cache = results.collected.client_cache or nobody_looked
    observed = (results.reader, client_cache, _describe_server_cache(bench), bench.allocation)
    factors: dict[str, FactorValue] = {
        **trial.factors,
        "ranks": _count_processes(bench, trial, results.collected),
        "repetition": trial.repetition,
        "block": trial.block,
        **dict(zip(OBSERVED_FACTORS, observed, strict=True)),
        **around.factors,
    }
    return factors | results.collected.factors | factors


def _count_processes(bench: Bench, trial: Trial, collected: Collected) -> int:
    """Return the ranks of the trial, or the processes of the tool that it ran once, as an import of it has."""
    ranks = trial.nodes * trial.ranks_per_node
    if ranks > 1 or any(isinstance(step, NativeStep) for step in bench.steps):
        return ranks
    count = collected.factors.get("ranks")
    return count if isinstance(count, int) and count > 0 else ranks


def _build_facts(bench: Bench, trial: Trial, results: _Results, around: Surroundings) -> dict[str, Any]:
    places = results.places
    return {
        **bench.facts,
        **around.lab.facts,
        "order": trial.index,
        "hosts": places.get("hosts", []),
        "nodes": places.get("nodes", []),
        "clocks": {key: places.get(key) for key in ("offset_ns", "error_ns", "drift_ns", "at_ns")},
        "loads": places.get("loads", []),
        "mounts": places.get("mounts", []),
        "bound": places.get("bound"),
        **({"remounts": anew} if (anew := places.get("remounts")) else {}),
        **around.facts,
        **({"skipped": results.skipped} if results.skipped else {}),
    }


def _name_source(bench: Bench) -> str:
    """Return the source of the results: the native workloads by name, or the experiment's own commands."""
    native = dict.fromkeys(step.workload for step in bench.steps if isinstance(step, NativeStep))
    return f"iosonde {'+'.join(native)}" if native else "iosonde commands"


def _describe_server_cache(bench: Bench) -> str:
    mount = bench.facts["machine"]["mount"] or {}
    if not is_network(mount.get("type", ""), mount.get("source", "")):
        return cache.NO_SERVER
    is_cold = bench.cache.before_reads not in ("", CLIENTS_ANEW) or bench.cache.between_trials == CACHE_REMOUNT
    return cache.COLD_REQUESTED if is_cold else cache.WARM
