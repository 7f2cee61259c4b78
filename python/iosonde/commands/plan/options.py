"""``iosonde plan``: the commands, the trials in their order, what they write and how long they take, before anything
starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from iosonde.campaign.request import Request
from iosonde.commands import labs
from iosonde.commands.campaign_caller import build_caller
from iosonde.commands.command import command
from iosonde.commands.result import Result, TabularAnswer
from iosonde.core.options import Choice, Flag
from iosonde.core.plugins import load_plugin

if TYPE_CHECKING:
    from iosonde.campaign.plan import CampaignPlan


@dataclass(frozen=True)
class ExperimentSchema:
    """The JSON Schema of experiment files, for editors and other tools."""

    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the schema."""
        schema: dict[str, Any] = json.loads(self.text)
        return schema

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each key of a file."""
        return [{"key": key} for key in self.to_dict()["properties"]]


def schema_lines(schema: ExperimentSchema) -> Iterator[str]:
    """Return the lines of its text, as it is."""
    yield from schema.text.splitlines()


# Name of a tool → function that takes a plan and returns a Result of equivalent commands.
_PLAN_WRITERS = "iosonde.plan_writers"


@dataclass
class PlanOptions(Request):
    """Options of ``iosonde plan``."""

    as_tool: Choice[str | None] = Choice(
        ("iozone",), "Print the commands of this tool that do the same, one per setting.", flag="as"
    )
    _: KW_ONLY
    schema: Flag[bool] = Flag("Print the JSON Schema of experiment files, and nothing else.")


@command(
    "plan",
    PlanOptions,
    "plan sweep.yaml; iosonde plan --target /mnt/x --nodes 1,2,4 --seed 7; "
    "iosonde plan --schema > experiment.schema.json",
)
def plan(options: PlanOptions) -> Result[CampaignPlan] | Result[TabularAnswer] | Result[ExperimentSchema]:
    """Show what `iosonde run` with the same words would do. Writes nothing, starts nothing.

    A plan that a target or a limit is too small for is shown, too, before it is refused.

    SPEC is an experiment file (docs/experiment.md); without it the MTC envelope is measured.

    Returns
    -------
    Result[CampaignPlan], Result[TabularAnswer] or Result[ExperimentSchema]
        One row a trial; of a tool one a setting; of the schema one a key.

    Examples
    --------
    >>> iosonde.plan("sweep.yaml", target="/mnt/x", nodes=[1, 2, 4])
    """
    if options.schema:
        return _read_schema()
    campaign_plan = _plan_campaign(options)
    if options.as_tool is None:
        from .text import lines

        return Result(campaign_plan, lines, error=campaign_plan.refusal)
    if campaign_plan.refusal:
        raise campaign_plan.refusal
    return _write_commands(campaign_plan, options.as_tool)


def _plan_campaign(options: PlanOptions) -> CampaignPlan:
    from iosonde.campaign.plan import plan_campaign

    request = labs.place_in_lab(options)
    with labs.needing_package_for_labs():
        return plan_campaign(request, build_caller(), labs.build_plan_check(request))


def _write_commands(plan: CampaignPlan, tool: str) -> Result[TabularAnswer]:
    """Have the plug-in for a tool write its commands. Raises InputError if it is not installed."""
    result: Result[TabularAnswer] = load_plugin(_PLAN_WRITERS, tool, f"a plan as commands of {tool}")(plan)
    return result


def _read_schema() -> Result[ExperimentSchema]:
    from iosonde.campaign.spec.schema import schema_text

    return Result(ExperimentSchema(schema_text()), schema_lines)
