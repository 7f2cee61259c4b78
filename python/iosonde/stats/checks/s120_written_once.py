"""S120: writes that may have been dropped

What it says
    The file system only supports writing a file once, from beginning to end.
    Several ranks wrote into one file, or commands wrote at unknown offsets.
    Writes inside a file are refused, or accepted and silently dropped: such a
    rate may be of data that does not exist.

How we know
    From the type of the mount: HDFS behind its NFS gateway (fuse.hdfs) behaves
    so. Shared files are known for phases of the built-in engine only.

When it is wrong
    When the commands appended, or wrote each file once: their data are there.

What to do
    Use a file per rank, written in order; and read back the data (verify:
    true, or the tool's own check such as ior -R).
"""

from iosonde.core.filesystems import WRITTEN_ONCE
from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity

from . import Subject, format_some_names

NEEDS_RUNS = True


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all phases."""
    filesystems = {
        phase.operation: run.filesystem
        for run in subject.runs
        if run.counts and run.filesystem in WRITTEN_ONCE
        for phase in run.phases
        if phase.is_step and (phase.is_command or (phase.shared and phase.counted_kind == "write"))
    }
    if not filesystems:
        return []
    names = list(filesystems)
    return [
        Finding(
            "S120",
            Severity.WARNING,
            Message(
                "written-once",
                "{filesystem} only supports writing a file once, from beginning to end: data that {operations} wrote "
                "inside a file may have been silently dropped",
                filesystem=next(iter(filesystems.values())),
                operations=format_some_names(names),
            ),
            {"operations": names},
            "use a file per rank, written in order; read back the data (verify: true)",
        )
    ]
