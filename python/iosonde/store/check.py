"""Find the problems of a store: damaged, half-written, newer or unknown parts.

D101 a run is damaged · D102 something was left half-written · D103 an entry does not belong to the store · D104 a run
was written by a newer iosonde · D105 an experiment, a note, factors.json or loads.json is damaged · D107 an
experiment is missing or was changed after a run of it was stored · D108 store.json was changed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError, SchemaTooNewError
from iosonde.core.message import Message
from iosonde.core.temporary_names import is_writer_dead
from iosonde.core.types import Finding, Severity

from . import files, rundir
from .added_factors import AddedFactors
from .added_loads import AddedLoads
from .decisions import DIRECTORY, read_decisions
from .experiment_digest import SHA256, TRIALS, read_run_digest
from .experiments import Experiments
from .marker import is_marker_changed
from .notes import Notes
from .runfile import decode_experiment

Document = dict[str, Any]
Reader = Callable[[Path], Document]


def find_problems(store: Path, contents: bool, read: Reader, experiments: Experiments) -> list[Finding]:
    """Return all findings about the store at this path; ``contents`` also reads and hashes every file. ``read`` returns
    a run's run.json, or raises DataError."""
    runs: list[Document] = []
    findings = [*_check_runs(store, contents, read, runs)]
    return [
        *_check_marker(store),
        *findings,
        *_find_changed_experiments(runs, experiments),
        *_check_experiments(store),
        *_check_notes(store),
        *_check_side_documents(store),
        *_check_decisions(store),
    ]


def find_run_problems(paths: Iterable[Path], contents: bool, read: Reader, experiments: Experiments) -> list[Finding]:
    """Return the findings about these run directories, and about the experiments of their runs."""
    runs: list[Document] = []
    findings = [finding for path in paths for finding in _check_run(path, contents, read, runs)]
    return [*findings, *_find_changed_experiments(runs, experiments)]


def _check_marker(store: Path) -> Iterator[Finding]:
    try:
        changed = is_marker_changed(store)
    except (DataError, OSError, KeyError, TypeError):  # removed or damaged since the store was opened
        changed = True
    if changed:
        yield Finding(
            "D108",
            Severity.ERROR,
            Message("marker-changed", "{file} was changed after the store was created", file=files.MARKER),
            {"path": files.MARKER},
            f"restore {store / files.MARKER} from a copy",
        )


def _check_runs(store: Path, contents: bool, read: Reader, documents: list[Document]) -> Iterator[Finding]:
    for path in _list_entries(store / "runs"):
        if files.is_temporary(path.name):
            if is_writer_dead(path):
                template = "{file} was left half-written by a dead process; it is not a run"
                sentence = Message("half-written", template, file=path.name)
                yield _build_finding(
                    "D102", Severity.INFO, sentence, path, "none: the next command that writes here removes it"
                )
        elif path.is_symlink() or not any((path / name).exists() for name in (rundir.DOCUMENT, rundir.RESULTS)):
            sentence = Message("not-a-run", "{file} is not a run of this store", file=path.name)
            yield _build_finding("D103", Severity.WARNING, sentence, path, f"move {path} out of the store")
        else:
            yield from _check_run(path, contents, read, documents)


def _check_run(path: Path, contents: bool, read: Reader, documents: list[Document]) -> Iterator[Finding]:
    """Yield the findings about one run; without any, append its document to ``documents``."""
    try:
        document = read(path)
        for name in document["files"] if contents else ():
            rundir.verify_file(path, document, name)
        documents.append(document)
    except SchemaTooNewError as error:
        yield _build_finding("D104", Severity.WARNING, error.message, path, error.hint)
    except DataError as error:
        yield _build_finding("D101", Severity.ERROR, error.message, path, error.hint)


def _find_changed_experiments(runs: Sequence[Document], experiments: Experiments) -> Iterator[Finding]:
    """Yield the experiments that differ from the digests in their runs; runs without a digest are skipped."""
    by_experiment: dict[str, list[Document]] = {}
    for run in runs:
        if read_run_digest(run):
            by_experiment.setdefault(run["experiment"], []).append(run)
    for name, dependents in sorted(by_experiment.items()):
        path = experiments.path(name)
        try:
            digests = experiments.digests(name, {run[TRIALS] for run in dependents})
        except FileNotFoundError:
            sentence = Message("missing-file", "experiment {experiment}: file missing", experiment=name)
        except (DataError, OSError):  # reported as damaged
            continue
        else:
            changed = [run["id"] for run in dependents if run[SHA256] != digests[run[TRIALS]]]
            if not changed:
                continue
            template = "experiment {experiment}: changed since run {run_id} was stored"
            sentence = Message("experiment-changed", template, experiment=name, run_id=changed[0])
        yield _build_finding(
            "D107",
            Severity.ERROR,
            sentence,
            path,
            f"restore {path} from a copy; without it the decisions before the measurement are unproven",
        )


def _check_experiments(store: Path) -> Iterator[Finding]:
    for path in _list_documents(store / "experiments"):
        try:
            decode_experiment(files.read_plain(path), path.stem)
        except (DataError, OSError) as error:
            action = f"restore {path} from a copy, or remove it"
            why = error.strerror if isinstance(error, OSError) else error.message
            yield _build_finding(
                "D105",
                Severity.WARNING,
                Message(
                    "damaged-experiment",
                    "experiment {experiment} cannot be read: {reason}",
                    experiment=path.stem,
                    reason=why,
                ),
                path,
                action,
            )


def _check_notes(store: Path) -> Iterator[Finding]:
    notes = Notes(store / "notes", files.Disk())
    for path in _list_documents(store / "notes"):
        try:
            notes.read_notes(path.stem)
        except DataError as error:
            yield _build_finding("D105", Severity.WARNING, error.message, path, error.hint)


def _check_side_documents(store: Path) -> Iterator[Finding]:
    for document in (AddedFactors(store, files.Disk()), AddedLoads(store, files.Disk())):
        try:
            document.read()
        except DataError as error:
            yield Finding("D105", Severity.WARNING, error.message, {"path": document.path.name}, error.hint)


def _check_decisions(store: Path) -> Iterator[Finding]:
    try:
        read_decisions(store / DIRECTORY)
    except DataError as error:
        yield _build_finding("D105", Severity.WARNING, error.message, Path(str(error.values["path"])), error.hint)


def _list_documents(directory: Path) -> list[Path]:
    """List the documents of the store in a directory; names with a leading dot are unfinished files or locks."""
    return [path for path in _list_entries(directory) if path.suffix == ".json" and not path.name.startswith(".")]


def _list_entries(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except FileNotFoundError:
        return []


def _build_finding(code: str, severity: Severity, sentence: str, path: Path, action: str) -> Finding:
    return Finding(code, severity, sentence, {"path": f"{path.parent.name}/{path.name}"}, action)
