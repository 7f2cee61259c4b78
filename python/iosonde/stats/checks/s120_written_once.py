"""S120: writes that may have been dropped

What it says
    The file system takes a file from its beginning to its end, once, and
    several ranks wrote into one file (or commands wrote, of which nobody
    knows where): what is written inside a file it refuses, or takes and drops
    without a word. Such a rate is of data that may not be there.

How we know
    From the type of the mount: HDFS behind its NFS gateway (fuse.hdfs) does
    so. Whether a phase's ranks share files is known of our own engine.

When it is wrong
    When the commands appended, or wrote each file once: their data are there.

What to do
    A file for each rank, written in order; and read back what was written
    (verify: true, or the tool's own check as ior -R).
"""

from __future__ import annotations

from iosonde.core.filesystems import WRITTEN_ONCE
from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase
from iosonde.core.types import Finding, Severity

from . import Subject, some

CODE = "S120"
NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """One finding for all phases."""
    filesystems = {
        phase.operation: run.filesystem
        for run in subject.runs if run.counts and run.filesystem in WRITTEN_ONCE
        for phase in run.phases if phase.is_step and _may_write_inside(phase)
    }  # fmt: skip
    if not filesystems:
        return []
    names = list(filesystems)
    return [
        Finding(
            CODE,
            Severity.WARNING,
            Message(
                "written-once",
                "{filesystem} takes a file from beginning to end, once: what {operations} wrote inside "
                "one may have been dropped without a word",
                filesystem=next(iter(filesystems.values())),
                operations=some(names),
            ),
            {"operations": names},
            "a file for each rank, written in order; read back what was written (verify: true)",
        )
    ]


def _may_write_inside(phase: StoredPhase) -> bool:
    return phase.is_command or (phase.shared and phase.counted_kind == "write")
