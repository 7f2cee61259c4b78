"""A stored run and its phases as types: nobody above the store reads run.json by its keys (docs/store.md)."""

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
PLACES = (FILESYSTEM, TARGET, STRUCTURE)  # facts of runs that can be asked for like factors
MAXIMUM = "maximum"  # in the facts of a run: the most that the system can deliver, bytes/s
DETECTED_LEVELS = "levels_found"
SUBJECT_COMMIT = "subject_commit"
CONCURRENT_PROCESSES = "measured_beside"  # processes that measured on the same machine, seen before or after the trial
CANNOT_TELL, FILES = "cannot_tell", "files"


def plain(column: str) -> str:
    """The factor's own name: a store writes ``factor_`` before one that a column of results has already."""
    return column.removeprefix("factor_")


@dataclass(frozen=True)
class StoredPhase:
    """One phase of the engine, or one step of commands. ``document`` is its entry in run.json (docs/store.md)."""

    document: Mapping[str, Any]

    @property
    def index(self) -> int:
        """Its number in the run; operations carry it."""
        return int(self.document["index"])

    @property
    def name(self) -> str:
        """What it is called in the experiment."""
        return str(self.document["name"])

    @property
    def operation(self) -> str:
        """What it is called in the results."""
        return str(self.document.get("operation") or self.name)

    @property
    def recorded_all(self) -> bool:
        """Whether every operation was kept. Where nothing says so, they may be a sample."""
        return bool(self.document.get("recorded_all", False))

    @property
    def open_flags(self) -> frozenset[str]:
        """How its files were opened, besides for reading or writing; empty, too, where nothing says so."""
        return frozenset(map(str, self.document.get("open_flags") or ()))

    @property
    def placed(self) -> bool:
        """Whether files and offsets of operations are known; of another tool's trace they may not be."""
        return bool(self.document.get("placed", True))

    @property
    def is_step(self) -> bool:
        """Whether it is measured: set-up and tear-down are not."""
        return bool(self.document.get("stage", "step") == "step")

    @property
    def is_command(self) -> bool:
        """Whether commands did it, and not the engine."""
        return "command" in self.document

    @property
    def command(self) -> str:
        """As it was written, placeholders and all; '' where the engine did it."""
        return str(self.document.get("command") or "").strip()

    @property
    def tool_versions(self) -> tuple[str, ...]:
        """Those that the tools' outputs name."""
        return tuple(str(version) for version in self.document.get("versions") or ())

    @property
    def measures(self) -> str | None:
        """``rate``, ``bandwidth``, or None for what has no rate of its own."""
        return self.document.get("measures")

    @property
    def shared(self) -> bool:
        """Whether all ranks worked on one file."""
        return bool(self.document.get("shared"))

    @property
    def writer_counted(self) -> bool:
        """Whether its rate counts the ranks on the node that wrote a shared file (see ``shared_reads``)."""
        return bool(self.document.get("writer_counted"))

    @property
    def writer_cache(self) -> str:
        """In what state the cache of that node was; empty where nothing says so."""
        return str(self.document.get("writer_cache") or "")

    @property
    def comparable(self) -> bool:
        """Whether the clocks of the nodes agree well enough to compare times of ranks."""
        return bool(self.document.get("comparable", True))

    @property
    def duration_ns(self) -> int | None:
        """First start to last end; None where the clocks cannot be compared."""
        return self.document.get("duration_ns")

    @property
    def clock_error_ns(self) -> int:
        """How far the clocks of its ranks may be apart."""
        return int(self.document.get("clock_error_ns") or 0)

    @property
    def counted_kind(self) -> str | None:
        """The kind of operation that its rate counts; None where the store does not say it."""
        return self.document.get("counted_kind")

    @property
    def start_spread_ns(self) -> int | None:
        """First to last start of a rank; None where the clocks cannot be compared."""
        return self.document.get("start_spread_ns")

    @property
    def end_spread_ns(self) -> int | None:
        """First to last end of a rank; None where the clocks cannot be compared."""
        return self.document.get("end_spread_ns")

    @property
    def in_turn(self) -> bool:
        """Whether the ranks did it one after another."""
        return self.document.get("on") == "each"

    @property
    def totals(self) -> Mapping[str, Mapping[str, int]]:
        """Kind of operation → count, bytes, errors, over all ranks."""
        return self.document.get("totals") or {}

    @property
    def server_calls(self) -> Mapping[str, int] | None:
        """Kind of call → how many all servers counted, maybe none; None where they did not count."""
        calls: Mapping[str, int] | None = self.document.get("server_calls")
        return calls

    @property
    def cache(self) -> Mapping[str, Any]:
        """What is known about the caches that a read met."""
        return self.document.get("cache") or {}

    @property
    def network(self) -> Mapping[str, Any]:
        """What went over the network to the target's servers (docs/store.md); empty where nobody counted."""
        return self.document.get("network") or {}

    @property
    def hints(self) -> Mapping[str, Any]:
        """Hints of MPI-IO that were asked for and taken."""
        return self.document.get("hints") or {}

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools whose output was read."""
        return tuple(self.document.get("tools") or ())

    @property
    def read_from_each(self) -> bool:
        """Whether the output of a command that all nodes ran was read: the tool's own operations are beside it."""
        return bool(self.document.get("parse")) and self.document.get("on") == "all"

    @property
    def on_all_ranks(self) -> bool:
        """Whether every rank ran the command at the same time."""
        return self.document.get("on") == "all"

    @property
    def mpi_tool(self) -> str:
        """The MPI program whose outputs tell how many tasks it had; '' where none was looked at."""
        return str((self.document.get("mpi") or {}).get("tool", ""))

    @property
    def tasks(self) -> tuple[int | None, ...]:
        """Of each output of that program, as it says."""
        return tuple((self.document.get("mpi") or {}).get("tasks") or ())

    @property
    def tasks_expected(self) -> int | None:
        """How many one job of it should have had; None where that is not known."""
        expected = (self.document.get("mpi") or {}).get("expected")
        return None if expected is None else int(expected)

    @property
    def unread(self) -> str:
        """Why the output of a command could not be read; '' where it was."""
        return str(self.document.get("unread") or "")

    @property
    def rank_only_metrics(self) -> tuple[tuple[str, str], ...]:
        """(operation, metric) of what its tool's users look at first and that cannot be combined over its ranks."""
        return tuple((operation, metric) for operation, metric in self.document.get("of_ranks_alone") or ())

    @property
    def ranks(self) -> tuple[Mapping[str, Any], ...]:
        """What each rank did, in order of rank; empty for imported runs."""
        return tuple(self.document.get("ranks") or ())

    @property
    def histograms(self) -> Mapping[str, Any]:
        """Kind of operation → (bucket, count) pairs, where not all operations were kept."""
        return self.document.get("histograms") or {}


@dataclass(frozen=True)
class StoredRun:
    """One stored run without its tables. ``document`` is the content of run.json (docs/store.md). ``is_requested``: it
    is to be taken even if it is incomplete."""

    document: Mapping[str, Any]
    is_requested: bool = False

    @property
    def id(self) -> str:
        """Unique in its store."""
        return str(self.document["id"])

    @property
    def experiment(self) -> str:
        """The experiment that it belongs to."""
        return str(self.document["experiment"])

    @property
    def has_experiment_digest(self) -> bool:
        """Whether it names what its experiment was when it was stored: not so before schema version 2."""
        return bool(self.document.get("experiment_sha256"))

    @property
    def source(self) -> str:
        """What measured it: our workloads by name, or a tool with its version."""
        return str(self.document["source"])

    @property
    def started_at(self) -> str:
        """ISO 8601, UTC where we measured; '' where a tool does not say."""
        return str(self.document["started_at"])

    @property
    def seconds(self) -> float:
        """How long it took, from the first command to the last result."""
        return float(self.document["seconds"])

    @property
    def factors(self) -> Mapping[str, FactorValue]:
        """Its setting, with what was only observed."""
        return self.document.get("factors") or {}

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the machine was like, and how it was measured."""
        return self.document.get("facts") or {}

    @property
    def initial_levels(self) -> Mapping[str, str]:
        """Factor → what the system said of it before the campaign set anything; without those that were not read, and
        that were not the same on all nodes."""
        read: Mapping[str, Sequence[str]] = self.facts.get(DETECTED_LEVELS) or {}
        return {factor: nodes[0] for factor, nodes in read.items() if len(set(nodes)) == 1}

    @property
    def missing(self) -> tuple[str, ...]:
        """In words, what it lacks; empty for a complete run."""
        return tuple(self.document.get("missing") or ())

    @property
    def complete(self) -> bool:
        """Whether every rank did everything that was asked."""
        return not self.missing

    @property
    def counts(self) -> bool:
        """Whether it belongs into totals: it is complete, or was asked for all the same."""
        return self.complete or self.is_requested

    @cached_property
    def phases(self) -> tuple[StoredPhase, ...]:
        """What was done, in order."""
        return tuple(StoredPhase(phase) for phase in self.document.get("phases") or ())

    @property
    def n_operations(self) -> int | None:
        """How many operations were kept; None where there is no record of single ones."""
        count = self.document.get("operations")
        return None if count is None else int(count)

    @property
    def files(self) -> Mapping[str, Mapping[str, Any]]:
        """Name of each of its files → bytes and digest."""
        return self.document.get("files") or {}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found while it was measured."""
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
        """Operation → the kinds of metric that its tool's users look at first; empty where the run does not say."""
        return self.document.get("headlines") or {}

    @property
    def versions(self) -> Mapping[str, Any]:
        """Of iosonde and of what it ran on, by name."""
        return self.document.get("versions") or {}

    @property
    def written_by(self) -> str:
        """The version of iosonde that stored it."""
        return str(self.versions.get("iosonde", ""))

    @property
    def imported(self) -> bool:
        """Whether another tool measured it and we read its output."""
        return "import" in self.facts

    @property
    def cannot_tell(self) -> Sequence[str]:
        """What the operations of another tool's trace do not show."""
        return self.facts.get(CANNOT_TELL) or ()

    def file_name(self, number: int) -> str:
        """That of a file of another tool's trace, '' where nobody said it."""
        names = self.facts.get(FILES)
        return str(names.get(str(number), "")) if isinstance(names, Mapping) else ""

    @property
    def target(self) -> str | None:
        """The directory that was measured; None where nobody says."""
        path = self.facts.get("target")
        return None if path is None else str(path)

    @property
    def subject_commit(self) -> str:
        """The version of the file system under test; '' where nobody said it."""
        return str(self.facts.get(SUBJECT_COMMIT) or "")

    @property
    def concurrent_pids(self) -> tuple[int, ...]:
        """The processes that were seen to measure on the same machine meanwhile."""
        return tuple(self.facts.get(CONCURRENT_PROCESSES) or ())

    @property
    def filesystem(self) -> str | None:
        """The type of the target's file system as its mount table names it; None where nobody says."""
        kind = self._mount.get("type")
        return None if self.target is None or kind is None else str(kind)

    @property
    def structure(self) -> str | None:
        """How the target's data gets to a node (:func:`iosonde.core.filesystems.structure`); None where unknown."""
        kind = self.filesystem
        return None if kind is None else structure(kind, str(self._mount.get("source") or "")) or None

    @property
    def maximum(self) -> float | None:
        """The most that its system can deliver, bytes/s, as the experiment says; None where it does not."""
        return self.facts.get(MAXIMUM)

    @property
    def places(self) -> dict[str, str | None]:
        """The facts of :data:`PLACES`."""
        return {FILESYSTEM: self.filesystem, TARGET: self.target, STRUCTURE: self.structure}

    @property
    def _mount(self) -> Mapping[str, Any]:
        return (self.facts.get("machine") or {}).get("mount") or {}

    @property
    def conditions(self) -> Mapping[str, Any]:
        """How the target's file system was: ``before`` and ``after`` the run, with ``at`` and ``health``; empty where
        it did not say."""
        return self.facts.get("conditions") or {}

    @property
    def remounts(self) -> list[tuple[str, Mapping[str, Any]]]:
        """What was unmounted and mounted anew, as (before which phase, '' before the trial; ``mount``, ``host``, ``at``
        and how long it took)."""
        first = [("", remount) for remount in self.facts.get("remounts") or ()]
        later = [
            (phase.name, remount)
            for phase in self.phases
            for remount in (phase.document.get("cache") or {}).get("remounts") or ()
        ]
        return first + later

    @cached_property
    def faults(self) -> tuple[FaultDone, ...]:
        """What was inflicted on the lab that it was measured in, and when."""
        return tuple(FaultDone.from_dict(fault) for fault in self.facts.get("faults") or ())

    @property
    def live_options(self) -> Mapping[str, str]:
        """The options of the target's file system that were in effect, where it told them."""
        return self.conditions.get("options") or {}

    @property
    def target_settings(self) -> Mapping[str, FactorValue]:
        """What the target was, beside what was set for the trial: properties of its lab, and live options of its file
        system."""
        return {**lab_properties((self.facts.get("machine") or {}).get("lab")), **self.live_options}

    def level(self, column: str) -> FactorValue:
        """The value of a factor, by the column that holds it in the results."""
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
    """What an emulated cluster was asked to be, by the words of ``iosonde lab up``, and how data lies on it
    (``copies``, parts of a code); empty on a real one."""
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
    """What became of the incomplete runs among these, in words; empty where there is none."""
    incomplete = [run for run in runs if not run.complete]
    if not incomplete:
        return ""
    return "in it, as was asked" if incomplete[0].counts else "left out"


def incomplete_among(runs: Sequence[StoredRun]) -> str:
    """How many of these are incomplete and in it, in words; empty where none is, or they are left out."""
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
