"""Which operations of the last trial were slow, and why: the classes that cost most, as ``diagnose`` says them."""

from __future__ import annotations

from iosonde.answers.diagnose.answer import OperationCauses, diagnose_run
from iosonde.answers.diagnose.trials import is_large
from iosonde.core.errors import DataError
from iosonde.data.source import Source

_MOST = 3  # operations that took most time


def slow_of(source: Source, level: float) -> OperationCauses | None:
    """Of the last whole trial whose operations were recorded; None where there is none, where there are more than
    should be in memory, or where all are of one class."""
    runs = [run for run in source.runs if run.counts and run.n_operations][-1:]
    if not runs or is_large(runs[0]):
        return None
    try:
        causes = diagnose_run(source, runs[0], level, _MOST)
    except DataError:  # fewer than a density is made of
        return None
    return causes if any(len(group.classes) > 1 for group in causes.groups) else None
