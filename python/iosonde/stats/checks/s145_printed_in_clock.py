"""S145: printed while the clock ran

What it says
    The benchmark printed lines while it measured. Printing takes time, and on
    a cluster all lines go through one process: the rate may be that of the
    output instead of the storage.

How we know
    Between the rows of IOR's table, its tasks printed more than two lines
    each ("[RANK 003] ..."): not only as they opened a file.

When it is wrong
    When the output was small and the run took long.

What to do
    Use -v once at most, and measure again.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each operation in whose clock the tool printed."""
    return report_contradictions(subject, "S145", Severity.WARNING, "measure again without -v, or with one")
