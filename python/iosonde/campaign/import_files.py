"""Files of other tools → store: which files, in batches over several processes, each batch with one flush."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.types import Experiment, FactorValue, Run
from iosonde.core.words import counted
from iosonde.importers import Text, Understood, columns, read, understand
from iosonde.importers.archives import is_archive, unpack
from iosonde.importers.columns_map import ColumnsMap
from iosonde.importers.paths import Factors, joined, manifest_factors, pattern_factors
from iosonde.importers.quoting import quotes
from iosonde.importers.registry import known as known_importer
from iosonde.importers.runs import DIGEST_CHARACTERS, digest_of, run_prefix, runs_of
from iosonde.store import Store

from .import_together import KEPT, Member, runs_together, together

BATCH_FILES, BATCH_BYTES = 200, 64 << 20
# The map by which a CSV was read, beside its text.
COLUMNS_FILE = "columns.yaml"
# Starting processes costs more than they save for a handful of files.
ALONE_FILES = 50
PathFactors = Callable[[PurePath], Mapping[str, FactorValue]]


@dataclass(frozen=True)
class Found:
    """A file, and its path relative to the directory that was named; ``named``: it was, and no directory of it.
    ``place``: where it stands; what an archive held stands where the archive does."""

    path: Path
    relative: PurePath
    size: int
    name: str = ""
    damage: str = ""
    named: bool = False
    place: PurePath = PurePath()


@dataclass(frozen=True)
class FileOutcome:
    """What became of one file. ``reason`` is '' unless it was not understood; ``there``: stored before;
    ``quoted``: it is a source or a document that quotes output of this format; ``joined``: what it says is in the run
    of another file of the same measurement."""

    file: str
    format: str = ""
    runs: int = 0
    incomplete: int = 0
    warnings: int = 0
    there: bool = False
    reason: str = ""
    quoted: bool = False
    joined: bool = False


@dataclass(frozen=True)
class FormatCounts:
    """Of the files of one tool: how many, their runs stored now, and of these the incomplete; how many of the files
    were stored before."""

    format: str
    files: int
    runs: int
    incomplete: int
    already_there: int


_COUNTED = ("runs", "incomplete", "there")


@dataclass(frozen=True)
class Imported:
    """What became of every file, in order. ``warnings``: sources of factors that said nothing. ``to_dict`` is its
    stable JSON form."""

    outcomes: tuple[FileOutcome, ...]
    warnings: tuple[str, ...] = ()

    @property
    def failed(self) -> list[FileOutcome]:
        """What was not understood."""
        return [outcome for outcome in self.outcomes if outcome.reason]

    @property
    def quoted(self) -> list[FileOutcome]:
        """Sources and documents that quote output, and were not taken."""
        return [outcome for outcome in self.outcomes if outcome.quoted]

    @property
    def n_runs(self) -> int:
        """How many runs were stored."""
        return sum(outcome.runs for outcome in self.outcomes)

    @property
    def n_joined(self) -> int:
        """How many files are in the run of another one."""
        return sum(one.joined for one in self.outcomes)

    @property
    def by_format(self) -> tuple[FormatCounts, ...]:
        """What became of the files of each tool that were taken, by its name."""
        found: dict[str, list[FileOutcome]] = {}
        for one in self.outcomes:
            if not one.reason and not one.quoted:
                found.setdefault(one.format, []).append(one)
        return tuple(
            FormatCounts(name, len(some), *(sum(getattr(one, what) for one in some) for what in _COUNTED))
            for name, some in sorted(found.items())
        )

    def to_dict(self) -> dict[str, Any]:
        """As ``iosonde import --json``."""
        return {
            "schema": 1,
            "files": len(self.outcomes),
            "runs": self.n_runs,
            "incomplete": sum(one.incomplete for one in self.outcomes),
            "already_there": sum(one.there for one in self.outcomes),
            "joined": self.n_joined,
            "by_format": [vars(one) for one in self.by_format],
            "imported": [
                {"file": o.file, "format": o.format, "runs": o.runs, "incomplete": o.incomplete, "warnings": o.warnings}
                for o in self.outcomes
                if not o.reason and not o.there and not o.quoted
            ],
            "quoted": [{"file": one.file, "format": one.format} for one in self.quoted],
            "unknown": [{"file": one.file, "reason": one.reason} for one in self.failed],
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """One row a file."""
        return [dict(vars(one)) for one in self.outcomes]

    def check(self, one_by_one: bool = False) -> None:
        """Raises DataError where nothing was imported, InputError where a file that was named ``one_by_one`` was
        not."""
        failed = self.failed
        if self.outcomes and len(failed) + len(self.quoted) == len(self.outcomes):
            if self.quoted:
                quoting = f"{counted(len(self.quoted), 'file')} only quote{'s' if len(self.quoted) == 1 else ''} output"
                raise DataError(f"nothing was imported: {quoting}", f"to read one, name it: {self.quoted[0].file}")
            raise DataError(
                f"nothing was imported: {failed[0].reason}", "'iosonde parse FILE' says more about one file"
            )
        if failed and one_by_one:
            raise InputError(f"{len(failed)} of {len(self.outcomes)} files were not imported", "see the list above")


@dataclass(frozen=True)
class ImportPlan:
    """What every process needs to know. ``columns``: by this map every file is read."""

    store: Path
    experiment: str
    form: str | None
    sources: tuple[str, ...]
    columns: ColumnsMap | None = None

    def prepare(self) -> None:
        """Check the options and the place of the store before any file is read. Raises InputError."""
        self.factors()
        if self.form is not None:
            known_importer(self.form)
        if self.form is not None and self.columns is not None:
            raise InputError("a file is read by a map of its columns or as a tool's output", "leave --format out")
        Store.check_place(self.store)
        Store.check_name(self.experiment)

    def opened(self) -> Store:
        """The store, which is made for the first runs: a file that nobody understands leaves nothing behind."""
        store = Store.create(self.store)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        store.save_new_experiment(Experiment(self.experiment, "results of other tools", [], {}, [], 0, now))
        return store

    def factors(self) -> Callable[[PurePath], Mapping[str, FactorValue]]:
        """What paths and manifests say."""
        return joined(*map(_source, self.sources))

    def silent(self, files: Sequence[Found]) -> Iterator[str]:
        """The sources of factors that say nothing of any of the files, in sentences."""
        for name in self.sources:
            of = _source(name)
            if files and not any(of(found.relative) for found in files):
                yield (
                    f"--factors-from '{name}' matches none of the {len(files)} paths, as '{files[0].relative}': "
                    "it is read from the end of a path, and '/...' at its end stands for what follows"
                )


def _source(name: str) -> Factors:
    return manifest_factors(Path(name)) if name.endswith(".csv") else pattern_factors(name)


@contextmanager
def found_files(names: Sequence[str], recursive: bool, store: Path) -> Iterator[list[Found]]:
    """Every file to look at, in order, each once; nothing inside the store. What archives hold is there until the block
    ends. Raises InputError."""
    with ExitStack() as stack:
        found: list[Found] = []
        for one in _named_files(names, recursive, store):
            if is_archive(one.path):
                place = Path(stack.enter_context(TemporaryDirectory(prefix="iosonde-import-")))
                found += _of_archive(one, place)
            else:
                found.append(one)
        yield found


def _of_archive(archive: Found, unpacked: Path) -> Iterator[Found]:
    try:
        unpack(archive.path, unpacked)
    except DataError as error:
        yield replace(archive, damage=error.message)
        return
    for file in sorted(path for path in unpacked.rglob("*") if path.is_file()):
        inner = file.relative_to(unpacked)
        yield Found(file, archive.relative.parent / inner, file.stat().st_size, name=f"{archive.path}/{inner}",
                    place=archive.path.parent / inner)  # fmt: skip


def _named_files(names: Sequence[str], recursive: bool, store: Path) -> list[Found]:
    found: dict[Path, Found] = {}
    inside = store.resolve()
    for name in names:
        path = Path(name)
        if path.is_dir() and not recursive:
            raise InputError(f"{name} is a directory", "add -r to read everything in it")
        if not path.exists():
            raise InputError(f"{name} is not there", "name a file or, with -r, a directory")
        for one in sorted(_below(path, inside)) if path.is_dir() else [path]:
            relative = PurePath(one.relative_to(path)) if path.is_dir() else PurePath(one)
            found.setdefault(one, Found(one, relative, one.stat().st_size, named=not path.is_dir(), place=one))
    return list(found.values())


def _below(top: Path, store: Path) -> Iterator[Path]:
    """Regular files below ``top``; links are not followed."""
    for directory, names, files in os.walk(top):
        names[:] = sorted(name for name in names if (Path(directory) / name).resolve() != store)
        for name in sorted(files):
            path = Path(directory) / name
            if path.is_file() and not path.is_symlink():
                yield path


def import_all(plan: ImportPlan, files: Sequence[Found], jobs: int | None = None) -> Imported:
    """Read and store all of them; outcomes in the order of ``files``."""
    batches, silent = list(_batches(plan, files)), tuple(plan.silent(files))
    processes = min(jobs or os.cpu_count() or 1, len(batches))
    if processes <= 1 or len(files) < ALONE_FILES:
        made = [import_batch(plan, batch) for batch in batches]
    else:
        with ProcessPoolExecutor(processes) as pool:
            made = list(pool.map(import_batch, [plan] * len(batches), batches))
    outcomes = {_key(found): outcome for several in made for found, outcome in several}
    return Imported(tuple(outcomes[_key(found)] for found in files), silent)


def _key(found: Found) -> str:
    return found.name or str(found.path)


def _batches(plan: ImportPlan, files: Sequence[Found]) -> Iterator[list[list[Found]]]:
    """Groups of files that belong together, so many that their runs are flushed at once."""
    batch: list[list[Found]] = []
    size = count = 0
    whole = plan.form is None and plan.columns is None
    for group in together(files, lambda one: one.place, _begin, _content) if whole else ([one] for one in files):
        more = sum(found.size for found in group)
        if batch and (count + len(group) > BATCH_FILES or size + more > BATCH_BYTES):
            yield batch
            batch, size, count = [], 0, 0
        batch.append(group)
        size, count = size + more, count + len(group)
    if batch:
        yield batch


def import_batch(plan: ImportPlan, groups: Sequence[Sequence[Found]]) -> list[tuple[Found, FileOutcome]]:
    """One batch, in whatever process."""
    factors, stored = plan.factors(), plan.store / "runs"
    there = [entry.name for entry in stored.iterdir()] if stored.is_dir() else []
    names = (name.rsplit("-", 2) for name in there if name.count("-") >= 2)
    known = {digest: form for form, digest, _ in names}
    outcomes: list[tuple[Found, FileOutcome]] = []
    runs: list[Run] = []
    for group in groups:
        made = [_import_one(plan, found, known, factors) for found in group] if len(group) == 1 else \
            _import_together(plan, group, known, factors)  # fmt: skip
        outcomes += [(found, outcome) for found, (outcome, _) in zip(group, made, strict=True)]
        runs += [run for _, several in made for run in several]
    # Another process may have stored the same content meanwhile: that is the same run.
    if runs:
        plan.opened().append_many(runs)
    return outcomes


def _import_one(
    plan: ImportPlan, found: Found, known: dict[str, str], factors: PathFactors
) -> tuple[FileOutcome, list[Run]]:  # fmt: skip
    read_one = _read_one(plan, found, known)
    if isinstance(read_one, FileOutcome):
        return read_one, []
    text, understood = read_one
    runs = runs_of(understood, text, plan.experiment, factors(found.relative))
    if runs and plan.columns:
        runs[0].raw[COLUMNS_FILE] = plan.columns.content
    known[digest_of(text.raw)[:DIGEST_CHARACTERS]] = understood.format
    return _outcome(_key(found), understood, runs), runs


def _read_one(
    plan: ImportPlan, found: Found, known: Mapping[str, str]
) -> FileOutcome | tuple[Text, Understood]:  # fmt: skip
    """What a file says, or what became of it where it is nothing to store."""
    name = _key(found)
    if found.damage:
        return FileOutcome(name, reason=found.damage)
    try:
        with found.path.open("rb") as file:
            text = read(file, name)
        digest = digest_of(text.raw)[:DIGEST_CHARACTERS]
        if digest in known:
            reason = _by_another_map(plan, digest)
            return FileOutcome(name, known[digest], there=not reason, reason=reason)
        understood = columns.understand_columns(text, plan.columns) if plan.columns else understand(text, plan.form)
    except IosondeError as error:
        return FileOutcome(name, reason=error.message.removeprefix(f"{name}: "))
    except OSError as error:
        return FileOutcome(name, reason=f"it cannot be read: {error.strerror}")
    text.name = found.relative.as_posix()
    if not found.named and plan.columns is None and _is_quoted(name, text, understood):
        return FileOutcome(name, understood.format, quoted=True)
    return text, understood


def _outcome(name: str, understood: Understood, runs: Sequence[Run]) -> FileOutcome:
    if not runs:
        return FileOutcome(name, understood.format, reason=_no_result(understood.warnings))
    incomplete = sum(bool(run.missing) for run in runs)
    return FileOutcome(name, understood.format, len(runs), incomplete, len(understood.warnings))


def _import_together(
    plan: ImportPlan, group: Sequence[Found], known: dict[str, str], factors: PathFactors
) -> list[tuple[FileOutcome, list[Run]]]:
    """Files of one or of some executions, in the order of ``group``."""
    members: dict[str, Member] = {}
    outcomes: dict[str, FileOutcome] = {}
    relative = {_key(found): found.relative for found in group}
    for found in group:
        key, read_one = _key(found), _read_one(plan, found, {})
        if not isinstance(read_one, FileOutcome):
            members[key] = Member(key, found.place, *read_one)
            continue
        outcomes[key] = read_one
        if KEPT.search(found.place.name) and found.size:
            members[key] = Member(key, found.place, _text_of(found), None)
    made, joined = runs_together(list(members.values()), plan.experiment, lambda one: factors(relative[one.name]))
    known_before = dict(known)
    for key, one in members.items():
        if one.understood is None:
            continue
        digest = digest_of(one.text.raw)[:DIGEST_CHARACTERS]
        if key not in joined:
            outcomes[key] = _outcome(key, one.understood, made[key])
            if digest in known_before:
                outcomes[key] = FileOutcome(key, known[digest], there=True)
                made[key] = []
            elif made[key]:
                known[digest] = one.understood.format
    there = bool(made) and all(outcomes[key].there for key in made)
    for key in joined:
        form = understood.format if (understood := members[key].understood) else ""
        outcomes[key] = FileOutcome(key, form, there=there, joined=not there)
    return [(outcomes[_key(found)], made.get(_key(found), [])) for found in group]


def _begin(found: Found) -> bytes:
    """The first bytes of a file; none of one that cannot be read."""
    try:
        with found.path.open("rb") as file:
            return file.read(2048)
    except OSError:
        return b""


def _content(found: Found) -> bytes:
    """All of a file; nothing of one that cannot be read."""
    try:
        return found.path.read_bytes()
    except OSError:
        return b""


def _text_of(found: Found) -> Text:
    with found.path.open("rb") as file:
        return read(file, found.relative.as_posix())


def _is_quoted(name: str, text: Text, understood: Understood) -> bool:
    """Whether output of this format is there, and only quoted."""
    there = understood.claim.score or any(run.rows for run in understood.runs)
    return bool(there) and quotes(name, text, understood.claim.line, understood.format)


def _by_another_map(plan: ImportPlan, digest: str) -> str:
    """Why a file that is in the store is not as this plan reads it; '' where it is, and for another tool's output."""
    first = plan.store / "runs" / f"{run_prefix(columns.NAME, digest)}0000"
    kept = first / "raw" / COLUMNS_FILE
    if plan.columns is None or not kept.is_file() or kept.read_bytes() == plan.columns.content:
        return ""
    return f"it is in the store, read by another map ({kept}): import it into another store"


def _no_result(warnings: Sequence[tuple[int, str]]) -> str:
    return warnings[0][1] if warnings else "there is no result in it"
