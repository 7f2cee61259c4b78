"""S111: MPI-IO hints not in force

What it says
    A hint was given to the MPI library but is not in force: the library does
    not know it, gave it another value, or the file system does not support it.
    Trials that differ in this hint alone are the same trial.

How we know
    After the file was opened, the hints in force (MPI_File_get_info) are
    compared with those that were given. For striping hints the library repeats
    their values even if its driver ignores them: ROMIO's driver for ordinary
    file systems is named then.

When it is wrong
    A library may spell a value differently, or not report a hint. Its effect
    is visible in bytes_moved: a sieve moves the holes, too.

What to do
    Look up the spelling in the library's manual. Striping needs a parallel
    file system, and can often be set on the directory instead. Open MPI's own
    OMPIO takes no ROMIO hints: choose its ROMIO with OMPI_MCA_io=^ompio.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

NEEDS_RUNS = True
STRIPING = ("striping_factor", "striping_unit", "start_iodevice")
ORDINARY = ("UFS", "NFS")


def check(subject: Subject) -> list[Finding]:
    """Report one finding for all hints, with their requested and effective values."""
    ignored: dict[str, str] = {}
    for run in subject.runs:
        for phase in run.phases:
            ignored |= dict(_list_ignored_hints(phase.hints))
    if not ignored:
        return []
    first, why = next(iter(ignored.items()))
    more = f" ({len(ignored)} hints in all)" if len(ignored) > 1 else ""
    return [
        Finding(
            "S111",
            Severity.WARNING,
            f"the MPI-IO hint {first} is not in force: {why}{more}",
            {"hints": dict(list(ignored.items())[:MAX_LISTED])},
            "look it up in the library's manual; iosonde explain S111",
        )
    ]


def _list_ignored_hints(hints: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    requested, took = hints.get("asked") or {}, hints.get("took") or {}
    if not took:
        return
    driver = str(took.get("romio_filesystem_type", ""))
    for name, value in requested.items():
        if name not in took:
            yield f"{name}={value}", "the library does not know it"
        elif str(took[name]) != str(value):
            yield f"{name}={value}", f"the library uses {took[name]}"
        elif name in STRIPING and driver.startswith(ORDINARY):
            yield f"{name}={value}", f"ROMIO does not stripe on this file system ({driver.split(':')[0]})"
