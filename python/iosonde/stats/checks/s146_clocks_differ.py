"""S146: clocks of nodes differ

What it says
    The clocks of the nodes differed while IOR ran. Its times of open and
    close and its total are longer by that, and a rate that IOR itself
    computes is lower. The rates of IO500 are not: one node measures them.

How we know
    IOR takes the first begin and the last end of all ranks, each by the clock
    of its node. Its total exceeds the time of the phase as IO500 measures it
    around, and open and close are at least nine tenths of that excess each:
    true times of open and close would share it. Of IOR alone only with
    barriers (-g): then open, access and close exceed the total together by
    twice the offset.

When it is wrong
    When open and close each took as long as the excess by chance. An offset
    below 0.2 % of the time is not seen, nor one without barriers: stages of
    ranks that do not wait for each other add up to more than the total, too.
    Other outputs (mdtest, fio, elbencho) print no times of two nodes, so that
    they cannot tell.

What to do
    Keep the clocks together (chrony, PTP) and measure again, or leave these
    times out. iosonde's own runs measure the offset and correct it.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each phase whose times have an offset of the clocks."""
    return report_contradictions(
        subject, "S146", Severity.WARNING, "keep the clocks together (chrony, PTP), or leave these times out"
    )
