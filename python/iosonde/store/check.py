"""What is wrong in a store, by name: damaged, half-written, newer, not ours.

D101 a run is damaged · D102 something was left half-written · D103 something in the store is not its own ·
D104 a run was written by a newer iosonde · D105 an experiment or a note is damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError, SchemaTooNewError
from iosonde.core.types import Finding, Severity

from . import files, rundir
from .notes import Notes
from .runfile import experiment_from

Reader = Callable[[Path], dict[str, Any]]


def find_problems(store: Path, contents: bool, read: Reader = rundir.read_document) -> list[Finding]:
    """All findings about the store at this path; ``contents`` also reads and hashes every file. ``read`` gives a run's
    run.json, or raises DataError."""
    return [*_runs(store, contents, read), *_experiments(store), *_notes(store)]


def problems_of_runs(runs: Iterable[Path], contents: bool, read: Reader) -> list[Finding]:
    """The findings about these run directories."""
    return [finding for path in runs for finding in _run(path, contents, read)]


def _runs(store: Path, contents: bool, read: Reader) -> Iterator[Finding]:
    for path in _entries(store / "runs"):
        if files.is_temporary(path.name):
            if files.writer_is_dead(path):
                sentence = f"{path.name} was left half-written by a process that ended; it is not a run"
                yield _finding("D102", Severity.INFO, sentence, path, "the next run that is stored removes it")
        elif path.is_symlink() or not any((path / name).exists() for name in (rundir.DOCUMENT, rundir.RESULTS)):
            sentence = f"{path.name} is not a run of this store"
            yield _finding("D103", Severity.WARNING, sentence, path, f"move {path} out of the store")
        else:
            yield from _run(path, contents, read)


def _run(path: Path, contents: bool, read: Reader) -> Iterator[Finding]:
    try:
        document = read(path)
        for name in document["files"] if contents else ():
            rundir.verify_file(path, document, name)
    except SchemaTooNewError as error:
        yield _finding("D104", Severity.WARNING, error.message, path, error.hint)
    except DataError as error:
        yield _finding("D101", Severity.ERROR, error.message, path, error.hint)


def _experiments(store: Path) -> Iterator[Finding]:
    for path in _documents(store / "experiments"):
        try:
            experiment_from(files.read_plain(path), f"experiment {path.stem}")
        except (DataError, OSError) as error:
            action = f"restore {path} from a copy, or remove it"
            why = error.strerror if isinstance(error, OSError) else error
            yield _finding("D105", Severity.WARNING, f"experiment {path.stem} cannot be read: {why}", path, action)


def _notes(store: Path) -> Iterator[Finding]:
    notes = Notes(store / "notes", files.Disk())
    for path in _documents(store / "notes"):
        try:
            notes.of(path.stem)
        except DataError as error:
            yield _finding("D105", Severity.WARNING, error.message, path, error.hint)


def _documents(directory: Path) -> list[Path]:
    """What belongs to the store there; names with a dot in front are being made, or locks."""
    return [path for path in _entries(directory) if path.suffix == ".json" and not path.name.startswith(".")]


def _entries(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except FileNotFoundError:
        return []


def _finding(code: str, severity: Severity, sentence: str, path: Path, action: str) -> Finding:
    return Finding(code, severity, sentence, {"path": f"{path.parent.name}/{path.name}"}, action)
