"""S142: writes may have ended in memory

What it says
    fio, IOR or dd wrote through the page cache and never flushed it, so that
    many of the writes did not reach a device while the clock ran. The rate is
    that of memory, or of a mix. As information: how much a node wrote so,
    where it is not known if its memory can hold that.

How we know
    fio's printed options (JSON, command line or job file) have none of
    direct, sync, fsync, fdatasync, sync_file_range, end_fsync,
    fsync_on_close, and its files were written at least twice: data that is
    overwritten in memory is never written to a device. Files above 512 GiB
    are left out. Or a write took less than 3 µs on average, and no printed
    option flushes: the fastest devices need about 8 µs.

    IOR's command line has none of -e, -Y and O_DIRECT, dd's none of
    conv=fsync, conv=fdatasync, oflag=direct, sync and dsync, and a write took
    less than 3 µs, or what a node wrote is less than its memory. An output
    does not print the memory: only a run that iosonde measured has it.

When it is wrong
    When writing into memory is what you want to measure. When the file system
    writes through (a mount with sync), or limits its unwritten data to
    little, or flushes when a file is closed, inside the clock (NFS). When the
    files are on persistent memory without a page cache (DAX).

What to do
    fio: direct=1, or end_fsync=1 and files larger than memory, with fsync
    inside the clock. IOR: -e. dd: conv=fsync, or
    oflag=direct.
"""

from collections.abc import Iterator

from iosonde.core.types import Finding, Severity

from . import Subject
from .runs import get_memory, report_contradictions

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for each operation whose writes may have ended in memory, and one for each that fits into a
    memory of unknown size."""
    yield from report_contradictions(
        subject,
        "S142",
        Severity.WARNING,
        "flush inside the clock (fio end_fsync=1, IOR -e, dd conv=fsync), or use O_DIRECT",
        lambda run, entry: entry.memory_bytes < (get_memory(run) or 0) if entry.memory_bytes else True,
    )
    yield from report_contradictions(
        subject,
        "S142",
        Severity.INFO,
        "compare that with the memory of a node; flush inside the clock (IOR -e, dd conv=fsync) to be sure",
        lambda run, entry: bool(entry.memory_bytes) and get_memory(run) is None,
    )
