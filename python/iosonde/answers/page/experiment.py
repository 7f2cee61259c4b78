"""Which experiment of a store a page is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.hardware import SOURCE
from iosonde.data.source import Source, open_data
from iosonde.store import Store

Opener = Callable[[Any, Sequence[str], str | None], Source]


@dataclass(frozen=True)
class Chosen:
    """``experiment``: its id, None where the store holds one. ``seed`` of its order; ``note``: what else there is."""

    experiment: str | None
    seed: int | None
    note: str


def open_chosen(
    path: str, experiment: str | None, where: Sequence[str] = (), opened: Opener = open_data
) -> tuple[Source, Chosen]:
    """The experiment asked for, or the newest, opened by ``opened``. Raises InputError for DATA that is no store."""
    store = Store.open(path)
    chosen = choose(store, experiment)
    return opened(store, where, chosen.experiment), chosen


def choose(store: Store, experiment: str | None) -> Chosen:
    """The experiment asked for, or the newest. Raises InputError for an unknown id."""
    store.check_experiment(experiment)
    runs = store.runs()
    # A probe measures the hardware: it is no experiment to report on, unless there is nothing else.
    every = list(dict.fromkeys(run["experiment"] for run in runs))
    ids = list(dict.fromkeys(run["experiment"] for run in runs if run["source"] != SOURCE)) or every
    saved = {one.id: one for one in store.experiments()}
    note = ""
    if experiment is None and len(every) > 1:
        experiment = ids[-1]
        if len(ids) > 1:
            note = f"The store holds {len(ids)} experiments; this is the newest one ({experiment})."
    seeds = [saved[one].seed for one in (ids if experiment is None else [experiment]) if one in saved]
    return Chosen(experiment, seeds[-1] if seeds else None, note)
