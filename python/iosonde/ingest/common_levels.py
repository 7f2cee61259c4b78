"""Levels of a factor that the paths of another store's files give: a directory that is the same for all runs of a store
is no factor there, but has a level where another store varies it."""

from collections.abc import Mapping, Sequence

from iosonde.core.stored import StoredRun
from iosonde.core.types import FactorValue
from iosonde.store.added_factors import AddedFactor

from .path_candidates import list_directory_levels, read_level


def read_common_levels(factor: AddedFactor, runs: Sequence[StoredRun]) -> Mapping[str, FactorValue]:
    """Return run → its level of a factor of another store, read from the path of its file. Empty if the factor follows
    no part of paths, or if the level of any run is unknown there."""
    stated = set(factor.levels.values())
    levels = {run.id: _find_level(factor, run, stated) for run in runs}
    return {} if None in levels.values() else {run: level for run, level in levels.items() if level is not None}


def _find_level(factor: AddedFactor, run: StoredRun, stated: set[FactorValue]) -> FactorValue | None:
    """Return the level in the same part of the path, else that of the only directory whose name is a stated one."""
    if not (factor.part and run.import_file):
        return None
    places = run.import_file, run.import_directory
    level = read_level(factor.part, *places)
    if level is not None and factor.rename_level(level) in stated:
        return factor.rename_level(level)
    others = {factor.rename_level(other) for other in list_directory_levels(*places)} & stated
    return others.pop() if len(others) == 1 else None
