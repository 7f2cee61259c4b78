"""The store: an append-only directory of runs, with queries for runs, results and operations.

Layout, columns and crash safety: docs/store.md.
"""

from __future__ import annotations

import contextlib
import errno
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.schema import OPERATION
from iosonde.core.stored import StoredRun
from iosonde.core.timestamps import format_now
from iosonde.core.types import Experiment, Finding, Observation, Run
from iosonde.core.vocabulary.defaults import list_default_settings
from iosonde.core.where import find_matching_rows, has_incomplete_condition
from iosonde.foreign.reach import check_reachable

from . import files, query, rundir, tables
from .added_factors import AddedFactors
from .added_loads import AddedLoads
from .experiment_digest import ExperimentDigest
from .experiments import Experiments
from .lock import LOCKS
from .marker import build_missing_marker_error, check_marker, has_store_data, write_marker
from .notes import Notes
from .query import Conditions
from .runfile import run_from_document

if TYPE_CHECKING:
    import pyarrow as pa

MARKER = files.MARKER
_DIRECTORIES = ("runs", "experiments", "notes")


class Store:
    """A store on disk. Use ``Store.create`` or ``Store.open``. Runs have the factors and loads that they received
    later.

    Runs appear atomically: a damaged one is left out of ``runs`` and ``results``, and ``problems`` reports it. Several
    processes may append at once.
    """

    def __init__(self, path: Path, disk: files.Disk) -> None:
        self.path = path
        self.disk = disk
        self.notes = Notes(path / "notes", disk)
        self.added_factors = AddedFactors(path, disk)
        self.added_loads = AddedLoads(path, disk)
        self._experiments = Experiments(path / "experiments", disk)
        self._verified: set[str] = set()
        self._read: dict[str, tuple[object, dict[str, Any]]] = {}
        self._only: frozenset[str] | None = None

    @classmethod
    def create(cls, path: str | Path, disk: files.Disk | None = None) -> Store:
        """Open the store at ``path``, or create it. Raises InputError if something else is there."""
        path, disk = Path(path), disk or files.Disk()
        check_reachable(path)
        try:
            _check_free(path)
            if (path / MARKER).exists():
                store = cls.open(path, disk)
                # Its creator may have been killed before the names were on disk.
                disk.sync_directory(path)
                disk.sync_directory(path.parent)
                store.clean_leftovers()
                return store
            for name in _DIRECTORIES:
                files.make_directories(disk, path / name)
            write_marker(disk, path, format_now())
            disk.sync_directory(path.parent)
            store = cls(path, disk)
            store.clean_leftovers()
        except OSError as error:
            raise InputError(
                "store-not-created",
                "cannot create a store at {path}: {reason}",
                "name another directory",
                path=path,
                reason=error.strerror,
            ) from error
        return store

    @classmethod
    def check_place(cls, path: str | Path) -> None:
        """Check that a store is at ``path`` or could be created, without creating it. Raises InputError."""
        path = Path(path)
        check_reachable(path)
        try:
            _check_free(path)
            if (path / MARKER).exists():
                cls.open(path)
        except OSError as error:
            raise InputError(
                "store-not-created",
                "cannot create a store at {path}: {reason}",
                "name another directory",
                path=path,
                reason=error.strerror,
            ) from error

    @staticmethod
    def check_name(experiment: str) -> None:
        """Check that ``experiment`` is a valid id of an experiment. Raises InputError."""
        rundir.check_id("an experiment", experiment)

    @classmethod
    def open(cls, path: str | Path, disk: files.Disk | None = None) -> Store:
        """Open the store at ``path``. Raises InputError if there is none, SchemaTooNewError if it is newer."""
        path = Path(path)
        check_reachable(path)
        check_marker(path)
        for name in _DIRECTORIES:  # git and archives omit empty directories
            if (path / name).exists() and not (path / name).is_dir():
                raise DataError(
                    "not-a-directory",
                    "{path} is not a directory",
                    "the store is damaged: restore it from a copy",
                    path=path / name,
                )
        return cls(path, disk or files.Disk())

    def part(self, run_ids: Iterable[str]) -> Store:
        """Return a view of the store with only these runs and their experiments. Unknown ids are ignored. Its
        ``problems`` are those of its runs."""
        store = Store(self.path, self.disk)
        store._only = frozenset(run_ids)
        return store

    # Writing

    def clean_leftovers(self) -> None:
        """Remove half-written files of killed processes. Raises OSError."""
        for directory in (self.path, *(self.path / name for name in (*_DIRECTORIES, LOCKS))):
            with contextlib.suppress(FileNotFoundError):
                files.clean_leftovers(self.disk, directory)

    def append(self, run: Run) -> None:
        """Store ``run`` atomically; it is on disk on return. Raises InputError if its id exists.

        The run records the current digest of its experiment. Raises SystemFaultError if the disk fails (full,
        read-only); nothing of the run then remains.
        """
        self.append_with_digest(run, self.experiment_digest(run.experiment))

    def append_with_digest(self, run: Run, digest: ExperimentDigest | None) -> None:
        """Store ``run`` with this digest of its experiment, for a copy of another store. Raises as ``append``."""
        rundir.check_run(run)
        self.add_run(run.id, lambda directory: rundir.write_run(self.disk, directory, run, format_now(), digest))

    def append_many(self, runs: Sequence[Run]) -> list[str]:
        """Store each of ``runs`` atomically, with one flush for all; return the ids that already existed, which stay as
        they are.

        This is for imports of thousands of small results, where one flush each would dominate the time. A crash leaves
        each of them complete or absent; on return all are on disk. Raises as ``append``.
        """
        run_by_id: dict[str, Run] = {}
        for run in runs:
            rundir.check_run(run)
            run_by_id.setdefault(run.id, run)
        directory, now = self.path / "runs", format_now()
        there = [name for name in run_by_id if (directory / name).exists()]
        fills = {
            name: partial(rundir.write_run, run=run, stored_at=now, experiment=self.experiment_digest(run.experiment))
            for name, run in run_by_id.items()
            if name not in there
        }
        try:
            files.recreate_store_part(self.disk, directory)
            files.clean_leftovers(self.disk, directory)
            return there + (files.create_directories(self.disk, directory, fills) if fills else [])
        except OSError as error:
            raise files.build_write_error(error, "cannot store runs in {store}", store=self.path) from error

    def add_run(self, run_id: str, fill: Callable[[Path], None]) -> None:
        """Let ``fill`` write a run's files into a directory, which then becomes the run, atomically and flushed."""
        runs = self.path / "runs"
        if (runs / run_id).exists():
            raise _build_duplicate_error(run_id, self.path)
        try:
            files.recreate_store_part(self.disk, runs)
            files.clean_leftovers(self.disk, runs)
            with files.create_directory(self.disk, runs / run_id) as directory:
                fill(directory)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR) and (runs / run_id).exists():
                raise _build_duplicate_error(run_id, self.path) from error
            raise files.build_write_error(
                error, "cannot store run {run_id} in {store}", run_id=run_id, store=self.path
            ) from error

    def save_experiment(self, experiment: Experiment) -> None:
        """Store ``experiment``, replacing an earlier one with its id. Raises SystemFaultError if the disk fails."""
        self._experiments.save(experiment)

    def save_new_experiment(self, experiment: Experiment) -> None:
        """Store ``experiment`` unless one with its id exists. Raises SystemFaultError if the disk fails."""
        self._experiments.save_new(experiment)

    # Reading

    def experiment_digest(self, experiment_id: str) -> ExperimentDigest | None:
        """Return the current digest of an experiment; None if it is missing or unreadable."""
        return self._experiments.digest(experiment_id)

    def experiment(self, experiment_id: str) -> Experiment:
        """Return an experiment. Raises InputError if there is none with this id, DataError if it is damaged."""
        return self._experiments.get(experiment_id)

    def experiments(self) -> list[Experiment]:
        """Return all readable experiments, oldest first."""
        only = None if self._only is None else {document["experiment"] for _, document in self._select_runs(None, ())}
        return self._experiments.all(only)

    def check_experiment(self, experiment: str | None) -> None:
        """Check that the store has the experiment or runs of it; None always passes. Raises InputError, naming the
        known ones."""
        if experiment is None:
            return
        names = dict.fromkeys(item.id for item in self.experiments())
        names |= dict.fromkeys(run["experiment"] for run in self.runs())
        if experiment not in names:
            raise InputError(
                "unknown-experiment",
                "unknown experiment {experiment} in {path}",
                "known: {experiments}",
                experiment=experiment,
                path=self.path,
                experiments=", ".join(names) or "none",
            )

    def runs(self, experiment: str | None = None, where: Conditions | None = None) -> list[dict[str, Any]]:
        """Return the content of each run.json and its added factors, oldest run first. ``where``: see core.where
        (InputError)."""
        return [document for _, document in self._select_runs(experiment, where or ())]

    def document(self, run_id: str) -> dict[str, Any]:
        """Return the content of one run.json. Raises as ``run`` does."""
        return self._find_run(run_id)[1]

    def read_document(self, directory: Path) -> dict[str, Any]:
        """Return the content of a run.json of this store without caching it. Raises DataError."""
        return self.added_loads.apply(self.added_factors.apply(rundir.read_document(directory)))

    def run_ids(self, experiment: str | None = None) -> list[str]:
        """Return the ids of these runs."""
        return [document["id"] for document in self.runs(experiment)]

    def run(self, run_id: str, operations: bool = False) -> Run:
        """Return a run; ``operations`` includes its operations, which may be large. Large raw files are paths.

        Raises InputError if there is none with this id, DataError if it is damaged.
        """
        directory, document = self._find_run(run_id)
        table = io.BytesIO(rundir.read_file(directory, document, rundir.RESULTS))
        rows = [Observation(**row) for row in tables.read_results(table).to_pylist()]
        run = run_from_document(document, rows, rundir.read_raw(directory, document))
        if operations and rundir.OPERATIONS in document["files"]:
            run.operations = self.operations(run_id)
        return run

    def results(
        self,
        experiment: str | None = None,
        where: Conditions | None = None,
        include_incomplete: bool = False,
        ranks: bool = True,
    ) -> pa.Table:
        """Return all results with their run's columns and factors; one row per Observation.

        Columns are run, experiment, started_at, source, complete, those of ``schema.ROW_COLUMNS``, each factor
        (``factor_`` precedes a name that is taken) and each varying option of the target's file system. Incomplete runs
        are left out unless requested or named by a condition. Without ``ranks``, rows of single ranks are dropped from
        runs that have very many, besides rows of the whole.
        """
        selected = self._select_runs(experiment, ())
        documents = [document for _, document in selected]
        names = query.name_factor_columns(query.collect_settings(documents))
        chosen = selected
        result_conditions: Conditions = ()
        if where and documents:
            columns = query.build_run_columns(documents, self._read_tags(documents))
            run_conditions, result_conditions = query.split_conditions(where, columns)
            chosen = [selected[row] for row in find_matching_rows(columns, run_conditions)]
        every = include_incomplete or has_incomplete_condition(where or ())
        chosen = [item for item in chosen if every or item[1]["complete"]]
        return query.read_results_table(
            [item for item in chosen if self._is_intact(*item)], names, result_conditions, ranks
        )

    def rank_loads(self, run_ids: Iterable[str], metrics: Sequence[str]) -> Iterator[tuple[str, query.RankLoad]]:
        """Yield (run, load) for each operation and metric of single ranks, and each of a tool's iterations. A table of
        all ranks of an archive would have too many rows for memory. Damaged runs are left out."""
        for directory, document in map(self._find_run, run_ids):
            if self._is_intact(directory, document):
                rows = tables.read_results(io.BytesIO(rundir.read_file(directory, document, rundir.RESULTS)))
                yield from ((document["id"], load) for load in query.group_rank_loads(rows, metrics))

    def raw_file(self, run_id: str, name: str) -> bytes | None:
        """Return the content of a raw file of a run, None if it has no such file. Raises InputError, DataError."""
        directory, document = self._find_run(run_id)
        file_name = f"raw/{name}"
        return rundir.read_file(directory, document, file_name) if file_name in document["files"] else None

    def operations(self, run_id: str) -> np.ndarray:
        """Return all recorded operations of a run, dtype ``schema.OPERATION``, by rank and start; may be empty."""
        path = self._operations_path(run_id)
        return np.empty(0, OPERATION) if path is None else tables.read_operations(path)

    def operation_columns(self, run_id: str, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Return some columns of the operations, each as an array; all empty if none were recorded."""
        path = self._operations_path(run_id)
        if path is None:
            return {name: np.empty(0, OPERATION[name]) for name in names}
        return tables.read_operation_columns(path, names)

    def operation_column_groups(self, run_id: str, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Yield ``operation_columns`` in groups of a million rows, in order, for bounded memory."""
        path = self._operations_path(run_id)
        return iter(()) if path is None else tables.iter_column_groups(path, names)

    def operation_batches(self, run_id: str, rows: int = 1_000_000) -> Iterator[np.ndarray]:
        """Yield the operations in arrays of at most ``rows`` rows, for bounded memory."""
        path = self._operations_path(run_id)
        return iter(()) if path is None else tables.iter_operation_batches(path, rows)

    def problems(self, contents: bool = True) -> list[Finding]:
        """Return findings about damaged, half-written or unknown parts. ``contents=False`` reads no large file."""
        from .check import find_problems, find_run_problems

        read = rundir.read_document if contents else self._load_document
        if self._only is not None:
            return find_run_problems(self._list_directories(), contents, self._load_document, self._experiments)
        return find_problems(self.path, contents, read, self._experiments)

    # Internals

    def _select_runs(self, experiment: str | None, where: Conditions) -> list[tuple[Path, dict[str, Any]]]:
        selected = []
        for directory in self._list_directories():
            try:
                document = self._load_document(directory)
            except DataError:
                continue  # `problems` reports it
            if experiment is None or document["experiment"] == experiment:
                selected.append((directory, document))
        selected.sort(key=lambda item: (item[1]["started_at"], item[1]["id"]))
        selected = _add_defaults(selected)
        if not where or not selected:
            return selected
        documents = [document for _, document in selected]
        rows = find_matching_rows(query.build_run_columns(documents, self._read_tags(documents)), where)
        return [selected[row] for row in rows]

    def _list_directories(self) -> list[Path]:
        if self._only is None:
            return rundir.list_run_directories(self.path)
        candidates = (self.path / "runs" / name for name in sorted(self._only) if rundir.is_flat_name(name))
        return [directory for directory in candidates if rundir.is_run_directory(directory)]

    def _find_run(self, run_id: str) -> tuple[Path, dict[str, Any]]:
        directory = self.path / "runs" / rundir.check_id("a run", run_id)
        if not rundir.is_run_directory(directory):
            raise InputError(
                "unknown-run",
                "unknown run {run_id} in {path}",
                "list the runs with 'iosonde show {path}'",
                run_id=run_id,
                path=self.path,
            )
        return directory, self._load_document(directory)

    def _load_document(self, directory: Path) -> dict[str, Any]:
        """Return the content of a run.json, read again only if its file was replaced. Raises DataError."""
        before = self._read.get(directory.name)
        run_state = rundir.read_run_state(directory)
        state = (run_state, self.added_factors.state, self.added_loads.state)
        if before is None or run_state is None or before[0] != state:
            document = self.read_document(directory)
            if run_state is None:
                return document
            before = self._read[directory.name] = (state, document)
        return before[1]

    def _operations_path(self, run_id: str) -> Path | None:
        directory, document = self._find_run(run_id)
        if rundir.OPERATIONS not in document["files"]:
            return None
        if run_id not in self._verified:
            rundir.verify_file(directory, document, rundir.OPERATIONS)
            self._verified.add(run_id)
        return directory / rundir.OPERATIONS

    def _is_intact(self, directory: Path, document: dict[str, Any]) -> bool:
        try:
            rundir.verify_file(directory, document, rundir.RESULTS)
        except DataError:
            return False  # `problems` reports it
        return True

    def _read_tags(self, documents: list[dict[str, Any]]) -> list[list[str]]:
        return [self.notes.tags(document["id"]) for document in documents]


def _add_defaults(selected: Sequence[tuple[Path, dict[str, Any]]]) -> list[tuple[Path, dict[str, Any]]]:
    """Return the runs with the settings that other runs state and theirs have by default."""
    defaults = list_default_settings(StoredRun(document) for _, document in selected)
    return [
        (path, {**document, "factors": {**document["factors"], **settings}} if settings else document)
        for (path, document), settings in zip(selected, defaults, strict=True)
    ]


def _build_duplicate_error(run_id: str, path: Path) -> InputError:
    return InputError(
        "duplicate-run",
        "run {run_id} is already in {path}",
        "stored runs never change; give the new one another id",
        run_id=run_id,
        path=path,
    )


def _check_free(path: Path) -> None:
    """Check that ``path`` is a store, free for one, or holds the beginning of one. Raises InputError."""
    obstacle = None if (path / MARKER).exists() else _find_obstacle(path)
    if obstacle and not (path / MARKER).exists():  # another process may have created the store meanwhile
        raise obstacle


def _find_obstacle(path: Path) -> IosondeError | None:
    """Return why no store can be created at ``path``; None if it can."""
    if path.exists() and not path.is_dir():
        return InputError("not-a-directory", "{path} is a file, not a store", "name a new directory", path=path)
    if path.is_dir() and has_store_data(path):
        return build_missing_marker_error(path)
    if path.is_dir() and any(not _is_ours(entry.name) for entry in path.iterdir()):
        return InputError(
            "directory-not-empty",
            "{path} is not empty and not a store",
            "name a new or empty directory",
            path=path,
        )
    return None


def _is_ours(name: str) -> bool:
    """Return whether a directory without store.json may hold this entry, left by a crash during creation."""
    return name in _DIRECTORIES or files.is_temporary(name)
