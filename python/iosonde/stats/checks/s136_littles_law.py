"""S136: more operations in flight than possible

What it says
    Rate × mean latency, the mean number of operations in flight, is above what
    the settings of the tool allow: jobs × depth. So the rate or the latency is
    wrong, often by a unit or because the tool counted parts several times. The
    number that is not believed is kept, but is no headline.

How we know
    Little's law (Operations Research 9(3), 1961) holds for any arrival, order
    and distribution. 50 % are allowed for rounding and for operations that
    began before the clock. Jobs are those of the settings, or more if the
    tool's times show that it merged several (group_reporting). Only fio prints
    the settings for this.

    The rate is believed if bytes ÷ time is the bandwidth.

When it is wrong
    If jobs of other settings were merged and no time shows it.

What to do
    Do not use the number that is not believed. Look at its unit, and at jobs
    and depth in the output.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each operation with more in flight than its settings allow."""
    return report_contradictions(
        subject, "S136", Severity.WARNING, "look at the unit of the latency, and at jobs and depth in the output"
    )
