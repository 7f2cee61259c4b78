"""Experiments of a store that are old enough to remove, and those that stay, with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.commands.watch.answer import watch
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredRun
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store, prune

TAG = "beside-a-change"
CHANGE, MARKED, UNDATED = "beside a change", "tagged or noted", "without a date"


@dataclass(frozen=True)
class PrunedExperiment:
    """An experiment to remove, or the reason ``why`` it stays. ``size``: bytes."""

    id: str
    runs: tuple[str, ...]
    last: str
    size: int
    why: str = ""


@dataclass(frozen=True)
class StorePruning(Answer):
    """``removed`` tells whether it was done; ``of`` is the number of experiments."""

    name: str
    experiments: tuple[PrunedExperiment, ...]
    of: int
    removed: bool

    @property
    def going(self) -> list[PrunedExperiment]:
        """Return the experiments to remove, oldest first."""
        return [experiment for experiment in self.experiments if not experiment.why]

    @property
    def staying(self) -> list[PrunedExperiment]:
        """Return the old experiments that stay."""
        return [experiment for experiment in self.experiments if experiment.why]

    @property
    def n_runs(self) -> int:
        """Count the runs to remove."""
        return sum(len(experiment.runs) for experiment in self.going)

    @property
    def n_bytes(self) -> int:
        """Count their bytes."""
        return sum(experiment.size for experiment in self.going)

    def content(self) -> dict[str, Any]:
        """As ``iosonde store prune --json``."""
        return {
            "removed": self.removed,
            "experiments_there": self.of,
            "runs": self.n_runs,
            "bytes": self.n_bytes,
            "going": [_experiment_to_json(experiment) for experiment in self.going],
            "staying": [{**_experiment_to_json(experiment), "why": experiment.why} for experiment in self.staying],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per experiment."""
        return [{**_experiment_to_json(experiment), "why": experiment.why} for experiment in self.experiments]


def _experiment_to_json(experiment: PrunedExperiment) -> dict[str, Any]:
    return {
        "experiment": experiment.id,
        "runs": len(experiment.runs),
        "last_run": experiment.last,
        "bytes": experiment.size,
    }


def prune_store(name: str, keep_last: int | None, older_than_s: float | None, remove: bool = False) -> StorePruning:
    """Select experiments to remove, and with ``remove`` delete them. The newest ``keep_last`` stay, and those whose
    last run is not older than ``older_than_s``. Experiments with tags or notes stay, and those next to a change that
    ``watch`` finds with its defaults. The latter are tagged before the others are removed. Raises InputError,
    DataError; SystemFaultError if the disk fails."""
    if keep_last is None and older_than_s is None:
        raise InputError(
            "missing-option", "no limit of age is given", "give {spell.keep_last:N}, {spell.older_than:400d}, or both"
        )
    store = Store.open(name)
    if remove:
        prune.finish_removals(store)
    runs: dict[str, list[StoredRun]] = {}
    for run in map(StoredRun, store.runs()):
        runs.setdefault(run.experiment, []).append(run)
    last = {key: max(run.started_at for run in some) for key, some in runs.items()}
    old = sorted(runs, key=lambda key: (last[key], key))
    old = old[: max(0, len(old) - (keep_last or 0))]
    if older_than_s is not None:
        until = datetime.fromtimestamp(datetime.now(UTC).timestamp() - older_than_s, UTC).isoformat()
        old = [key for key in old if last[key] < until]
    needed = _find_change_neighbours(name) if old else frozenset()
    experiments = tuple(_build_experiment(store, key, runs[key], last[key], needed) for key in old)
    pruning = StorePruning(name, experiments, len(runs), remove)
    if remove:
        for staying in pruning.staying:
            if staying.why == CHANGE:  # without the others the change could not be found again
                store.notes.change(staying.runs[0], add=[TAG])
        for going in pruning.going:
            prune.remove_experiment(store, going.id, list(going.runs))
    return pruning


def _build_experiment(
    store: Store, key: str, runs: Sequence[StoredRun], last: str, needed: frozenset[str]
) -> PrunedExperiment:
    ids = tuple(run.id for run in runs)
    marked = any(any(store.notes.read_notes(run).values()) for run in ids)
    why = MARKED if marked else CHANGE if key in needed else "" if last else UNDATED
    return PrunedExperiment(key, ids, last, sum(prune.compute_run_size(store, run) for run in ids), why)


def _find_change_neighbours(name: str) -> frozenset[str]:
    """Return the experiments next to a change, on either side as many as the minimum segment."""
    try:
        watch_answer = watch(open_data(name), ResponseQuery())
    except DataError:  # nothing measured
        return frozenset()
    neighbours = set[str]()
    for change in watch_answer.changes:
        places: Mapping[str, int] = {run.id: place for place, run in enumerate(change.series.runs)}
        first, width = places[change.first_after.id], watch_answer.search.least
        neighbours |= {run.experiment for run in change.series.runs[max(0, first - width) : first + width]}
    return frozenset(neighbours)
