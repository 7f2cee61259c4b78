"""S138: rate or time below 0

What it says
    A table has a rate, a time or a latency below 0. No measurement is: such a
    number marks a trial that failed (-1), or is a difference.

How we know
    The column's unit or name is that of a rate or a time, and most of its
    numbers are above 0. What is below 0 is a missing value in all analyses.

When it is wrong
    When the column holds differences. Names with delta, change, gain or offset
    are left as they are.

What to do
    Leave the cell of a failed trial blank, repeat the trial, or call the
    column a difference.
"""

from iosonde.core.contradiction import BELOW_ZERO
from iosonde.core.types import Finding

from . import Subject


def check(subject: Subject) -> list[Finding]:
    """Report one finding for each column of the table in which such numbers were left out."""
    action = "leave the cells of failed trials blank, or repeat these trials"
    return subject.report_warnings(BELOW_ZERO, "S138", action)
