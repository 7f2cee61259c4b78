"""S132: measured beside another measurement

What it says
    While these trials were made, another iosonde measured on the same
    machine. Each took CPU time, memory and device from the other, and their
    rates are those of half a machine.

How we know
    A measurement holds a lock of its machine, and so does one that was asked
    to go on all the same (--alongside). Before and after each trial it is
    looked at who else holds one.

When it is wrong
    Where both need little of what they share. One that began and ended
    within a trial is not seen, nor one of another program.

What to do
    Measure again, alone: --wait 2h begins when the other one has ended.
"""

from __future__ import annotations

from iosonde.core.message import spell
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

CODE = "S132"
NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """One finding for all runs that were not alone."""
    runs = [run.id for run in subject.runs if run.concurrent_pids]
    if not runs:
        return []
    return [Finding(
        CODE, Severity.WARNING,
        f"{len(runs)} of {len(subject.runs)} runs were measured beside another measurement on the same machine",
        {"runs": runs[:MAX_LISTED], "n_runs": len(runs)}, f"measure them again, alone: {spell.wait:2h}",
    )]  # fmt: skip
