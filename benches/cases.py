"""What is compared: the cases, the places, and what one measurement of one tool gives."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

KIB, MIB = 1024, 1024**2


@dataclass(frozen=True)
class Case:
    """The same work for every tool: ``passes`` over one file of ``file_size`` per worker, or so many empty files.

    ``operations`` names what is reported: one rate each. Rates of data cases are bytes/s, of metadata operations/s.
    """

    name: str
    operations: tuple[str, ...]
    transfer_size: int = 0
    file_size: int = 0
    passes: int = 1
    random: bool = False
    files: int = 0

    @property
    def count(self) -> int:
        """Operations of one worker in one pass."""
        return self.files or self.file_size // self.transfer_size

    @property
    def unit(self) -> str:
        """Base unit of the rates."""
        return "operations/s" if self.files or self.transfer_size < MIB else "bytes/s"

    def rate(self, operations: int, seconds: float) -> float:
        """The case's rate, in its unit, of so many operations."""
        return operations / seconds * (1 if self.unit == "operations/s" else self.transfer_size)


CASES = (
    Case("4 KiB random read", ("read",), 4 * KIB, 256 * MIB, passes=4, random=True),
    Case("1 MiB sequential read", ("read",), MIB, 256 * MIB, passes=16),
    Case("1 MiB sequential write", ("write",), MIB, 256 * MIB, passes=16),
    Case("metadata", ("create", "stat", "unlink"), files=5_000),
)

MATCHED = """\
matched: one file per worker, written whole and in the page cache before; one page-aligned
buffer per worker (plain Python: a new bytes object a read); writes overwrite, no fsync; open
and close outside the clock for data; create = open(O_CREAT) + close; empty files in private
directories; uniform random offsets (IOR, IOzone: each once); rate = all operations ÷ (last end
- first start), but IOzone prints the sum of its threads' own rates; workers: threads (iosonde,
fio, IOzone, elbencho), processes (plain Python), MPI ranks (IOR, mdtest)"""


@dataclass(frozen=True)
class Job:
    """One measurement: a case with so many workers in a directory. ``directory`` holds w000000, w000001, …"""

    case: Case
    workers: int
    directory: Path

    def file(self, worker: int) -> Path:
        """The file of a worker in a data case."""
        return self.directory / f"w{worker:06d}"

    def lay_out(self) -> None:
        """Write the files of a data case, incompressible, and leave them in the page cache."""
        for worker in range(self.workers if self.case.file_size else 0):
            with self.file(worker).open("wb") as file:
                for _ in range(self.case.file_size // MIB):
                    file.write(os.urandom(MIB))
            os.sync()


def quick(case: Case) -> Case:
    """A fraction of the work."""
    return replace(case, passes=max(case.passes // 4, 1), files=case.files // 5)
