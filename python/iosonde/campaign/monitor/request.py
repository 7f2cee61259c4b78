"""The options of a monitor."""

from dataclasses import KW_ONLY, dataclass

from iosonde.core.option_kinds import Duration, Integer, Share, Size
from iosonde.core.options import Flag, Text


@dataclass
class MonitorRequest:
    """The options of ``iosonde monitor``. Sizes in bytes, times in seconds, shares as fractions."""

    path: Text[str] = Text("PATH", "A directory on the mount to watch.", is_argument=True, is_required=True)
    _: KW_ONLY
    store: Text[str] = Text("DIR", "Where the looks are kept (not on the mount); of one monitor.", "iosonde-monitor")
    every: Duration[float] = Duration("TIME", "From one look to the next.", "10min")
    budget: Share[float] = Share("SHARE", "The most of the time that its operations may be under way.", "0.5%")
    looks: Integer[int | None] = Integer("N", "End after so many looks.", least=1)
    once: Flag[bool] = Flag("One look if it is due, for a timer or cron.")
    space: Size[int] = Size("SIZE", "The most space that its files take.", "64MiB")
    idle_timeout: Duration[float] = Duration("TIME", "Give up a look when an operation takes longer.", "30s")
    unit: Flag[bool] = Flag("Print a systemd service and timer, and a line for cron; nothing is measured.")
    remove: Flag[bool] = Flag("Remove its files from PATH, and end.")
