"""Plan of one phase of one rank, for all native workloads."""

from dataclasses import dataclass, field
from typing import Any

from iosonde.core.workload import Files, MpiIo, Phase, Step

RATE, BANDWIDTH = "rate", "bandwidth"
# Kinds of operations that move data from and to the file system.
READS, WRITES = ("read", "mmap_read"), ("write", "append", "mmap_write")


@dataclass(frozen=True)
class PhasePlan:
    """Plan of a phase for one rank. ``phase`` is None for a rank without work in it.

    ``operation`` is the name in the results. ``measures`` is RATE (files per second, counted by the successes of
    ``counted_kind``) or BANDWIDTH (bytes per second). ``reads`` are the files whose cache matters before it.
    ``distinct_bytes`` is the amount of different data that the phase touches over all ranks. ``backend`` is as in
    ``Workload``. A phase that ``wears_out`` continues after its time limit until every rank has done as much as the
    fastest one. ``warm``: whether its caches are left as they are before it; None: as the workload's settings say.
    ``counts_moved``: the bytes moved, including holes, are a result too. ``skipped``: why no rank does it. With fewer
    than ``min_nodes`` nodes it loses its meaning, and is skipped.
    """

    operation: str
    phase: Phase | MpiIo | None
    measures: str = RATE
    counted_kind: str = "close"
    timed: bool = True
    reads: tuple[Files, ...] = ()
    warm: bool | None = None
    shared: bool = False
    distinct_bytes: int = 0
    backend: dict[str, Any] = field(default_factory=lambda: {"name": "posix"})
    wears_out: bool = False
    counts_moved: bool = False
    skipped: str = ""
    min_nodes: int = 1

    @property
    def writes(self) -> bool:
        """Return whether this rank may write data in it."""
        if isinstance(self.phase, MpiIo):
            return self.phase.kind == "write"
        return self.phase is not None and any(_is_write(step) for step in self.phase.steps)


def _is_write(step: Step) -> bool:
    return step.kind in WRITES or any(_is_write(part.step) for part in step.of or ())
