"""``iosonde probe``: what the hardware gives: network, disks, memory, CPU time; kept for the models."""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import IncompleteError, InputError, TargetError

from .. import _preflight as preflight
from .._options import Duration, Size
from .._progress import Progress
from .._stop import Stop
from ..output import talk

if TYPE_CHECKING:
    from iosonde.core.types import Experiment, Run
    from iosonde.measure.keeper import Keeper
    from iosonde.measure.probe import Bench
    from iosonde.ranks.launch import Launcher

JSON_VERSION = 1
# The least number of values whose smallest and largest hold the median at 95 %.
REPETITIONS = 6


@click.command(epilog="Example: iosonde probe --target /mnt/x --hosts nodes.txt --store results")
@click.option("--target", metavar="DIR", help="Directory on the disk to measure [default: no disk is measured].")
@click.option("--nodes", type=click.IntRange(1), metavar="N", help="How many nodes [default: all there are].")
@click.option("--hosts", metavar="FILE", help="One host per line, for mpirun.")
@click.option("--launcher", metavar="NAME", help="local, mpirun or slurm [default: what fits].")
@click.option(
    "--repetitions",
    type=click.IntRange(1),
    default=REPETITIONS,
    metavar="N",
    show_default=True,
    help="How often everything is measured, with ranks started anew.",
)
@click.option(
    "--size",
    type=Size(),
    default="256MiB",
    metavar="SIZE",
    show_default=True,
    help="What each node writes and reads on the disk.",
)
@click.option(
    "--store",
    metavar="DIR",
    default="iosonde-store",
    show_default=True,
    help="Where the runs are kept (not on the target).",
)
@click.option(
    "--idle-timeout",
    type=Duration(),
    default="2min",
    metavar="TIME",
    show_default=True,
    help="Give up when no rank gets on for so long.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def command(
    target: str | None, nodes: int | None, hosts: str | None, launcher: str | None, repetitions: int, size: int,
    store: str, idle_timeout: float, level: float, as_json: bool,
) -> None:  # fmt: skip
    """Measure the network between every pair of nodes, disks, memory, CPU time.

    Writes only below TARGET/iosonde-<id>/ and removes it afterwards. Every repetition is a run in the store; a
    campaign on these nodes keeps the newest probe with its own runs.
    """
    from iosonde.core.levels import check_level
    from iosonde.ranks import launch, machine, rollcall

    check_level(level)
    keeper = click.get_current_context().with_resource(preflight.keeper(idle_timeout))
    place = keeper.resolve(Path(target)) if target is not None else None
    found = launch.find(launcher, _host_names(hosts))
    count = nodes or found.max_nodes or 1
    launch.check_nodes(found, count)
    if place:
        _check_target(keeper, place, Path(store).resolve(), size, count)
    if found.name != "local":
        rollcall.call(found, count)
    facts = machine.node_facts() | (keeper.facts(place) if place else machine.target_facts(Path.cwd()))
    experiment = _experiment(count, repetitions, place, size)
    runs = _measure(_bench(experiment, found, count, place, size, facts, idle_timeout), experiment, store, keeper)
    whole = [run for run in runs if run.complete]
    if whole:
        _show(whole, (facts["mount"] or {}).get("type") if place else None, level, as_json)
        talk(f"stored in {store}")
    if len(whole) < len(runs):
        failed = next(run for run in runs if not run.complete)
        raise IncompleteError(
            f"{len(runs) - len(whole)} of {len(runs)} repetitions are incomplete: {failed.missing[0]}",
            "mend what it names and probe again" + ("; leave out of --hosts who does not answer" if hosts else ""),
        )


def _host_names(hosts: str | None) -> tuple[str, ...]:
    from iosonde.ranks.launch import mpirun

    return mpirun.read_hostfile(Path(hosts)) if hosts else ()


def _check_target(keeper: Keeper, target: Path, store: Path, size: int, nodes: int) -> None:
    from iosonde.measure import probe_local
    from iosonde.measure import target as targets

    if target == store or target in store.parents:
        raise InputError(f"the store {store} lies on the target {target}", "give another place with --store")
    if size % probe_local.TRANSFER or not size:
        raise InputError(f"--size {size} is no multiple of 1 MiB", "write it like 256MiB")
    keeper.check(target, targets.Need(0, 0), targets.Limits())
    try:
        keeper.check(target, targets.Need(nodes * size, 4 * nodes), targets.Limits())
    except TargetError as error:
        raise TargetError(error.message, "choose a smaller --size, fewer --nodes, or another target") from error


def _experiment(nodes: int, repetitions: int, target: Path | None, size: int) -> Experiment:
    from iosonde.core.types import Experiment, Factor
    from iosonde.measure import design

    now = datetime.now(UTC)
    seed = random.SystemRandom().getrandbits(32)
    factors = [Factor("nodes", "nodes", (nodes,)), Factor("ranks_per_node", "ranks", (1,))]
    return Experiment(
        id=f"{now:%Y%m%d}-{random.SystemRandom().getrandbits(32):08x}",
        name="probe",
        factors=factors,
        settings={"probe": {"target": str(target or ""), "size": size, "nodes": nodes}},
        trials=design.trials(factors, {"kind": "full"}, range(repetitions), 0, seed),
        seed=seed,
        created_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
    )


def _bench(
    experiment: Experiment, launcher: Launcher, nodes: int, target: Path | None, size: int, facts: dict[str, Any],
    idle_s: float,
) -> Bench:  # fmt: skip
    from iosonde.measure.probe import Bench
    from iosonde.measure.trial import NETWORK_TYPES
    from iosonde.ranks import machine

    return Bench(
        experiment=experiment.id,
        launcher=launcher,
        nodes=nodes,
        target=target,
        size=size,
        in_turn=(facts["mount"] or {}).get("type") in NETWORK_TYPES,
        facts={
            "machine": facts,
            "software": machine.software(Path.cwd()),
            "command": machine.redacted(sys.argv),
            "launcher": launcher.name,
            "target": str(target or ""),
        },
        idle_s=idle_s,
    )


def _measure(bench: Bench, experiment: Experiment, store_name: str, keeper: Keeper) -> list[Run]:
    """All repetitions, each stored before the next; the first one that fails is the last one."""
    from dataclasses import replace

    from iosonde.measure import probe
    from iosonde.store import Store

    store = Store.create(Path(store_name).resolve())
    progress = Progress(probe.expected_seconds(bench.nodes, len(experiment.trials)))
    workspace = keeper.workspace(bench.target, experiment.id) if bench.target else None
    runs: list[Run] = []
    try:
        if workspace:
            workspace.create(resumed=False, hold=True)
        with Stop() as stop:

            def on_tick(beats: list[Any]) -> None:
                stop.check()
                progress.tick(beats)

            store.save_experiment(experiment)
            for trial in experiment.trials:
                stop.check()
                progress.trial(trial, trial.index, len(experiment.trials))
                run = probe.run(replace(bench, on_tick=on_tick), trial.repetition, f"{experiment.id}-{trial.index:04d}")
                store.append(run)
                runs.append(run)
                if not run.complete:
                    break
    finally:
        progress.clear()
        if workspace:
            workspace.remove()
    return runs


def _show(runs: list[Run], mount_type: str | None, level: float, as_json: bool) -> None:
    from iosonde.answers import probe
    from iosonde.measure.trial import NETWORK_TYPES

    from .. import _probe_text

    made = probe.summarise([run.facts for run in runs], level)
    warnings = probe.warnings(made, mount_type, mount_type in NETWORK_TYPES)
    if as_json:
        document = {"version": JSON_VERSION, "experiment": runs[0].experiment, **probe.to_json(made),
                    "warnings": warnings}  # fmt: skip
        click.echo(json.dumps(document, indent=2))
        return
    for line in _probe_text.lines(made, len(runs), level, warnings):
        click.echo(line)
