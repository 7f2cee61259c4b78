"""Content of a store: its experiments and runs, one run in detail, and exports to other tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from iosonde.answers.answer import Answer, level_columns
from iosonde.core.errors import InputError
from iosonde.core.schema import RESULT_COLUMNS, ROW_COLUMNS
from iosonde.core.stored import StoredRun
from iosonde.core.types import Experiment, Finding, Run
from iosonde.core.where import Condition, parse_where
from iosonde.data import experiments, stored
from iosonde.store import Store
from iosonde.store.export import export as write_batches
from iosonde.store.export import operations_of

_OF_RUN = ("id", "experiment", "source", "started_at", "seconds", "complete", "missing", "factors", "operations")


@dataclass(frozen=True)
class ChosenRuns:
    """Runs of a store: of one ``experiment``, those that fulfil ``where``, or the one ``run``."""

    store: Store
    run: str | None = None
    experiment: str | None = None
    where: tuple[str, ...] = ()

    @property
    def conditions(self) -> list[Condition]:
        """Return the conditions, including the run. Raises InputError, DataError for a missing run."""
        conditions = parse_where(self.where)
        return conditions if self.run is None else [*conditions, *parse_where([f"run={self.store.run(self.run).id}"])]

    @property
    def runs(self) -> list[StoredRun]:
        """Return the runs, oldest first."""
        return [StoredRun(document) for document in self.store.runs(experiment=self.experiment, where=self.conditions)]

    @cached_property
    def problems(self) -> list[Finding]:
        """Return the problems of the store that are found without reading every file."""
        return list(self.store.problems(contents=False))


def choose(store: str, run: str | None = None, experiment: str | None = None, where: Sequence[str] = ()) -> ChosenRuns:
    """Open the store. Raises InputError, DataError."""
    opened = Store.open(store)
    return ChosenRuns(opened, run, experiments.resolve_experiment(opened, experiment), tuple(where))


@dataclass(frozen=True)
class Listing(Answer):
    """A store at a glance. ``tags``: run → its tags, ``units``: factor → the unit of its levels."""

    path: Path
    experiments: tuple[Experiment, ...]
    runs: tuple[StoredRun, ...]
    tags: Mapping[str, list[str]]
    problems: tuple[Finding, ...]
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_incomplete(self) -> int:
        """Count the incomplete runs."""
        return sum(not run.complete for run in self.runs)

    def content(self) -> dict[str, Any]:
        """As ``iosonde show STORE --json``."""
        return {
            "store": str(self.path),
            "experiments": [
                {
                    "id": experiment.id,
                    "name": experiment.name,
                    "created_at": experiment.created_at,
                    "seed": experiment.seed,
                }
                for experiment in self.experiments
            ],
            "runs": [{**{key: run.document[key] for key in _OF_RUN}, "tags": self.tags[run.id]} for run in self.runs],
            "problems": [problem.to_json() for problem in self.problems],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per run, with its factors."""
        keys = (key for key in _OF_RUN if key not in ("missing", "factors"))
        chosen = list(keys)
        return [
            {**{key: run.document[key] for key in chosen}, **level_columns(run.factors, chosen)} for run in self.runs
        ]


@dataclass(frozen=True)
class Detail(Answer):
    """A run: ``document`` is its run.json, ``notes`` its tags and notes."""

    schema: ClassVar[int] = 2  # 2: `repetition` of a result became `iteration`
    run: Run
    document: Mapping[str, Any]
    notes: Mapping[str, list[Any]]
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def stored(self) -> StoredRun:
        """Return the document as a type."""
        return StoredRun(self.document)

    def content(self) -> dict[str, Any]:
        """As ``iosonde show STORE RUN --json``."""
        return {"run": self.document, "results": self.records(), **self.notes}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per result."""
        return [
            {column: getattr(row, name) for name, column in zip(RESULT_COLUMNS, ROW_COLUMNS, strict=True)}
            for row in self.run.observations
        ]


def listing(chosen: ChosenRuns) -> Listing:
    """List every experiment with its runs. Raises InputError, DataError."""
    store, runs = chosen.store, chosen.runs
    experiments = tuple(experiment for experiment in store.experiments() if chosen.experiment in (None, experiment.id))
    tags = {run.id: store.notes.tags(run.id) for run in runs}
    return Listing(
        store.path, experiments, tuple(runs), tags, tuple(chosen.problems), stored.units_of_factors(experiments, runs)
    )


def detail(chosen: ChosenRuns) -> Detail:
    """Return all details of the chosen run. Raises InputError, DataError."""
    if chosen.run is None:
        raise InputError(
            "missing-argument", "no run is named", "'iosonde show {path}' lists the runs", path=chosen.store.path
        )
    store, run = chosen.store, chosen.run
    document = store.document(run)
    units = stored.units_of_factors(store.experiments(), [StoredRun(document)])
    return Detail(store.run(run), document, store.notes.read_notes(run), units)


def export(chosen: ChosenRuns, form: str, file: BinaryIO, operations: bool = False, incomplete: bool = False) -> None:
    """Write results, or every recorded operation, as csv, json or parquet; incomplete runs only if requested."""
    write_batches(_iterate_batches(chosen, operations, incomplete), form, file)


def _iterate_batches(chosen: ChosenRuns, operations: bool, incomplete: bool) -> Iterator[Any]:
    if operations:
        return operations_of(chosen.store, [run.id for run in chosen.runs if incomplete or run.complete])
    results = chosen.store.results(experiment=chosen.experiment, where=chosen.conditions, include_incomplete=incomplete)
    return iter([results])
