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
from iosonde.importers import columns, read, understand
from iosonde.importers.archives import is_archive, unpack
from iosonde.importers.columns_map import ColumnsMap
from iosonde.importers.paths import Factors, joined, manifest_factors, pattern_factors
from iosonde.importers.registry import known
from iosonde.importers.runs import DIGEST_CHARACTERS, digest_of, run_prefix, runs_of
from iosonde.store import Store

BATCH_FILES, BATCH_BYTES = 200, 64 << 20
# The map by which a CSV was read, beside its text.
COLUMNS_FILE = "columns.yaml"
# Starting processes costs more than they save for a handful of files.
ALONE_FILES = 50
# Documents and sources: a tool's output in one of them is quoted there, and is no result of whoever has the directory.
_QUOTING = {
    ".adoc", ".bib", ".c", ".cc", ".cmake", ".cpp", ".diff", ".go", ".h", ".hpp", ".htm", ".html", ".ipynb",
    ".java", ".js", ".lua", ".md", ".org", ".patch", ".pl", ".py", ".r", ".rb", ".rs", ".rst", ".sh", ".tex",
    ".ts", ".yaml", ".yml",
}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A file, and its path relative to the directory that was named; ``named``: it was, and no directory of it."""

    path: Path
    relative: PurePath
    size: int
    named: bool = False
    name: str = ""
    damage: str = ""


@dataclass(frozen=True)
class FileOutcome:
    """What became of one file. ``reason`` is '' unless it was not understood; ``there``: stored before."""

    file: str
    format: str = ""
    runs: int = 0
    incomplete: int = 0
    warnings: int = 0
    there: bool = False
    reason: str = ""


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
    def n_runs(self) -> int:
        """How many runs were stored."""
        return sum(outcome.runs for outcome in self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """As ``iosonde import --json``."""
        return {
            "schema": 1,
            "files": len(self.outcomes),
            "runs": self.n_runs,
            "incomplete": sum(one.incomplete for one in self.outcomes),
            "already_there": sum(one.there for one in self.outcomes),
            "imported": [
                {"file": o.file, "format": o.format, "runs": o.runs, "incomplete": o.incomplete, "warnings": o.warnings}
                for o in self.outcomes
                if not o.reason and not o.there
            ],
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
        if failed and len(failed) == len(self.outcomes):
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
            known(self.form)
        if self.form is not None and self.columns is not None:
            raise InputError("a file is read by a map of its columns or as a tool's output", "leave --format out")
        Store.check_place(self.store)
        Store.check_name(self.experiment)

    def opened(self) -> Store:
        """The store, which is made for the first runs: a file that nobody understands leaves nothing behind."""
        store = Store.create(self.store)
        if self.experiment not in {item.id for item in store.experiments()}:
            now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            store.save_experiment(Experiment(self.experiment, "results of other tools", [], {}, [], 0, now))
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
        yield Found(file, archive.relative.parent / inner, file.stat().st_size, name=f"{archive.path}/{inner}")


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
            found.setdefault(one, Found(one, relative, one.stat().st_size, not path.is_dir()))
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
    batches, silent = list(_batches(files)), tuple(plan.silent(files))
    processes = min(jobs or os.cpu_count() or 1, len(batches))
    if processes <= 1 or len(files) < ALONE_FILES:
        return Imported(tuple(outcome for batch in batches for outcome in import_batch(plan, batch)), silent)
    with ProcessPoolExecutor(processes) as pool:
        every = pool.map(import_batch, [plan] * len(batches), batches)
        return Imported(tuple(outcome for outcomes in every for outcome in outcomes), silent)


def _batches(files: Sequence[Found]) -> Iterator[list[Found]]:
    batch: list[Found] = []
    size = 0
    for found in files:
        if batch and (len(batch) >= BATCH_FILES or size + found.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(found)
        size += found.size
    if batch:
        yield batch


def import_batch(plan: ImportPlan, files: Sequence[Found]) -> list[FileOutcome]:
    """One batch, in whatever process."""
    factors, stored = plan.factors(), plan.store / "runs"
    there = [entry.name for entry in stored.iterdir()] if stored.is_dir() else []
    names = (name.rsplit("-", 2) for name in there if name.count("-") >= 2)
    known = {digest: form for form, digest, _ in names}
    outcomes: list[FileOutcome] = []
    runs: list[Run] = []
    for found in files:
        outcome, made = _import_one(plan, found, known, factors(found.relative))
        outcomes.append(outcome)
        runs += made
    # Another process may have stored the same content meanwhile: that is the same run.
    if runs:
        plan.opened().append_many(runs)
    return outcomes


def _import_one(
    plan: ImportPlan, found: Found, known: dict[str, str], factors: Mapping[str, FactorValue]
) -> tuple[FileOutcome, list[Run]]:  # fmt: skip
    name = found.name or str(found.path)
    if found.damage:
        return FileOutcome(name, reason=found.damage), []
    try:
        with found.path.open("rb") as file:
            text = read(file, name)
        digest = digest_of(text.raw)[:DIGEST_CHARACTERS]
        if digest in known:
            reason = _by_another_map(plan, digest)
            return FileOutcome(name, known[digest], there=not reason, reason=reason), []
        understood = columns.understand_columns(text, plan.columns) if plan.columns else understand(text, plan.form)
        if not found.named and plan.form is None and found.relative.suffix.lower() in _QUOTING:
            return FileOutcome(name, reason=f"it quotes output of {understood.format}; name it to import it"), []
        text.name = found.relative.as_posix()
        runs = runs_of(understood, text, plan.experiment, factors)
        if runs and plan.columns:
            runs[0].raw[COLUMNS_FILE] = plan.columns.content
        known[digest] = understood.format
    except IosondeError as error:
        return FileOutcome(name, reason=error.message.removeprefix(f"{name}: ")), []
    except OSError as error:
        return FileOutcome(name, reason=f"it cannot be read: {error.strerror}"), []
    if not runs:
        return FileOutcome(name, understood.format, reason=_no_result(understood.warnings)), []
    incomplete = sum(bool(run.missing) for run in runs)
    return FileOutcome(name, understood.format, len(runs), incomplete, len(understood.warnings)), runs


def _by_another_map(plan: ImportPlan, digest: str) -> str:
    """Why a file that is in the store is not as this plan reads it; '' where it is, and for another tool's output."""
    first = plan.store / "runs" / f"{run_prefix(columns.NAME, digest)}0000"
    kept = first / "raw" / COLUMNS_FILE
    if plan.columns is None or not kept.is_file() or kept.read_bytes() == plan.columns.content:
        return ""
    return f"it is in the store, read by another map ({kept}): import it into another store"


def _no_result(warnings: Sequence[tuple[int, str]]) -> str:
    return warnings[0][1] if warnings else "there is no result in it"
