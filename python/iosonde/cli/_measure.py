"""A campaign from its first trial to its last: the bench, the rules that end it, and every run kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError, TargetError, TargetFaultError
from iosonde.core.units import format_seconds

from . import _probe
from ._needs import measured_trials
from ._progress import Progress
from .output import talk

if TYPE_CHECKING:
    from iosonde.core.types import Experiment, Run, Trial
    from iosonde.measure.campaign import Ended, Rules
    from iosonde.measure.keeper import Keeper, KeptWorkspace
    from iosonde.measure.trial import Bench
    from iosonde.store import Store

    from ._campaign import Campaign
    from ._preflight import Ready
    from ._stop import Stop

# After Ctrl-C nobody wants to wait for a target that does not answer.
INTERRUPTED_S = 5.0


@dataclass(frozen=True)
class Hands:
    """What a campaign touches the target with, and how it is told to stop."""

    keeper: Keeper
    stop: Stop


def measure(
    store: Store, wanted: Campaign, ready: Ready, experiment: Experiment, done: set[int], level: float, hands: Hands
) -> Ended:
    """Every trial that is not ``done``, each stored before its files are removed and the next starts."""
    from iosonde.measure import trial
    from iosonde.ranks import leftovers

    if ready.launcher.note and wanted.max_ranks > 1:
        click.echo(f"note: {ready.launcher.note}", err=True)
    progress = Progress(ready.expected_s)
    workspace: KeptWorkspace | None = None
    try:
        resumed = any(one.id == experiment.id for one in store.experiments())
        store.save_experiment(experiment)
        trial.remove_spools(experiment.id, _spool(wanted))
        leftovers.remove_remembered(_remember(store))
        if wanted.spec.target:
            _remove_left(store, wanted.spec.target, experiment.id, hands.keeper)
            workspace = hands.keeper.workspace(wanted.spec.target, experiment.id)
            workspace.create(resumed=resumed, hold=not may_unmount(wanted))

        def on_tick(beats: list[Any]) -> None:
            hands.stop.check()
            progress.tick(beats)

        bench = _bench(store, wanted, ready, experiment, workspace, on_tick)
        probes = _probe.stored(store)

        def one(which: Trial) -> Run:
            hands.stop.check()
            run_id = _free_id(store, experiment.id, which.index)
            return _probe.attached(trial.run(bench, which, run_id, wanted.spec.trial_timeout_s), probes, level)

        rules = _rules(store, wanted, experiment, ready.facts, level)
        ended = _trials(store, bench, experiment, done, rules, one, progress)
    except BaseException as error:
        progress.clear()
        if isinstance(error, KeyboardInterrupt):
            click.echo("interrupted: finished trials are kept; the same command resumes", err=True)
            hands.keeper.limit(INTERRUPTED_S)
        if left := _cleaned(workspace):
            talk(left.message)
        raise
    progress.clear()
    left = _cleaned(workspace)
    return replace(ended, fault=left, early=left.message) if left and not ended.fault else ended


def _remove_left(store: Store, target: Path, experiment: str, keeper: Keeper) -> None:
    """Remove from the target what other experiments of this store could not remove: it did not answer then."""
    from iosonde.store.lock import only_one

    others = [one.id for one in store.experiments() if one.settings.get("target") == str(target)]
    for old in keeper.left(target, [one for one in others if one != experiment]):
        try:
            with only_one(store.path, old):
                keeper.remove_left(target, old)
                talk(f"removed {target}/iosonde-{old}, which an earlier run had to leave there")
        except InputError as error:  # it is being measured, or somebody else's
            talk(f"{target}/iosonde-{old} stays: {error.message}")


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
    from iosonde.measure import campaign, trial

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

    return campaign.run(
        experiment,
        done,
        rules,
        one,
        keep=keep,
        replan=store.save_experiment,
        on_trial=progress.trial,
    )


def _bench(
    store: Store, wanted: Campaign, ready: Ready, experiment: Experiment, workspace: KeptWorkspace | None, on_tick: Any
) -> Bench:
    from iosonde.measure import trial
    from iosonde.ranks import machine

    spec, allocation = wanted.spec, wanted.allocation(ready.facts)
    facts = {
        "machine": ready.facts,
        "software": machine.software(Path.cwd()),
        "command": machine.redacted(sys.argv),
        "launcher": ready.launcher.name,
        "allocation": allocation,
        "target": str(spec.target) if spec.target else None,
        "steps": wanted.identity()["steps"],
    }
    return trial.Bench(
        experiment=experiment.id,
        steps=spec.steps,
        launcher=ready.launcher,
        workspace=workspace,
        facts=facts | _envelope(wanted),
        max_operations=budget(wanted.terms.max_operations),
        idle_s=wanted.terms.idle_timeout_s,
        set_up=spec.set_up,
        tear_down=spec.tear_down,
        controls=spec.controls,
        cache=spec.cache,
        parse=_parse,
        on_tick=on_tick,
        spool_parent=_spool(wanted),
        remember=_remember(store),
        allocation=_number_of(allocation, store, experiment.id),
    )


def _spool(wanted: Campaign) -> Path | None:
    return Path(wanted.spool) if wanted.spool else None


def _remember(store: Store) -> Path:
    """What ranks left that hang in the kernel. Beside the locks: it is nothing of the results."""
    return store.path / "locks" / "left.json"


def _parse(importer: str, name: str, content: bytes) -> list[Any]:
    """What an importer (or the one that recognises it) reads in a command's output."""
    from iosonde.importers import registry
    from iosonde.importers.text import Text

    return registry.understand(Text(content, name), None if importer == "auto" else importer).runs


def _envelope(wanted: Campaign) -> dict[str, Any]:
    """The envelope's sizes, where it is measured and they are the same in all trials."""
    from iosonde.measure.spec_check import cells, settings_at

    steps = [step for step in wanted.spec.native if step.workload == "envelope"]
    values = list(cells(steps[0], wanted.spec)) if len(steps) == 1 else []
    return {"envelope": settings_at(steps[0], values[0]).to_json()} if len(values) == 1 else {}


def budget(asked: int) -> int:
    """Operations that one run may record: as asked, but at most 5 % of the node's memory (32 bytes each)."""
    from iosonde.ranks import machine

    return max(1, min(asked, int(0.05 * machine.memory_bytes() / 32)))


def _number_of(allocation: str, store: Store, experiment: str) -> int:
    """The how manyeth set of nodes this is that the experiment runs on."""
    seen = list(dict.fromkeys(run["facts"].get("allocation") for run in store.runs(experiment=experiment)))
    return seen.index(allocation) if allocation in seen else len(seen)


def _free_id(store: Store, experiment: str, index: int) -> str:
    """The run's id; an attempt after an incomplete one gets a number of its own."""
    taken = {path.name for path in (store.path / "runs").iterdir()}  # damaged ones too
    name, attempt = f"{experiment}-{index:04d}", 2
    while name in taken:
        name, attempt = f"{experiment}-{index:04d}-{attempt}", attempt + 1
    return name


def _rules(store: Store, wanted: Campaign, experiment: Experiment, facts: dict[str, Any], level: float) -> Rules:
    from iosonde.measure.campaign import Rules

    ends = []
    if (budget_s := wanted.terms.budget_s) is not None:
        ends.append((time.monotonic() + budget_s, f"the budget of {format_seconds(budget_s)}"))
    if walltime_end := (facts["scheduler"] or {}).get("walltime_end"):
        left_s = datetime.fromisoformat(walltime_end).timestamp() - time.time()
        ends.append((time.monotonic() + left_s - 30, "the batch job's walltime"))
    ends_at, because = min(ends, default=(None, ""))

    expected_s = max((trial.seconds for trial in measured_trials(store, wanted)), default=0.0)
    rule = (lambda: _needed(store, wanted, experiment, level)) if wanted.spec.until else None
    return Rules(ends_at, because, rule, expected_s=expected_s)


def _needed(store: Store, wanted: Campaign, experiment: Experiment, level: float) -> int:
    """Repetitions in all that ``until`` asks for, from the pilot."""
    from iosonde.stats.estimate import stopping

    values = values_by_metric(store, experiment)
    return stopping.repetitions_needed(values, relative_half_width=wanted.spec.until or 1.0, level=level)


def repetitions_of(experiment: Experiment) -> int:
    """How often every cell was, or is to be, measured."""
    return 1 + max(trial.repetition for trial in experiment.trials)


def wants_more(store: Store, wanted: Campaign, experiment: Experiment, level: float) -> bool:
    """Whether a campaign that was killed between its pilot and the rest has a rest."""
    made = repetitions_of(experiment)
    return wanted.spec.until is not None and made <= wanted.spec.repetitions < _needed(store, wanted, experiment, level)


def values_by_metric(store: Store, experiment: Experiment) -> dict[str, list[float]]:
    """The trials' values of every rate of every cell, under one name each: until the last rank is done, where that
    is known, else as the tool has it; where there is no rate at all, how long each command took."""
    rows = [row for row in store.results(experiment=experiment.id).to_pylist() if row["rank"] is None]
    rates = any(row["unit"].endswith("/s") for row in rows)
    timed = {row["operation"] for row in rows if row["metric"].endswith("_last_done")}
    names = [factor.name for factor in experiment.factors]
    values: dict[str, list[float]] = {}
    for row in rows:
        last_done = row["metric"].endswith("_last_done")
        if (
            last_done
            or (row["operation"] not in timed and row["unit"].endswith("/s"))
            or (row["metric"] == "seconds" and not rates)
        ):
            cell = ", ".join(f"{name}={row.get(name)}" for name in names)
            name = row["operation"] if last_done else f"{row['operation']} {row['metric']}"
            values.setdefault(f"{name} at {cell}", []).append(row["value"])
    return values
