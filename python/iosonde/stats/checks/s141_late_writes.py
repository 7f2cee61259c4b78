"""S141: written after the clock stopped

What it says
    Disks wrote data of a run after the run had ended: a part of it lay in the
    memory of clients or servers when the clock stopped. The rate is that of
    the memory for this part, and the file system cannot keep it up.

How we know
    From a log of iostat or sar that was imported beside the run: bytes that
    the disks wrote in the 35 s after its end, less what they wrote before the
    run in as long a time and what they write in 1 s of the run (clocks print
    whole seconds), as a share of these and of the bytes written during the
    run. Reported from 5 % and 16 MiB on.

When it is wrong
    If something else wrote in that time: see S140. Data in the memory of a
    RAID controller or of a disk is not seen.

What to do
    End the clock with fsync (IOR -e, fio end_fsync=1), or write more than the
    memory of clients and servers together holds.
"""

from collections.abc import Iterator

from iosonde.core.device_loads import CLOCK_S, DeviceLoad
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_percent, format_size

from . import MAX_LISTED, Subject
from .runs import list_disk_loads

NEEDS_RUNS = True
SHARE = 0.05
LEAST_BYTES = 16 << 20


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding about the run with the largest share, with all others in the evidence."""
    by_run = group_by_key((run.id, load) for run, load in list_disk_loads(subject.runs))
    late = {run: _count_late_bytes(loads) for run, loads in by_run.items()}
    shares = {
        run: n_bytes / (n_bytes + sum(load.count_bytes_written("during") for load in by_run[run]))
        for run, n_bytes in late.items()
        if n_bytes >= LEAST_BYTES
    }
    shares = {run: share for run, share in shares.items() if share >= SHARE}
    if not shares:
        return
    worst = max(shares, key=lambda run: shares[run])
    yield Finding(
        "S141",
        Severity.WARNING,
        Message(
            "late-writes",
            "{share} of the data that disks wrote for run {run} came after its end ({size}): its rate is partly that "
            "of memory ({n} of {n_runs} runs)",
            share=format_percent(shares[worst]),
            run=worst,
            size=format_size(late[worst]),
            n=len(shares),
            n_runs=len(by_run),
        ),
        {"share": shares[worst], "bytes": late[worst], "runs": list(shares)[:MAX_LISTED]},
        "end the clock with fsync, or write more than the memory of clients and servers holds",
    )


def _count_late_bytes(loads: list[DeviceLoad]) -> float:
    """Return the bytes written after a run, less those of as long a time before it, and of the second in which the run
    may really have ended."""
    after = sum(load.count_bytes_written("flush") for load in loads)
    usual = sum(load.before.get("write_bandwidth", 0.0) * load.seconds.get("flush", 0.0) for load in loads)
    own = sum(load.during.get("write_bandwidth", 0.0) * CLOCK_S for load in loads if load.seconds.get("flush"))
    return max(0.0, after - usual - own)
