"""A campaign from its first trial to its last: the bench, the stopping rules, and every run stored."""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from iosonde.core.errors import TargetError, TargetFaultError
from iosonde.core.message import Message
from iosonde.core.stored import DETECTED_LEVELS
from iosonde.core.units import format_seconds
from iosonde.measure import restore, spools
from iosonde.measure.bench import Bench
from iosonde.measure.target.keeper import ManagedWorkspace
from iosonde.ranks import leftovers

from . import mpi_steps, preflight, targets, trials
from .begun import BegunCampaign, build_bench, build_target_benches
from .caller import TrialProgress
from .campaign import Campaign
from .each_trial import EachTrial
from .needs import read_measured_trials
from .resume import build_looks, compute_repetitions_needed
from .trials import Ended, Rules

# After Ctrl-C nobody wants to wait for a target that does not respond.
INTERRUPTED_S = 5.0
# For a process on each node, all of which have just responded.
CLEAN_S = 60.0


def measure_trials(begun: BegunCampaign, done: set[int]) -> Ended:
    """Measure every trial that is not ``done``; each is stored before its files are removed and the next starts."""
    _show_initial_notes(begun)
    progress = begun.hands.caller.progress(begun.ready.expected_s)
    workspaces: dict[str, ManagedWorkspace] = {}
    try:
        _make_workspaces(begun, workspaces, _save_experiment(begun))
        ended = _run_trials(begun, _build_bench(begun, progress), workspaces, progress, done)
    except BaseException as error:
        progress.clear()
        _clean_up(begun, workspaces, error)
        raise
    progress.clear()
    fault = _clean_targets(workspaces)
    return replace(ended, fault=fault, early=fault.message) if fault and not ended.fault else ended


def _show_initial_notes(begun: BegunCampaign) -> None:
    if begun.ready.launcher.note and begun.campaign.max_ranks > 1:
        begun.say(Message("launcher-note", "note: {note}", note=begun.ready.launcher.note))
    for job in begun.ready.jobs:
        begun.say(job.sentence())
    for why in mpi_steps.list_mpi_warnings(begun.campaign.spec):
        begun.say(why.prefixed("warning"))


def _save_experiment(begun: BegunCampaign) -> bool:
    """Save the experiment in the store, and remove what it left on the nodes when interrupted. Return whether it was
    there before."""
    store, experiment = begun.store, begun.experiment
    resumed = any(other.id == experiment.id for other in store.experiments())
    store.save_experiment(experiment)
    spools.remove_here(experiment.id, begun.spool)
    if resumed and (why := _clean_nodes(begun, CLEAN_S)):
        begun.say(Message("nodes-not-cleaned", "note: {reason}", reason=why))
    leftovers.remove_remembered(begun.remember)
    return resumed


def _make_workspaces(begun: BegunCampaign, workspaces: dict[str, ManagedWorkspace], resumed: bool) -> None:
    """Create a workspace on each target; it is in ``workspaces`` by the target's name before anything of it may
    exist."""
    keeper, experiment = begun.hands.keeper, begun.experiment
    for name, target in begun.campaign.spec.targets.items():
        with targets.prefix_target_errors(name):
            preflight.remove_leftovers(begun.store, target, experiment.id, keeper, begun.say)
            workspaces[name] = keeper.workspace(target, experiment.id)
            workspaces[name].create(resumed=resumed, hold=not can_unmount_target(begun.campaign))


def _build_bench(begun: BegunCampaign, progress: TrialProgress) -> Bench:
    def on_tick(beats: list[Any]) -> None:
        begun.hands.stop.check()
        progress.tick(beats)

    return replace(build_bench(begun), on_tick=on_tick)


def _run_trials(
    begun: BegunCampaign,
    shared_bench: Bench,
    workspaces: Mapping[str, ManagedWorkspace],
    progress: TrialProgress,
    done: set[int],
) -> Ended:
    """Run all trials, and restore the system settings at the end."""
    target_benches, rules = build_target_benches(shared_bench, begun, workspaces), _build_rules(begun)
    forked = contextlib.closing(shared_bench.forked) if shared_bench.forked else contextlib.nullcontext()
    with forked, restore.preserve_levels(_build_system_settings(begun), begun.say) as initial_levels:
        extra_facts = {DETECTED_LEVELS: initial_levels} if initial_levels else {}
        annotated = {
            name: replace(target_bench, facts=target_bench.facts | extra_facts)
            for name, target_bench in target_benches.items()
        }
        each = EachTrial(begun, annotated, progress, done)
        return trials.measure_planned_trials(
            begun.experiment,
            done,
            replace(rules, breaks=each.breaks, abort=each.abort),
            each.measure,
            keep=each.keep,
            replan=each.replan,
            on_trial=each.begin,
        )


def _build_rules(begun: BegunCampaign) -> Rules:
    store, campaign, experiment = begun.store, begun.campaign, begun.experiment
    ends = []
    if (budget_s := campaign.terms.budget_s) is not None:
        budget = Message("budget-exhausted", "the budget of {budget}", budget=format_seconds(budget_s))
        ends.append((time.monotonic() + budget_s, budget))
    job = begun.ready.node["scheduler"]
    if job and (walltime_end := job["walltime_end"]):
        remaining_s = datetime.fromisoformat(walltime_end).timestamp() - time.time()
        ends.append((time.monotonic() + remaining_s - 30, Message("walltime-exhausted", "the batch job's walltime")))
    ends_at, because = min(ends, default=(None, Rules.ends_because))

    expected_s = max((trial.seconds for trial in read_measured_trials(store, campaign)), default=0.0)
    rule = (
        (lambda: compute_repetitions_needed(store, campaign, experiment, begun.level)) if campaign.spec.until else None
    )
    return Rules(
        ends_at,
        because,
        rule,
        build_looks(experiment, store),
        expected_s=expected_s,
        accepts_incomplete=campaign.terms.incomplete,
    )


def _build_system_settings(begun: BegunCampaign) -> restore.SystemSettings:
    """Build the settings to restore at the end. The original values are stored with the locks, as they are not
    results."""
    spec = begun.campaign.spec
    return restore.SystemSettings(
        restore.select_restored_controls(spec),
        restore.collect_constant_values(spec),
        begun.ready.launcher,
        max(begun.campaign.nodes),
        begun.store.path / "locks" / f"found-{begun.experiment.id}.json",
        begun.spool,
    )


def _clean_up(begun: BegunCampaign, workspaces: Mapping[str, ManagedWorkspace], error: BaseException) -> None:
    """Clean up after ``error``: remove what takes a moment, on nodes and targets, and report the rest."""
    if isinstance(error, KeyboardInterrupt):
        begun.say(Message("interrupted", "interrupted: finished trials are kept; the same command resumes"))
        begun.hands.keeper.limit(INTERRUPTED_S)
    if why := _clean_nodes(begun, INTERRUPTED_S):
        begun.say(why)
    if fault := _clean_targets(workspaces):
        begun.say(fault.message)


def _clean_nodes(begun: BegunCampaign, limit_s: float) -> str:
    """Remove what ranks left on other nodes; return a message on the rest."""
    launcher, nodes = begun.ready.launcher, max(begun.campaign.nodes)
    return spools.remove_on_nodes(launcher, nodes, begun.experiment.id, begun.spool, limit_s)


def can_unmount_target(campaign: Campaign) -> bool:
    """Return whether user commands run: any of them may unmount the target, which must not be busy then."""
    spec = campaign.spec
    hooks = (spec.controls, spec.set_up, spec.tear_down, spec.cache.before_reads, spec.cache.unmount)
    return any(hooks) or len(spec.native) < len(spec.steps)


def _clean_targets(workspaces: Mapping[str, ManagedWorkspace]) -> TargetError | TargetFaultError | None:
    """Remove our files from every target; return the error that describes the rest."""
    faults: list[TargetError | TargetFaultError] = []
    for name, workspace in workspaces.items():
        try:
            with targets.prefix_target_errors(name):
                workspace.remove()
        except (TargetError, TargetFaultError) as error:
            faults.append(error)
    if not faults:
        return None
    faults[0].details = (*faults[0].details, *(other.message for other in faults[1:]))
    return faults[0]
