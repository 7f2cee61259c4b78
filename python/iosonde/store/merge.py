"""Merge runs and experiments of several stores into one. All of them are checked before any is copied."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Experiment, Finding

from . import rundir
from .added_factors import AddedDocument
from .added_loads import LoadsDocument
from .decisions import DIRECTORY, copy_decisions
from .experiment_digest import SHA256, TRIALS
from .files import Disk, open_new_file, write_new
from .rundir import list_run_directories
from .store import Store

_BLOCK_BYTES = 1 << 20
# Fields that differ if two stores stored the same trial, besides its own hash.
_OF_STORING = ("self_sha256", "stored_at", "versions", "schema_version", SHA256, TRIALS)


@dataclass(frozen=True)
class Merged:
    """Numbers of runs and experiments added, number of runs already present, and damaged parts left out."""

    runs: int
    runs_there: int
    experiments: int
    problems: list[Finding]


def merge(target: Store, sources: Sequence[Store]) -> Merged:
    """Copy runs and experiments missing in ``target`` from ``sources``; tags, notes,
    added factors and loads are merged.

    The same id with the same content is skipped. Raises InputError, before anything is copied, if two stores have
    different runs or experiments under one id.
    """
    runs: dict[str, tuple[Path, dict[str, Any]]] = {}
    experiments: dict[str, Experiment] = {}
    problems: list[Finding] = []
    there = 0
    for source in sources:
        findings = source.problems()
        problems += findings
        damaged = {problem.evidence["path"] for problem in findings}
        for directory in list_run_directories(source.path):
            if f"runs/{directory.name}" not in damaged:
                there += _add_run(target, runs, directory)
        for experiment in source.experiments():
            _add_experiment(target, experiments, experiment, source)
    for experiment in experiments.values():
        target.save_experiment(experiment)
    for run_id, (directory, document) in runs.items():
        target.add_run(run_id, partial(copy_run, target.disk, directory, document))
    present = set(target.run_ids())
    for source in sources:
        for run_id in present.intersection(source.run_ids()):
            target.notes.add(run_id, source.notes.read_notes(run_id))
        with contextlib.suppress(DataError):  # damaged ones are among the problems
            _merge_added_factors(target, source.added_factors.read(), present)
        with contextlib.suppress(DataError):
            _merge_added_loads(target, source.added_loads.read(), present)
        copy_decisions(source.path / DIRECTORY, target.path / DIRECTORY)
    return Merged(len(runs), there, len(experiments), problems)


def _merge_added_factors(target: Store, added: AddedDocument, run_ids: set[str]) -> None:
    if added.factors or added.dropped:
        target.added_factors.change(lambda own: own.merged(added, run_ids))


def _merge_added_loads(target: Store, added: LoadsDocument, run_ids: set[str]) -> None:
    if added.by_run:
        target.added_loads.change(lambda own: own.merged(added.by_run, run_ids))


def _add_run(target: Store, runs: dict[str, tuple[Path, dict[str, Any]]], directory: Path) -> bool:
    """Add a run to those to be copied; return whether it is already present."""
    document = rundir.read_document(directory)
    theirs = target.path / "runs" / directory.name
    if directory.name in runs:
        other, existing = runs[directory.name]
    elif theirs.exists():
        other, existing = theirs, rundir.read_document(theirs)
    else:
        runs[directory.name] = (directory, document)
        return False
    if _strip_storage_fields(existing) != _strip_storage_fields(document):
        raise InputError(
            "conflicting-copies",
            "run {run_id} differs between {store} and {other_store}",
            "one of them was changed; merge the stores without it",
            run_id=directory.name,
            store=other.parents[1],
            other_store=directory.parents[1],
        )
    return True


def _add_experiment(target: Store, chosen: dict[str, Experiment], experiment: Experiment, source: Store) -> None:
    try:
        existing = chosen.get(experiment.id) or target.experiment(experiment.id)
    except InputError:
        chosen[experiment.id] = experiment
        return
    if existing != experiment:
        raise InputError(
            "conflicting-copies",
            "experiment {experiment_id} of {path} differs from the existing one",
            "give one of them another id",
            experiment_id=experiment.id,
            path=source.path,
        )


def _strip_storage_fields(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in _OF_STORING}


def copy_run(disk: Disk, directory: Path, document: dict[str, Any], to: Path) -> None:
    """Copy every file of a run, byte for byte and flushed, into the existing empty directory ``to``.
    Raises DataError."""
    if any(name.startswith("raw/") for name in document["files"]):
        disk.make_directory(to / "raw")
    for name, expected in document["files"].items():
        with (directory / name).open("rb") as file, open_new_file(disk, to / name) as copy:
            while block := file.read(_BLOCK_BYTES):
                copy.write(block)
            if copy.commit()["sha256"] != expected["sha256"]:
                raise DataError(
                    "changed-during-copy",
                    "run {run_id}: {file} changed during the copy",
                    "merge again",
                    run_id=directory.name,
                    file=name,
                )
    write_new(disk, to / rundir.DOCUMENT, (directory / rundir.DOCUMENT).read_bytes())
