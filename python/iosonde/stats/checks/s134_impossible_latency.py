"""S134: impossible latencies

What it says
    Latencies that another tool printed cannot be true: longer than the run,
    percentiles above the maximum or below the minimum, a mean outside both, a
    part (completion) longer than the whole, or percentiles that are all the
    last bin of the tool's histogram. They are kept, but are no headlines.

How we know
    No operation lasts longer than the run in which it completed (5 % and 10 ms
    are allowed). Percentiles may differ from the extremes by a bin of the
    histogram: 4 % for fio, 50 % for others. fio's histogram ends at 17.11 s
    (fio 2: 16.71 s): if the mean or the maximum is above, percentiles there
    mean "at least". The digits that were rounded away are allowed for.

    Where the finding says which number it believes: the run's time, if bytes ÷
    time is the bandwidth; extremes, as one operation had them.

When it is wrong
    With ramp_time, an operation may have begun before the run's time did.

What to do
    Do not use these latencies. Use the rates, if the finding believes the
    run's time. Else measure again with another version of the tool, or
    another engine of it (some kernels and engines report wrong times).
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each operation with impossible latencies."""
    return report_contradictions(
        subject, "S134", Severity.WARNING, "do not use these latencies; measure again with another version or engine"
    )
