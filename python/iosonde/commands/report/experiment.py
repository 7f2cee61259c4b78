"""The experiment of a store that a page describes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.stored import StoredRun
from iosonde.data import experiments
from iosonde.data.source import Source, open_data
from iosonde.store import Store

Opener = Callable[[Any, Sequence[str], str | None], Source]


@dataclass(frozen=True)
class Chosen:
    """The chosen experiment: its id, None if the store holds one. ``seed``: of its order; ``note``: names the
    others."""

    experiment: str | None
    seed: int | None
    note: str


def open_chosen(
    data: str | Store, experiment: str | None, where: Sequence[str] = (), opened: Opener = open_data
) -> tuple[Source, Chosen]:
    """Open the named experiment, or the newest, with ``opened``. Raises InputError for DATA that is not a store."""
    store = data if isinstance(data, Store) else Store.open(data)
    chosen = choose_experiment(store, experiment)
    # With ``all``, the page shows every experiment.
    return opened(store, where, chosen.experiment or (experiments.ALL if experiment else None)), chosen


def choose_experiment(store: Store, experiment: str | None) -> Chosen:
    """Choose the named experiment, or the last. Raises InputError for an unknown id."""
    runs = [StoredRun(document) for document in store.runs()]
    ids, saved = experiments.list_measured_experiments(runs), {record.id: record for record in store.experiments()}
    selected = experiments.resolve_single_experiment(store, experiment)
    note = (
        f"Of {experiments.build_choice_note(ids, selected)[3:]}."
        if experiment is None and selected and len(ids) > 1
        else ""
    )
    experiment = selected
    seeds = [
        saved[experiment_id].seed
        for experiment_id in (ids if experiment is None else [experiment])
        if experiment_id in saved
    ]
    return Chosen(experiment, seeds[-1] if seeds else None, note)
