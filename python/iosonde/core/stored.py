"""A stored run and its phases as types, so that no code above the store uses keys of run.json (docs/store.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from .contradiction import CONTRADICTIONS, Contradiction
from .faults import FaultDone
from .filesystems import classify_structure
from .message import Message
from .types import FactorValue, Finding, Severity
from .words import format_count

FILESYSTEM, TARGET, STRUCTURE = "filesystem", "target", "structure"
PLACES = (FILESYSTEM, TARGET, STRUCTURE)  # facts of runs that can be queried like factors
MAXIMUM = "maximum"  # in the facts of a run: the maximum throughput of the system, bytes/s
DETECTED_LEVELS = "levels_found"
SUBJECT_COMMIT = "subject_commit"
CONCURRENT_PROCESSES = "measured_beside"  # processes that measured on the same machine, seen before or after the trial
CANNOT_TELL, FILES = "cannot_tell", "files"


def strip_factor_prefix(column: str) -> str:
    """Return the factor's own name: a store prefixes ``factor_`` if results already have a column of that name."""
    return column.removeprefix("factor_")


_T = TypeVar("_T")


class _Field(Generic[_T]):
    """An attribute of a type with a ``document``: the value there, below its keys, as ``convert`` makes it. ``convert``
    gets None for a value that is missing."""

    def __init__(self, convert: Callable[[Any], _T], *keys: str) -> None:
        self._convert, self._keys = convert, keys

    def __get__(self, stored: StoredPhase | StoredRun, kind: type) -> _T:
        value: Any = stored.document
        for key in self._keys:
            value = (value or {}).get(key)
        return self._convert(value)


def _take_value(value: Any) -> Any:
    return value


def _read_text(value: Any) -> str:
    return str(value or "")


def _read_integer(value: Any) -> int | None:
    return None if value is None else int(value)


def _read_mapping(value: Any) -> Any:
    return value or {}


def _read_tuple(value: Any) -> Any:
    return tuple(value or ())


@dataclass(frozen=True)
class StoredPhase:
    """A phase of the engine, or a step of commands. ``document`` is its entry in run.json (docs/store.md)."""

    document: Mapping[str, Any]

    @property
    def index(self) -> int:
        """Number of the phase in the run, as in its operations."""
        return int(self.document["index"])

    @property
    def name(self) -> str:
        """Name in the experiment."""
        return str(self.document["name"])

    @property
    def operation(self) -> str:
        """Name in the results."""
        return str(self.document.get("operation") or self.name)

    # Whether every operation was recorded; False if unknown, as they may be a sample
    recorded_all = _Field(bool, "recorded_all")
    # Flags with which its files were opened, besides those for reading or writing; empty also if unknown
    open_flags = _Field(lambda value: frozenset(map(str, value or ())), "open_flags")

    @property
    def placed(self) -> bool:
        """Return whether files and offsets of operations are known; they may be unknown in another tool's trace."""
        return bool(self.document.get("placed", True))

    @property
    def is_step(self) -> bool:
        """Return whether the phase is measured: set-up and tear-down are not."""
        return bool(self.document.get("stage", "step") == "step")

    @property
    def is_command(self) -> bool:
        """Return whether commands did it, not the engine."""
        return "command" in self.document

    # Command as written, with its placeholders; '' for phases of the engine
    command = _Field(lambda value: _read_text(value).strip(), "command")
    # Versions that the tools' outputs name
    tool_versions = _Field(lambda value: tuple(map(str, value or ())), "versions")
    # ``rate``, ``bandwidth``, or None without a rate of its own
    measures = _Field[str | None](_take_value, "measures")
    # Whether all ranks worked on one file
    shared = _Field(bool, "shared")
    # Whether the rate counts the ranks on the node that wrote a shared file (see ``shared_reads``)
    writer_counted = _Field(bool, "writer_counted")
    # State of the cache on that node; empty if unknown
    writer_cache = _Field(_read_text, "writer_cache")

    @property
    def comparable(self) -> bool:
        """Return whether the nodes' clocks agree well enough to compare times of ranks."""
        return bool(self.document.get("comparable", True))

    # Time from the first start to the last end; None if the clocks are not comparable
    duration_ns = _Field[int | None](_take_value, "duration_ns")
    # Maximum difference between the clocks of its ranks
    clock_error_ns = _Field(lambda value: int(value or 0), "clock_error_ns")
    # Kind of operation that its rate counts; None if the store does not record it
    counted_kind = _Field[str | None](_take_value, "counted_kind")
    # Time from the first to the last start of a rank; None if the clocks are not comparable
    start_spread_ns = _Field[int | None](_take_value, "start_spread_ns")
    # Time from the first to the last end of a rank; None if the clocks are not comparable
    end_spread_ns = _Field[int | None](_take_value, "end_spread_ns")

    @property
    def in_turn(self) -> bool:
        """Return whether the ranks ran one after another."""
        return self.document.get("on") == "each"

    # Kind of operation → count, bytes, errors, over all ranks
    totals = _Field[Mapping[str, Mapping[str, int]]](_read_mapping, "totals")
    # Kind of call → total counted by all servers, possibly none; None if they did not count
    server_calls = _Field[Mapping[str, int] | None](_take_value, "server_calls")
    # Known state of the caches for a read
    cache = _Field[Mapping[str, Any]](_read_mapping, "cache")
    # Traffic over the network to the target's servers (docs/store.md); empty if nothing was counted
    network = _Field[Mapping[str, Any]](_read_mapping, "network")
    # MPI-IO hints that were requested and accepted
    hints = _Field[Mapping[str, Any]](_read_mapping, "hints")
    # Tools whose output was read
    tools = _Field[tuple[str, ...]](_read_tuple, "tools")

    @property
    def read_from_each(self) -> bool:
        """Return whether output was read of a command that all ranks ran; the tool's own operations are
        then separate."""
        return bool(self.document.get("parse")) and self.document.get("on") == "all"

    @property
    def on_all_ranks(self) -> bool:
        """Return whether every rank ran the command at the same time."""
        return self.document.get("on") == "all"

    # MPI program whose outputs give its number of tasks; '' if none was checked
    mpi_tool = _Field(_read_text, "mpi", "tool")
    # Number of tasks in each output of that program
    tasks = _Field[tuple[int | None, ...]](_read_tuple, "mpi", "tasks")
    # Expected number of tasks of one of its jobs; None if unknown
    tasks_expected = _Field(_read_integer, "mpi", "expected")
    # Reason why the output of a command could not be read; '' if it was
    unread = _Field(_read_text, "unread")
    # Pairs (operation, metric) that the tool's users read first but that cannot be combined over its ranks
    rank_only_metrics = _Field[tuple[tuple[str, str], ...]](
        lambda value: tuple(map(tuple, value or ())), "of_ranks_alone"
    )
    # Results of each rank, in order of rank; empty for imported runs
    ranks = _Field[tuple[Mapping[str, Any], ...]](_read_tuple, "ranks")

    @property
    def clock_offsets(self) -> dict[int, int]:
        """Offset to subtract from each rank's times, in ns, so that all follow the clock of rank 0."""
        return {rank["rank"]: rank.get("clock_offset_ns") or 0 for rank in self.ranks}

    # Kind of operation → (bucket, count) pairs, if not all operations were recorded
    histograms = _Field[Mapping[str, Any]](_read_mapping, "histograms")


@dataclass(frozen=True)
class StoredRun:
    """A stored run without its tables. ``document`` is the content of run.json (docs/store.md). ``is_requested``:
    include it even if it is incomplete."""

    document: Mapping[str, Any]
    is_requested: bool = False

    @property
    def id(self) -> str:
        """Identifier, unique in its store."""
        return str(self.document["id"])

    @property
    def experiment(self) -> str:
        """Experiment of the run."""
        return str(self.document["experiment"])

    # Whether the run names its experiment's digest at the time; runs before schema version 2 do not
    has_experiment_digest = _Field(bool, "experiment_sha256")

    @property
    def source(self) -> str:
        """Source of the measurement: an iosonde workload by name, or a tool with its version."""
        return str(self.document["source"])

    @property
    def started_at(self) -> str:
        """Start, ISO 8601; UTC in own measurements, '' if a tool does not report it."""
        return str(self.document["started_at"])

    @property
    def seconds(self) -> float:
        """Duration in seconds from the first command to the last result."""
        return float(self.document["seconds"])

    # Factors, set and observed
    factors = _Field[Mapping[str, FactorValue]](_read_mapping, "factors")
    # Facts about the machine and the measurement
    facts = _Field[Mapping[str, Any]](_read_mapping, "facts")

    @property
    def initial_levels(self) -> Mapping[str, str]:
        """Factor → level that the system reported before the campaign set anything. Factors that were not read, or that
        differed between nodes, are left out."""
        read: Mapping[str, Sequence[str]] = self.facts.get(DETECTED_LEVELS) or {}
        return {factor: nodes[0] for factor, nodes in read.items() if len(set(nodes)) == 1}

    # Descriptions of the missing parts; empty for a complete run
    missing = _Field[tuple[str, ...]](_read_tuple, "missing")

    @property
    def complete(self) -> bool:
        """Return whether every rank did all its work."""
        return not self.missing

    @property
    def counts(self) -> bool:
        """Return whether the run is included in totals: it is complete, or was requested."""
        return self.complete or self.is_requested

    @cached_property
    def phases(self) -> tuple[StoredPhase, ...]:
        """Phases in order."""
        return tuple(StoredPhase(phase) for phase in self.document.get("phases") or ())

    # Number of operations recorded; None without records of single operations
    n_operations = _Field(_read_integer, "operations")
    # Name of each of its files → bytes and digest
    files = _Field[Mapping[str, Mapping[str, Any]]](_read_mapping, "files")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings made during the measurement."""
        return tuple(
            Finding(
                finding["code"],
                Severity(finding["severity"]),
                finding["sentence"],
                finding.get("evidence") or {},
                finding.get("action") or "",
            )
            for finding in self.document.get("findings") or ()
        )

    # Operation → kinds of metric that its tool's users read first; empty if the run does not record them
    headlines = _Field[Mapping[str, Sequence[str]]](_read_mapping, "headlines")
    # Operation of a row → its ``operation`` and ``factors``, if rows of the run have different settings
    row_settings = _Field[Mapping[str, Mapping[str, Any]]](_read_mapping, "row_settings")

    @property
    def settings(self) -> list[Mapping[str, FactorValue]]:
        """Factors of the run, then those of its rows that have their own."""
        return [self.factors, *(row["factors"] for row in self.row_settings.values())]

    @property
    def row_factors(self) -> dict[str, None]:
        """Names of the factors that differ between rows of the run."""
        return {name: None for row in self.row_settings.values() for name in row["factors"]}

    # Versions of iosonde and its environment, by name
    versions = _Field[Mapping[str, Any]](_read_mapping, "versions")
    # Version of iosonde that stored the run
    written_by = _Field(_read_text, "versions", "iosonde")

    @property
    def imported(self) -> bool:
        """Return whether another tool measured it and iosonde imported its output."""
        return "import" in self.facts

    # File that the run was imported from, relative to `import_directory`
    import_file = _Field(_read_text, "facts", "import", "file")
    # Absolute directory (or archive) that was named, or that contains the named file; '' if it is not recorded
    import_directory = _Field(_read_text, "facts", "import", "directory")

    @property
    def span(self) -> tuple[str, float]:
        """Return start and duration in s; '' or 0 if unknown. Some tools print the time of their end (fio)."""
        start, seconds = (self.facts.get("import") or {}).get("span") or (self.started_at, self.seconds)
        return str(start), float(seconds)

    # Questions that another tool's trace cannot answer
    cannot_tell = _Field[Sequence[str]](_read_tuple, "facts", CANNOT_TELL)

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Return the numbers of other tools that contradict each other, of an import or of the run's commands."""
        entries = [*(self.facts.get(CONTRADICTIONS) or ())]
        for phase in self.phases:
            entries += phase.document.get(CONTRADICTIONS) or ()
        return tuple(map(Contradiction.from_json, entries))

    def file_name(self, number: int) -> str:
        """Return the name of a file in another tool's trace, '' if unknown."""
        names = self.facts.get(FILES)
        return str(names.get(str(number), "")) if isinstance(names, Mapping) else ""

    # Target directory; None if unknown
    target = _Field(lambda value: None if value is None else str(value), "facts", "target")
    # Version of the file system under test; '' if unknown
    subject_commit = _Field(_read_text, "facts", SUBJECT_COMMIT)
    # Processes that measured on the same machine at the same time
    concurrent_pids = _Field[tuple[int, ...]](_read_tuple, "facts", CONCURRENT_PROCESSES)

    @property
    def filesystem(self) -> str | None:
        """Type of the target's file system in its mount table; None if unknown."""
        kind = self._mount.get("type")
        return None if self.target is None or kind is None else str(kind)

    @property
    def structure(self) -> str | None:
        """Path of the target's data to a node (``core.filesystems.classify_structure``); None if unknown."""
        kind = self.filesystem
        return None if kind is None else classify_structure(kind, str(self._mount.get("source") or "")) or None

    # Maximum throughput of the system in bytes/s, as given by the experiment; None if not given
    maximum = _Field[float | None](_take_value, "facts", MAXIMUM)

    @property
    def places(self) -> dict[str, str | None]:
        """Facts of :data:`PLACES`."""
        return {FILESYSTEM: self.filesystem, TARGET: self.target, STRUCTURE: self.structure}

    _mount = _Field[Mapping[str, Any]](_read_mapping, "facts", "machine", "mount")
    # State of the target's file system ``before`` and ``after`` the run, with ``at`` and ``health``; empty if
    # it did not report any
    conditions = _Field[Mapping[str, Any]](_read_mapping, "facts", "conditions")

    @property
    def remounts(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Remounts as (phase that it preceded, '' for the trial; ``mount``, ``host``, ``at`` and duration)."""
        first = [("", remount) for remount in self.facts.get("remounts") or ()]
        later = [
            (phase.name, remount)
            for phase in self.phases
            for remount in (phase.document.get("cache") or {}).get("remounts") or ()
        ]
        return first + later

    @cached_property
    def faults(self) -> tuple[FaultDone, ...]:
        """Faults injected into its lab, with times."""
        return tuple(FaultDone.from_dict(fault) for fault in self.facts.get("faults") or ())

    @property
    def live_options(self) -> Mapping[str, str]:
        """Active options of the target's file system, if it reports them."""
        return self.conditions.get("options") or {}

    @property
    def target_settings(self) -> Mapping[str, FactorValue]:
        """Properties of the target beyond the factors: those of its lab, and live options of its file system."""
        return {**list_lab_properties((self.facts.get("machine") or {}).get("lab")), **self.live_options}

    def level(self, column: str) -> FactorValue:
        """Return the value of a factor, by its column in the results."""
        name = strip_factor_prefix(column)
        if name in self.factors:
            return self.factors[name]
        run_values: dict[str, FactorValue] = {
            **self.places,
            "run": self.id,
            "experiment": self.experiment,
            "source": self.source,
        }
        return run_values.get(name, self.target_settings.get(name))


_LAB_WORDS = {
    "net_bits_per_s": "net",
    "delay_s": "delay",
    "disk_bytes": "disk_size",
    "write_back_bytes": "write_back",
    "cpus_per_host": "cpus",
}
_NO_PROPERTY = ("name", "options")


def list_lab_properties(lab: Any) -> dict[str, FactorValue]:
    """Return the requested properties of an emulated cluster, by the options of ``iosonde lab up``, and its data layout
    (``copies``, parts of a code). It is empty for a real cluster."""
    if not isinstance(lab, Mapping):
        return {}
    description = lab.get("description") or {}
    settings = {_LAB_WORDS.get(key, key): value for key, value in description.items() if key not in _NO_PROPERTY}
    options = {key: _to_number(value) for key, value in (description.get("options") or {}).items()}
    if isinstance(speed := settings.get("net"), (int, float)):
        settings["net"] = f"{speed / 1e6:.10g}mbit"
    properties = {**settings, **options, **(lab.get("layout") or {})}
    return {key: value for key, value in properties.items() if isinstance(value, (str, int, float))}


def _to_number(text: Any) -> Any:
    return int(text) if isinstance(text, str) and text.isdecimal() else text


def describe_incomplete_treatment(runs: Iterable[StoredRun]) -> str:
    """Describe the treatment of the incomplete runs among these; empty if there are none."""
    incomplete = [run for run in runs if not run.complete]
    if not incomplete:
        return ""
    return "included on request" if incomplete[0].counts else "left out"


def describe_included_incomplete(runs: Sequence[StoredRun]) -> str:
    """Describe the number of incomplete runs that are included; empty if there are none, or they are left out."""
    taken = [run for run in runs if not run.complete and run.counts]
    return _describe_incomplete(taken, len(runs), f" and {describe_incomplete_treatment(taken)}")


def describe_excluded_incomplete(runs: Sequence[StoredRun]) -> str:
    """Describe the number of incomplete runs that do not count; empty if there are none."""
    return _describe_incomplete([run for run in runs if not run.counts], len(runs))


def _describe_incomplete(concerned: Sequence[StoredRun], n_runs: int, fate: str = "") -> str:
    if not concerned:
        return ""
    return Message(
        "incomplete-runs",
        "{n_incomplete} of {trials} {verb} incomplete{fate}",
        n_incomplete=len(concerned),
        trials=format_count(n_runs, "trial"),
        verb="is" if len(concerned) == 1 else "are",
        fate=fate,
    )
