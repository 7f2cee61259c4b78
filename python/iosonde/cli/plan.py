"""``iosonde plan``: the trials in their order, what they write, and how long they take, before anything starts."""

from __future__ import annotations

import json
from typing import Any

import click

from iosonde.core.units import format_seconds, format_size

from . import _preflight as preflight
from ._campaign import MARGIN, Wanted, options
from .run import existing_store, measured_trials


@click.command(epilog="Example: iosonde plan --target /mnt/x --nodes 1,2,4 --seed 7")
@options
@click.option("--json", "as_json", is_flag=True, help="As JSON: trials, seconds, basis, bytes, files.")
def command(as_json: bool, **asked: Any) -> None:
    """Show what `iosonde run` with the same options would do. Writes nothing, starts nothing."""
    from iosonde.measure import envelope, forecast
    from iosonde.ranks import machine
    from iosonde.report.text import escape

    wanted = Wanted(**asked)
    preflight.places(wanted)
    experiment, settings = wanted.new_experiment(), wanted.settings()
    expected = forecast.forecast(
        experiment.trials, measured_trials(existing_store(wanted), wanted), forecast.envelope_work(settings)
    )
    preflight.room(wanted, expected.total_s, machine.facts(wanted.target_path))
    most = max(wanted.nodes) * wanted.ranks_per_node
    n_bytes, n_files = envelope.bytes_needed(settings, most), envelope.files_needed(settings, most)
    if as_json:
        trials = [
            {"index": trial.index, "repetition": trial.repetition, "block": trial.block, **trial.factors,
             "seconds": None if seconds is None else round(seconds, 1)}
            for trial, seconds in zip(experiment.trials, expected.seconds, strict=True)
        ]  # fmt: skip
        click.echo(
            json.dumps(
                {"version": 1, "trials": trials, "seconds": round(expected.total_s, 1), "basis": expected.basis,
                 "bytes": n_bytes, "files": n_files, "seed": experiment.seed}, indent=2)
        )  # fmt: skip
        return
    click.echo(f"target      {escape(wanted.target)}")
    click.echo(f"at most     {format_size(n_bytes)} and {n_files} files at once, all removed afterwards")
    if wanted.before_reads:
        click.echo(f"runs        {escape(wanted.before_reads)}   (on each node, before each read phase)")
    click.echo(f"trials      {len(experiment.trials)} in {wanted.planned_repetitions} blocks, seed {experiment.seed}")
    for repetition in range(wanted.planned_repetitions):
        order = [str(trial.factors["nodes"]) for trial in experiment.trials if trial.repetition == repetition]
        click.echo(f"  block {repetition + 1:3d}   nodes {', '.join(order)}")
    if wanted.until:
        click.echo(f"then        more blocks until every interval is within ± {wanted.until:.1%} of its mean")
    click.echo(f"sealed      {wanted.decision(0.95).metric}; differences below ± {MARGIN:.0%} do not matter")
    click.echo(f"takes       about {format_seconds(expected.total_s)} ({expected.basis})")
