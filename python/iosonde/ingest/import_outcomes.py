"""Outcome of an import: of each file, counted by tool, and what the import ends with."""

from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import DataError, IosondeError, PartialInputError, SystemFaultError
from iosonde.importers.samples import Samples

from .device_logs import JoinedLog
from .stored_paths import StoredPaths


@dataclass(frozen=True)
class FileOutcome:
    """Result of one file.

    ``reason`` is '' unless it was not understood; ``there``: stored before. ``quoted``: a source or document that
    quotes output of this format. ``joined``: merged into the run of another file of the same measurement, ``into``.
    ``fault``: the system failed, not the file. ``prefix``: of the ids of its runs, if it was stored before.
    ``samples``: a log of a system's counters, one entry for each host: it becomes no run, but part of those of its
    time. ``copy_of``: the file of the same import with the same content, which counts."""

    file: str
    format: str = ""
    runs: int = 0
    incomplete: int = 0
    warnings: int = 0
    there: bool = False
    reason: str = ""
    quoted: bool = False
    joined: bool = False
    fault: bool = False
    into: str = ""
    prefix: str = ""
    samples: tuple[Samples, ...] = ()
    copy_of: str = ""


@dataclass(frozen=True)
class FormatCounts:
    """Counts of one tool's files: files, their runs stored now, the incomplete ones among these, and files stored
    before."""

    format: str
    files: int
    runs: int
    incomplete: int
    already_there: int


_COUNTED = ("runs", "incomplete", "there")


@dataclass(frozen=True)
class Imported:
    """Results of all files, in order. ``warnings``: sources of factors that matched nothing. ``paths``: what the paths
    of all files in the store say. ``logs``: samples of devices that runs received. ``to_dict`` is its stable JSON
    form."""

    outcomes: tuple[FileOutcome, ...]
    warnings: tuple[str, ...] = ()
    paths: StoredPaths = StoredPaths()
    logs: tuple[JoinedLog, ...] = ()

    @property
    def failed(self) -> list[FileOutcome]:
        """The files that were not understood."""
        return [outcome for outcome in self.outcomes if outcome.reason]

    @property
    def quoted(self) -> list[FileOutcome]:
        """Sources and documents that quote output, and were not imported."""
        return [outcome for outcome in self.outcomes if outcome.quoted]

    @property
    def copies(self) -> list[FileOutcome]:
        """Copies of other files of this import."""
        return [outcome for outcome in self.outcomes if outcome.copy_of]

    @property
    def n_runs(self) -> int:
        """The number of stored runs."""
        return sum(outcome.runs for outcome in self.outcomes)

    @property
    def n_joined(self) -> int:
        """The number of files merged into the run of another one."""
        return sum(outcome.joined for outcome in self.outcomes)

    @property
    def by_format(self) -> tuple[FormatCounts, ...]:
        """Count the imported files of each tool, by its name."""
        groups: dict[str, list[FileOutcome]] = {}
        for outcome in self.outcomes:
            if not outcome.reason and not outcome.quoted:
                groups.setdefault(outcome.format, []).append(outcome)
        return tuple(
            FormatCounts(name, len(some), *(sum(getattr(outcome, what) for outcome in some) for what in _COUNTED))
            for name, some in sorted(groups.items())
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the form of ``iosonde import --json``."""
        return {
            "schema": 1,
            "files": len(self.outcomes),
            "runs": self.n_runs,
            "incomplete": sum(outcome.incomplete for outcome in self.outcomes),
            "already_there": sum(outcome.there for outcome in self.outcomes),
            "joined": self.n_joined,
            "by_format": [vars(format_counts) for format_counts in self.by_format],
            "imported": [
                {"file": o.file, "format": o.format, "runs": o.runs, "incomplete": o.incomplete, "warnings": o.warnings}
                for o in self.outcomes
                if not o.reason and not o.there and not o.quoted
            ],
            "joined_files": [{"file": o.file, "into": o.into} for o in self.outcomes if o.joined],
            "copies": [{"file": outcome.file, "of": outcome.copy_of} for outcome in self.copies],
            "quoted": [{"file": outcome.file, "format": outcome.format} for outcome in self.quoted],
            "unknown": [{"file": outcome.file, "reason": outcome.reason} for outcome in self.failed],
            "warnings": list(self.warnings),
            "device_loads": [log.to_dict() for log in self.logs],
            **self.paths.to_dict(),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row per file."""
        hidden = ("prefix", "samples")
        return [
            {name: value for name, value in vars(outcome).items() if name not in hidden} for outcome in self.outcomes
        ]

    def build_error(self, individually: bool = False) -> IosondeError | None:
        """Return what the import ends with, None where it went well: SystemFaultError if a system fault prevented
        reading a file, DataError if nothing was imported, PartialInputError if a file named ``individually`` was
        not."""
        failed = self.failed
        if any(outcome.fault for outcome in failed):
            return self._build_fault()
        if self.outcomes and len(failed) + len(self.quoted) == len(self.outcomes):
            return self._build_rejection()
        if not failed or not individually:
            return None
        return PartialInputError(
            "files-not-imported",
            "{n_failed} of {n_files} files were not imported, the first: {file}: {reason}",
            "see the list above",
            n_failed=len(failed),
            n_files=len(self.outcomes),
            file=failed[0].file,
            reason=failed[0].reason,
        )

    def _build_fault(self) -> SystemFaultError:
        faults = [outcome for outcome in self.failed if outcome.fault]
        return SystemFaultError(
            "unreadable-file",
            "{n_failed} of {n_files} files could not be read, as {path}: {reason}",
            "repeat the import to read the missing ones",
            n_failed=len(faults),
            n_files=len(self.outcomes),
            path=faults[0].file,
            reason=faults[0].reason,
        )

    def _build_rejection(self) -> DataError:
        if not self.quoted:
            return DataError(
                "nothing-imported",
                "nothing was imported: {reason}",
                "'iosonde parse FILE' says more about one file",
                reason=self.failed[0].reason,
            )
        return DataError(
            "nothing-imported",
            "nothing was imported: 1 file only quotes output"
            if len(self.quoted) == 1
            else "nothing was imported: {n_quoted} files only quote output",
            "to read one, name it: {path}",
            n_quoted=len(self.quoted),
            path=self.quoted[0].file,
        )
