"""S142: writes may have ended in memory

What it says
    fio wrote through the page cache and never flushed it, so that many of its
    writes did not reach a device while the clock ran. The rate is that of
    memory, or of a mix.

How we know
    fio's printed options (JSON, command line or job file) have none of
    direct, sync, fsync, fdatasync, sync_file_range, end_fsync,
    fsync_on_close, and its files were written at least twice: data that is
    overwritten in memory is never written to a device. Files above 512 GiB
    are left out. Or a write took less than 3 µs on average, and no printed
    option flushes: the fastest devices need about 8 µs.

When it is wrong
    When writing into memory is what you want to measure. When the file system
    writes through (a mount with sync), or limits its unwritten data to
    little. When the files are on persistent memory without a page cache
    (DAX).

What to do
    Use direct=1, or end_fsync=1 and files larger than memory, with fsync
    inside the clock.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each operation whose writes may have ended in memory."""
    return report_contradictions(
        subject, "S142", Severity.WARNING, "use direct=1, or end_fsync=1 and more data than memory holds"
    )
