"""A campaign from its first trial to its last: the bench, the rules that end it, and every run kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from iosonde.core.errors import TargetError, TargetFaultError
from iosonde.core.stored import StoredRun
from iosonde.core.types import Experiment, Run, Trial
from iosonde.core.units import format_seconds
from iosonde.importers import registry
from iosonde.importers.text import Text
from iosonde.measure import spools, trial
from iosonde.measure.target.keeper import Keeper, KeptWorkspace
from iosonde.measure.trial import Bench
from iosonde.ranks import leftovers, machine
from iosonde.stats.overview import hardware
from iosonde.store import Store

from . import left, trials
from .caller import Caller, Progress, Stop
from .campaign import Campaign
from .needs import measured_trials
from .preflight import Ready
from .probe import attached
from .resume import free_id, number_of, repetitions_needed
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
    progress = hands.caller.progress(ready.expected_s)
    workspace: KeptWorkspace | None = None
    try:
        resumed = any(one.id == experiment.id for one in store.experiments())
        store.save_experiment(experiment)
        spools.remove_here(experiment.id, _spool(wanted))
        if resumed and (why := _clean_nodes(wanted, ready, experiment, CLEAN_S)):
            say(f"note: {why}")
        leftovers.remove_remembered(_remember(store))
        if wanted.spec.target:
            left.remove(store, wanted.spec.target, experiment.id, hands.keeper, say)
            workspace = hands.keeper.workspace(wanted.spec.target, experiment.id)
            workspace.create(resumed=resumed, hold=not may_unmount(wanted))

        def on_tick(beats: list[Any]) -> None:
            hands.stop.check()
            progress.tick(beats)

        bench = _bench(store, wanted, ready, experiment, hands.caller)
        bench = replace(bench, workspace=workspace, on_tick=on_tick)
        probes = hardware.stored(map(StoredRun, store.runs()))

        def one(which: Trial) -> Run:
            hands.stop.check()
            run_id = free_id(store, experiment.id, which.index)
            return attached(trial.run(bench, which, run_id, wanted.spec.trial_timeout_s), probes, level)

        rules = _rules(store, wanted, experiment, ready.facts, level)
        ended = _trials(store, bench, experiment, done, rules, one, progress)
    except BaseException as error:
        progress.clear()
        if isinstance(error, KeyboardInterrupt):
            say("interrupted: finished trials are kept; the same command resumes")
            hands.keeper.limit(INTERRUPTED_S)
        if why := _clean_nodes(wanted, ready, experiment, INTERRUPTED_S):
            say(why)
        if fault := _cleaned(workspace):
            say(fault.message)
        raise
    progress.clear()
    fault = _cleaned(workspace)
    return replace(ended, fault=fault, early=fault.message) if fault and not ended.fault else ended


def _clean_nodes(wanted: Campaign, ready: Ready, experiment: Experiment, limit_s: float) -> str:
    """Remove what ranks left on other nodes; in words what could not be."""
    return spools.remove_on_nodes(ready.launcher, max(wanted.nodes), experiment.id, _spool(wanted), limit_s)


def may_unmount(wanted: Campaign) -> bool:
    """Whether commands of the user's are run: any of them may unmount the target, which must not be busy then."""
    spec = wanted.spec
    asked = (spec.controls, spec.set_up, spec.tear_down, spec.cache.before_reads, spec.cache.unmount)
    return any(asked) or len(spec.native) < len(spec.steps)


def _cleaned(workspace: KeptWorkspace | None) -> TargetError | TargetFaultError | None:
    """Remove what is ours; the error that says what is left, and why."""
    try:
        if workspace:
            workspace.remove()
    except (TargetError, TargetFaultError) as error:
        return error
    return None


def _trials(
    store: Store, bench: Bench, experiment: Experiment, done: set[int], rules: Rules, one: Callable[[Trial], Run],
    progress: Progress,
) -> Ended:  # fmt: skip
    def keep(made: Run) -> None:
        try:
            store.append(made)
        finally:
            trial.discard(made)
        try:
            trial.clear(bench, made)
        except TargetFaultError as error:
            store.notes.change(made.id, note=f"after the trial: {error.message}")
            raise

    return trials.run(
        experiment,
        done,
        rules,
        one,
        keep=keep,
        replan=store.save_experiment,
        on_trial=progress.trial,
    )


def _bench(store: Store, wanted: Campaign, ready: Ready, experiment: Experiment, caller: Caller) -> Bench:
    spec, allocation = wanted.spec, wanted.allocation(ready.facts)
    facts = {
        "machine": ready.facts,
        "software": machine.software(Path.cwd()),
        "command": machine.redacted(caller.command),
        "launcher": ready.launcher.name,
        "allocation": allocation,
        "target": str(spec.target) if spec.target else None,
        "steps": wanted.identity()["steps"],
    }
    return trial.Bench(
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
        cache=spec.cache,
        parse=_parse,
        spool_parent=_spool(wanted),
        remember=_remember(store),
        allocation=number_of(allocation, store, experiment.id),
    )


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
    return Rules(ends_at, because, rule, expected_s=expected_s)
