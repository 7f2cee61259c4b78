"""S103: drift over the trials

What it says
    The trials of a cell rise or fall in the order of measurement. Possible
    causes: a file system that fills or fragments, a cache or a garbage
    collector that becomes active, other users of the system.

How we know
    Mann-Kendall's test within each cell, summed over the cells of an operation
    (seasonal Kendall; Hirsch, Slack & Smith 1982), exact for few trials. It is
    reported at a false alarm rate of one in a hundred tables. The change is
    Theil and Sen's slope times the number of trials, relative to the mean. For
    a plain table the order is that of its rows.

When it is wrong
    When the rows of a table were sorted by their values before. With fewer
    than 6 trials in all a drift cannot be detected.

What to do
    Find the cause and wait for a steady state, or discard a warm-up on purpose
    and report it. Trials in random order within blocks (the default of iosonde
    run) keep a drift from looking like an effect of a factor. The interval
    still does not cover tomorrow's value.
"""

from collections.abc import Iterator

from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity

from ..estimate.trend import estimate_trend
from . import FAMILY_ALPHA, MAX_LISTED, Subject


def check(subject: Subject) -> Iterator[Finding]:
    """Report a common trend of the cells of one operation and metric."""
    by_kind = subject.finest_families
    reported: set[tuple[str, int, float]] = set()
    for (operation, metric), cells in by_kind.items():
        drift = estimate_trend([cell.values for cell in cells])
        if drift is None or drift.p >= FAMILY_ALPHA / len(by_kind):
            continue
        # The rate and the bandwidth of operations of one size drift alike: report them once.
        same = (operation, drift.s, round(drift.relative_change, 6))
        if operation and same in reported:
            continue
        reported.add(same)
        yield Finding(
            "S103",
            Severity.WARNING,
            Message(
                "drift",
                "{metric} {direction} by {percent:.3g} % of its mean from the first to the last {unit} (p={p:.2g})",
                metric=subject.name(operation, metric),
                direction="rises" if drift.s > 0 else "falls",
                percent=100 * abs(drift.relative_change),
                unit="iteration of one run" if all(cell.within_run for cell in cells) else "trial",
                p=drift.p,
            ),
            {
                "operation": operation,
                "metric": metric,
                "relative_change": drift.relative_change,
                "tau": drift.tau,
                "p": drift.p,
                "n": drift.n,
                "cells": list(dict.fromkeys(cell.name for cell in cells))[:MAX_LISTED],
            },
            "find what changes over time, or measure after it has settled",
        )
