"""A stored run and its phases as types, so that no code above the store uses keys of run.json (docs/store.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .faults import FaultDone
from .filesystems import structure
from .message import Message
from .types import FactorValue, Finding, Severity
from .words import counted

FILESYSTEM, TARGET, STRUCTURE = "filesystem", "target", "structure"
PLACES = (FILESYSTEM, TARGET, STRUCTURE)  # facts of runs that can be queried like factors
MAXIMUM = "maximum"  # in the facts of a run: the maximum throughput of the system, bytes/s
DETECTED_LEVELS = "levels_found"
SUBJECT_COMMIT = "subject_commit"
CONCURRENT_PROCESSES = "measured_beside"  # processes that measured on the same machine, seen before or after the trial
CANNOT_TELL, FILES = "cannot_tell", "files"


def plain(column: str) -> str:
    """Return the factor's own name: a store prefixes ``factor_`` if results already have a column of that name."""
    return column.removeprefix("factor_")


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

    @property
    def recorded_all(self) -> bool:
        """Return whether every operation was recorded; False if unknown, as they may be a sample."""
        return bool(self.document.get("recorded_all", False))

    @property
    def open_flags(self) -> frozenset[str]:
        """Flags with which its files were opened, besides those for reading or writing; empty also if unknown."""
        return frozenset(map(str, self.document.get("open_flags") or ()))

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

    @property
    def command(self) -> str:
        """Command as written, with its placeholders; '' for phases of the engine."""
        return str(self.document.get("command") or "").strip()

    @property
    def tool_versions(self) -> tuple[str, ...]:
        """Versions that the tools' outputs name."""
        return tuple(str(version) for version in self.document.get("versions") or ())

    @property
    def measures(self) -> str | None:
        """``rate``, ``bandwidth``, or None without a rate of its own."""
        return self.document.get("measures")

    @property
    def shared(self) -> bool:
        """Return whether all ranks worked on one file."""
        return bool(self.document.get("shared"))

    @property
    def writer_counted(self) -> bool:
        """Return whether the rate counts the ranks on the node that wrote a shared file (see ``shared_reads``)."""
        return bool(self.document.get("writer_counted"))

    @property
    def writer_cache(self) -> str:
        """State of the cache on that node; empty if unknown."""
        return str(self.document.get("writer_cache") or "")

    @property
    def comparable(self) -> bool:
        """Return whether the nodes' clocks agree well enough to compare times of ranks."""
        return bool(self.document.get("comparable", True))

    @property
    def duration_ns(self) -> int | None:
        """Time from the first start to the last end; None if the clocks are not comparable."""
        return self.document.get("duration_ns")

    @property
    def clock_error_ns(self) -> int:
        """Maximum difference between the clocks of its ranks."""
        return int(self.document.get("clock_error_ns") or 0)

    @property
    def counted_kind(self) -> str | None:
        """Kind of operation that its rate counts; None if the store does not record it."""
        return self.document.get("counted_kind")

    @property
    def start_spread_ns(self) -> int | None:
        """Time from the first to the last start of a rank; None if the clocks are not comparable."""
        return self.document.get("start_spread_ns")

    @property
    def end_spread_ns(self) -> int | None:
        """Time from the first to the last end of a rank; None if the clocks are not comparable."""
        return self.document.get("end_spread_ns")

    @property
    def in_turn(self) -> bool:
        """Return whether the ranks ran one after another."""
        return self.document.get("on") == "each"

    @property
    def totals(self) -> Mapping[str, Mapping[str, int]]:
        """Kind of operation → count, bytes, errors, over all ranks."""
        return self.document.get("totals") or {}

    @property
    def server_calls(self) -> Mapping[str, int] | None:
        """Kind of call → total counted by all servers, possibly none; None if they did not count."""
        calls: Mapping[str, int] | None = self.document.get("server_calls")
        return calls

    @property
    def cache(self) -> Mapping[str, Any]:
        """Known state of the caches for a read."""
        return self.document.get("cache") or {}

    @property
    def network(self) -> Mapping[str, Any]:
        """Traffic over the network to the target's servers (docs/store.md); empty if nothing was counted."""
        return self.document.get("network") or {}

    @property
    def hints(self) -> Mapping[str, Any]:
        """MPI-IO hints that were requested and accepted."""
        return self.document.get("hints") or {}

    @property
    def tools(self) -> tuple[str, ...]:
        """Tools whose output was read."""
        return tuple(self.document.get("tools") or ())

    @property
    def read_from_each(self) -> bool:
        """Return whether output was read of a command that all ranks ran; the tool's own operations are
        then separate."""
        return bool(self.document.get("parse")) and self.document.get("on") == "all"

    @property
    def on_all_ranks(self) -> bool:
        """Return whether every rank ran the command at the same time."""
        return self.document.get("on") == "all"

    @property
    def mpi_tool(self) -> str:
        """MPI program whose outputs give its number of tasks; '' if none was checked."""
        return str((self.document.get("mpi") or {}).get("tool", ""))

    @property
    def tasks(self) -> tuple[int | None, ...]:
        """Number of tasks in each output of that program."""
        return tuple((self.document.get("mpi") or {}).get("tasks") or ())

    @property
    def tasks_expected(self) -> int | None:
        """Expected number of tasks of one of its jobs; None if unknown."""
        expected = (self.document.get("mpi") or {}).get("expected")
        return None if expected is None else int(expected)

    @property
    def unread(self) -> str:
        """Reason why the output of a command could not be read; '' if it was."""
        return str(self.document.get("unread") or "")

    @property
    def rank_only_metrics(self) -> tuple[tuple[str, str], ...]:
        """Pairs (operation, metric) that the tool's users read first but that cannot be combined over its ranks."""
        return tuple((operation, metric) for operation, metric in self.document.get("of_ranks_alone") or ())

    @property
    def ranks(self) -> tuple[Mapping[str, Any], ...]:
        """Results of each rank, in order of rank; empty for imported runs."""
        return tuple(self.document.get("ranks") or ())

    @property
    def clock_offsets(self) -> dict[int, int]:
        """Offset to subtract from each rank's times, in ns, so that all follow the clock of rank 0."""
        return {rank["rank"]: rank.get("clock_offset_ns") or 0 for rank in self.ranks}

    @property
    def histograms(self) -> Mapping[str, Any]:
        """Kind of operation → (bucket, count) pairs, if not all operations were recorded."""
        return self.document.get("histograms") or {}


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

    @property
    def has_experiment_digest(self) -> bool:
        """Return whether the run names its experiment's digest at the time; runs before schema version 2 do not."""
        return bool(self.document.get("experiment_sha256"))

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

    @property
    def factors(self) -> Mapping[str, FactorValue]:
        """Factors, set and observed."""
        return self.document.get("factors") or {}

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts about the machine and the measurement."""
        return self.document.get("facts") or {}

    @property
    def initial_levels(self) -> Mapping[str, str]:
        """Factor → level that the system reported before the campaign set anything. Factors that were not read, or that
        differed between nodes, are left out."""
        read: Mapping[str, Sequence[str]] = self.facts.get(DETECTED_LEVELS) or {}
        return {factor: nodes[0] for factor, nodes in read.items() if len(set(nodes)) == 1}

    @property
    def missing(self) -> tuple[str, ...]:
        """Descriptions of the missing parts; empty for a complete run."""
        return tuple(self.document.get("missing") or ())

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

    @property
    def n_operations(self) -> int | None:
        """Number of operations recorded; None without records of single operations."""
        count = self.document.get("operations")
        return None if count is None else int(count)

    @property
    def files(self) -> Mapping[str, Mapping[str, Any]]:
        """Name of each of its files → bytes and digest."""
        return self.document.get("files") or {}

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

    @property
    def headlines(self) -> Mapping[str, Sequence[str]]:
        """Operation → kinds of metric that its tool's users read first; empty if the run does not record them."""
        return self.document.get("headlines") or {}

    @property
    def versions(self) -> Mapping[str, Any]:
        """Versions of iosonde and its environment, by name."""
        return self.document.get("versions") or {}

    @property
    def written_by(self) -> str:
        """Version of iosonde that stored the run."""
        return str(self.versions.get("iosonde", ""))

    @property
    def imported(self) -> bool:
        """Return whether another tool measured it and iosonde imported its output."""
        return "import" in self.facts

    @property
    def cannot_tell(self) -> Sequence[str]:
        """Questions that another tool's trace cannot answer."""
        return self.facts.get(CANNOT_TELL) or ()

    def file_name(self, number: int) -> str:
        """Return the name of a file in another tool's trace, '' if unknown."""
        names = self.facts.get(FILES)
        return str(names.get(str(number), "")) if isinstance(names, Mapping) else ""

    @property
    def target(self) -> str | None:
        """Target directory; None if unknown."""
        path = self.facts.get("target")
        return None if path is None else str(path)

    @property
    def subject_commit(self) -> str:
        """Version of the file system under test; '' if unknown."""
        return str(self.facts.get(SUBJECT_COMMIT) or "")

    @property
    def concurrent_pids(self) -> tuple[int, ...]:
        """Processes that measured on the same machine at the same time."""
        return tuple(self.facts.get(CONCURRENT_PROCESSES) or ())

    @property
    def filesystem(self) -> str | None:
        """Type of the target's file system in its mount table; None if unknown."""
        kind = self._mount.get("type")
        return None if self.target is None or kind is None else str(kind)

    @property
    def structure(self) -> str | None:
        """Path of the target's data to a node (:func:`iosonde.core.filesystems.structure`); None if unknown."""
        kind = self.filesystem
        return None if kind is None else structure(kind, str(self._mount.get("source") or "")) or None

    @property
    def maximum(self) -> float | None:
        """Maximum throughput of the system in bytes/s, as given by the experiment; None if not given."""
        return self.facts.get(MAXIMUM)

    @property
    def places(self) -> dict[str, str | None]:
        """Facts of :data:`PLACES`."""
        return {FILESYSTEM: self.filesystem, TARGET: self.target, STRUCTURE: self.structure}

    @property
    def _mount(self) -> Mapping[str, Any]:
        return (self.facts.get("machine") or {}).get("mount") or {}

    @property
    def conditions(self) -> Mapping[str, Any]:
        """State of the target's file system ``before`` and ``after`` the run, with ``at`` and ``health``; empty if it
        did not report any."""
        return self.facts.get("conditions") or {}

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
        return {**lab_properties((self.facts.get("machine") or {}).get("lab")), **self.live_options}

    def level(self, column: str) -> FactorValue:
        """Return the value of a factor, by its column in the results."""
        name = plain(column)
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


def lab_properties(lab: Any) -> dict[str, FactorValue]:
    """Return the requested properties of an emulated cluster, by the options of ``iosonde lab up``, and its data layout
    (``copies``, parts of a code). It is empty for a real cluster."""
    if not isinstance(lab, Mapping):
        return {}
    description = lab.get("description") or {}
    settings = {_LAB_WORDS.get(key, key): value for key, value in description.items() if key not in _NO_PROPERTY}
    options = {key: _as_number(value) for key, value in (description.get("options") or {}).items()}
    if isinstance(speed := settings.get("net"), (int, float)):
        settings["net"] = f"{speed / 1e6:.10g}mbit"
    properties = {**settings, **options, **(lab.get("layout") or {})}
    return {key: value for key, value in properties.items() if isinstance(value, (str, int, float))}


def _as_number(text: Any) -> Any:
    return int(text) if isinstance(text, str) and text.isdecimal() else text


def fate_of_incomplete(runs: Iterable[StoredRun]) -> str:
    """Describe the treatment of the incomplete runs among these; empty if there are none."""
    incomplete = [run for run in runs if not run.complete]
    if not incomplete:
        return ""
    return "included on request" if incomplete[0].counts else "left out"


def incomplete_among(runs: Sequence[StoredRun]) -> str:
    """Describe the number of incomplete runs that are included; empty if there are none, or they are left out."""
    taken = [run for run in runs if not run.complete and run.counts]
    if not taken:
        return ""
    return Message(
        "incomplete-runs",
        "{n_incomplete} of {trials} {verb} incomplete and {fate}",
        n_incomplete=len(taken),
        trials=counted(len(runs), "trial"),
        verb="is" if len(taken) == 1 else "are",
        fate=fate_of_incomplete(taken),
    )
