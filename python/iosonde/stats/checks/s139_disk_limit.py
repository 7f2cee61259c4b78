"""S139: disks at their limit

What it says
    A disk was busy all the time of a run: there was no moment without a
    request in it. If it serves one request at a time, it is what limits the
    run, and a faster client or network would change nothing.

How we know
    From a log of iostat or sar that was imported beside the run, the samples
    within its start and end. Reported from 95 % of the time on. Partitions,
    and devices made of others (dm, md), are left out.

When it is wrong
    SSDs, RAID controllers and virtual disks serve many requests at once: they
    can be busy all the time and still have room. Then the latency decides: it
    rises with the number of requests in flight if the device is at its limit.
    Busy disks of one server while others are idle point to the placement of
    files.

What to do
    Compare the latency with that of a run with fewer ranks. If one disk of
    many is busy, use more stripes or another placement; else more or faster
    disks.
"""

from collections.abc import Iterator

from iosonde.core.device_loads import DeviceLoad
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_percent, format_rate
from iosonde.core.words import format_count

from . import MAX_LISTED, Subject
from .runs import list_disk_loads

NEEDS_RUNS = True
LIMIT = 0.95


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding about the disk that was busiest in most runs, with all others in the evidence."""
    loads = [(run, load) for run, load in list_disk_loads(subject.runs) if "utilisation" in load.during]
    busy = group_by_key((load.name, (run, load)) for run, load in loads if load.during["utilisation"] >= LIMIT)
    if not busy:
        return
    name = max(busy, key=lambda disk: (len(busy[disk]), max(load.during["utilisation"] for _, load in busy[disk])))
    n_disks, n_runs = len({load.name for _, load in loads}), len({run.id for run, _ in loads})
    worst = max((load for _, load in busy[name]), key=lambda load: load.during["utilisation"])
    yield Finding(
        "S139",
        Severity.INFO,
        Message(
            "busy-disk",
            "disk {disk} was busy {share} of the time{details}, in {n} of {runs}; {n_busy} of {disks} {were} so busy",
            disk=name,
            share=format_percent(worst.during["utilisation"]),
            details=_describe_queue(worst),
            n=len(busy[name]),
            runs=format_count(n_runs, "run"),
            n_busy=len(busy),
            disks=format_count(n_disks, "disk"),
            were="was" if len(busy) == 1 else "were",
        ),
        {
            "n_disks": n_disks,
            "disks": {
                disk: {
                    "utilisation": max(load.during["utilisation"] for _, load in pairs),
                    "runs": [run.id for run, _ in pairs][:MAX_LISTED],
                }
                for disk, pairs in list(busy.items())[:MAX_LISTED]
            },
        },
        "compare its latency with that of fewer ranks; use more disks, or spread the files over those that were idle",
    )


def _describe_queue(load: DeviceLoad) -> str:
    """Describe the latency and the requests in flight; '' if they are unknown."""
    parts = []
    if "latency" in load.during:
        parts.append(f"latency {format_rate(load.during['latency'], 's')}")
    if "queue" in load.during:
        parts.append(f"{load.during['queue']:.1f} requests in flight")
    return f" ({', '.join(parts)})" if parts else ""
