"""``iosonde run``: measure what an experiment file, a command or options say, keep every trial, show the outcome."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core import decision
from iosonde.core.errors import IncompleteError

from . import _preflight as preflight
from ._campaign import Campaign, campaign
from ._needs import measured_trials
from ._options import options
from ._output import talk

if TYPE_CHECKING:
    from iosonde.core.types import Experiment
    from iosonde.measure.campaign import Ended
    from iosonde.measure.keeper import Keeper
    from iosonde.store import Store


@click.command(
    epilog="Examples: iosonde run --target /mnt/x --nodes 1,2,4 --until 'ci<5%'; iosonde run sweep.yaml; "
    "iosonde run 'iozone -f ${TARGET}/${NODENAME} -s 1m -r 128k -i0 -i1 -R' --target /mnt/x --nodes 1,2"
)
@options
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the summary.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
def command(level: float, as_json: bool, **asked: Any) -> None:
    """Measure: an experiment file, a command on all nodes, or --target with the MTC envelope.

    SPEC is a .yaml, .yml or .json file (docs/experiment.md); an option overrides the key of its name. COMMAND is
    for the shell; ${NODENAME}, ${TARGET} and the like are filled in.

    Writes only below TARGET/iosonde-<id>/ and removes it afterwards. Every finished trial is in the store
    before the next starts; the same command again resumes what was interrupted.
    """
    from iosonde.ranks import reserve
    from iosonde.stats.distributions import check_level

    check_level(level)
    with preflight.keeper(asked["idle_timeout"]) as keeper:
        wanted = campaign(asked, keeper.resolve)
        keeper.limit(wanted.terms.idle_timeout_s)
        preflight.places(wanted, keeper)
        words, nodes = wanted.spec.reserve, max(wanted.nodes)
        if words and reserve.is_batch(words):
            job = reserve.submit(words, nodes, [sys.executable, "-m", "iosonde.cli.main", *sys.argv[1:]])
            click.echo(f"job {job}: this command runs when Slurm has the nodes; the runs go to {wanted.store}")
            return
        with reserve.held(words, nodes, on_wait=talk) if words else nullcontext(()) as hosts:
            held = replace(wanted, spec=replace(wanted.spec, hosts=hosts)) if hosts else wanted
            experiment, ended = _campaign(held, level, keeper)
    if ended.fault and not ended.measured:
        raise ended.fault
    _show(wanted.store, experiment.id, level, as_json)
    _tell(wanted, ended)


def _campaign(wanted: Campaign, level: float, keeper: Keeper) -> tuple[Experiment, Ended]:
    """What is left of the experiment, measured."""
    from iosonde.store.lock import only_one

    from ._measure import Hands, measure
    from ._stop import Stop

    existing = existing_store(wanted)
    experiment, done = _resume_or_begin(existing, wanted, level)
    ahead = [trial for trial in experiment.trials if trial.index not in done]
    ready = preflight.ready(wanted, ahead, measured_trials(existing, wanted), keeper)
    store = existing or _new_store(wanted)
    with only_one(store.path, experiment.id), Stop() as stop:
        return experiment, measure(store, wanted, ready, experiment, done, level, Hands(keeper, stop))


def _tell(wanted: Campaign, ended: Ended) -> None:
    """How it ended. Raises IncompleteError if trials are incomplete, and the fault that ended it."""
    from ._measure import repetitions_of

    talk(f"stored in {wanted.store}; the page: iosonde report {wanted.store}")
    if ended.capped:
        click.echo(
            f"the intervals may be wider than asked for: {ended.capped} repetitions would be needed, "
            f"{repetitions_of(ended.experiment)} were made",
            err=True,
        )
    if ended.fault:
        incomplete = f", {ended.incomplete} of them incomplete" if ended.incomplete else ""
        ended.fault.details = (*ended.fault.details, f"{ended.measured} trials were stored before{incomplete}")
        raise ended.fault
    if ended.early and not ended.incomplete:
        talk(f"ended early: {ended.early}; the same command goes on")
    elif ended.incomplete:
        why = ended.early or "see: iosonde show " + wanted.store
        raise IncompleteError(
            f"{ended.incomplete} of {ended.measured} trials are incomplete and left out of the totals: {why}",
            "mend what it names; the same command measures them again",
        )


def existing_store(wanted: Campaign) -> Store | None:
    """The store that was asked for, if it is there already."""
    from iosonde.store import Store

    path = Path(wanted.store).resolve()
    return Store.open(path) if (path / "store.json").exists() else None


def _new_store(wanted: Campaign) -> Store:
    from iosonde.store import Store

    return Store.create(Path(wanted.store).resolve())


def _resume_or_begin(store: Store | None, wanted: Campaign, level: float) -> tuple[Experiment, set[int]]:
    """The newest unfinished experiment of this very content, with the trials it has; else a new one."""
    from ._measure import wants_more

    for experiment in sorted(store.experiments() if store else (), key=lambda one: one.created_at, reverse=True):
        if not wanted.is_of(experiment):
            continue
        assert store is not None
        done = {run["facts"]["order"] for run in store.runs(experiment=experiment.id) if not run["missing"]}
        left = len(experiment.trials) - len(done)
        if not left and not wants_more(store, wanted, experiment, level):
            break
        click.echo(f"resuming {experiment.id}: {len(done)} trials are there, {left} are left", err=True)
        return experiment, done
    experiment = wanted.experiment()
    experiment.settings[decision.KEY] = decision.seal(wanted.decision(level), experiment.id)
    return experiment, set()


def _show(store: str, experiment: str, level: float, as_json: bool) -> None:
    from . import summary

    with suppress(BrokenPipeError):
        summary.show(store, experiment=experiment, level=level, as_json=as_json)
