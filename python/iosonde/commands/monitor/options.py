"""``iosonde monitor``: a quiet look at a mount in production, every few minutes, for weeks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.campaign.monitor.request import MonitorRequest
from iosonde.commands.campaign_caller import build_caller
from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.front_end import get_front_end

if TYPE_CHECKING:
    from iosonde.campaign.monitor.answer import Monitored


@dataclass
class MonitorOptions(MonitorRequest):
    """Options of ``iosonde monitor``."""


@command("monitor", MonitorOptions, "monitor /mnt/x --every 10min --budget 0.5% --store looks")
def monitor(options: MonitorOptions) -> Result[Monitored]:
    """Look at a mount in production every few minutes, for weeks: stat, open, and 1 MiB read and written.

    Each look is a run in the store, which `watch` searches for changes. Files that no recent look touched, 4 of a
    kind; the interval grows under load, and the operations are never under way for more than `budget` of the time.
    Writes only below PATH/.iosonde-monitor, at most `space`. A mount that is full, hangs or is gone is a failed look.
    Ctrl-C or SIGTERM ends it after the look under way; the same command goes on. Exit code 1: a look failed.

    Returns
    -------
    Result[Monitored]
        One row for each operation; ``.answer.failed`` has the looks that failed.

    Examples
    --------
    >>> iosonde.monitor("/mnt/x", every="10min", looks=3, store="looks")
    """
    from iosonde.campaign.monitor.answer import Monitored
    from iosonde.campaign.monitor.run import monitor as observe
    from iosonde.campaign.monitor.run import remove_files

    from .text import lines
    from .text_unit import unit_lines

    if options.unit:
        return Result(Monitored.plan(options), lambda _: unit_lines(options))
    if options.remove:
        directory = remove_files(options)
        get_front_end().note(f"removed {directory}")
        return Result(Monitored.plan(options), lambda _: ())
    return Result(observe(options, build_caller()), lines)
