"""S111: MPI-IO hints that did not take

What it says
    A hint was given to the MPI library, and is not in force: the library does
    not know it, gave it another value, or the file system behind it has no use
    for it. Trials that differ in this hint alone are the same trial.

How we know
    After the file was opened, the library was asked for its hints
    (MPI_File_get_info), and they are compared with those that were given. Of
    striping hints the library repeats what it was told even where its driver
    ignores them: ROMIO's driver for ordinary file systems is named then.

When it is wrong
    A library may spell a value in another way, or keep a hint to itself.
    What it did is seen in bytes_moved: a sieve moves the holes too.

What to do
    Look up the spelling in the library's manual. Striping needs a parallel
    file system, and can often be set on the directory instead. Open MPI's own
    OMPIO takes no ROMIO hints: choose its ROMIO with OMPI_MCA_io=^ompio.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.types import Finding, Severity

from . import MAX_LISTED, Subject

CODE = "S111"
STRIPING = ("striping_factor", "striping_unit", "start_iodevice")
ORDINARY = ("UFS", "NFS")


def check(subject: Subject) -> list[Finding]:
    """One finding for all hints, with what was asked and what is in force."""
    ignored: dict[str, str] = {}
    for run in subject.runs:
        for phase in run.phases:
            ignored |= dict(_not_taken(phase.hints))
    if not ignored:
        return []
    first, why = next(iter(ignored.items()))
    more = f" ({len(ignored)} hints in all)" if len(ignored) > 1 else ""
    return [
        Finding(
            CODE,
            Severity.WARNING,
            f"the MPI-IO hint {first} did not take: {why}{more}",
            {"hints": dict(list(ignored.items())[:MAX_LISTED])},
            "look it up in the library's manual; iosonde explain S111",
        )
    ]


def _not_taken(hints: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    requested, took = hints.get("asked") or {}, hints.get("took") or {}
    if not took:
        return
    driver = str(took.get("romio_filesystem_type", ""))
    for name, value in requested.items():
        if name not in took:
            yield f"{name}={value}", "the library does not know it"
        elif str(took[name]) != str(value):
            yield f"{name}={value}", f"the library says {took[name]}"
        elif name in STRIPING and driver.startswith(ORDINARY):
            yield f"{name}={value}", f"this file system has no stripes to ROMIO ({driver.split(':')[0]})"
