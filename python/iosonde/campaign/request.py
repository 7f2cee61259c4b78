"""A user's request, of a campaign or a probe, in terms of the options.

It is not yet checked; None means the value of a file or a default."""

from dataclasses import KW_ONLY, dataclass, field

from iosonde.core.option_kinds import Duration, Integer, Size
from iosonde.core.option_words import RepeatableOptions
from iosonde.core.options import NameList, Names, Text

from .option_kinds import HostNames
from .options import (
    CacheOptions,
    DesignOptions,
    EnvelopeOptions,
    ExperimentOptions,
    ExtentOptions,
    FindOptions,
    LauncherOptions,
    LimitOptions,
    PairOptions,
    SubjectOptions,
    TurnOptions,
)


@dataclass
class Request(  # fields of the last base come first
    TurnOptions,
    LimitOptions,
    CacheOptions,
    EnvelopeOptions,
    ExperimentOptions,
    LauncherOptions,
    ExtentOptions,
    FindOptions,
    PairOptions,
    DesignOptions,
    SubjectOptions,
    RepeatableOptions,
):
    """The options of ``iosonde run`` (docs/commands/run.md). Sizes in bytes, times in seconds.

    ``in_lab``: the caller brings up the lab of the file.
    """

    in_lab: bool = field(default=False, kw_only=True)


@dataclass
class HardwareOptions:
    """What is measured, and where the runs go. ``servers`` have a disk at each of ``disk_dir``."""

    target: Text[str | None] = Text(
        "DIR", "Directory on the disk to measure, at the same path on every node.", default_text="no disk is measured"
    )
    nodes: Integer[int | None] = Integer("N", "How many nodes.", least=1, default_text="all there are")
    store: Text[str] = Text("DIR", "Where the runs are kept (not on the target).", "iosonde-store")
    _: KW_ONLY
    servers: HostNames[str | None] = HostNames("HOSTS", "Measure the servers' own disks there: a file, or s1,s2.")
    disk_dir: Names[NameList] = Names(
        "DIR",
        "A directory on a disk of each server, an absolute path. Repeatable: once for each disk.",
        (),
        is_repeatable=True,
    )
    repetitions: Integer[int] = Integer(
        "N", "How often everything is measured, with ranks started anew.", 6, least=1
    )  # the least number of values whose extremes enclose the median at 95 %
    size: Size[int] = Size("SIZE", "What each node writes and reads on the disk, whole MiB.", "256MiB")
    idle_timeout: Duration[float] = Duration("TIME", "Give up when no rank gets on for so long.", "2min")


@dataclass
class ProbeRequest(TurnOptions, LauncherOptions, HardwareOptions):
    """Options of a probe. Sizes in bytes, times in seconds."""

    @property
    def only_servers(self) -> bool:
        """True if no node takes part: no option concerns one."""
        return self.servers is not None and (self.target, self.nodes, self.hosts, self.launcher) == (None,) * 4
