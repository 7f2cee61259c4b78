"""S140: other load on the disks

What it says
    A disk was busy before or after a run, when no run was active: something
    else uses it. It probably did so during the run, too, and the run had only
    what was left of the disk. This is for disks what S107 is for CPUs.

How we know
    From a log of iostat or sar that was imported beside the runs: the samples
    of up to two minutes before and after each run, without those of other
    runs. The first 35 s after a run are left out, as a kernel still writes
    data of the run then (S141). More than 5 % of the time is reported.

When it is wrong
    A run that is not in the store, the preparation of the next run, or a
    repair of the file system may be that other load. What begins and ends
    within a run is not seen.

What to do
    Find it (iotop, pidstat -d, job_stats of Lustre), and measure again on
    quiet disks. Else keep the order random and the repetitions many.
"""

from collections.abc import Iterator, Mapping

from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_percent, format_rate

from . import MAX_LISTED, Subject
from .runs import list_disk_loads

NEEDS_RUNS = True
SHARE = 0.05


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding about the busiest disk outside of runs, with all others in the evidence."""
    others = [
        (run.id, load.name, place, values)
        for run, load in list_disk_loads(subject.runs)
        for place, values in (("before", load.before), ("after", load.after))
        if values.get("utilisation", 0.0) > SHARE
    ]
    if not others:
        return
    run, disk, place, values = max(others, key=lambda entry: entry[3]["utilisation"])
    n_sampled = len({run.id for run, _ in list_disk_loads(subject.runs)})
    yield Finding(
        "S140",
        Severity.WARNING,
        Message(
            "other-disk-load",
            "{disk} was busy up to {share} of the time {place} run {run}{rates}, when no run was active "
            "({n} of {n_runs} runs)",
            disk=disk,
            share=format_percent(values["utilisation"]),
            place=place,
            run=run,
            rates=_describe_rates(values),
            n=len({entry[0] for entry in others}),
            n_runs=n_sampled,
        ),
        {
            "share": values["utilisation"],
            "disk": disk,
            "runs": list(dict.fromkeys(entry[0] for entry in others))[:MAX_LISTED],
            "disks": list(dict.fromkeys(entry[1] for entry in others))[:MAX_LISTED],
        },
        "find the other load and measure on quiet disks, or keep the order random and the repetitions many",
    )


def _describe_rates(values: Mapping[str, float]) -> str:
    words = {"read_bandwidth": "reads", "write_bandwidth": "writes"}
    parts = [f"{word} {format_rate(values[name], 'bytes/s')}" for name, word in words.items() if name in values]
    return f" ({', '.join(parts)})" if parts else ""
