"""``iosonde run``: measure what an experiment file, a command or options say, keep every trial, show the outcome."""

from dataclasses import KW_ONLY, dataclass

from iosonde.campaign.request import Request
from iosonde.commands import labs
from iosonde.commands.campaign_caller import build_caller
from iosonde.commands.command import command
from iosonde.commands.page_file import check_page_is_writable
from iosonde.core.options import Text
from iosonde.data.options import LevelOptions

from .measurement import Measurement


@dataclass
class RunOptions(LevelOptions, Request):
    """Options of ``iosonde run``."""

    _: KW_ONLY
    page: Text[str | None] = Text("FILE", "Write the page of the experiment, too (iosonde report).")


@command(
    "run",
    RunOptions,
    "run --target /mnt/x --nodes 1,2,4 --until 'ci<5%'; iosonde run sweep.yaml; "
    "iosonde run 'iozone -f ${TARGET}/${NODENAME} -s 1m -r 128k -i0 -i1 -R' --target /mnt/x --nodes 1,2",
)
def run(options: RunOptions) -> Measurement:
    """Measure: an experiment file, a command on all nodes, or `target` with the MTC envelope.

    SPEC is a .yaml, .yml or .json file (docs/experiment.md); an option overrides the key of its name. COMMAND is
    for the shell; ${NODENAME}, ${TARGET} and the like are filled in.

    With `against` pairs of COMMAND and the other are measured in random order until the verdict is clear; it is shown.

    With `find` the settings race: those that are shown to be worse leave, until the best one is found.

    Writes only below TARGET/iosonde-<id>/ and removes it afterwards. Every finished trial is in the store
    before the next starts; the same command again resumes what was interrupted.

    Returns
    -------
    Measurement
        Its summary (with ``against`` the comparison, with ``find`` the race), and ``.store``, where the runs are. Of
        ``fail_if`` ``.comparison.answer.problem`` says whether it is so.

    Raises
    ------
    InputError
        What was asked for cannot be measured. Nothing was started.
    IncompleteError
        Trials are incomplete. They are in the store, and left out of totals. With ``fail_if`` an UntriedError.

    Examples
    --------
    >>> iosonde.run("sweep.yaml", target="/mnt/x", store="results")
    >>> iosonde.run("sleep 0.0${n}", set={"n": [1, 2]}, target={"nfs": "/mnt/n", "local": "/tmp"}, budget="30min")
    """
    from iosonde.campaign.run import run_campaign as measure

    check_page_is_writable(options.page)
    with labs.needing_package_for_labs():
        outcome = measure(options, options.level, build_caller(("iosonde", "run", *options.words())))
    return Measurement(outcome, options.level, options.page)
