"""Which experiment of a store a page is about."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.core.hardware import SOURCE
from iosonde.store import Store


@dataclass(frozen=True)
class Chosen:
    """``experiment``: its id, None where the store holds one. ``seed`` of its order; ``note``: what else there is."""

    experiment: str | None
    seed: int | None
    note: str


def choose(path: str, experiment: str | None) -> Chosen:
    """The experiment asked for, or the newest. Raises InputError for DATA that is no store, and for an unknown id."""
    store = Store.open(path)
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
