"""The store: a directory of runs that only grows. Append a Run, ask for runs, results and operations.

Layout, columns and crash safety: docs/store.md.
"""

from __future__ import annotations

import contextlib
import errno
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Experiment, Finding, Run
from iosonde.core.where import matching_rows, takes_incomplete
from iosonde.foreign.reach import check_reachable

from . import files, rundir
from .experiment_digest import ExperimentDigest
from .experiments import Experiments
from .lock import LOCKS
from .marker import check_marker, holds_data, missing_marker, write_marker
from .notes import Notes
from .runfile import run_from

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from .query import Conditions

MARKER = files.MARKER
_DIRECTORIES = ("runs", "experiments", "notes")


class Store:
    """One store on disk. Make it by ``Store.create`` or ``Store.open``.

    Runs are shown whole or not at all: a damaged one is left out of ``runs`` and ``results``, and
    ``problems`` names it. Several processes may append at once.
    """

    def __init__(self, path: Path, disk: files.Disk) -> None:
        self.path = path
        self.disk = disk
        self.notes = Notes(path / "notes", disk)
        self._experiments = Experiments(path / "experiments", disk)
        self._verified: set[str] = set()
        self._read: dict[str, tuple[tuple[int, int, int], dict[str, Any]]] = {}
        self._only: frozenset[str] | None = None

    @classmethod
    def create(cls, path: str | Path, disk: files.Disk | None = None) -> Store:
        """The store at ``path``, made if it is not there. Raises InputError if something else is."""
        path, disk = Path(path), disk or files.Disk()
        check_reachable(path)
        try:
            if (path / MARKER).exists():
                store = cls.open(path, disk)
                # Whoever made it may have been killed before its names were on disk.
                disk.sync_directory(path)
                disk.sync_directory(path.parent)
                store.clean_leftovers()
                return store
            _check_free(path)
            for name in _DIRECTORIES:
                files.make_directories(disk, path / name)
            write_marker(disk, path, _format_now())
            disk.sync_directory(path.parent)
            store = cls(path, disk)
            store.clean_leftovers()
        except OSError as error:
            raise InputError(
                "store-not-created",
                "cannot make a store at {path}: {reason}",
                "name another directory",
                path=path,
                reason=error.strerror,
            ) from error
        return store

    @classmethod
    def check_place(cls, path: str | Path) -> None:
        """Raises InputError if no store is at ``path`` and none could be made, as ``create`` does; makes nothing."""
        path = Path(path)
        check_reachable(path)
        try:
            if (path / MARKER).exists():
                cls.open(path)
            else:
                _check_free(path)
        except OSError as error:
            raise InputError(
                "store-not-created",
                "cannot make a store at {path}: {reason}",
                "name another directory",
                path=path,
                reason=error.strerror,
            ) from error

    @staticmethod
    def check_name(experiment: str) -> None:
        """Raises InputError if ``experiment`` cannot be an experiment's id."""
        rundir.check_id("an experiment", experiment)

    @classmethod
    def open(cls, path: str | Path, disk: files.Disk | None = None) -> Store:
        """The store at ``path``. Raises InputError if there is none, SchemaTooNewError if it is newer."""
        path = Path(path)
        check_reachable(path)
        check_marker(path)
        for name in _DIRECTORIES:  # an empty one is absent after git or an archive carried the store
            if (path / name).exists() and not (path / name).is_dir():
                raise DataError(
                    "not-a-directory",
                    "{path} is not a directory",
                    "the store is damaged: restore it from a copy",
                    path=path / name,
                )
        return cls(path, disk or files.Disk())

    def part(self, run_ids: Iterable[str]) -> Store:
        """The same store as if it held these runs alone, with their experiments: what is asked of it looks at no other.
        Ids that are not there are left out. Its ``problems`` are those of its runs."""
        store = Store(self.path, self.disk)
        store._only = frozenset(run_ids)
        return store

    # Writing

    def clean_leftovers(self) -> None:
        """Remove what killed processes left half-written. Raises OSError."""
        for directory in (self.path, *(self.path / name for name in (*_DIRECTORIES, LOCKS))):
            with contextlib.suppress(FileNotFoundError):
                files.clean_leftovers(self.disk, directory)

    def append(self, run: Run) -> None:
        """Store ``run`` whole; it is on disk on return. Raises InputError if its id is there already.

        It names the digest of its experiment as that is stored now. Raises SystemFaultError if the disk fails (full,
        read-only); then nothing of the run stays behind.
        """
        self.append_with_digest(run, self.experiment_digest(run.experiment))

    def append_with_digest(self, run: Run, digest: ExperimentDigest | None) -> None:
        """The same with this digest of its experiment, for a copy of another store."""
        rundir.check_run(run)
        self.add_run(run.id, lambda directory: rundir.write_run(self.disk, directory, run, _format_now(), digest))

    def append_many(self, runs: Sequence[Run]) -> list[str]:
        """Store each of ``runs`` whole, with one flush for all; the ids that were there already, which stay as they
        are.

        For imports of thousands of small results, where a flush for each would take longer than all the rest. A crash
        leaves each of them whole or not at all; on return all are on disk. Raises as ``append``.
        """
        run_by_id: dict[str, Run] = {}
        for run in runs:
            rundir.check_run(run)
            run_by_id.setdefault(run.id, run)
        directory, now = self.path / "runs", _format_now()
        there = [name for name in run_by_id if (directory / name).exists()]
        fills = {
            name: partial(_fill_directory, run=run, now=now, experiment=self.experiment_digest(run.experiment))
            for name, run in run_by_id.items() if name not in there
        }  # fmt: skip
        try:
            files.make_part(self.disk, directory)
            files.clean_leftovers(self.disk, directory)
            return there + (files.new_directories(self.disk, directory, fills) if fills else [])
        except OSError as error:
            raise files.write_failure(error, "cannot store runs in {store}", store=self.path) from error

    def add_run(self, run_id: str, fill: Callable[[Path], None]) -> None:
        """Let ``fill`` write a run's files into a directory that then becomes the run, whole and flushed."""
        runs = self.path / "runs"
        if (runs / run_id).exists():
            raise _build_duplicate_error(run_id, self.path)
        try:
            files.make_part(self.disk, runs)
            files.clean_leftovers(self.disk, runs)
            with files.new_directory(self.disk, runs / run_id) as directory:
                fill(directory)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR) and (runs / run_id).exists():
                raise _build_duplicate_error(run_id, self.path) from error
            template = "cannot store run {run_id} in {store}"
            raise files.write_failure(error, template, run_id=run_id, store=self.path) from error

    def save_experiment(self, experiment: Experiment) -> None:
        """Store ``experiment``, in place of an earlier one with its id. Raises SystemFaultError if the disk fails."""
        self._experiments.save(experiment)

    def save_new_experiment(self, experiment: Experiment) -> None:
        """Store ``experiment`` unless one with its id is there. Raises SystemFaultError if the disk fails."""
        self._experiments.save_new(experiment)

    # Asking

    def experiment_digest(self, experiment_id: str) -> ExperimentDigest | None:
        """Return the digest of an experiment as it is stored now; None where it is not there, or cannot be read."""
        return self._experiments.digest(experiment_id)

    def experiment(self, experiment_id: str) -> Experiment:
        """Raises InputError if there is none with this id, DataError if it is damaged."""
        return self._experiments.get(experiment_id)

    def experiments(self) -> list[Experiment]:
        """All experiments that can be read, the oldest first."""
        only = None if self._only is None else {document["experiment"] for _, document in self._select_runs(None, ())}
        return self._experiments.all(only)

    def check_experiment(self, experiment: str | None) -> None:
        """Raises InputError, which names those that there are, if nothing here is of this one. None is all of them."""
        if experiment is None:
            return
        names = dict.fromkeys(item.id for item in self.experiments())
        names |= dict.fromkeys(run["experiment"] for run in self.runs())
        if experiment not in names:
            there = ", ".join(names) or "none"
            raise InputError(
                "unknown-experiment",
                "there is no experiment {experiment} in {path}",
                "there are: {experiments}",
                experiment=experiment,
                path=self.path,
                experiments=there,
            )

    def runs(self, experiment: str | None = None, where: Conditions | None = None) -> list[dict[str, Any]]:
        """The content of each run.json, the oldest run first. ``where``: see core.where (InputError)."""
        return [document for _, document in self._select_runs(experiment, where or ())]

    def document(self, run_id: str) -> dict[str, Any]:
        """The content of one run.json. Raises as ``run`` does."""
        return self._find_run(run_id)[1]

    def read_document(self, directory: Path) -> dict[str, Any]:
        """The content of the run.json in a directory of this store, which is not kept in memory. Raises DataError."""
        return rundir.read_document(directory)

    def run_ids(self, experiment: str | None = None) -> list[str]:
        """The ids of these runs."""
        return [document["id"] for document in self.runs(experiment)]

    def run(self, run_id: str, operations: bool = False) -> Run:
        """One run; with its operations only if asked, as they may be large; large raw files as paths.

        Raises InputError if there is none with this id, DataError if it is damaged.
        """
        from . import tables

        directory, document = self._find_run(run_id)
        table = io.BytesIO(rundir.read_file(directory, document, rundir.RESULTS))
        raw = rundir.read_raw(directory, document)
        run = run_from(document, tables.observations_of(tables.read_results(table)), raw)
        if operations and rundir.OPERATIONS in document["files"]:
            run.operations = self.operations(run_id)
        return run

    def results(
        self, experiment: str | None = None, where: Conditions | None = None, include_incomplete: bool = False,
        ranks: bool = True,
    ) -> pa.Table:  # fmt: skip
        """All results joined with their run's columns and factors; one row for each Observation.

        Columns: run, experiment, started_at, source, complete, those of ``schema.ROW_COLUMNS``, then one
        for each factor (``factor_`` before a name that is taken) and each option of the target's file system that was
        not always the same. Incomplete runs are left out unless asked for, or asked about by a condition. Without
        ``ranks`` the single ranks of a run that has very many of them, beside rows of the whole, are left out.
        """
        from . import query

        selected = self._select_runs(experiment, ())
        documents = [document for _, document in selected]
        names = query.factor_columns(query.settings_of(documents))
        chosen = selected
        result_conditions: Conditions = ()
        if where and documents:
            columns = query.run_columns(documents, self._read_tags(documents))
            run_conditions, result_conditions = query.split(where, columns)
            chosen = [selected[row] for row in matching_rows(columns, run_conditions)]
        every = include_incomplete or takes_incomplete(where or ())
        chosen = [item for item in chosen if every or item[1]["complete"]]
        return query.results_table([item for item in chosen if self._is_intact(*item)], names, result_conditions, ranks)

    def raw_file(self, run_id: str, name: str) -> bytes | None:
        """The content of one of its raw files, None where it has none of that name. Raises InputError, DataError."""
        directory, document = self._find_run(run_id)
        file_name = f"raw/{name}"
        return rundir.read_file(directory, document, file_name) if file_name in document["files"] else None

    def operations(self, run_id: str) -> np.ndarray:
        """All recorded operations of a run, dtype ``schema.OPERATION``, by rank and start; may be empty."""
        import numpy as np

        from iosonde.core.schema import OPERATION

        from . import tables

        path = self._operations_path(run_id)
        return np.empty(0, OPERATION) if path is None else tables.read_operations(path)

    def operation_columns(self, run_id: str, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Some columns of the same, each an array of its own; all empty where none was recorded."""
        import numpy as np

        from iosonde.core.schema import OPERATION

        from . import tables

        path = self._operations_path(run_id)
        if path is None:
            return {name: np.empty(0, OPERATION[name]) for name in names}
        return tables.read_operation_columns(path, names)

    def operation_column_groups(self, run_id: str, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """The same a million rows at a time, in order, for bounded memory."""
        from . import tables

        path = self._operations_path(run_id)
        return iter(()) if path is None else tables.operation_column_groups(path, names)

    def operation_batches(self, run_id: str, rows: int = 1_000_000) -> Iterator[np.ndarray]:
        """The same in arrays of at most so many ``rows``, for bounded memory."""
        from . import tables

        path = self._operations_path(run_id)
        return iter(()) if path is None else tables.operation_batches(path, rows)

    def problems(self, contents: bool = True) -> list[Finding]:
        """What is damaged, half-written or not ours, by name. ``contents=False`` reads no large file."""
        from .check import find_problems, problems_of_runs

        read = rundir.read_document if contents else self._load_document
        if self._only is not None:
            return problems_of_runs(self._list_directories(), contents, self._load_document, self._experiments)
        return find_problems(self.path, contents, read, self._experiments)

    # Inside

    def _select_runs(self, experiment: str | None, where: Conditions) -> list[tuple[Path, dict[str, Any]]]:
        selected = []
        for directory in self._list_directories():
            try:
                document = self._load_document(directory)
            except DataError:
                continue  # `problems` names it
            if experiment is None or document["experiment"] == experiment:
                selected.append((directory, document))
        selected.sort(key=lambda item: (item[1]["started_at"], item[1]["id"]))
        if not where or not selected:
            return selected
        from . import query

        documents = [document for _, document in selected]
        rows = matching_rows(query.run_columns(documents, self._read_tags(documents)), where)
        return [selected[row] for row in rows]

    def _list_directories(self) -> list[Path]:
        if self._only is None:
            return rundir.run_directories(self.path)
        candidates = (self.path / "runs" / name for name in sorted(self._only) if rundir.is_flat_name(name))
        return [directory for directory in candidates if rundir.is_run_directory(directory)]

    def _find_run(self, run_id: str) -> tuple[Path, dict[str, Any]]:
        directory = self.path / "runs" / rundir.check_id("a run", run_id)
        if not rundir.is_run_directory(directory):
            raise InputError(
                "unknown-run",
                "there is no run {run_id} in {path}",
                "'iosonde show {path}' lists them",
                run_id=run_id,
                path=self.path,
            )
        return directory, self._load_document(directory)

    def _load_document(self, directory: Path) -> dict[str, Any]:
        """The content of a run.json, which is read again only when it is another file. Raises DataError."""
        before = self._read.get(directory.name)
        state = rundir.state_of(directory)
        if before is None or state is None or before[0] != state:
            document = rundir.read_document(directory)
            if state is None:
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
            return False  # `problems` names it
        return True

    def _read_tags(self, documents: list[dict[str, Any]]) -> list[list[str]]:
        return [self.notes.tags(document["id"]) for document in documents]


def _fill_directory(disk: files.Disk, directory: Path, run: Run, now: str, experiment: ExperimentDigest | None) -> None:
    rundir.write_run(disk, directory, run, now, experiment)


def _build_duplicate_error(run_id: str, path: Path) -> InputError:
    return InputError(
        "duplicate-run",
        "run {run_id} is already in {path}",
        "a stored run is never changed; give the new one its own id",
        run_id=run_id,
        path=path,
    )


def _check_free(path: Path) -> None:
    """Raises InputError if something lies at ``path`` that is not the beginning of a store."""
    if path.exists() and not path.is_dir():
        raise InputError("not-a-directory", "{path} is a file, not a store", "name a new directory", path=path)
    if path.is_dir() and holds_data(path):
        raise missing_marker(path)
    if path.is_dir() and any(not _is_ours(entry.name) for entry in path.iterdir()):
        raise InputError(
            "directory-not-empty",
            "{path} has files in it and is not a store",
            "name a new or empty directory",
            path=path,
        )


def _is_ours(name: str) -> bool:
    """Whether a directory without store.json may hold this: what a crash while making a store leaves."""
    return name in _DIRECTORIES or files.is_temporary(name)


def _format_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
