"""Files that other tools wrote as DATA: read as by ``iosonde import``, into a store that ends with the process."""

import atexit
import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from iosonde.core.errors import DataError, InputError, SystemFaultError, UnknownFormatError
from iosonde.core.front_end import get_front_end
from iosonde.core.message import Message
from iosonde.core.timestamps import format_now
from iosonde.core.types import Experiment
from iosonde.core.words import format_count
from iosonde.foreign.guarded import begin_of, open_checked
from iosonde.foreign.mounts import find_waiting_mount
from iosonde.foreign.removal import locked_scratch_directory
from iosonde.foreign.walking import walk_files
from iosonde.importers import CERTAIN, Text, fio_version, read, understand
from iosonde.importers.registry import build_no_result_error
from iosonde.importers.runs import build_runs
from iosonde.store import Store, joined
from iosonde.store.files import MARKER
from iosonde.tables.content import STANDARD_INPUT, TABLE_SUFFIXES, TEXT_SUFFIXES, get_suffix, is_pipe, read_content

from .candidate_files import CandidateFile, iterate_file_groups
from .import_files import import_all
from .import_outcomes import Imported
from .import_plan import ImportPlan

MOST_FILES = 5000
_EXPERIMENT = "imported"
Stamp = tuple[str, int, int]  # of a file: its path, size and time of change
_stores: dict[bytes, Store] = {}  # by the content of the file
_stores_of_files: dict[tuple[str | Stamp, ...], Store] = {}
_until_exit = ExitStack()
atexit.register(_until_exit.close)


def read_text(name: str, stdin: BinaryIO | None = None) -> Text:
    """Return the text of a file (``-``: of ``stdin``). Raises InputError, DataError."""
    if name == STANDARD_INPUT and stdin is not None:
        return read(stdin, name)
    if not find_waiting_mount(Path(name)) and Path(name).is_dir():
        raise InputError(
            "is-a-directory",
            "{name} is a directory",
            "iosonde import -r {name} --store DIR reads all in it",
            name=name,
        )
    with open_checked(Path(name)) as file:
        text = read(file, name)
    if fio_version.is_latency_log(Path(name)):
        text.adjacent_version = fio_version.find_sibling_version(
            Path(name), lambda place: begin_of(Path(place), fio_version.HEAD_BYTES)
        )
    return text


def store_tool_output(name: str) -> Store | None:
    """Return the runs of a file, or of a pipe, as a store; None if no tool wrote it. Raises InputError, DataError."""
    text = read(io.BytesIO(read_content(name)), name) if is_pipe(name) else read_text(name)
    if text.raw in _stores:
        return _stores[text.raw]
    try:
        understood = understand(text)
    except UnknownFormatError:
        return None
    runs = build_runs(understood, text, _EXPERIMENT)
    suffix = get_suffix(name)
    if not runs and understood.claim.score >= CERTAIN and suffix not in TABLE_SUFFIXES:
        error = build_no_result_error(name, understood)
        if error is not None:
            raise error
    if not runs and understood.warnings and suffix not in TEXT_SUFFIXES:  # it may be a table of that name
        raise InputError(
            "no-result",
            "{name}: {reason}",
            "'iosonde parse {name}' says more",
            name=name,
            reason=understood.warnings[0].sentence,
        )
    if not runs:
        return None
    try:
        store = Store.create(_create_directory() / "store")
        store.save_new_experiment(Experiment(_EXPERIMENT, f"results in {name}", [], {}, [], 0, format_now()))
        store.append_many(runs)
    except SystemFaultError as error:
        raise _name_cure(error) from error
    _stores[text.raw] = store
    return store


def open_files(names: Sequence[str]) -> tuple[Store, str]:
    """Return the store at the only path, or one with the runs of all these files and of those in directories, and its
    title. Says what was read. Raises InputError, DataError, for a file that was named and no tool wrote, too."""
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    failure = None
    if len(names) == 1:
        try:
            return Store.open(names[0]), title
        except InputError as error:
            if error.code != "not-a-store":
                raise
            failure = error
    key: tuple[str | Stamp, ...] = (*names, *_iterate_stamps(names))
    if key not in _stores_of_files:
        _stores_of_files[key] = _store_files(names, failure)
    return _stores_of_files[key], title


def _iterate_stamps(names: Sequence[str]) -> Iterator[Stamp]:
    """Yield what tells whether files, and those in directories, are still the same."""
    for name in names:
        path = Path(name)
        for file in sorted(walk_files(path, lambda *_: None)) if path.is_dir() else [path]:
            with suppress(OSError):  # reading it says why
                status = file.stat()
                yield str(file), status.st_size, status.st_mtime_ns


def join_stores(names: Sequence[str]) -> tuple[Store, str] | None:
    """Return a store with the runs of several stores, or of all those in one directory, and its title; None if these
    are no stores. Raises InputError, DataError."""
    paths = list_stores(names)
    if not paths:
        return None
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    called = {path.name: path for path in paths}
    sources = {str(path) if len(called) < len(paths) else path.name: Store.open(path) for path in paths}
    try:
        store = Store.create(_create_directory() / "store")
        problems = joined.join_stores(store, sources)
    except SystemFaultError as error:
        raise _name_cure(error) from error
    for problem in problems:
        get_front_end().warn(problem.sentence)
    return store, title


def list_stores(names: Sequence[str]) -> list[Path]:
    """Return several paths if all are stores, or the stores in the only one; else none."""
    paths = [Path(name) for name in names]
    if len(paths) > 1:
        return paths if all((path / MARKER).exists() for path in paths) else []
    if find_waiting_mount(paths[0]) or (paths[0] / MARKER).exists() or not paths[0].is_dir():
        return []
    return sorted(path for path in paths[0].iterdir() if (path / MARKER).exists())


def _store_files(names: Sequence[str], no_store: InputError | None) -> Store:
    """Read all files. ``no_store``: the error if there is only a directory, and no result in it."""
    for name in names:
        if not Path(name).exists() or (Path(name) / MARKER).exists():
            raise _build_single_data_error(name, "it is a store" if Path(name).exists() else "it does not exist")
    try:
        plan = ImportPlan(_create_directory() / "store", _EXPERIMENT, None, ())
        with iterate_file_groups(names, recursive=True, store=plan.store) as files:
            _check_number(names, files)
            imported = import_all(plan, files)
    except SystemFaultError as error:
        raise _name_cure(error) from error
    failure = imported.build_error()
    if isinstance(failure, SystemFaultError):
        raise failure
    if no_store is None and (failed := imported.failed):
        raise _build_single_data_error(failed[0].file, failed[0].reason)
    if no_store is not None and not imported.n_runs:
        raise no_store
    get_front_end().note(_describe_files(imported))
    for sentence in imported.paths.factor_sentences:
        get_front_end().remark(sentence)
    for sentence in imported.paths.repetition_sentences:
        get_front_end().note(sentence)
    return Store.open(plan.store)


def _create_directory() -> Path:
    return _until_exit.enter_context(locked_scratch_directory("iosonde-data-"))


def _name_cure(error: SystemFaultError) -> SystemFaultError:
    return error.with_words(error.message, "set TMPDIR to a directory with more space")


def _build_single_data_error(name: str, reason: str) -> DataError:
    return DataError(
        "not-tool-output",
        "{name}: {reason}",
        "leave it out: several DATA are outputs of tools, a store or a table stands alone",
        name=name,
        reason=reason,
    )


def _check_number(names: Sequence[str], files: Sequence[CandidateFile]) -> None:
    if len(files) > MOST_FILES:
        raise InputError(
            "too-many-files",
            "{n_files} files are too many to be read for one answer",
            "'iosonde import -r {name} --store DIR' reads them once",
            n_files=len(files),
            name=names[0],
        )


def _describe_files(imported: Imported) -> str:
    n_others = len(imported.failed) + len(imported.quoted)
    return Message(
        "files-read",
        "{runs} of {tools} in {files}" + ("; no results in {n_others} of them" if n_others else ""),
        runs=format_count(imported.n_runs, "run"),
        tools=", ".join(counts.format for counts in imported.by_format),
        files=format_count(len(imported.outcomes), "file"),
        n_others=n_others,
    )
