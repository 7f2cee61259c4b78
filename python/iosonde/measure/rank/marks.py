"""Begin and end of phases and steps, reported by rank 0 to the process that inflicts the trial's faults.

A line of a file, before the clock runs and after it has stopped; nothing if no faults are planned.
"""

import time

from iosonde.core import faults
from iosonde.measure.assignment import Assignment
from iosonde.ranks import mpi


def note(assignment: Assignment, ranks: mpi.Ranks, what: str, phase: int, operation: str) -> None:
    """Note that a phase or step has BEGUN or ENDED."""
    if assignment.marks and ranks.rank == 0:
        faults.note(assignment.marks, faults.PhaseMark(what, phase, operation, time.monotonic_ns()))
