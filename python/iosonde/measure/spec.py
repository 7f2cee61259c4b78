"""Specification of one campaign, as plain data from any source: options, a bare command, or an experiment file.

A trial runs ``set_up``, ``steps`` and ``tear_down`` in order at one setting of the factors. A step is a shell command
or a native workload. Commands and workload settings may contain names of factors and properties of the trial as
``${NAME}`` (see ``placeholders``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core.cluster_nodes import ClusterNodes
from iosonde.core.stored import TARGET
from iosonde.core.types import Factor, FactorValue, level_to_count

# Where a command runs: on the same first rank; on every rank after a barrier; rank after rank; as one MPI job with as
# many ranks as the trial, started by the first rank; on every server, started by the first rank.
SINGLE, ALL, EACH, MPI, SERVERS = "single", "all", "each", "mpi", "servers"
# The shell of the first rank alone runs these.
ONCE = (SINGLE, MPI, SERVERS)

# Run before cold reads in an emulated cluster whose clients keep data themselves. It does not clear server caches.
CLIENTS_ANEW = "iosonde lab remount"
# Done between trials so that a trial does not read cached data of the one before.
CACHE_NONE, CACHE_DROP, CACHE_REMOUNT = "none", "drop", "remount"


@dataclass(frozen=True)
class CommandStep:
    """A command for /bin/sh. ``on`` is SINGLE, ALL, EACH, MPI or SERVERS. ``parse`` names the importer that reads its
    output ("auto": the one that recognises it; None: no importer). ``expect`` are the exit codes of success. It runs in
    trials in which the factors of ``when`` have these levels. ``keep_output``: bytes of its output that each rank keeps
    (None: the default).
    """

    command: str
    on: str = SINGLE
    parse: str | None = None
    timeout_s: float | None = None
    expect: tuple[int, ...] = (0,)
    name: str = ""
    when: dict[str, FactorValue] = field(default_factory=dict)
    keep_output: int | None = None

    def is_for(self, levels: Mapping[str, FactorValue]) -> bool:
        """Return whether it runs in a trial with these levels."""
        return all(levels.get(factor) == level for factor, level in self.when.items())


@dataclass(frozen=True)
class NativeStep:
    """A workload of our own engine: ``workload`` is a name that ``workloads.find_producer`` knows, ``settings`` are its
    settings."""

    workload: str
    settings: dict[str, Any] = field(default_factory=dict)


Step = CommandStep | NativeStep


@dataclass(frozen=True)
class Control:
    """Commands that set a factor and read it back: shell commands with ``${LEVEL}``.

    The output of ``read`` (stripped) must be the level, else the trial fails: a level that was not set must not become
    a column of the results. ``on`` is SINGLE or EACH node. With ``restore`` a readable factor gets its original level
    back at the end of a campaign.
    """

    factor: str
    set: str = ""
    read: str = ""
    on: str = SINGLE
    restore: bool = True


@dataclass(frozen=True)
class CacheRegime:
    """Cache treatment between trials: CACHE_NONE, CACHE_DROP (the kernel's caches of every node), or CACHE_REMOUNT by
    the two commands, once per node, verified in the mount table. ``before_reads`` runs before each read phase of a
    native workload.
    """

    between_trials: str = CACHE_NONE
    unmount: str = ""
    mount: str = ""
    before_reads: str = ""


@dataclass(frozen=True)
class Against:
    """Sequential comparison of two levels of ``factor``, pair by pair, until the verdict is clear: the first is the
    baseline. ``margin`` is the fraction that does not matter, ``metric`` the deciding number ('': the headline). With
    ``fail_if`` it ends when each of these conditions is decided, as ``slower>5%``.
    """

    factor: str
    margin: float
    metric: str = ""
    fail_if: tuple[str, ...] = ()


@dataclass(frozen=True)
class Find:
    """Search for the setting with the best mean of ``metric`` ('': the headline), within the fraction ``within`` and
    with the confidence ``sure``: settings leave once they are shown to be worse."""

    within: float
    sure: float
    metric: str = ""


@dataclass(frozen=True)
class Spec:
    """Settings of one campaign. Sizes in bytes, times in seconds.

    ``factors`` include ``nodes`` and ``ranks_per_node``, with their series as levels. ``design`` selects the measured
    cells and their order: ``{"kind": "full"}`` and its relatives in ``design``. With ``against`` at most
    ``repetitions`` pairs are measured, with ``find`` as many blocks.
    ``until`` is the half-width of the interval, as a fraction of the mean, that
    ends the repetitions, or None. ``targets`` are the measured directories, by their levels of the factor ``target``; a
    single one may have no name, and then the factor is missing. Without targets there are only commands, and none uses
    ``${TARGET}``. ``servers`` are the hosts of steps that run ``on: servers``. ``lab`` is the emulated cluster to
    measure, as the words of ``iosonde lab up``. ``faults`` are inflicted on it in every trial, as written
    (``measure.faults``), and ``settle_s`` is how long its servers are observed after the last step.
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
    find: Find | None = None
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
        """Return the name of the target of a trial with these factors; empty if the only target has no name."""
        return "" if self.targets.keys() <= {""} else str(factors[TARGET])

    def target_of(self, factors: Mapping[str, FactorValue]) -> Path | None:
        """Return the directory that a trial with these factors measures; None if there is none."""
        return self.targets.get(self.target_name(factors))

    def levels(self, factor: str) -> tuple[FactorValue, ...]:
        """Return the levels of a factor, () for an unknown one."""
        return next((candidate.levels for candidate in self.factors if candidate.name == factor), ())

    def counts(self, factor: str) -> tuple[int, ...]:
        """Return the levels of a factor that counts something, such as nodes."""
        return tuple(level_to_count(level) for level in self.levels(factor))


@dataclass(frozen=True)
class Terms:
    """The user's limits, and where things are kept. They change no result: the same experiment under other terms is the
    same experiment. Sizes in bytes, times in seconds; None means no limit. ``store`` None: the default store. ``moves``
    is an expression over factors, the bytes that a trial moves, and ``speeds`` are the arguments of
    ``forecast.Speeds``: both predict the campaign's length. ``pace`` (``10min``, ``50%``) makes breaks between trials,
    ``abort_if`` is a command whose exit code 0 ends the campaign. ``questions`` are answered by its page, as read by
    :mod:`iosonde.core.questions`. ``cluster``: the available nodes and their roles. ``maximum``: the most that the
    system can deliver, bytes/s. ``incomplete``: incomplete trials are shown, and end nothing.
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
    incomplete: bool = False
