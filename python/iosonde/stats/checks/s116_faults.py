"""S116: fault with data loss or failures

What it says
    After a fault was injected into the lab, data read back differed from data
    written, or operations failed, or the file system did not recover in the
    given time.

How we know
    Each trial records the injected faults, their end and their times, and
    afterwards the health that the file system reports. Content is checked in
    phases with verify: true: data read is compared with data written, by seed,
    name and offset.

When it is wrong
    Without verify the content is not checked. A file system may report good
    health too early.

What to do
    With two or more copies a server may die: look at the quorum, and at
    whether writes were acknowledged before they were on a second server. A
    volume with one copy must fail.
"""

import re

from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True
_WRONG = re.compile(r"not what was written|\d+ of \d+ bytes \(read")  # wrong content, or a truncated file


def check(subject: Subject) -> list[Finding]:
    """Report one finding for lost data, one for failures, one for missing recovery; each with its first trial."""
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
    """Return the first failure of a rank, ignoring what the harness reports about the fault itself."""
    return next((why for why in run.missing if ": rank " in why), "")


def _build_finding(what: str, runs: dict[str, str], of: int, names: dict[str, str]) -> list[Finding]:
    if not runs:
        return []
    first, why = next(iter(runs.items()))
    return [
        Finding(
            "S116",
            Severity.WARNING,
            f"{what} in {len(runs)} of {of} trials with faults; first in {first} ({names[first]}): {why}",
            {"runs": dict(list(runs.items())[:MAX_LISTED])},
            "iosonde show STORE RUN lists the faults with their times",
        )
    ]
