"""S114: metrics known per rank only

What it says
    A main metric of the tool, such as a percentile of fio, is known for each
    rank but not for the trial: several copies of the tool ran at the same
    time, and each printed its own.

How we know
    Rates are added up over the ranks, times and latencies averaged.
    Percentiles of several ranks cannot be combined, and their mean is not a
    percentile.

When it is wrong
    Never; with a single rank, its number is the trial's.

What to do
    Compare them rank by rank: iosonde show STORE --export csv writes them with
    a column rank. For one percentile of all, let the tool start its own jobs
    (fio with group_reporting and {spell.on:single}).
"""

from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject, format_some_names

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all such metrics."""
    trials: dict[str, int] = {}
    runs = [run for run in subject.runs if run.counts]
    for run in runs:
        for name in {" ".join(pair) for phase in run.phases for pair in phase.rank_only_metrics}:
            trials[name] = trials.get(name, 0) + 1
    return (
        [
            Finding(
                "S114",
                Severity.INFO,
                Message(
                    "single-ranks",
                    "{metrics} {are} known per rank only in {n} of {n_trials} trials: percentiles of several "
                    "ranks cannot be combined",
                    metrics=format_some_names(sorted(trials)),
                    are="are" if len(trials) > 1 else "is",
                    n=max(trials.values()),
                    n_trials=len(runs),
                ),
                {"trials": dict(sorted(trials.items())[:MAX_LISTED])},
                "iosonde show STORE --export csv writes them with a column rank; or let the tool start its own jobs",
            )
        ]
        if trials
        else []
    )
