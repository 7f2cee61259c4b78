"""Content of a store: its experiments and runs, one run in detail, and exports to other tools."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.core.errors import InputError
from iosonde.core.schema import RESULT_COLUMNS, ROW_COLUMNS
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import Experiment, Finding, Run
from iosonde.core.where import Condition, parse_where
from iosonde.data import experiments, stored
from iosonde.data.source import find_store
from iosonde.data.stored_source import StoredSource, open_campaign
from iosonde.store import Store
from iosonde.store.export import export as write_batches
from iosonde.store.export import iter_operations

from .export_columns import add_export_columns, describe_roles

_OF_RUN = ("id", "experiment", "source", "started_at", "seconds", "complete", "missing", "factors", "operations")
_PIECE = 1 << 20


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
    def source(self) -> StoredSource:
        """The results of these runs. Raises InputError, DataError."""
        return open_campaign(self.store, self.conditions, self.experiment)

    @cached_property
    def problems(self) -> list[Finding]:
        """Return the problems of the store that are found without reading every file."""
        return list(self.store.problems(contents=False))


def open_chosen_runs(
    store: str, run: str | None = None, experiment: str | None = None, where: Sequence[str] = ()
) -> ChosenRuns:
    """Open the store. Raises InputError, DataError."""
    opened = find_store(store) or Store.open(store)
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
        chosen = [key for key in _OF_RUN if key not in ("missing", "factors")]
        return [
            {**{key: run.document[key] for key in chosen}, **build_level_columns(run.factors, chosen)}
            for run in self.runs
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


def list_experiments(chosen: ChosenRuns) -> Listing:
    """List every experiment with its runs. Raises InputError, DataError."""
    store, runs = chosen.store, chosen.runs
    experiments = tuple(experiment for experiment in store.experiments() if chosen.experiment in (None, experiment.id))
    tags = {run.id: store.notes.tags(run.id) for run in runs}
    return Listing(
        store.path, experiments, tuple(runs), tags, tuple(chosen.problems), stored.map_factor_units(experiments, runs)
    )


def collect_run_details(chosen: ChosenRuns) -> Detail:
    """Return all details of the chosen run. Raises InputError, DataError."""
    if chosen.run is None:
        raise InputError(
            "missing-argument", "no run is named", "'iosonde show {path}' lists the runs", path=chosen.store.path
        )
    store, run = chosen.store, chosen.run
    document = store.document(run)
    units = stored.map_factor_units(store.experiments(), [StoredRun(document)])
    return Detail(store.run(run), document, store.notes.read_notes(run), units)


def export(chosen: ChosenRuns, form: str, file: BinaryIO, operations: bool = False, incomplete: bool = False) -> None:
    """Write results, or every recorded operation, as csv, json or parquet; incomplete runs only if requested."""
    store = chosen.store
    if operations:
        runs = [run.id for run in chosen.runs if incomplete or run.complete]
        write_batches(iter_operations(store, runs), form, file)
        return
    results = store.results(experiment=chosen.experiment, where=chosen.conditions, include_incomplete=incomplete)
    results = add_export_columns(results, chosen.source, list(map(StoredRun, store.runs(experiment=chosen.experiment))))
    rows = results.replace_schema_metadata(describe_roles(chosen.source)) if form == "parquet" else results
    write_batches(iter([rows]), form, file)


@dataclass(frozen=True)
class Printed:
    """An output: ``head`` names the step, rank and node, and how it ended."""

    head: str
    content: bytes | Path

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    @property
    def text(self) -> str:
        """Return the output as text; undecodable bytes become a replacement character."""
        return b"".join(self.pieces()).decode(errors="replace")

    def pieces(self) -> Iterator[bytes]:
        """Yield the original bytes, at most 1 MiB at a time."""
        if isinstance(self.content, bytes):
            yield self.content
            return
        with self.content.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def read_outputs(chosen: ChosenRuns, ranks: Sequence[int] = ()) -> list[Printed]:
    """Return the outputs of the chosen run, in the order of its steps; of ``ranks`` only. Raises InputError if there is
    none."""
    if chosen.run is None:
        raise InputError(
            "missing-option",
            "{spell.printed} needs a run, and {spell.rank} needs {spell.printed}",
            "'iosonde show {path}' lists the runs",
            path=chosen.store.path,
        )
    run = chosen.store.run(chosen.run)
    heads = {name: (head, rank) for name, head, rank in _describe_outputs([StoredPhase(phase) for phase in run.phases])}
    names = [name for name in run.raw if not ranks or heads.get(name, ("", None))[1] in ranks]
    if not names:
        which = f"rank {', '.join(map(str, ranks))} of run {run.id}" if ranks else f"run {run.id}"
        raise InputError(
            "no-output",
            "{source} has no stored output",
            "'iosonde show {path} {id}' shows it",
            source=which,
            path=chosen.store.path,
            id=run.id,
        )
    names.sort(key=lambda output: list(heads).index(output) if output in heads else len(heads))
    return [Printed(heads.get(name, (name, None))[0], run.raw[name]) for name in names]


def _describe_outputs(phases: Sequence[StoredPhase]) -> Iterator[tuple[str, str, int]]:
    """Yield (file, its head, rank) of every output, in the order of the steps."""
    for phase in phases:
        for rank in phase.ranks if phase.is_command else ():
            if rank.get("output"):
                ends = (
                    f"exit {rank['exit_code']}" if rank["signal"] is None else f"signal {rank['signal']}",
                    rank["ended_by"],
                    f"{rank['left']} left behind and ended" if rank["left"] else "",
                    f"{rank['cut_bytes']:,} bytes of output cut" if rank.get("cut_bytes") else "",
                )
                head = f"{phase.name} rank {rank['rank']} on {rank['host']}: {', '.join(filter(None, ends))}"
                yield rank["output"], head, rank["rank"]
