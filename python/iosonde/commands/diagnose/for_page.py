"""Slow operations of the last trial, and their causes: the most costly classes, as in ``diagnose``."""

from iosonde.core.errors import DataError
from iosonde.data.source import Source

from .answer import OperationCauses, diagnose_run
from .trials import is_large

_MOST = 3  # operations that took most time


def build_part(source: Source, level: float) -> OperationCauses | None:
    """Diagnose the last complete trial with recorded operations. None without one, if it has more than should be in
    memory, or if all are of one class."""
    runs = [run for run in source.runs if run.counts and run.n_operations][-1:]
    if not runs or is_large(runs[0]):
        return None
    try:
        causes = diagnose_run(source, runs[0], level, _MOST)
    except DataError:  # too few for a density
        return None
    return causes if any(len(group.classes) > 1 for group in causes.groups) else None
