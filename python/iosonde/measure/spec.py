"""What one campaign shall do, as plain data, whoever asked for it: options, a bare command, or an experiment file.

One trial runs ``set_up``, ``steps`` and ``tear_down`` in order at one setting of the factors. A step is a shell
command or a native workload. Names of factors and what is known about the trial may stand in commands and
workload settings as ``${NAME}`` (see ``placeholders``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core.cluster_nodes import ClusterNodes
from iosonde.core.stored import TARGET
from iosonde.core.types import Factor, FactorValue, count_of

# Where a command runs: always on the same first rank; on every rank after a barrier; rank after rank; as one MPI job
# that has as many ranks as the trial, and that the first rank starts; on every server, where the first rank starts it.
SINGLE = "single"
ALL = "all"
EACH = "each"
MPI = "mpi"
SERVERS = "servers"
# The shell of the first rank alone runs these.
ONCE = (SINGLE, MPI, SERVERS)

# What is done before cold reads in an emulated cluster whose clients keep data themselves. It makes no server forget.
CLIENTS_ANEW = "iosonde lab remount"
# What is done between trials so that a trial does not read what the one before left in caches.
CACHE_NONE = "none"
CACHE_DROP = "drop"
CACHE_REMOUNT = "remount"


@dataclass(frozen=True)
class CommandStep:
    """A command for /bin/sh. ``on`` is SINGLE, ALL, EACH, MPI or SERVERS; ``parse`` names the importer that reads its
    output ("auto": the one that recognises it; None: nobody); ``expect`` are the exit codes of success. It is run in
    trials where the factors of ``when`` have these levels. ``keep_output``: bytes of its output that each rank keeps
    (None: the default)."""

    command: str
    on: str = SINGLE
    parse: str | None = None
    timeout_s: float | None = None
    expect: tuple[int, ...] = (0,)
    name: str = ""
    when: dict[str, FactorValue] = field(default_factory=dict)
    keep_output: int | None = None

    def is_for(self, levels: Mapping[str, FactorValue]) -> bool:
        """Whether it is run in a trial with these levels."""
        return all(levels.get(factor) == level for factor, level in self.when.items())


@dataclass(frozen=True)
class NativeStep:
    """A workload of our own engine: ``workload`` is a name that ``workloads.find`` knows, ``settings`` are its."""

    workload: str
    settings: dict[str, Any] = field(default_factory=dict)


Step = CommandStep | NativeStep


@dataclass(frozen=True)
class Control:
    """How a factor is set and read back: shell commands that see ``${LEVEL}``.

    What ``read`` prints (stripped) must be the level, else the trial is an error: a level that did not take must
    not become a column of the results. ``on`` is SINGLE or EACH node. With ``restore`` a factor that can be read is set
    back at the end of a campaign to what it was before.
    """

    factor: str
    set: str = ""
    read: str = ""
    on: str = SINGLE
    restore: bool = True


@dataclass(frozen=True)
class CacheRegime:
    """Between trials: CACHE_NONE, CACHE_DROP (the kernel's caches of every node), or CACHE_REMOUNT by the two
    commands, once per node, verified in the mount table. ``before_reads`` runs before each read phase of a native
    workload."""

    between_trials: str = CACHE_NONE
    unmount: str = ""
    mount: str = ""
    before_reads: str = ""


@dataclass(frozen=True)
class Against:
    """The two levels of ``factor`` are compared pair by pair until the verdict is clear: the first is the base.
    ``margin`` is the fraction that does not matter, ``metric`` the number that decides ('': the headline). With
    ``fail_if`` it ends when each of these conditions is told, as ``slower>5%``."""

    factor: str
    margin: float
    metric: str = ""
    fail_if: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spec:
    """One campaign. Sizes in bytes, times in seconds.

    ``factors`` include ``nodes`` and ``ranks_per_node`` (their series are their levels). ``design`` says which
    cells of them are measured and how they are ordered: ``{"kind": "full"}`` and its relatives in ``design``.
    With ``against`` at most ``repetitions`` pairs are measured.
    ``until`` is the half-width of the interval as a fraction of the mean that ends the repetitions, or None.
    ``targets`` are the directories that are measured, by their levels of the factor ``target``; a single one may have
    no name, and there is no such factor then. Without any there are only commands, and none says ``${TARGET}``.
    ``servers`` are the hosts of steps that run ``on: servers``. ``lab`` is the emulated cluster that is measured, by
    the words of ``iosonde lab up``, ``faults`` what is inflicted on it in every trial, as written (``measure.faults``),
    and ``settle_s`` how long its servers are looked at after the last step.
    """

    targets: dict[str, Path]
    steps: tuple[Step, ...]
    factors: tuple[Factor, ...]
    name: str = ""
    controls: tuple[Control, ...] = ()
    set_up: tuple[CommandStep, ...] = ()
    tear_down: tuple[CommandStep, ...] = ()
    cache: CacheRegime = CacheRegime()
    design: dict[str, Any] = field(default_factory=lambda: {"kind": "full"})
    repetitions: int = 6
    until: float | None = None
    against: Against | None = None
    seed: int | None = None
    launcher: str | None = None
    hosts: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    reserve: str = ""
    trial_timeout_s: float | None = None
    lab: dict[str, Any] = field(default_factory=dict)
    faults: tuple[dict[str, Any], ...] = ()
    settle_s: float | None = None

    @property
    def native(self) -> tuple[NativeStep, ...]:
        """The steps that our own engine runs."""
        return tuple(step for step in self.steps if isinstance(step, NativeStep))

    def target_name(self, factors: Mapping[str, FactorValue]) -> str:
        """Which of the targets a trial with these factors is on; empty if the only one has no name."""
        return "" if self.targets.keys() <= {""} else str(factors[TARGET])

    def target_of(self, factors: Mapping[str, FactorValue]) -> Path | None:
        """The directory that a trial with these factors measures; None if there is none."""
        return self.targets.get(self.target_name(factors))

    def levels(self, factor: str) -> tuple[FactorValue, ...]:
        """The levels of a factor, () where there is none of this name."""
        return next((candidate.levels for candidate in self.factors if candidate.name == factor), ())

    def counts(self, factor: str) -> tuple[int, ...]:
        """The levels of a factor that counts something, as nodes."""
        return tuple(count_of(level) for level in self.levels(factor))


@dataclass(frozen=True)
class Terms:
    """What the user allows, and where things are kept. It changes no result: the same experiment under other terms
    is the same experiment. Sizes in bytes, times in seconds; None is no limit. ``store`` None: the usual one.
    ``moves`` is an expression over factors, the bytes that a trial moves, and ``speeds`` are the arguments of
    ``forecast.Speeds``: what the campaign's length is predicted from. ``pace`` (``10min``, ``50%``) makes breaks
    between trials, ``abort_if`` is a command whose exit code 0 ends the campaign. ``questions`` are what its
    page answers, as :mod:`iosonde.core.questions` reads them. ``cluster``: the nodes that are there, and their roles.
    ``maximum``: the most that the system can deliver, bytes/s.
    """

    store: str | None = None
    budget_s: float | None = None
    idle_timeout_s: float = 300.0
    max_bytes: int | None = None
    max_files: int | None = None
    max_seconds: float | None = None
    max_operations: int = 10_000_000
    moves: str | None = None
    speeds: dict[str, float] | None = None
    pace: str | None = None
    abort_if: str = ""
    questions: tuple[dict[str, Any], ...] = ()
    cluster: ClusterNodes | None = None
    maximum: float | None = None
