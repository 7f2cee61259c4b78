"""S118: measured in an emulated cluster

What it says
    The nodes were hosts of a lab: name spaces on one machine, which share its
    CPUs, its memory and its disk. The emulation differs from its description,
    or the machine was too busy to emulate it: the numbers are the machine's,
    not the file system's.

How we know
    The lab measures its links and disks when it is brought up, and each trial
    stores this with its facts: deviations of more than 10 % are reported.
    During every trial the CPUs of the machine are sampled: above 85 % busy on
    average they may limit the rate, because emulated links, servers and
    clients share them.

When it is wrong
    When the CPU of clients or servers is what you study (--cpus).

What to do
    Use slower links and disks, which need less CPU: --scale 10 divides all
    rates by ten and keeps the bottleneck the same. Measure on an idle machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.emulated import describe_off_rates
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True
BUSY = 0.85


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding for deviations of the emulation, one for trials that the machine's CPUs may limit."""
    labs = [(run, lab) for run in subject.runs if (lab := _get_lab(run))]
    off = {off_rate: None for _, lab in labs for off_rate in describe_off_rates(lab)}
    if off:
        yield _build_finding(
            f"the emulated cluster differs from its description: {next(iter(off))}"
            + (f", and {len(off) - 1} more" if len(off) > 1 else ""),
            {"warnings": list(off)[:MAX_LISTED]},
        )
    busy = {run.id: share for run, _ in labs if (share := _compute_busy_share(run.facts.get("loads") or ())) > BUSY}
    if busy:
        yield _build_finding(
            Message(
                "busy-cpus",
                "up to {share:.0%} of the CPUs that all hosts of the emulated cluster share were busy "
                "({n} of {n_trials} trials): they may limit the rates",
                share=max(busy.values()),
                n=len(busy),
                n_trials=len(labs),
            ),
            {"share": max(busy.values()), "runs": list(busy)[:MAX_LISTED]},
        )


def _get_lab(run: StoredRun) -> Mapping[str, Any] | None:
    lab = (run.facts.get("machine") or {}).get("lab")
    return lab if isinstance(lab, Mapping) else None


def _compute_busy_share(loads: Sequence[Mapping[str, Any]]) -> float:
    return max((float(load.get("busy_share") or 0.0) for load in loads), default=0.0)


def _build_finding(sentence: str, evidence: dict[str, Any]) -> Finding:
    return Finding(
        "S118", Severity.WARNING, sentence, evidence, "iosonde lab up … --scale 10 keeps the bottleneck the same"
    )
