"""The servers' counters, queried by rank 0 before a phase's clock runs and after it has stopped.

All ranks wait for the answer, so that the servers' work meanwhile belongs to no rank. Nothing if servers do not count.
"""

import subprocess
from contextlib import suppress
from pathlib import Path

from iosonde.core.program_output import run_program
from iosonde.measure import spool
from iosonde.measure.assignment import Assignment
from iosonde.ranks import mpi

_ANSWERS_S = 60.0


def ask(assignment: Assignment, ranks: mpi.Ranks, when: str, phase: int) -> None:
    """Keep the answer in the spool; without an answer there is none. ``when``: core.faults.BEGUN, ENDED."""
    if not assignment.server_counts:
        return
    if ranks.rank == 0:
        with suppress(OSError, subprocess.SubprocessError):
            result = run_program(assignment.server_counts, _ANSWERS_S)
            result.check_returncode()
            spool.server_counts_of(Path(assignment.spool), phase, when).write_text(result.stdout)
    ranks.wait_for_all()
