"""``iosonde run``: measure a target with the MTC envelope, keep every trial, show what came out."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core import decision
from iosonde.core.errors import IncompleteError
from iosonde.core.units import format_seconds

from . import _preflight as preflight
from ._campaign import Wanted, options
from ._output import talk
from ._progress import Progress

if TYPE_CHECKING:
    from iosonde.core.types import Experiment, Run, Trial
    from iosonde.measure.campaign import Ended, Rules
    from iosonde.measure.forecast import Measured
    from iosonde.store import Store

    from ._preflight import Ready


@click.command(epilog="Example: iosonde run --target /mnt/x --nodes 1,2,4 --ranks-per-node 8 --until 'ci<5%'")
@options
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the summary.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
def command(level: float, as_json: bool, **asked: Any) -> None:
    """Measure --target with the MTC envelope: open, create, 1-to-1 and N-to-1 reads, writes.

    Writes only below TARGET/iosonde-<id>/ and removes it afterwards. Every finished trial is in the store
    before the next starts; the same command again resumes what was interrupted.
    """
    from iosonde.stats.distributions import check_level
    from iosonde.store.lock import only_one

    wanted = Wanted(**asked)
    check_level(level)
    preflight.places(wanted)
    existing = existing_store(wanted)
    experiment, done = _resume_or_begin(existing, wanted, level)
    ahead = [trial for trial in experiment.trials if trial.index not in done]
    ready = preflight.ready(wanted, ahead, measured_trials(existing, wanted))
    store = existing or _new_store(wanted)
    with only_one(store.path, experiment.id), _Stop() as stop:
        ended = _measure(store, wanted, ready, experiment, done, level, stop)
    _show(wanted.store, experiment.id, level, as_json)
    talk(f"stored in {wanted.store}; the page: iosonde report {wanted.store}")
    if ended.capped:
        click.echo(
            f"the intervals may be wider than asked for: {ended.capped} repetitions would be needed, "
            f"{len(ended.experiment.trials) // len(wanted.nodes)} were made",
            err=True,
        )
    if ended.early and not ended.incomplete:
        talk(f"ended early: {ended.early}; the same command goes on")
    elif ended.incomplete:
        why = ended.early or "see: iosonde show " + wanted.store
        raise IncompleteError(
            f"{ended.incomplete} of {ended.measured} trials are incomplete and left out of the totals: {why}",
            "mend what it names; the same command measures them again",
        )


class _Stop:
    """Ctrl-C or SIGTERM, taken at a moment of our choosing: Python drops an exception that comes while it forks.

    The second one interrupts at once. A SIGINT that the shell told us to ignore stays ignored.
    """

    def __init__(self) -> None:
        self._asked = False

    def __enter__(self) -> _Stop:
        wanted = [
            number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN
        ]
        self._before = {number: signal.signal(number, self._ask) for number in wanted}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, _signal: int, _frame: Any) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    def check(self) -> None:
        """Interrupt now if it was asked for; called about once a second."""
        if self._asked:
            raise KeyboardInterrupt


def existing_store(wanted: Wanted) -> Store | None:
    """The store that was asked for, if it is there already."""
    from iosonde.store import Store

    path = Path(wanted.store).resolve()
    return Store.open(path) if (path / "store.json").exists() else None


def _new_store(wanted: Wanted) -> Store:
    from iosonde.store import Store

    return Store.create(Path(wanted.store).resolve())


def _resume_or_begin(store: Store | None, wanted: Wanted, level: float) -> tuple[Experiment, set[int]]:
    """The newest unfinished experiment of this very command, with the trials it has; else a new one."""
    for experiment in sorted(store.experiments() if store else (), key=lambda one: one.created_at, reverse=True):
        if {key: value for key, value in experiment.settings.items() if key != decision.KEY} != wanted.identity():
            continue
        assert store is not None
        done = {run["facts"]["order"] for run in store.runs(experiment=experiment.id) if not run["missing"]}
        left = len(experiment.trials) - len(done)
        if not left and not _wants_more(store, wanted, experiment, level):
            break
        click.echo(f"resuming {experiment.id}: {len(done)} trials are there, {left} are left", err=True)
        return experiment, done
    experiment = wanted.new_experiment()
    experiment.settings[decision.KEY] = decision.seal(wanted.decision(level), experiment.id)
    return experiment, set()


def _measure(
    store: Store, wanted: Wanted, ready: Ready, experiment: Experiment, done: set[int], level: float, stop: _Stop
) -> Ended:
    from iosonde.measure import campaign, trial
    from iosonde.measure import target as targets
    from iosonde.ranks import machine

    launcher, facts = ready.launcher, ready.facts
    if launcher.note and max(wanted.nodes) * wanted.ranks_per_node > 1:
        click.echo(f"note: {launcher.note}", err=True)
    allocation = wanted.allocation(facts)
    store.save_experiment(experiment)
    spool_parent = Path(wanted.spool) if wanted.spool else None
    trial.remove_spools(experiment.id, spool_parent)
    workspace = targets.Workspace.create(wanted.target_path, experiment.id)
    progress = Progress(ready.expected_s)

    def on_tick(beats: list[Any]) -> None:
        stop.check()
        progress.tick(beats)

    bench = trial.Bench(
        experiment=experiment.id,
        settings=ready.settings,
        launcher=launcher,
        workspace=workspace,
        facts={
            "machine": facts,
            "software": machine.software(Path.cwd()),
            "command": machine.redacted(sys.argv),
            "launcher": launcher.name,
            "allocation": allocation,
            "target": str(wanted.target_path),
            "envelope": ready.settings.to_json(),
        },
        max_operations=budget(wanted.max_operations),
        idle_s=wanted.idle_timeout,
        before_reads=wanted.before_reads,
        on_tick=on_tick,
        allocation=_number_of(allocation, store, experiment.id),
        spool_parent=spool_parent,
    )

    def measure(one: Trial) -> Run:
        stop.check()
        return trial.run(bench, one, _free_id(store, experiment.id, one.index), wanted.trial_timeout)

    try:
        return campaign.run(
            experiment,
            done,
            _rules(store, wanted, experiment, facts, level),
            measure,
            keep=store.append,
            replan=store.save_experiment,
            on_trial=progress.trial,
        )
    except KeyboardInterrupt:
        progress.clear()
        click.echo("interrupted: finished trials are kept; the same command resumes", err=True)
        raise
    finally:
        progress.clear()
        workspace.remove()


def measured_trials(store: Store | None, wanted: Wanted) -> list[Measured]:
    """The complete trials of the same sizes on the same target: what a campaign's length is predicted from."""
    from iosonde.measure.forecast import Measured

    return [
        Measured(run["factors"], run["seconds"])
        for run in (store.runs() if store else ())
        if run["facts"].get("target") == str(wanted.target_path)
        and not run["missing"]
        and run["facts"].get("envelope") == wanted.settings().to_json()
    ]


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


def _rules(store: Store, wanted: Wanted, experiment: Experiment, facts: dict[str, Any], level: float) -> Rules:
    from iosonde.measure.campaign import Rules

    ends = []
    if wanted.budget is not None:
        ends.append((time.monotonic() + wanted.budget, f"the budget of {format_seconds(wanted.budget)}"))
    if walltime_end := (facts["scheduler"] or {}).get("walltime_end"):
        left_s = datetime.fromisoformat(walltime_end).timestamp() - time.time()
        ends.append((time.monotonic() + left_s - 30, "the batch job's walltime"))
    ends_at, because = min(ends, default=(None, ""))

    expected_s = max((trial.seconds for trial in measured_trials(store, wanted)), default=0.0)
    rule = (lambda: _needed(store, wanted, experiment, level)) if wanted.until else None
    return Rules(ends_at, because, rule, expected_s=expected_s)


def _needed(store: Store, wanted: Wanted, experiment: Experiment, level: float) -> int:
    """Repetitions in all that ``--until`` asks for, from the pilot."""
    from iosonde.stats import stopping

    values = values_by_metric(store, experiment.id)
    return stopping.repetitions_needed(values, relative_half_width=wanted.until or 1.0, level=level)


def _wants_more(store: Store, wanted: Wanted, experiment: Experiment, level: float) -> bool:
    """Whether a campaign that was killed between its pilot and the rest has a rest."""
    made = len(experiment.trials) // len(wanted.nodes)
    return wanted.until is not None and made <= wanted.planned_repetitions < _needed(store, wanted, experiment, level)


def values_by_metric(store: Store, experiment: str) -> dict[str, list[float]]:
    """The trials' values of every default metric of every cell, under one name each."""
    rows = store.results(experiment=experiment).to_pylist()
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["rank"] is None and row["metric"].endswith("_last_done"):
            values.setdefault(f"{row['operation']} on {row['nodes']} nodes", []).append(row["value"])
    return values


def _show(store: str, experiment: str, level: float, as_json: bool) -> None:
    from . import summary

    with suppress(BrokenPipeError):
        summary.show(store, experiment=experiment, level=level, as_json=as_json)
