"""Select an experiment of a store: by id or name, the last, or all; never several in one cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.hardware import SOURCE
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.core.together import is_determined
from iosonde.core.types import Experiment

if TYPE_CHECKING:
    from iosonde.store import Store

LAST, ALL = "last", "all"
EXPERIMENT = "experiment"  # the column
_MOST = 28  # characters of a name in a table


def build_titles(experiments: Sequence[Experiment]) -> dict[str, str]:
    """Return id → title: the name (both ends of a long one), with the id if ambiguous. The title of an import is its
    id."""
    names = {
        experiment.id: _shorten_name(experiment.name) if experiment.settings and experiment.name else experiment.id
        for experiment in experiments
    }
    several = Counter(names.values())
    return {key: f"{name} ({key})" if several[name] > 1 else name for key, name in names.items()}


def _shorten_name(name: str) -> str:
    half = _MOST // 2 - 1
    return name if len(name) <= _MOST else f"{name[:half].rstrip()} … {name[-half:].lstrip()}"


def replace_ids_by_titles(rows: Table, called: dict[str, str]) -> Table:
    """Replace the ids of experiments by their ``build_titles``, in their order."""
    column = rows.columns[EXPERIMENT]
    values = np.array([called.get(value, value) for value in column.values], dtype=object)
    return replace(
        rows, columns={**rows.columns, EXPERIMENT: replace(column, values=values, order=(*called.values(),))}
    )


def replace_titles_by_ids(
    conditions: Sequence[tuple[str, str, Any]], called: dict[str, str]
) -> list[tuple[str, str, Any]]:
    """Replace titles in the conditions by ids."""
    ids = {title: key for key, title in called.items()}
    return [(name, op, ids.get(value, value) if name == EXPERIMENT else value) for name, op, value in conditions]


def resolve_experiment(store: Store, word: str | None) -> str | None:
    """Return the id for ``--experiment``; None for all. Raises InputError for an unknown one."""
    called = build_titles(store.experiments())
    if word in (None, ALL, LAST) and word not in called:
        ids = list_measured_experiments([StoredRun(document) for document in store.runs()]) if word == LAST else []
        return ids[-1] if ids else None
    if word not in called:
        ids_by_name = {experiment.name: experiment.id for experiment in store.experiments() if experiment.settings}
        word = (ids_by_name | {title: key for key, title in called.items()}).get(word or "", word)
    store.check_experiment(word)
    return word


def resolve_single_experiment(store: Store, word: str | None) -> str | None:
    """Return the id of the named experiment, else of the last one of several; None for all. Raises InputError for an
    unknown one."""
    has_several = len({StoredRun(document).experiment for document in store.runs()}) > 1  # or a probe and one
    return resolve_experiment(store, LAST if word is None and has_several else word)


def list_measured_experiments(runs: Sequence[StoredRun]) -> list[str]:
    """Return the ids, the last one started at the end. Probes measure the hardware, and count only without
    other runs."""
    measured = [run for run in runs if run.source != SOURCE]
    return list(dict.fromkeys(run.experiment for run in measured or runs))


def has_mixed_cells(rows: Table, cells: Sequence[str]) -> bool:
    """Return whether rows of several experiments would share a cell of one operation and metric. ``cells``: columns, or
    terms over them, such as ``log2(size)``."""
    if EXPERIMENT not in rows.columns or len(set(rows.columns[EXPERIMENT].values)) < 2:
        return False
    words = {word for term in cells for word in (term, *re.findall(r"\w+", term))}
    own = [name for name, column in rows.columns.items() if name in words or column.label in words]
    names = [name for name in dict.fromkeys(("operation", "metric", *own)) if name in rows.columns]
    return EXPERIMENT not in names and not is_determined(rows, EXPERIMENT, names)


def build_choice_note(ids: Sequence[str], chosen: str, why: str = "") -> str:
    """Return the note that one of several experiments was chosen."""
    return Message(
        "one-of-several",
        "of {n_experiments} experiments only {choice}, {experiment}{reason}, is used: {spell.experiment:ID}|all",
        n_experiments=len(ids),
        choice="the last" if chosen == ids[-1] else "this one",
        experiment=chosen,
        reason=why,
    )
