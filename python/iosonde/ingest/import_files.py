"""Import of other tools' files into a store: file selection, and batches over several processes, with one flush
each."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from iosonde.core.errors import (
    DataError,
    InputError,
    IosondeError,
    PartialInputError,
    SystemFaultError,
    UnknownFormatError,
)
from iosonde.core.message import Message, current_spelling, set_default_spelling
from iosonde.core.timestamps import format_now
from iosonde.core.types import Experiment, FactorValue, Run
from iosonde.foreign.guarded import begin_of, forget_silence, inspect_path, open_checked
from iosonde.foreign.reading import copy_pipe, open_pipe
from iosonde.foreign.removal import scratch_directory
from iosonde.foreign.unpacking import ArchiveFile, is_archive, unpack_archive
from iosonde.importers import Text, Understood, columns, read, understand
from iosonde.importers.columns_map import ColumnsMap
from iosonde.importers.fio_logs import read_log_name
from iosonde.importers.fio_version import AdjacentVersion
from iosonde.importers.quoting import is_quoted
from iosonde.importers.registry import check_importer as known_importer
from iosonde.importers.runs import DIGEST_CHARACTERS, build_run_prefix, build_runs, compute_digest
from iosonde.importers.samples import Samples
from iosonde.store import Store
from iosonde.store.added_factors import AddedFactors
from iosonde.store.files import MARKER, Disk

from .device_logs import JoinedLog, collect_samples, join_logs
from .paths import Factors, factors_from_manifest, factors_from_pattern, join_factors
from .related_files import SETTINGS_FILE, Member, find_adjacent_versions, group_files, merge_runs
from .stored_paths import StoredPaths, apply_paths

BATCH_FILES, BATCH_BYTES = 200, 64 << 20
# The column map of a CSV, stored with its text.
COLUMNS_FILE = "columns.yaml"
# Starting processes costs more than they save for a handful of files.
ALONE_FILES = 50
_HEAD_BYTES = 2048


@dataclass(frozen=True)
class CandidateFile:
    """A file to import.

    The path is relative to the named directory; ``is_explicit``: the file itself was named. ``place``: its directory;
    members of an archive have that of the archive. ``root``: name of the named directory or archive, '' if there is
    none. ``home``: the absolute directory (or archive) that was named, or that contains a named file; ``inside``: the
    path below it, '' if that is ``relative``. ``damage``: why it cannot be read; ``fault``: because the system failed.
    ``adjacent_version``: fio's version, from files around a latency log."""

    path: Path
    relative: PurePath
    size: int
    name: str = ""
    damage: str = ""
    is_explicit: bool = False
    place: PurePath = PurePath()
    fault: bool = False
    adjacent_version: AdjacentVersion | None = None
    root: str = ""
    home: PurePath = PurePath()
    inside: str = ""


@dataclass(frozen=True)
class FileOutcome:
    """Result of one file.

    ``reason`` is '' unless it was not understood; ``there``: stored before. ``quoted``: a source or document that
    quotes output of this format. ``joined``: merged into the run of another file of the same measurement, ``into``.
    ``fault``: the system failed, not the file. ``prefix``: of the ids of its runs, if it was stored before.
    ``samples``: a log of a system's counters, one entry for each host: it becomes no run, but part of those of its
    time."""

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


@dataclass(frozen=True)
class ImportPlan:
    """Settings of the import for every process. ``columns``: the map by which every file is read."""

    store: Path
    experiment: str
    form: str | None
    sources: tuple[str, ...]
    columns: ColumnsMap | None = None

    def prepare(self) -> None:
        """Check the options and the place of the store before any file is read. Raises InputError; DataError if the
        added factors of the store are damaged."""
        self.factors()
        if self.form is not None:
            known_importer(self.form)
        if self.form is not None and self.columns is not None:
            raise InputError(
                "conflicting-options",
                "a column map and a tool's format exclude each other",
                "leave {spell.format} out",
            )
        Store.check_place(self.store)
        AddedFactors(self.store, Disk()).read()
        Store.check_name(self.experiment)

    def opened(self) -> Store:
        """Open the store, creating it for the first runs: unknown files leave nothing behind."""
        store = Store.create(self.store)
        store.save_new_experiment(Experiment(self.experiment, "results of other tools", [], {}, [], 0, format_now()))
        return store

    def factors(self) -> Factors:
        """Return the factors from paths and manifests."""
        return join_factors(*map(_parse_source, self.sources))

    def silent(self, files: Sequence[CandidateFile]) -> Iterator[str]:
        """Yield a sentence for each source of factors that matches none of the files."""
        for name in self.sources:
            of = _parse_source(name)
            if files and not any(of(file.relative, file.root) for file in files):
                yield Message(
                    "unmatched-pattern",
                    "{spell.factors_from:'{pattern}'} matches none of the {n_files} paths, as '{path}': "
                    "it is read from the end of a path, and '/...' at its end stands for what follows",
                    pattern=name,
                    n_files=len(files),
                    path=files[0].relative,
                )


def _parse_source(name: str) -> Factors:
    return factors_from_manifest(Path(name)) if name.endswith(".csv") else factors_from_pattern(name)


@contextmanager
def iterate_file_groups(names: Sequence[str], recursive: bool, store: Path) -> Iterator[list[CandidateFile]]:
    """Yield every file to read, in order, each once; nothing inside the store. Unpacked archives exist until the block
    ends. Raises InputError."""
    forget_silence()
    with ExitStack() as stack:
        batch: list[CandidateFile] = []
        for file in _list_explicit_files(names, recursive, store):
            if file.is_explicit and (pipe := open_pipe(file.path)):
                batch.append(_copy_pipe_to_file(file, pipe, stack))
            elif is_archive(file.path) and not file.damage:
                batch += _unpack_archive(file, stack)
            else:
                batch.append(file)
        yield batch


def _copy_pipe_to_file(candidate: CandidateFile, pipe: BinaryIO, stack: ExitStack) -> CandidateFile:
    """Copy a pipe to a file that exists until ``stack`` ends: importers read a file more than once."""
    try:
        copy = stack.enter_context(scratch_directory("iosonde-import-")) / "pipe"
        size = copy_pipe(pipe, candidate.path, copy)
        # The directory of a pipe has the number of a process; its content is from here.
        return replace(candidate, path=copy, size=size, name=str(candidate.path), home=Path.cwd())
    except (IosondeError, OSError) as error:
        return replace(candidate, damage=_format_reason(error, str(candidate.path)), fault=_is_fault(error))


def _unpack_archive(archive: CandidateFile, stack: ExitStack) -> list[CandidateFile]:
    """Unpack an archive until ``stack`` ends, and return its members by name; for a damaged one return the archive and
    the reason."""
    try:
        with ExitStack() as scratch, open_checked(archive.path) as file:
            members = unpack_archive(archive.path, file, scratch.enter_context(scratch_directory("iosonde-import-")))
            stack.push(scratch.pop_all())
    except IosondeError as error:
        return [replace(archive, damage=_format_reason(error, str(archive.path)), fault=_is_fault(error))]
    except OSError as error:
        damage = Message(
            "no-scratch-directory",
            "it cannot be unpacked: no scratch directory: {reason}; set TMPDIR to a directory that can be written",
            reason=error.strerror,
        )
        return [replace(archive, damage=damage)]
    return [_build_member_candidate(archive, member, earlier) for member, earlier in _count_same_names(members)]


def _count_same_names(members: Sequence[ArchiveFile]) -> Iterator[tuple[ArchiveFile, int]]:
    """Yield the members by name, each with the number of earlier members of the same name."""
    count: Counter[PurePath] = Counter()
    for member in sorted(members):
        yield member, count[member.name]
        count[member.name] += 1


def _build_member_candidate(archive: CandidateFile, member: ArchiveFile, earlier: int) -> CandidateFile:
    name = f"{archive.path}/{member.name}" + (f" ({earlier + 1})" if earlier else "")
    return CandidateFile(
        member.path,
        archive.relative.parent / member.name,
        member.size,
        name=name,
        place=archive.path.parent / member.name,
        root=(root := archive.path.name.partition(".")[0]),
        home=PurePath(archive.path.parent.resolve()) / root,
        inside=member.name.as_posix(),
    )


def _list_explicit_files(names: Sequence[str], recursive: bool, store: Path) -> list[CandidateFile]:
    candidates: dict[Path, CandidateFile] = {}
    for name in names:
        path = Path(name)
        try:
            listing = inspect_path(path, store.resolve(), MARKER)
        except (IosondeError, OSError) as error:
            candidates[path] = CandidateFile(
                path, path, 0, damage=_format_reason(error, name), is_explicit=True, place=path, fault=_is_fault(error)
            )
            continue
        is_directory = listing.kind == "directory"
        if is_directory and not recursive:
            raise InputError(
                "is-a-directory", "{path} is a directory", "add {spell.recursive} to read everything in it", path=name
            )
        if listing.kind == "missing":
            raise InputError(
                "no-such-file",
                "{path} does not exist",
                "name a file or, with {spell.recursive}, a directory",
                path=name,
            )
        root = os.path.basename(os.path.abspath(path)) if is_directory else ""
        home = (path if is_directory else path.parent).resolve()
        entries = [(file, size, "") for file, size in listing.files] + [(file, 0, why) for file, why in listing.skipped]
        for file, size, why in sorted(entries):
            relative = file.relative_to(path) if is_directory else file
            candidates.setdefault(
                file,
                CandidateFile(
                    file,
                    relative,
                    size,
                    damage=why,
                    is_explicit=not is_directory,
                    place=file,
                    root=root,
                    home=home,
                    inside="" if is_directory else file.name,
                ),
            )
    return list(candidates.values())


def _format_reason(error: IosondeError | OSError, name: str) -> Message:
    """Return the error of a file without its name, which begins the line."""
    if isinstance(error, IosondeError):
        message = error.message.without_prefix(f"{name}: ").without_prefix(f"{name} ")
        return message.with_text(f"{message}; {error.hint}") if error.hint else message
    return Message("unreadable-file", "it cannot be read: {reason}", reason=error.strerror)


def _is_fault(error: Exception) -> bool:
    return isinstance(error, SystemFaultError)


def import_all(plan: ImportPlan, files: Sequence[CandidateFile], jobs: int | None = None) -> Imported:
    """Read and store all files; outcomes are in the order of ``files``."""
    by_place = {file.place: file for file in files}
    versions = find_adjacent_versions(list(by_place), lambda place, limit: _read_content(by_place[place], limit))
    files = [replace(file, adjacent_version=versions.get(file.place)) for file in files]
    silent, earlier = tuple(plan.silent(files)), _list_run_prefixes(plan.store)
    groups = list(_iterate_groups(plan, files))
    processes = min(jobs or os.cpu_count() or 1, len(list(_iterate_batches(groups))))
    if processes <= 1 or len(files) < ALONE_FILES:
        results = [import_batch(plan, batch) for batch in _iterate_batches(groups)]
    else:
        # Processes do not see what others read: copies wait for the first of them, as if one process read all.
        groups, copies = _separate_copies(groups)
        batches = list(_iterate_batches(groups))
        with ProcessPoolExecutor(processes, None, set_default_spelling, (current_spelling(),)) as pool:
            results = list(pool.map(import_batch, [plan] * len(batches), batches))
        results += [import_batch(plan, batch) for batch in _iterate_batches(copies)]
    outcomes = {_build_key(candidate): outcome for several in results for candidate, outcome in several}
    ordered = tuple(outcomes[_build_key(file)] for file in files)
    paths = _apply_paths(plan, files, ordered, earlier)
    logs = _join_logs(plan, ordered)
    joined = {log.file for log in logs if not log.refusal}
    refusals = {log.file: log.refusal for log in logs if log.file not in joined}
    ordered = tuple(replace(outcome, reason=refusals.get(outcome.file, outcome.reason)) for outcome in ordered)
    return Imported(ordered, silent, paths, tuple(log for log in logs if not log.refusal))


def _join_logs(plan: ImportPlan, outcomes: Sequence[FileOutcome]) -> list[JoinedLog]:
    """Give the runs of the store the samples of logs, now that all runs are stored."""
    logs = [(outcome.file, samples) for outcome in outcomes for samples in outcome.samples]
    return join_logs(Store.open(plan.store) if (plan.store / MARKER).exists() else None, logs) if logs else []


def _list_run_prefixes(store: Path) -> set[str]:
    """Return the prefixes of the ids of all runs; several runs of a file share one."""
    runs = store / "runs"
    return {f"{entry.name.rpartition('-')[0]}-" for entry in runs.iterdir()} if runs.is_dir() else set()


def _apply_paths(
    plan: ImportPlan, files: Sequence[CandidateFile], outcomes: Sequence[FileOutcome], earlier: set[str]
) -> StoredPaths:
    """Give the runs that were stored ``earlier`` the factors from the paths of their files, and find the factors in the
    paths of all. Of copies of one file the first counts."""
    factors, requested = plan.factors(), dict[str, Mapping[str, FactorValue]]()
    for file, outcome in zip(files, outcomes, strict=True):
        if outcome.prefix in earlier and plan.sources:
            requested.setdefault(outcome.prefix, factors(file.relative, file.root))
    is_stored = any(outcome.runs or outcome.there for outcome in outcomes)
    return apply_paths(Store.open(plan.store), requested) if is_stored else StoredPaths()


def _build_key(candidate: CandidateFile) -> str:
    return candidate.name or str(candidate.path)


def _iterate_groups(plan: ImportPlan, files: Sequence[CandidateFile]) -> Iterator[list[CandidateFile]]:
    """Yield the groups of files that may be of one execution."""
    if plan.form is not None or plan.columns is not None:
        yield from ([file] for file in files)
        return
    yield from group_files(
        files,
        lambda candidate: candidate.place,
        lambda candidate: _read_content(candidate, _HEAD_BYTES),
        _read_content,
    )


def _separate_copies(groups: Sequence[list[CandidateFile]]) -> tuple[list[list[CandidateFile]], ...]:
    """Return the groups, and apart from them those with a copy of a file of an earlier group."""
    counts = Counter(candidate.size for group in groups for candidate in group)
    others, copies, digests = list[list[CandidateFile]](), list[list[CandidateFile]](), set[str]()
    for group in groups:
        contents = (_read_content(candidate) for candidate in group if counts[candidate.size] > 1)
        own = {compute_digest(content) for content in contents if content}
        (copies if own & digests else others).append(group)
        digests |= own
    return others, copies


def _iterate_batches(groups: Iterable[list[CandidateFile]]) -> Iterator[list[list[CandidateFile]]]:
    """Yield batches of groups, sized for one flush of their runs."""
    batch: list[list[CandidateFile]] = []
    size = count = 0
    for group in groups:
        more = sum(candidate.size for candidate in group)
        if batch and (count + len(group) > BATCH_FILES or size + more > BATCH_BYTES):
            yield batch
            batch, size, count = [], 0, 0
        batch.append(group)
        size, count = size + more, count + len(group)
    if batch:
        yield batch


def import_batch(
    plan: ImportPlan, groups: Sequence[Sequence[CandidateFile]]
) -> list[tuple[CandidateFile, FileOutcome]]:
    """Import one batch, in any process."""
    factors, stored = plan.factors(), plan.store / "runs"
    there = [entry.name for entry in stored.iterdir()] if stored.is_dir() else []
    names = (name.rsplit("-", 2) for name in there if name.count("-") >= 2)
    format_by_digest = {digest: form for form, digest, _ in names}
    outcomes: list[tuple[CandidateFile, FileOutcome]] = []
    runs: list[Run] = []
    for group in groups:
        results = (
            [_import_file(plan, candidate, format_by_digest, factors) for candidate in group]
            if len(group) == 1
            else _import_together(plan, group, format_by_digest, factors)
        )
        outcomes += [(candidate, outcome) for candidate, (outcome, _) in zip(group, results, strict=True)]
        for candidate, (_, several) in zip(group, results, strict=True):
            for run in several:
                place = candidate.inside or candidate.relative.as_posix()
                run.facts["import"] |= {"directory": str(candidate.home), "file": place}
            runs += several
    # Another process may have stored the same content in the meantime: it is the same run.
    if runs:
        plan.opened().append_many(runs)
    return outcomes


def _import_file(
    plan: ImportPlan, candidate: CandidateFile, format_by_digest: dict[str, str], factors: Factors
) -> tuple[FileOutcome, list[Run]]:
    content = _read_file(plan, candidate, format_by_digest)
    if isinstance(content, FileOutcome):
        return content, []
    text, understood = content
    if samples := collect_samples(understood):
        return FileOutcome(_build_key(candidate), understood.format, samples=samples), []
    runs = build_runs(understood, text, plan.experiment, factors(candidate.relative, candidate.root))
    if runs and plan.columns:
        runs[0].raw[COLUMNS_FILE] = plan.columns.content
    format_by_digest[compute_digest(text.raw)[:DIGEST_CHARACTERS]] = understood.format
    return _build_outcome(_build_key(candidate), understood, runs), runs


def _read_file(
    plan: ImportPlan, candidate: CandidateFile, format_by_digest: Mapping[str, str]
) -> FileOutcome | tuple[Text, Understood]:
    """Read a file, or return its outcome if there is nothing to store."""
    name = _build_key(candidate)
    if candidate.damage:
        return FileOutcome(name, reason=candidate.damage, fault=candidate.fault)
    try:
        with open_checked(candidate.path) as file:
            text = read(file, name)
        text.adjacent_version = candidate.adjacent_version
        digest = compute_digest(text.raw)[:DIGEST_CHARACTERS]
        if digest in format_by_digest:
            reason = _explain_other_map(plan, digest)
            form, is_there = format_by_digest[digest], not reason
            prefix = build_run_prefix(form, digest) if is_there else ""
            return FileOutcome(name, form, there=is_there, reason=reason, prefix=prefix)
        understood = columns.understand_columns(text, plan.columns) if plan.columns else understand(text, plan.form)
    except UnknownFormatError as error:
        return FileOutcome(name, reason=error.message.without_prefix(f"{name}: "))
    except (IosondeError, OSError) as error:
        return FileOutcome(name, reason=_format_reason(error, name), fault=_is_fault(error))
    text.name = candidate.relative.as_posix()
    if not candidate.is_explicit and plan.columns is None and _is_quoted(name, text, understood):
        return FileOutcome(name, understood.format, quoted=True)
    return text, understood


def _build_outcome(name: str, understood: Understood, runs: Sequence[Run]) -> FileOutcome:
    if not runs:
        warnings = [note for note in understood.warnings if note not in understood.notes]
        nothing = Message(
            "no-result",
            "{format} is recognised in line {line} ({evidence}), but no result of it is read",
            format=understood.format,
            line=understood.claim.line,
            evidence=understood.claim.evidence,
        )
        reason = warnings[0][1] if warnings else nothing
        return FileOutcome(name, understood.format, reason=reason)
    incomplete = sum(bool(run.missing) for run in runs)
    return FileOutcome(name, understood.format, len(runs), incomplete, len(understood.warnings))


def _import_together(
    plan: ImportPlan, group: Sequence[CandidateFile], format_by_digest: dict[str, str], factors: Factors
) -> list[tuple[FileOutcome, list[Run]]]:
    """Import files of one or several executions, in the order of ``group``."""
    members: dict[str, Member] = {}
    outcomes: dict[str, FileOutcome] = {}
    paths = {_build_key(candidate): (candidate.relative, candidate.root) for candidate in group}
    for candidate in group:
        key, content = _build_key(candidate), _read_file(plan, candidate, {})
        if not isinstance(content, FileOutcome) and (samples := collect_samples(content[1])):
            outcomes[key] = FileOutcome(key, content[1].format, samples=samples)
            continue
        if not isinstance(content, FileOutcome):
            members[key] = Member(key, candidate.place, *content)
            continue
        outcomes[key] = content
        if SETTINGS_FILE.search(candidate.place.name) and candidate.size:
            with suppress(IosondeError, OSError):
                members[key] = Member(key, candidate.place, _read_candidate(candidate), None)
    runs_by_file, joined = merge_runs(
        list(members.values()), plan.experiment, lambda member: factors(*paths[member.name])
    )
    earlier_formats = dict(format_by_digest)
    for key, member in members.items():
        if member.understood is None:
            continue
        digest = compute_digest(member.text.raw)[:DIGEST_CHARACTERS]
        if key not in joined:
            outcomes[key] = _build_outcome(key, member.understood, runs_by_file[key])
            if digest in earlier_formats:
                form = format_by_digest[digest]
                outcomes[key] = FileOutcome(key, form, there=True, prefix=build_run_prefix(form, digest))
                runs_by_file[key] = []
            elif runs_by_file[key]:
                format_by_digest[digest] = member.understood.format
    there = bool(runs_by_file) and all(outcomes[key].there for key in runs_by_file)
    for key, base in joined.items():
        form = understood.format if (understood := members[key].understood) else ""
        is_there = outcomes[base].there if base else there
        outcomes[key] = FileOutcome(key, form, there=is_there, joined=not is_there, into=base)
    _adopt_empty_logs(group, outcomes)
    return [(outcomes[_build_key(candidate)], runs_by_file.get(_build_key(candidate), [])) for candidate in group]


def _adopt_empty_logs(group: Sequence[CandidateFile], outcomes: dict[str, FileOutcome]) -> None:
    """Take the empty logs of fio (submission latencies of synchronous engines) for part of the run of the others."""
    logs = {
        (candidate.place.parent, name.prefix): outcomes[_build_key(candidate)]
        for candidate in group
        if candidate.size and (name := read_log_name(candidate.place.name))
    }
    for candidate in group:
        name = read_log_name(candidate.place.name)
        other = logs.get((candidate.place.parent, name.prefix)) if name and not candidate.size else None
        if other is not None and not other.reason:
            key = _build_key(candidate)
            outcomes[key] = replace(
                other, file=key, runs=0, incomplete=0, warnings=0, joined=not other.there, into=other.into or other.file
            )


def _read_content(candidate: CandidateFile, limit: int | None = None) -> bytes:
    """Return all of a file, or its beginning; nothing if it cannot be read."""
    if limit is not None:
        return begin_of(candidate.path, limit)
    try:
        with open_checked(candidate.path) as file:
            return file.read()
    except (IosondeError, OSError):
        return b""


def _read_candidate(candidate: CandidateFile) -> Text:
    with open_checked(candidate.path) as file:
        return read(file, candidate.relative.as_posix())


def _is_quoted(name: str, text: Text, understood: Understood) -> bool:
    """Return whether output of this format is present, but only quoted."""
    there = understood.claim.score or any(run.rows for run in understood.runs)
    return bool(there) and is_quoted(name, text, understood.claim.line, understood.format)


def _explain_other_map(plan: ImportPlan, digest: str) -> str:
    """Explain why a stored file was not read by this plan's map; '' if it was, and for other tools' output."""
    stored_map = (plan.store / "runs" / f"{build_run_prefix(columns.NAME, digest)}0000") / "raw" / COLUMNS_FILE
    if plan.columns is None or not stored_map.is_file() or stored_map.read_bytes() == plan.columns.content:
        return ""
    return Message(
        "different-map", "already stored with another map ({map}): import it into another store", map=stored_map
    )
