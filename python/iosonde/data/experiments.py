"""Which experiment of a store is meant: one by its id, the last, or all; never several in one cell unasked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.hardware import SOURCE
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table

if TYPE_CHECKING:
    from iosonde.store import Store

LAST, ALL = "last", "all"
_COLUMN = "experiment"


def of_word(store: Store, word: str | None) -> str | None:
    """The id that ``--experiment`` means; None is all of them. Raises InputError for an id that is not there."""
    if word in (None, ALL, LAST) and word not in {one.id for one in store.experiments()}:
        ids = measured([StoredRun(document) for document in store.runs()]) if word == LAST else []
        return ids[-1] if ids else None
    store.check_experiment(word)
    return word


def measured(runs: Sequence[StoredRun]) -> list[str]:
    """The ids, the last one begun last. A probe measures the hardware: it counts where there is nothing else."""
    every = list(dict.fromkeys(run.experiment for run in runs))
    return list(dict.fromkeys(run.experiment for run in runs if run.source != SOURCE)) or every


def mixed(rows: Table, cells: Sequence[str]) -> bool:
    """Whether rows of several experiments would be one cell of one operation and metric."""
    if _COLUMN not in rows.columns or _COLUMN in cells:
        return False
    names = [name for name in dict.fromkeys(("operation", "metric", *cells)) if name in rows.columns]
    return len(rows.groups(names)) < len(rows.groups([*names, _COLUMN]))


def note(ids: Sequence[str], shown: str) -> str:
    """What is said where one of several was taken."""
    which = "the last" if shown == ids[-1] else "this one"
    return f"of {len(ids)} experiments {which}, {shown}: --experiment ID|all"
