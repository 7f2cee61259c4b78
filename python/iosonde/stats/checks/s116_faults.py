"""S116: a fault cost more than time

What it says
    After a fault was inflicted on the lab, data that was read back was not
    what had been written, or operations failed, or the file system did not
    become well again in the time that it was given.

How we know
    Each trial keeps what was inflicted and undone and when, and asks the file
    system's own word for its health afterwards. Content is checked where the
    phases say verify: true: what is read is compared with what was written,
    by seed, name and offset.

When it is wrong
    Without verify nothing is known of the content, and nothing is claimed. A
    file system's word for its health may come too early.

What to do
    With two copies or more a server may die: look at the quorum, and at
    whether writes were acknowledged before they were on a second server. A
    volume of one copy fails as it must.
"""

from __future__ import annotations

import re

from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

CODE = "S116"
NEEDS_RUNS = True
_WRONG = re.compile(r"not what was written|\d+ of \d+ bytes \(read")  # other content, or the file ends too early


def check(subject: Subject) -> list[Finding]:
    """One finding for lost data, one for failures, one for what did not heal; each with its first trial."""
    hit = [run for run in subject.runs if run.faults]
    failed = {run.id: why for run in hit if (why := _find_failure(run))}
    lost = {run: why for run, why in failed.items() if _WRONG.search(why)}
    others = {run: why for run, why in failed.items() if run not in lost}
    sick = {run.id: fault.why for run in hit for fault in run.faults if fault.in_force_ns is not None and fault.why}
    names = {run.id: ", ".join(dict.fromkeys(fault.name for fault in run.faults)) for run in hit}
    return [
        *_build_finding("data was lost", lost, len(hit), names),
        *_build_finding("operations failed", others, len(hit), names),
        *_build_finding("the file system did not heal", sick, len(hit), names),
    ]


def _find_failure(run: StoredRun) -> str:
    """What the ranks met, not what the harness says of the fault itself."""
    return next((why for why in run.missing if ": rank " in why), "")


def _build_finding(what: str, runs: dict[str, str], of: int, names: dict[str, str]) -> list[Finding]:
    if not runs:
        return []
    first, why = next(iter(runs.items()))
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"{what} in {len(runs)} of {of} trials with faults; first in {first} ({names[first]}): {why}",
            {"runs": dict(list(runs.items())[:MAX_LISTED])},
            "iosonde show STORE RUN has what was done when",
        )
    ]
