"""S143: measured for less than 1 s

What it says
    A benchmark measured an operation for less than 1 s. Such a rate shows how
    it begins: the start of its processes, caches that are empty or full, and
    the steps of the clock. It says little about what the storage sustains.

How we know
    The tool prints the time of the operation. The times of all iterations of
    one setting are added.

When it is wrong
    When single short requests are what matters, and the trials were repeated
    often: then their spread says how exact the mean is.

What to do
    Measure for at least some 10 s: more data, more operations, or a time
    limit (time_based and runtime of fio, IOR's stonewall, time of sysbench).
"""

from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject, format_some_names

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all operations that were measured for less than 1 s."""
    pairs = [(entry, run.id) for run in subject.runs for entry in run.contradictions if entry.code == "S143"]
    by_operation = group_by_key((entry.operation, (entry, run)) for entry, run in pairs)
    if not by_operation:
        return []
    names, n_runs = list(by_operation), len({run for _, run in pairs})
    sentence = Message(
        "short-times",
        "{operations} were measured for less than 1 s: their start, caches and the clock's steps may decide their "
        "rates",
        operations=format_some_names(names),
    )
    return [
        Finding(
            "S143",
            Severity.WARNING,
            Message(
                "short-times-of-runs",
                "{sentence}{more}",
                sentence=pairs[0][0].sentence if len(names) == 1 else sentence,
                more=f" ({n_runs} of {len(subject.runs)} runs)" if len(subject.runs) > 1 else "",
            ),
            {
                "operations": {
                    name: entries[0][0].sentence for name, entries in list(by_operation.items())[:MAX_LISTED]
                },
                "n_runs": n_runs,
            },
            "measure longer: more data or operations, or a time limit",
        )
    ]
