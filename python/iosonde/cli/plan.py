"""``iosonde plan``: the commands, the trials in their order, what they write and how long they take, before anything
starts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from . import _preflight as preflight
from ._campaign import campaign
from ._needs import forecast, measured_trials, smaller, space
from ._options import options
from .run import existing_store

if TYPE_CHECKING:
    from iosonde.measure.keeper import Keeper

    from ._campaign import Campaign
    from ._plan_text import Plan

LEVEL = 0.95  # of the intervals that fewer repetitions widen


@click.command(
    epilog="Examples: iosonde plan sweep.yaml; iosonde plan --target /mnt/x --nodes 1,2,4 --seed 7; "
    "iosonde plan --schema > experiment.schema.json"
)
@options
@click.option("--schema", is_flag=True, help="Print the JSON Schema of experiment files, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="As JSON: trials, seconds, basis, steps, bytes, files, seed.")
def command(schema: bool, as_json: bool, **asked: Any) -> None:
    """Show what `iosonde run` with the same words would do. Writes nothing, starts nothing.

    SPEC is an experiment file (docs/experiment.md); without it the MTC envelope is measured.
    """
    from ._plan_text import as_text, to_json

    if schema:
        from iosonde.measure.spec_schema import schema_text

        click.echo(schema_text(), nl=False)
        return
    with preflight.keeper(asked["idle_timeout"]) as keeper:
        wanted = campaign(asked, keeper.resolve)
        preflight.places(wanted, keeper)
        facts = preflight.machine_facts(wanted, keeper)
        plan = _plan(wanted, facts, keeper)
    click.echo(json.dumps(to_json(plan), indent=2) if as_json else as_text(plan))


def _plan(wanted: Campaign, facts: dict[str, Any], keeper: Keeper) -> Plan:
    from ._plan_text import Plan

    experiment = wanted.experiment()
    measured = measured_trials(existing_store(wanted), wanted)
    expected = forecast(wanted, experiment.trials, measured)
    preflight.room(wanted, expected.total_s, facts, keeper)
    offers = smaller(wanted, experiment.seed, measured, LEVEL)
    return Plan(wanted, experiment, expected, *space(wanted), offers)
