"""S135: total contradicts its parts

What it says
    Numbers of one output do not fit together: the total of all threads or
    servers is above the sum of their own rates, a mean is outside its minimum
    and maximum, or the bandwidth differs by a factor between units (1000,
    1024, 8) from bytes ÷ time or from rate × transfer size, or the samples of
    a log from the tool's own mean. Or fio's log of averages has at least
    twice, or at most half, the rate in the output. The number that is not
    believed is kept, but is no headline.

How we know
    The whole ends when its last part ends, so its rate is at most the sum of
    the parts' own rates (1 % is allowed for rounding). Bytes and operations,
    and rates that the tool adds up, are equal to the sum (2 %). A unit is
    suspected only if the ratio is within 5 % of such a factor (25 % for
    samples). A log is compared if it has an average of each interval until
    the end. It is of the output that names it, or of the only output of its
    directory, if one thread ran as long.

    The parts are believed rather than the total: fio's total over servers
    once counted each server several times (axboe/fio#752). The bandwidth is
    not believed if bytes, time and rate agree with each other.

When it is wrong
    If parts ran one after another and the total is no rate of the whole. If
    the log was left by another job of the same length.

What to do
    Use the sum of the parts. Look at the unit of the number in the output,
    and at the version of the tool.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each operation whose numbers do not fit together."""
    return report_contradictions(
        subject, "S135", Severity.WARNING, "use the number that is believed; look at the unit and the tool's version"
    )
