"""``iosonde probe``: what the hardware gives: network, disks, memory, CPU time; kept for the models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.campaign.request import ProbeRequest
from iosonde.commands.campaign_caller import build_caller
from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.front_end import get_front_end
from iosonde.data.options import LevelOptions

if TYPE_CHECKING:
    from iosonde.campaign.probe import Probed


@dataclass
class ProbeOptions(LevelOptions, ProbeRequest):
    """Options of ``iosonde probe``."""


@command("probe", ProbeOptions, "probe --target /mnt/x --hosts nodes.txt --store results")
def probe(options: ProbeOptions) -> Result[Probed]:
    """Measure the network between every pair of nodes, disks, memory, CPU time.

    Writes only below TARGET/iosonde-<id>/, on servers DIR/iosonde-<id>/, and removes it afterwards. Every repetition is
    a run in the store; a campaign on these nodes keeps the newest probe with its own runs.

    Returns
    -------
    Result[Probed]
        One row for each quantity of a pair of nodes, a link, a node, or a disk of a server.

    Raises
    ------
    IncompleteError
        A repetition was incomplete. What was measured is in the store.

    Examples
    --------
    >>> iosonde.probe("/mnt/x", hosts="nodes.txt", store="results")
    """
    from iosonde.campaign.probe import probe_nodes as measure

    from .text import lines

    answer = measure(options, options.level, build_caller())

    def conclude() -> None:
        get_front_end().note(
            f"stored in {answer.store}; results there against these limits: iosonde bound {answer.store}"
        )
        answer.check()

    return Result(answer, lines, write=conclude)
