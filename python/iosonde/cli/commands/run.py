"""``iosonde run``: measure what an experiment file, a command or options say, keep every trial, show the outcome."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from iosonde import answers, campaign
from iosonde.cli.caller import caller
from iosonde.cli.options.campaign import campaign_options
from iosonde.cli.options.data import DataOptions
from iosonde.cli.output import show, talk
from iosonde.cli.terminal import TerminalFrontEnd
from iosonde.commands.page_file import check_place_of_page, write_page_of
from iosonde.core.front_end import listening
from iosonde.data.asked import LAST_DONE

from . import compare, summary, time_model

if TYPE_CHECKING:
    from iosonde.campaign.request import Request
    from iosonde.campaign.run import CampaignOutcome


@click.command(
    epilog="Examples: iosonde run --target /mnt/x --nodes 1,2,4 --until 'ci<5%'; iosonde run sweep.yaml; "
    "iosonde run 'iozone -f ${TARGET}/${NODENAME} -s 1m -r 128k -i0 -i1 -R' --target /mnt/x --nodes 1,2"
)
@campaign_options
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the summary.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
@click.option("--page", metavar="FILE", help="Write the page of the experiment, too (iosonde report).")
def command(asked: Request, level: float, as_json: bool, page: str | None) -> None:
    """Measure: an experiment file, a command on all nodes, or --target with the MTC envelope.

    SPEC is a .yaml, .yml or .json file (docs/experiment.md); an option overrides the key of its name. COMMAND is
    for the shell; ${NODENAME}, ${TARGET} and the like are filled in.

    With --against 'B' pairs of COMMAND and B are measured in random order until the verdict is clear; it is printed.

    Writes only below TARGET/iosonde-<id>/ and removes it afterwards. Every finished trial is in the store
    before the next starts; the same command again resumes what was interrupted.
    """
    check_place_of_page(page)
    outcome = campaign.run.run(asked, level, caller())
    if outcome.experiment is None:
        show([f"job {outcome.job}: this command runs when Slurm has the nodes; the runs go to {outcome.store}"])
        return
    try:
        with suppress(BrokenPipeError):
            show_outcome(outcome, level, as_json)
    finally:  # a condition that holds ends with exit code 1, and is no reason to say less
        try:
            if page:
                pairs = outcome.pairs
                with listening(TerminalFrontEnd()):
                    write_page_of(outcome.store, outcome.experiment.id, pairs.level if pairs else level, page)
        finally:
            for remark in outcome.remarks()[campaign.turn.is_part_of_another() :]:  # the first says where the runs are
                talk(remark)
            outcome.check()  # what was not measured is said, whatever the rest came to


def show_outcome(outcome: CampaignOutcome, level: float, as_json: bool) -> None:
    """The summary of what was measured, the comparison of pairs, or the lines of a path study."""
    only, pairs = outcome.experiment.id if outcome.experiment else None, outcome.pairs
    level = pairs.level if pairs else level
    data_options = DataOptions(outcome.store, (), (), (), (), LAST_DONE, (), only, level, as_json)
    if pairs:
        compare.show(data_options, answers.compare.answer.Sides())
    else:
        (time_model.show_study if outcome.is_path_study else summary.show)(data_options)
