"""Slow operations of the last trial, and their causes: the most costly classes, as in ``diagnose``; what counters point
to where no operations were recorded."""

from iosonde.core.errors import DataError
from iosonde.core.io_counters import IO_COUNTERS
from iosonde.data.source import Source

from .answer import OperationCauses, diagnose_run
from .counters import diagnose_all
from .trials import is_large

_MOST = 3  # operations that took most time


def build_part(source: Source, level: float) -> OperationCauses | None:
    """Diagnose the last complete trial with recorded operations; of runs without any their counters. None without both,
    if it has more operations than should be in memory, or if all are of one class."""
    if not any(run.n_operations for run in source.runs):
        return diagnose_all(source, level, (), (), "") if any(IO_COUNTERS in run.facts for run in source.runs) else None
    runs = [run for run in source.runs if run.counts and run.n_operations][-1:]
    if not runs or is_large(runs[0]):
        return None
    try:
        causes = diagnose_run(source, runs[0], level, _MOST)
    except DataError:  # too few for a density
        return None
    return causes if any(len(group.classes) > 1 for group in causes.groups) else None
