"""S132: concurrent measurement

What it says
    During these trials another iosonde measured on the same machine. They
    competed for CPU time, memory and device, and their rates are those of half
    a machine.

How we know
    A measurement holds a lock of its machine, including one that was started
    in spite of another ({spell.alongside}). Before and after each trial other
    holders of a lock are recorded.

When it is wrong
    When both need little of what they share. A measurement that began and
    ended within a trial is not detected, nor one of another program.

What to do
    Measure again, alone: {spell.wait:2h} waits until the other one has ended.
"""

from iosonde.core.message import spell
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all runs that were not alone."""
    runs = [run.id for run in subject.runs if run.concurrent_pids]
    return (
        [
            Finding(
                "S132",
                Severity.WARNING,
                f"{len(runs)} of {len(subject.runs)} runs were concurrent with another measurement on the same machine",
                {"runs": runs[:MAX_LISTED], "n_runs": len(runs)},
                f"measure them again, alone: {spell.wait:2h}",
            )
        ]
        if runs
        else []
    )
