"""The runs of several stores in one, for questions about all of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import Finding

from .merge import merge
from .store import Store

_LONGEST_NAME = 60  # of a store, in an id


def join_stores(target: Store, sources: Mapping[str, Store]) -> list[Finding]:
    """Copy the results of stores, by their names, into an empty one; return what was damaged and left out.

    The nights of one experiment have the same ids in stores of their own: these get the name of their store in front.
    Raises InputError, DataError."""
    try:
        return merge(target, list(sources.values())).problems
    except InputError as error:
        if not _has_repeated_ids(list(sources.values())):
            raise error
    return [finding for name, source in sources.items() for finding in _copy_renamed(target, name, source)]


def _has_repeated_ids(sources: Sequence[Store]) -> bool:
    ids = [key for source in sources for key in {*source.run_ids(), *(e.id for e in source.experiments())}]
    return len(set(ids)) < len(ids)


def _copy_renamed(target: Store, name: str, source: Store) -> list[Finding]:
    prefix = re.sub(r"[^A-Za-z0-9._+=@-]", "-", name)[:_LONGEST_NAME].lstrip(".-") or "store"
    problems = source.problems()
    damaged: set[Any] = {problem.evidence["path"] for problem in problems}
    for experiment in source.experiments():
        target.save_experiment(replace(experiment, id=f"{prefix}-{experiment.id}"))
    runs = [source.run(run_id) for run_id in source.run_ids() if f"runs/{run_id}" not in damaged]
    target.append_many(
        [replace(run, id=f"{prefix}-{run.id}", experiment=f"{prefix}-{run.experiment}", raw={}) for run in runs]
    )
    return problems
