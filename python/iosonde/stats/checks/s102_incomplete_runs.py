"""S102: incomplete runs

What it says
    Some runs are incomplete: a rank died or hung, a tool ended with an error,
    a table ended early, the disk was full. They are kept in the store and
    excluded from every total.

How we know
    Every run records what is missing: each rank's part is written before the
    next barrier, and the parent counts the parts.

When it is wrong
    Never about the fact. But excluding them can bias the result: if runs fail
    because the system is slow or full, the others show only its good days.

What to do
    See what is missing (iosonde show STORE RUN), fix the cause, and run the
    same command again: it measures only the missing runs. If the missing part
    does not matter, {spell.incomplete} includes such runs in every command.
"""

from iosonde.core.message import spell
from iosonde.core.stored import describe_incomplete_treatment
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report runs whose ``missing`` is not empty."""
    incomplete = [run for run in subject.runs if run.missing]
    if not incomplete:
        return []
    first = incomplete[0].missing[0]
    cure = "" if incomplete[0].counts else f"; {spell.incomplete} includes them as they are"
    return [
        Finding(
            "S102",
            Severity.WARNING,
            f"{len(incomplete)} of {len(subject.runs)} runs are incomplete and "
            f"{describe_incomplete_treatment(incomplete)}; "
            f"the first: {first}",
            {
                "runs": {run.id: list(run.missing) for run in incomplete[:MAX_LISTED]},
                "n_runs": len(incomplete),
            },
            f"see what is missing with iosonde show, fix the cause, and run the same command again{cure}",
        )
    ]
