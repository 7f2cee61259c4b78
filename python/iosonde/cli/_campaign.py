"""What ``run`` and ``plan`` share: the options of a measurement, and the experiment that they mean."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError
from iosonde.core.units import parse_seconds, parse_size

if TYPE_CHECKING:
    from iosonde.core.decision import Decision
    from iosonde.core.types import Experiment, Factor
    from iosonde.measure.envelope import Settings
    from iosonde.ranks.launch import Launcher

# The least number of trials whose smallest and largest value hold the median at 95 %.
DEFAULT_REPETITIONS = 6
# Differences below this fraction do not matter, unless `compare` is told otherwise.
MARGIN = 0.02
QUICK = {"repetitions": 2, "small_files": 200, "large_size": 16 * 2**20}


class Size(click.ParamType):
    """A size such as 4KiB or 1M, in bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        return _told(parse_size, value, self, param, ctx)


class Duration(click.ParamType):
    """A duration such as 30min, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        return _told(parse_seconds, value, self, param, ctx)


class Counts(click.ParamType):
    """A list of counts such as 1,2,4."""

    name = "counts"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            counts = tuple(int(word) for word in value.split(","))
        except ValueError:
            counts = ()
        if not counts or min(counts) < 1:
            self.fail(f"'{value}' is not a list of counts: write it like 1,2,4", param, ctx)
        return tuple(dict.fromkeys(counts))


class Until(click.ParamType):
    """A precision such as ci<5%, as a fraction of the mean."""

    name = "rule"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"\s*ci\s*<\s*(\d+(?:\.\d+)?)\s*%\s*", value)
        if not found or not 0 < float(found.group(1)) < 100:
            self.fail(f"'{value}' is not a rule: write it like 'ci<5%'", param, ctx)
        return float(found.group(1)) / 100


def _told(parse: Callable[[Any], Any], value: Any, kind: click.ParamType, param: Any, ctx: Any) -> Any:
    try:
        return parse(value)
    except InputError as error:
        return kind.fail(f"{error.message}: {error.hint}", param, ctx)


OPTIONS = [
    click.option("--target", metavar="DIR", required=True, help="Directory to measure (must exist)."),
    click.option("--nodes", type=Counts(), default="1", metavar="1,2,4", show_default=True,
                 help="Series of node counts."),
    click.option("--ranks-per-node", type=click.IntRange(1), default=1, metavar="K", show_default=True,
                 help="Ranks on each node."),
    click.option("--repetitions", type=click.IntRange(1), metavar="N",
                 help=f"Trials of each node count [default: {DEFAULT_REPETITIONS}]."),
    click.option("--until", type=Until(), metavar="'ci<5%'",
                 help="Add repetitions until the interval of every mean is this narrow (Stein's two stages)."),
    click.option("--budget", type=Duration(), metavar="30min", help="Start no trial that would end later."),
    click.option("--quick", is_flag=True, help="A look: 2 repetitions, small sizes."),
    click.option("--launcher", metavar="NAME", help="local, mpirun or slurm [default: what fits]."),
    click.option("--hosts", metavar="FILE", help="One host per line, for mpirun."),
    click.option("--store", metavar="DIR", default="iosonde-store", show_default=True,
                 help="Where the runs are kept (not on the target)."),
    click.option("--name", metavar="TEXT", help="A name for this experiment."),
    click.option("--seed", type=int, metavar="S", help="Of the order and the data [default: drawn]."),
    click.option("--small-files", type=click.IntRange(1), metavar="N",
                 help="Small files per rank [default: 1000]."),
    click.option("--small-size", type=Size(), metavar="SIZE", help="Of a small file [default: 4KiB]."),
    click.option("--large-files", type=click.IntRange(1), metavar="N",
                 help="Large files per rank [default: 1]."),
    click.option("--large-size", type=Size(), metavar="SIZE", help="Of a large file [default: 64MiB]."),
    click.option("--transfer-size", type=Size(), metavar="SIZE", help="Of one operation [default: 1MiB]."),
    click.option("--cache", type=click.Choice(["cold", "warm"]), default="cold", show_default=True,
                 help="Client cache before reads."),
    click.option("--before-reads", metavar="CMD",
                 help="Shell command, once per node before each read phase (remount, drop server caches)."),
    click.option("--direct", is_flag=True, help="Large files with O_DIRECT."),
    click.option("--verify", is_flag=True, help="Stamp every block, check it on reading."),
    click.option("--shared-writes/--no-shared-writes", default=True, show_default=True,
                 help="Also write one file from all ranks."),
    click.option("--max-bytes", type=Size(), metavar="SIZE", help="Refuse a trial that needs more space."),
    click.option("--max-files", type=click.IntRange(1), metavar="N",
                 help="Refuse a trial that needs more files."),
    click.option("--max-seconds", type=Duration(), metavar="TIME", help="Refuse a longer campaign."),
    click.option("--max-operations", type=click.IntRange(1), default=10_000_000, metavar="N",
                 help="Operations recorded one by one in a run; beyond it counts, histogram and a sample "
                      "[default: 10 million]."),
    click.option("--trial-timeout", type=Duration(), metavar="TIME", help="End a trial after this time."),
    click.option("--idle-timeout", type=Duration(), default="5min", metavar="TIME", show_default=True,
                 help="End a trial in which no rank gets on for so long."),
    click.option("--spool", metavar="DIR", help="Where ranks leave results meanwhile [default: temporary]."),
]  # fmt: skip


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options of a measurement, as a decorator; they arrive as keyword arguments of a ``Wanted``."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Wanted:
    """What the user asked for, as the options say it. Sizes in bytes, times in seconds."""

    target: str
    nodes: tuple[int, ...]
    ranks_per_node: int
    repetitions: int | None
    until: float | None
    budget: float | None
    quick: bool
    launcher: str | None
    hosts: str | None
    store: str
    name: str | None
    seed: int | None
    small_files: int | None
    small_size: int | None
    large_files: int | None
    large_size: int | None
    transfer_size: int | None
    cache: str
    before_reads: str | None
    direct: bool
    verify: bool
    shared_writes: bool
    max_bytes: int | None
    max_files: int | None
    max_seconds: float | None
    max_operations: int
    trial_timeout: float | None
    idle_timeout: float
    spool: str | None

    def __post_init__(self) -> None:
        if self.before_reads and self.cache == "warm":
            raise InputError(
                "--before-reads would not run: --cache warm leaves the caches alone", "leave one of them out"
            )

    @property
    def target_path(self) -> Path:
        """The target, absolute and without links."""
        return Path(self.target).resolve()

    @property
    def planned_repetitions(self) -> int:
        """As asked for; with a stopping rule the pilot, which must not be smaller than the rule needs."""
        asked = self.repetitions or (QUICK["repetitions"] if self.quick else DEFAULT_REPETITIONS)
        return max(asked, DEFAULT_REPETITIONS) if self.until else asked

    def settings(self) -> Settings:
        """Of the envelope."""
        from iosonde.measure.envelope import Settings

        chosen = {
            "small_files": self.small_files or (QUICK["small_files"] if self.quick else None),
            "small_file_size": self.small_size,
            "large_files": self.large_files,
            "large_file_size": self.large_size or (QUICK["large_size"] if self.quick else None),
            "transfer_size": self.transfer_size,
        }
        given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
        return Settings(
            **given,
            cache=self.cache,
            direct=self.direct,
            verify=self.verify,
            shared_writes=self.shared_writes,
        )

    def factors(self) -> list[Factor]:
        """The factors that this experiment sets."""
        from iosonde.core.types import Factor

        return [
            Factor("nodes", "nodes", self.nodes),
            Factor("ranks_per_node", "ranks", (self.ranks_per_node,)),
        ]

    def identity(self) -> dict[str, Any]:
        """What makes two commands the same experiment: the same command again resumes it."""
        return {
            "target": str(self.target_path),
            "nodes": list(self.nodes),
            "ranks_per_node": self.ranks_per_node,
            "repetitions": self.planned_repetitions,
            "until": self.until,
            "launcher": self.launcher,
            "name": self.name,
            "seed": self.seed,
            "before_reads": self.before_reads,
            "envelope": self.settings().to_json(),
        }

    def decision(self, level: float) -> Decision:
        """What is sealed before the first trial: the numbers that decide, the margin, and when measuring ends."""
        from iosonde.core.decision import Decision

        stopping = f"{self.planned_repetitions} trials of every node count"
        if self.until:
            stopping += f" as a pilot, then as many as make every interval narrower than ± {self.until:.1%} (Stein)"
        return Decision("every rate and bandwidth until the last rank is done", MARGIN, level, stopping)

    def find_launcher(self) -> Launcher:
        """The launcher asked for, or what fits this machine; checked to have enough nodes."""
        from iosonde.ranks import launch

        launcher = launch.find(self.launcher, self._host_names())
        launch.check_nodes(launcher, max(self.nodes))
        return launcher

    def _host_names(self) -> tuple[str, ...]:
        from iosonde.ranks.launch import mpirun

        return mpirun.read_hostfile(Path(self.hosts)) if self.hosts else ()

    def allocation(self, facts: dict[str, Any]) -> str:
        """The set of nodes that the ranks come from: the host file's, the batch job's, else this host."""
        if self.hosts:
            return ",".join(self._host_names())
        return (facts["scheduler"] or {}).get("node_list") or facts["host"]["name"]

    def new_experiment(self) -> Experiment:
        """A fresh experiment: id, seed, and the trials in their drawn order."""
        from datetime import UTC, datetime

        from iosonde.core.types import Experiment
        from iosonde.measure import design

        now = datetime.now(UTC)
        seed = self.seed if self.seed is not None else random.SystemRandom().getrandbits(32)
        trials = design.trials(self.factors(), design.FULL, range(self.planned_repetitions), 0, seed)
        return Experiment(
            id=f"{now:%Y%m%d}-{random.SystemRandom().getrandbits(32):08x}",
            name=self.name or self.target_path.name or "target",
            factors=self.factors(),
            settings=self.identity(),
            trials=trials,
            seed=seed,
            created_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
