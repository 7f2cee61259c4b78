"""A campaign from its first trial to its last: the bench, the rules that end it, and every run kept."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from iosonde.core.cluster_nodes import CLUSTER
from iosonde.core.errors import TargetError, TargetFaultError
from iosonde.core.pair_rule import pair_rule
from iosonde.core.stored import BESIDE, LEVELS_FOUND, MAXIMUM, SUBJECT_COMMIT, StoredRun
from iosonde.core.types import Experiment, Run, Trial
from iosonde.core.units import format_seconds
from iosonde.importers import registry
from iosonde.importers.text import Text
from iosonde.measure import restore, spools, trial
from iosonde.measure.bench import Bench
from iosonde.measure.rank import program
from iosonde.measure.target.keeper import Keeper, KeptWorkspace
from iosonde.ranks import leftovers, machine
from iosonde.ranks.forked import ForkedRanks
from iosonde.stats.overview import hardware
from iosonde.store import Store

from . import abort, in_lab, left, mpi_steps, targets, trials, turn
from .against import Pairs
from .bring_ups import BringUps
from .caller import Caller, Progress, Stop
from .campaign import Campaign
from .needs import forecast, measured_trials
from .pace import Pace
from .pacing import Breaks
from .preflight import Ready
from .probe import attached
from .resume import free_id, number_of, repetitions_needed
from .spec import lab
from .spec.check import cells, settings_at
from .trials import Ended, Rules

# After Ctrl-C nobody wants to wait for a target that does not answer.
INTERRUPTED_S = 5.0
# For a process on each node, all of which have just answered.
CLEAN_S = 60.0


@dataclass(frozen=True)
class Hands:
    """What a campaign touches the target with, how it is told to stop, and whom it speaks to."""

    keeper: Keeper
    stop: Stop
    caller: Caller


def measure(
    store: Store, wanted: Campaign, ready: Ready, experiment: Experiment, done: set[int], level: float, hands: Hands
) -> Ended:
    """Every trial that is not ``done``, each stored before its files are removed and the next starts."""
    say = hands.caller.say
    if ready.launcher.note and wanted.max_ranks > 1:
        say(f"note: {ready.launcher.note}")
    for job in ready.jobs:
        say(f"note: {job.sentence()}")
    for why in mpi_steps.warnings(wanted.spec):
        say(f"warning: {why}")
    progress = hands.caller.progress(ready.expected_s)
    workspaces: dict[str, KeptWorkspace] = {}
    try:
        resumed = any(one.id == experiment.id for one in store.experiments())
        store.save_experiment(experiment)
        spools.remove_here(experiment.id, _spool(wanted))
        if resumed and (why := _clean_nodes(wanted, ready, experiment, CLEAN_S)):
            say(f"note: {why}")
        leftovers.remove_remembered(_remember(store))
        for name, target in wanted.spec.targets.items():
            with targets.said(name):
                left.remove(store, target, experiment.id, hands.keeper, say)
                workspaces[name] = hands.keeper.workspace(target, experiment.id)
                workspaces[name].create(resumed=resumed, hold=not may_unmount(wanted))

        def on_tick(beats: list[Any]) -> None:
            hands.stop.check()
            progress.tick(beats)

        bench = replace(_bench(store, wanted, ready, experiment, hands.caller), on_tick=on_tick)
        benches = _of_targets(bench, wanted, ready, workspaces, hands)
        probes = hardware.stored(map(StoredRun, store.runs()))

        bring_ups = BringUps(wanted.spec, [run["factors"] for run in store.runs(experiment=experiment.id)])
        breaks = Breaks(wanted.pacing, hands.stop.check, say)

        def one(which: Trial) -> Run:
            hands.stop.check()
            run_id, name = free_id(store, experiment.id, which.index), wanted.spec.target_name(which.factors)
            bring_ups.begin(which)
            others = turn.beside()
            with targets.said(name):
                bench = replace(benches[name], controls=bring_ups.controls)
                made = trial.run(bench, which, run_id, wanted.spec.trial_timeout_s)
                bring_ups.ended(made.complete)
                made.factors |= bring_ups.columns
                made.facts |= {"waited_s": breaks.waited_s} if breaks.waited_s else {}
                made.facts |= {BESIDE: seen} if (seen := sorted({*others, *turn.beside()})) else {}
                return attached(made, probes, level)

        def clear(made: Run) -> None:
            name = wanted.spec.target_name(made.factors)
            with targets.said(name):
                trial.clear(benches[name], made)

        def stopped() -> str:
            why = abort.why(wanted.terms.abort_if)
            if why and (kept := store.run_ids(experiment.id)):
                store.notes.change(kept[-1], note=f"the campaign was ended after this trial: {why}")
            return why

        rules = replace(_rules(store, wanted, experiment, ready.node, level), breaks=breaks, abort=stopped)
        pace = Pace(partial(forecast, wanted), measured_trials(store, wanted), say)
        forked = contextlib.closing(bench.forked) if bench.forked else contextlib.nullcontext()
        with forked, restore.kept(_settings(store, wanted, ready, experiment), say) as found:
            known = {LEVELS_FOUND: found} if found else {}
            benches = {name: replace(one, facts=one.facts | known) for name, one in benches.items()}
            ended = _trials(store, Steps(one, clear, pace), experiment, done, rules, progress)
    except BaseException as error:
        progress.clear()
        if isinstance(error, KeyboardInterrupt):
            say("interrupted: finished trials are kept; the same command resumes")
            hands.keeper.limit(INTERRUPTED_S)
        if why := _clean_nodes(wanted, ready, experiment, INTERRUPTED_S):
            say(why)
        if fault := _cleaned(workspaces):
            say(fault.message)
        raise
    progress.clear()
    fault = _cleaned(workspaces)
    return replace(ended, fault=fault, early=fault.message) if fault and not ended.fault else ended


def _settings(store: Store, wanted: Campaign, ready: Ready, experiment: Experiment) -> restore.SystemSettings:
    """What is set back at the end. What was found is kept beside the locks: it is nothing of the results."""
    spec = wanted.spec
    return restore.SystemSettings(
        restore.controls_of(spec),
        restore.values_of(spec),
        ready.launcher,
        max(wanted.nodes),
        store.path / "locks" / f"found-{experiment.id}.json",
        _spool(wanted),
    )


def _clean_nodes(wanted: Campaign, ready: Ready, experiment: Experiment, limit_s: float) -> str:
    """Remove what ranks left on other nodes; in words what could not be."""
    return spools.remove_on_nodes(ready.launcher, max(wanted.nodes), experiment.id, _spool(wanted), limit_s)


def may_unmount(wanted: Campaign) -> bool:
    """Whether commands of the user's are run: any of them may unmount the target, which must not be busy then."""
    spec = wanted.spec
    asked = (spec.controls, spec.set_up, spec.tear_down, spec.cache.before_reads, spec.cache.unmount)
    return any(asked) or len(spec.native) < len(spec.steps)


def _cleaned(workspaces: Mapping[str, KeptWorkspace]) -> TargetError | TargetFaultError | None:
    """Remove what is ours from every target; the error that says what is left, and why."""
    faults: list[TargetError | TargetFaultError] = []
    for name, workspace in workspaces.items():
        try:
            with targets.said(name):
                workspace.remove()
        except (TargetError, TargetFaultError) as error:
            faults.append(error)
    if not faults:
        return None
    faults[0].details = (*faults[0].details, *(other.message for other in faults[1:]))
    return faults[0]


@dataclass(frozen=True)
class Steps:
    """What is done of a trial: it is measured, and once its Run is kept its files are removed; ``pace`` learns how long
    that takes."""

    measure: Callable[[Trial], Run]
    clear: Callable[[Run], None]
    pace: Pace


def _trials(
    store: Store, steps: Steps, experiment: Experiment, done: set[int], rules: Rules, progress: Progress
) -> Ended:
    longest = experiment
    started_s = time.monotonic()

    def replan(longer: Experiment) -> None:
        nonlocal longest
        longest = longer
        store.save_experiment(longer)

    def on_trial(which: Trial, place: int, total: int) -> None:
        nonlocal started_s
        started_s = time.monotonic()
        progress.expect(steps.pace.rest_s(which, [one for one in longest.trials if one.index not in done]))
        progress.trial(which, place, total)

    def keep(made: Run) -> None:
        try:
            store.append(made)
        finally:
            trial.discard(made)
        try:
            steps.clear(made)
        except TargetFaultError as error:
            store.notes.change(made.id, note=f"after the trial: {error.message}")
            raise
        steps.pace.kept(made, time.monotonic() - started_s)

    return trials.run(
        experiment,
        done,
        rules,
        steps.measure,
        keep=keep,
        replan=replan,
        on_trial=on_trial,
    )


def _bench(store: Store, wanted: Campaign, ready: Ready, experiment: Experiment, caller: Caller) -> Bench:
    """What the trials on every target share; the rest is the first one's."""
    spec, allocation = wanted.spec, wanted.allocation(ready.node)
    facts = {
        "machine": ready.node,
        "software": machine.software(Path.cwd()),
        "command": machine.redacted(caller.command),
        "launcher": ready.launcher.name,
        "allocation": allocation,
        "target": None,
        "steps": wanted.identity()["steps"],
        **({SUBJECT_COMMIT: wanted.subject} if wanted.subject else {}),
        **({CLUSTER: wanted.terms.cluster.to_json()} if wanted.terms.cluster else {}),
        **({MAXIMUM: wanted.terms.maximum} if wanted.terms.maximum else {}),
        **({"mpi_jobs": [job.to_json() for job in ready.jobs]} if ready.jobs else {}),
    }
    return Bench(
        experiment=experiment.id,
        steps=spec.steps,
        launcher=ready.launcher,
        workspace=None,
        facts=facts | _envelope(wanted),
        max_operations=budget(wanted.terms.max_operations),
        idle_s=wanted.terms.idle_timeout_s,
        set_up=spec.set_up,
        tear_down=spec.tear_down,
        controls=spec.controls,
        servers=spec.servers,
        cache=spec.cache,
        parse=_parse,
        spool_parent=_spool(wanted),
        remember=_remember(store),
        allocation=number_of(allocation, store, experiment.id),
        lab=in_lab.orders(spec),
        forked=ForkedRanks(program.__name__) if ready.launcher.name == "local" and not spec.native else None,
    )


def _of_targets(
    bench: Bench, wanted: Campaign, ready: Ready, workspaces: Mapping[str, KeptWorkspace], hands: Hands
) -> dict[str, Bench]:
    """A bench for each target, by its name; one without a workspace where there is none. A file system that did not say
    how it is before the campaign is not asked again."""
    keeper, counts = hands.keeper, bool(wanted.spec.lab.get(lab.PROFILE))
    return {
        name: replace(bench, workspace=workspace, facts=bench.facts
                      | {"machine": ready.facts[name], "target": str(wanted.spec.targets[name])},
                      look=partial(keeper.condition, wanted.spec.targets[name]) if ready.facts[name]["condition"]
                      else None,
                      servers_seen=hands.caller.servers(wanted.spec.targets[name], counts))
        for name, workspace in workspaces.items()
    } or {"": bench}  # fmt: skip


def _spool(wanted: Campaign) -> Path | None:
    return Path(wanted.spool) if wanted.spool else None


def _remember(store: Store) -> Path:
    """What ranks left that hang in the kernel. Beside the locks: it is nothing of the results."""
    return store.path / "locks" / "left.json"


def _parse(importer: str, name: str, content: bytes) -> list[Any]:
    """What an importer (or the one that recognises it) reads in a command's output."""
    return registry.understand(Text(content, name), None if importer == "auto" else importer).runs


def _envelope(wanted: Campaign) -> dict[str, Any]:
    """The envelope's sizes, where it is measured and they are the same in all trials."""
    steps = [step for step in wanted.spec.native if step.workload == "envelope"]
    values = list(cells(steps[0], wanted.spec)) if len(steps) == 1 else []
    return {"envelope": settings_at(steps[0], values[0]).to_json()} if len(values) == 1 else {}


def budget(asked: int) -> int:
    """Operations that one run may record: as asked, but at most 5 % of the node's memory (32 bytes each)."""
    return max(1, min(asked, int(0.05 * machine.memory_bytes() / 32)))


def _rules(store: Store, wanted: Campaign, experiment: Experiment, facts: machine.Facts, level: float) -> Rules:
    ends = []
    if (budget_s := wanted.terms.budget_s) is not None:
        ends.append((time.monotonic() + budget_s, f"the budget of {format_seconds(budget_s)}"))
    job = facts["scheduler"]
    if job and (walltime_end := job["walltime_end"]):
        left_s = datetime.fromisoformat(walltime_end).timestamp() - time.time()
        ends.append((time.monotonic() + left_s - 30, "the batch job's walltime"))
    ends_at, because = min(ends, default=(None, ""))

    expected_s = max((trial.seconds for trial in measured_trials(store, wanted)), default=0.0)
    rule = (lambda: repetitions_needed(store, wanted, experiment, level)) if wanted.spec.until else None
    pairs = pair_rule(experiment)
    looks = Pairs(pairs, experiment, store) if pairs else None
    return Rules(ends_at, because, rule, looks, expected_s=expected_s)
