"""S140: other load on the disks

What it says
    A disk was busy before and after a run, when no run was active: something
    else uses it. It probably did so during the run, too, and the run had only
    what was left of the disk. This is for disks what S107 is for CPUs.

How we know
    From a log of iostat or sar that was imported beside the runs: the samples
    of up to two minutes before and after each run, without those of other
    runs. The first 35 s after a run are left out, as a kernel still writes
    data of the run then (S141). More than 5 % of the time on both sides is a
    warning. If only one side was sampled, it is a note.

When it is wrong
    A run that is not in the store, files that are created before a run and
    removed after it, or a repair of the file system may be that other load.
    What begins and ends within a run is not seen.

What to do
    Find it (iotop, pidstat -d, job_stats of Lustre), and measure again on
    quiet disks. Else keep the order random and the repetitions many.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from iosonde.core.device_loads import DeviceLoad
from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_percent, format_rate

from . import MAX_LISTED, Subject
from .runs import list_disk_loads

NEEDS_RUNS = True
SHARE = 0.05


class _OtherLoad(NamedTuple):
    """A disk outside of a run: ``is_confirmed`` before and after it, else on the only side that was sampled."""

    is_confirmed: bool
    share: float
    place: str
    run: str
    disk: str
    values: Mapping[str, float]


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding about the busiest disk outside of runs, with all others in the evidence."""
    disks = list_disk_loads(subject.runs)
    others = [other for run, load in disks if (other := _find_other_load(run.id, load)) and other.share > SHARE]
    if not others:
        return
    worst = max(others, key=lambda other: (other.is_confirmed, other.share))
    yield Finding(
        "S140",
        Severity.WARNING if worst.is_confirmed else Severity.INFO,
        Message(
            "other-disk-load",
            "disk {disk} was busy at least {share} of the time {place} run {run}{rates}, when no run was active "
            "({n} of {n_runs} runs)",
            disk=worst.disk,
            share=format_percent(worst.share),
            place=worst.place,
            run=worst.run,
            rates=_describe_rates(worst.values),
            n=len({other.run for other in others}),
            n_runs=len({run.id for run, _ in disks}),
        ),
        {
            "share": worst.share,
            "disk": worst.disk,
            "runs": list(dict.fromkeys(other.run for other in others))[:MAX_LISTED],
            "disks": list(dict.fromkeys(other.disk for other in others))[:MAX_LISTED],
        },
        "find the other load and measure on quiet disks, or keep the order random and the repetitions many",
    )


def _find_other_load(run: str, load: DeviceLoad) -> _OtherLoad | None:
    """Return the quieter one of the sampled times before and after a run, None if neither was sampled."""
    sides = {"before": load.before, "after": load.after}
    sampled = {place: values for place, values in sides.items() if "utilisation" in values}
    if not sampled:
        return None
    place = min(sampled, key=lambda place: sampled[place]["utilisation"])
    is_confirmed = len(sampled) == len(sides)
    words = "before and after" if is_confirmed else place
    return _OtherLoad(is_confirmed, sampled[place]["utilisation"], words, run, load.name, sampled[place])


def _describe_rates(values: Mapping[str, float]) -> str:
    words = {"read_bandwidth": "reads", "write_bandwidth": "writes"}
    parts = [f"{word} {format_rate(values[name], 'bytes/s')}" for name, word in words.items() if name in values]
    return f" ({', '.join(parts)})" if parts else ""
