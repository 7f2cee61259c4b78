"""Trial → Run: make its directory, start the ranks, watch them, collect; clean up once the Run is kept."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from iosonde.core.errors import TargetFaultError
from iosonde.core.filesystems import is_network
from iosonde.core.schema import HEALTH, OBSERVED_FACTORS
from iosonde.core.types import Run, Trial
from iosonde.ranks import leftovers, watchdog
from iosonde.ranks.forked import ForkedRanks
from iosonde.ranks.launch import Launcher
from iosonde.ranks.machine import TargetCondition

from . import conditions, faults, items, last_words, mpi_jobs, on_servers, placeholders, spools
from .assignment import Assignment
from .collect import assemble, wire
from .collect.commands import Parse
from .rank import cache
from .rank.program import BEATS, PARENT_MARK, PLACES
from .servers_seen import ServerHands, ServersOfTrial
from .spec import CACHE_NONE, CACHE_REMOUNT, CLIENTS_ANEW, CacheRegime, CommandStep, Control, NativeStep, Step
from .workloads import envelope

RESCUE_S = 60.0
# What of the promised 10 s after the idle limit is left for a rescue: with ranks that ended when told to, and without.
SOON_S, VERY_SOON_S = 5.0, 2.0
SILENT_NODES = "nodes that did not answer"


class TrialDirectories(Protocol):
    """Where trials have their directories: a ``workspace.Workspace``, or one that a ``keeper`` looks after."""

    def trial(self, name: str) -> Path:
        """Make the directory of a trial."""

    def verify(self, name: str) -> None:
        """Raises TargetFaultError if it is not there any more."""

    def remove_trial(self, name: str) -> None:
        """Remove it."""

    def suspect(self) -> None:
        """Ranks hung on the target."""


@dataclass(frozen=True)
class Bench:
    """What all trials of one campaign share. ``facts`` are stored with each run; ``allocation`` numbers the set of
    nodes (a resume on other nodes has another number). ``workspace`` is None where commands alone are run and there is
    no target: they say themselves where they write. ``parse`` reads what a step with ``parse`` printed. In ``remember``
    is kept what cannot be removed before a process that hangs has ended (`leftovers.remove_remembered`). ``forked``
    makes the rank of trials that have one, on this host. ``look`` asks the target's file system how it is, where that
    answers; ``servers_seen`` are hands on the servers themselves, in an emulated cluster, and ``lab`` is what is asked
    of that.
    """

    experiment: str
    steps: tuple[Step, ...]
    launcher: Launcher
    workspace: TrialDirectories | None
    facts: dict[str, Any]
    max_operations: int
    idle_s: float
    set_up: tuple[CommandStep, ...] = ()
    tear_down: tuple[CommandStep, ...] = ()
    controls: tuple[Control, ...] = ()
    servers: tuple[str, ...] = ()
    cache: CacheRegime = CacheRegime()
    parse: Parse | None = None
    on_tick: Callable[[Any], None] | None = None
    spool_parent: Path | None = None
    allocation: int = 0
    remember: Path | None = None
    forked: ForkedRanks | None = None
    look: conditions.Look | None = None
    servers_seen: ServerHands | None = None
    lab: faults.LabOrders | None = None


def run(bench: Bench, trial: Trial, run_id: str, deadline_s: float | None) -> Run:
    """One trial. A trial that failed is a Run too, with ``missing`` saying what it lacks.

    ``raw`` of the Run may hold paths of large outputs: once it is stored, ``discard`` removes them, and ``clear`` the
    trial's files on the target. Raises KeyboardInterrupt after having ended the ranks, InputError for a placeholder
    that nobody knows, TargetFaultError where no directory can be made for the trial.
    """
    nodes, per_node = _size(trial)
    ranks = nodes * per_node
    check_placeholders(bench, trial.factors)
    root = bench.workspace.trial(directory(trial.index)) if bench.workspace else None
    told = faults.TrialFaults(bench.lab, directory(trial.index), trial.factors)
    folder = spools.make(bench.experiment, bench.spool_parent)
    servers = ServersOfTrial(bench.servers_seen)
    servers.count()  # first: that is an option of some file systems, which is looked at next
    before = servers.look("before", bench.look(conditions.LOOK_S) if bench.look else None)
    started_at, started = datetime.now(UTC), time.monotonic()
    whole = False
    try:
        (folder / PARENT_MARK).touch()
        assignment = replace(_assignment(bench, trial, root, folder), marks=told.marks)
        outcome = watchdog.watch(
            _command(bench, assignment, nodes, per_node),
            heartbeat_dir=folder / BEATS,
            limits=watchdog.TimeLimits(deadline_s, bench.idle_s),
            on_tick=bench.on_tick,
            ranks=ranks,
            forked=bench.forked if ranks == 1 else None,
        )
        seconds = time.monotonic() - started
        told.over()
        servers.counted(trial.repetition)
        lab = told.answer()
        after = servers.look("after", _looked_after(bench, outcome))
        places, unreached = _places(folder), []
        # Ranks that had sent everything home may have died before they removed what they sent.
        if (outcome.exit_code or not places) and nodes > 1 and bench.launcher.name != "local":
            unreached = _rescue(bench, assignment, folder, nodes, outcome)
        shift, reader = envelope.reader_shift(places.get("nodes") or [0] * ranks)
        parts = items.layout(assignment.items, 0, ranks, shift)
        skipped = {plan.operation: plan.skipped for part in parts for plan in part.plans if plan.skipped}
        collected = assemble.collect(
            assemble.SpooledTrial(
                folder, ranks, places, trial.repetition, bench.parse, str(bench.facts.get("target") or ""),
                wire.copies_sent(_filesystem(bench)),
            ),
            parts,
        )  # fmt: skip
        missing = _why(folder, outcome, places) + unreached + collected.missing + lab.missing
        missing += _moved(bench, trial, outcome, not missing)
        whole = True
    finally:
        told.over()
        if bench.remember:
            leftovers.remember(bench.remember, leftovers.still_there(folder / BEATS))
        if not whole or not any(isinstance(content, Path) for content in collected.raw.values()):
            shutil.rmtree(folder, ignore_errors=True)
    nobody_looked = cache.WARM if bench.cache.between_trials == CACHE_NONE else cache.COLD_REQUESTED
    observed = (reader, collected.client_cache or nobody_looked, _server_cache(bench), bench.allocation)
    # Those that were set first: an analysis groups by the first of several that tell the same runs apart.
    factors = dict(trial.factors)
    factors |= {"ranks": ranks, "repetition": trial.repetition, "block": trial.block}
    factors |= dict(zip(OBSERVED_FACTORS, observed, strict=True))
    if health := conditions.health(before, after):
        factors[HEALTH] = health
    factors = factors | collected.factors | factors
    return Run(
        id=run_id,
        experiment=bench.experiment,
        source=_source(bench),
        started_at=started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        seconds=seconds,
        seed=trial.seed,
        factors=factors,
        observations=[*collected.observations, *servers.observations, *lab.observations(trial.repetition)],
        facts=bench.facts
        | lab.facts
        | {
            "order": trial.index,
            "hosts": places.get("hosts", []),
            "nodes": places.get("nodes", []),
            "clocks": {key: places.get(key) for key in ("offset_ns", "error_ns", "drift_ns", "at_ns")},
            "loads": places.get("loads", []),
            "mounts": places.get("mounts", []),
            "bound": places.get("bound"),
            **({"remounts": anew} if (anew := places.get("remounts")) else {}),
            **({"conditions": conditions.facts(before, after, _sets(bench))} if before or after or bench.look else {}),
            **({"servers": servers.facts} if servers.facts else {}),
            **({"skipped": skipped} if skipped else {}),
        },
        operations=collected.operations,
        phases=collected.phases,
        missing=missing,
        raw=collected.raw | servers.raw,
        headlines=collected.headlines,
    )


def clear(bench: Bench, run: Run) -> None:
    """Remove the trial's files from the target; its Run is kept by then. Raises TargetFaultError."""
    if bench.workspace:
        bench.workspace.remove_trial(directory(run.facts["order"]))


def directory(index: int) -> str:
    """The name of a trial's directory."""
    return f"trial-{index:04d}"


def _moved(bench: Bench, trial: Trial, outcome: watchdog.Outcome, well: bool) -> list[str]:
    """Whether what was measured is no longer where it was, in words: it may have been measured elsewhere."""
    if not bench.workspace:
        return []
    if outcome.timed_out or outcome.left:
        bench.workspace.suspect()
    try:
        if well:
            bench.workspace.verify(directory(trial.index))
    except TargetFaultError as error:
        return [error.message]
    return []


def _looked_after(bench: Bench, outcome: watchdog.Outcome) -> TargetCondition | None:
    if not bench.look:
        return None
    return bench.look(conditions.SOON_S if outcome.timed_out or outcome.left else conditions.LOOK_S)


def _sets(bench: Bench) -> bool:
    """Whether a trial brings something into a state before it measures."""
    return bool(bench.set_up) or any(control.set for control in bench.controls)


def discard(run: Run) -> None:
    """Remove the files that a Run of ``run`` still refers to."""
    for folder in {content.parent for content in run.raw.values() if isinstance(content, Path)}:
        shutil.rmtree(folder, ignore_errors=True)


class Commands(Protocol):
    """What has commands: a Bench, or a Spec."""

    @property
    def set_up(self) -> tuple[CommandStep, ...]:
        """Before the steps."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is measured."""

    @property
    def tear_down(self) -> tuple[CommandStep, ...]:
        """After them."""

    @property
    def controls(self) -> tuple[Control, ...]:
        """What brings factors into their state."""

    @property
    def cache(self) -> CacheRegime:
        """What brings caches into theirs."""


def commands_of(asked: Commands) -> Iterator[tuple[str, str]]:
    """(where, command) of every command that is filled in and given to a shell."""
    for stage in (asked.set_up, asked.steps, asked.tear_down):
        for number, step in enumerate(stage, 1):
            if isinstance(step, CommandStep):
                yield f"step {number}", step.command
    for control in asked.controls:
        yield from ((f"factor {control.factor}", text) for text in (control.set, control.read))
    yield from (("cache", text) for text in (asked.cache.unmount, asked.cache.mount))


def check_placeholders(bench: Bench, factors: Iterable[str]) -> None:
    """Raises InputError for a placeholder that no trial with these ``factors`` can fill, before anything starts."""
    names = placeholders.of_commands(factors)
    for where, command in commands_of(bench):
        level = (placeholders.LEVEL,) if where.startswith("factor ") else ()
        placeholders.check(command, (*names, *level), where)


def check_names(asked: Commands, target: Path | None, spool: Path) -> None:
    """Raises InputError if a command would paste the target's or the spool's name where a shell takes it apart."""
    values = {"TARGET": str(target or ""), "TARGET_ROOT": str(target or ""), "MACHINEFILE": str(spool),
              "IOZONE_CLIENTS": str(spool)}  # fmt: skip
    for where, command in commands_of(asked):
        placeholders.check_plain(command, values, where)


def _size(trial: Trial) -> tuple[int, int]:
    return trial.nodes, trial.ranks_per_node


def _source(bench: Bench) -> str:
    """What measured: the native workloads by name, or the experiment's own commands."""
    native = dict.fromkeys(step.workload for step in bench.steps if isinstance(step, NativeStep))
    return f"iosonde {'+'.join(native)}" if native else "iosonde commands"


def _assignment(bench: Bench, trial: Trial, root: Path | None, folder: Path) -> Assignment:
    nodes, per_node = _size(trial)
    values = placeholders.of_trial(trial, root)
    made = items.items(bench.set_up, bench.steps, bench.tear_down, values)
    made = items.skipping(on_servers.prepared(made, bench.servers), nodes * per_node, _type(bench))
    return Assignment(
        root=str(root or ""),
        spool=str(folder),
        ranks=nodes * per_node,
        items=mpi_jobs.prepared(made, bench.launcher, values),
        seed=trial.seed,
        max_operations=bench.max_operations,
        ranks_per_node=per_node,
        values=values,
        controls=[asdict(control) for control in bench.controls],
        cache=asdict(bench.cache),
        hosts=list(bench.launcher.addresses(nodes)),
        directory=os.getcwd(),
        outside=mpi_jobs.variables_here(),
        file_servers=list(_filesystem(bench).get("servers") or ()),
        server_counts=list(bench.servers_seen.tell) if bench.servers_seen else [],
    )


def _filesystem(bench: Bench) -> dict[str, Any]:
    """What the target's file system says of itself."""
    return (bench.facts.get("machine") or {}).get("filesystem") or {}


def _type(bench: Bench) -> str:
    """Of the target's file system, as its mount says."""
    return str(((bench.facts.get("machine") or {}).get("mount") or {}).get("type") or "")


def _command(bench: Bench, assignment: Assignment, nodes: int, per_node: int) -> list[str]:
    program = [sys.executable, "-m", "iosonde.measure.rank.program", assignment.to_word()]
    return bench.launcher.command(nodes, per_node, program)


def _rescue(bench: Bench, assignment: Assignment, folder: Path, nodes: int, ended: watchdog.Outcome) -> list[str]:
    """Fetch what dead ranks had finished on other nodes. A node that is gone keeps it: what is there is used, and
    the rest is named.

    After ranks that hung it has to be quick: it may hang as they did, and the campaign's limit has passed.
    """
    limit_s = rescue_limit_s(ended, bench.idle_s)
    rescuing = replace(assignment, ranks=nodes, ranks_per_node=1, only_collect=True)
    command = _command(bench, rescuing, nodes, 1)
    limits = watchdog.TimeLimits(limit_s, grace_s=0.5)
    fetched = watchdog.watch(command, heartbeat_dir=folder / "rescue", limits=limits, ranks=nodes)
    if not fetched.exit_code:
        return []
    return [f"{folder} and processes may be left on {SILENT_NODES}; the same command removes the files"]


def rescue_limit_s(ended: watchdog.Outcome, idle_s: float) -> float:
    """How long a rescue may take, after ranks that ended so."""
    if ended.left:
        return VERY_SOON_S
    return SOON_S if ended.reason == watchdog.IDLE else min(RESCUE_S, idle_s)


def _places(folder: Path) -> dict[str, Any]:
    try:
        places: dict[str, Any] = json.loads((folder / PLACES).read_text())
    except FileNotFoundError:
        return {}
    return places


def _why(folder: Path, outcome: watchdog.Outcome, places: dict[str, Any]) -> list[str]:
    """In words, why the ranks did not come to their end; empty if they did."""
    said = [*last_words.left(folder), *places.get("faults", [])]
    if outcome.timed_out:
        waited = "; ".join(outcome.sentences()[:5])
        said.append(f"ended by the watchdog ({outcome.reason}) after {outcome.seconds:.0f} s; {waited}")
    elif outcome.exit_code and not said:
        how = f"signal {outcome.signal}" if outcome.signal else f"exit code {outcome.exit_code}"
        said.append(f"the ranks ended with {how}: {outcome.last_words()}")
    if outcome.left:
        said.append(f"processes that could not be ended are left: {', '.join(map(str, outcome.left))}")
    said += [
        f"{path} is left: a rank that hangs in the kernel maps it; the next run of this store removes it"
        for path, *_ in outcome.held
    ]
    if not places and not said:
        said.append("the ranks ended early and left no reason")
    return said


def _server_cache(bench: Bench) -> str:
    mount = bench.facts["machine"]["mount"] or {}
    if not is_network(mount.get("type", ""), mount.get("source", "")):
        return cache.NO_SERVER
    asked = bench.cache.before_reads not in ("", CLIENTS_ANEW) or bench.cache.between_trials == CACHE_REMOUNT
    return cache.COLD_REQUESTED if asked else cache.WARM
