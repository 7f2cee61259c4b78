"""S144: tasks drew what they read

What it says
    IOR ran with -Z. Each task draws by itself whose data it reads. Some data
    is read by several tasks, and all but the first may find it in a cache;
    about a third is not read at all. The rate is not that of reading all
    data.

How we know
    IOR prints "random task offset". Its source draws the offset of each task
    with a seed of its own. Of n tasks' data a share of (1 - 1/n)^n is not
    read on average. With several nodes, a task draws among those of other
    nodes.

When it is wrong
    When no cache is shared by the tasks that read the same data. -Z given
    twice (since IOR 4) shuffles, so that each data is read once: then this is
    silent.

What to do
    Use -C (a constant offset, on several nodes), or -Z twice if your IOR has
    it.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each operation that read what its tasks drew."""
    return report_contradictions(subject, "S144", Severity.WARNING, "use -C on several nodes, or -Z twice (IOR 4)")
