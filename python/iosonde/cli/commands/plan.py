"""``iosonde plan``: the commands, the trials in their order, what they write and how long they take, before anything
starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from iosonde import campaign, report
from iosonde.cli import lab_campaign
from iosonde.cli.caller import caller
from iosonde.cli.options.campaign import campaign_options
from iosonde.cli.output import emit, show

if TYPE_CHECKING:
    from iosonde.campaign.request import Request


@click.command(
    epilog="Examples: iosonde plan sweep.yaml; iosonde plan --target /mnt/x --nodes 1,2,4 --seed 7; "
    "iosonde plan --schema > experiment.schema.json"
)
@campaign_options
@click.option("--schema", is_flag=True, help="Print the JSON Schema of experiment files, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="As JSON: trials, seconds, basis, steps, bytes, files, seed.")
@click.option("--as", "tool", type=click.Choice(["iozone"]), help="As commands of another tool.")
def command(asked: Request, schema: bool, as_json: bool, tool: str | None) -> None:
    """Show what `iosonde run` with the same words would do. Writes nothing, starts nothing.

    SPEC is an experiment file (docs/experiment.md); without it the MTC envelope is measured.
    """
    if schema:
        show(campaign.spec.schema.schema_text().splitlines())
        return
    campaign_plan = campaign.plan.plan(lab_campaign.planned(asked), caller(), lab_campaign.checking_plan(asked))
    if tool:
        commands = campaign.as_iozone.iozone_plan(campaign_plan)
        emit(commands, report.text.plan_iozone.lines(commands), as_json)
        return
    emit(campaign_plan, report.text.plan.lines(campaign_plan), as_json)
