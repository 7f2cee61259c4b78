"""S136: impossible number of operations in flight

What it says
    Rate × mean latency, the mean number of operations in flight, is above what
    the settings of the tool allow, such as jobs × depth. Or it is about 1000
    times below what they keep in flight: then the latency is most probably in
    another unit (µs printed as ns). The number that is not believed is kept,
    but is no headline.

How we know
    Little's law (Operations Research 9(3), 1961) holds for any arrival, order
    and distribution. 50 % are allowed for rounding and for operations that
    began before the clock. Jobs are those of the settings, or more if the
    tool's times show that it merged several (group_reporting).

    Too few are noted only if each operation was followed by the next at once:
    rados bench, ioping, sysbench without a requested rate, and fio if none of
    its printed options limits the rate, pauses, synchronises or verifies; if
    the run took 1 s and each place in the queue was used 10 times; and if 1000
    or 1024 times the latency would keep 20 to 110 % in flight. Whatever the
    settings, fio's engines that make system calls need 50 ns, also where
    kbench runs fio.

    The rate is believed if an amount ÷ time agrees with it. fio, elbencho,
    warp, rados bench, sysbench and ioping print the settings for this.

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
    """Report one finding for each operation with an impossible number in flight."""
    return report_contradictions(
        subject, "S136", Severity.WARNING, "look at the unit of the latency, and at jobs and depth in the output"
    )
