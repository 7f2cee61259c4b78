"""mdtest's rates (src/mdtest.c, updateResult and summarize_results_rank0 of mdtest 4).

A phase ends with a barrier, so each task's time runs from its own start until the last task is done. A line of the
summary is tasks × the smallest of the tasks' (items ÷ that time); with equal numbers of items this is all items ÷ the
longest time. Open, write, fsync (``-y``) and close of a file are inside. Max, Min, Mean and Std Dev (with n − 1, 0 for
one) are over the iterations, never over tasks.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .clock import CLOSE, DATA, FSYNC, OPEN, SLOWEST_RANK, Clock, Work, compute_rate

CLOCK = Clock(frozenset({OPEN, FSYNC, CLOSE}), SLOWEST_RANK)
# In the order of mdtest's summary; (name, counted kind, of directories).
OPERATIONS = (
    ("Directory creation", "mkdir", True),
    ("Directory stat", "stat", True),
    ("Directory rename", "rename", True),
    ("Directory removal", "rmdir", True),
    ("File creation", "create", False),
    ("File stat", "stat", False),
    ("File read", "open", False),
    ("File removal", "unlink", False),
)
_ALWAYS = ("mkdir", "rmdir", "create", "unlink")


@dataclass(frozen=True)
class MdtestRow:
    """A line of the summary, operations/s over the iterations; ``phase`` is iosonde's name."""

    operation: str
    phase: str
    maximum: float
    minimum: float
    mean: float
    standard_deviation: float
    iterations: int


def find_mdtest_operation(name: str, work: Work) -> tuple[str, str] | None:
    """Return (mdtest's name, the counted kind) of a phase called ``name``; None for phases that mdtest does not have.

    stat and rename are of directories if the phase's name says so. Files written in several transfers are excluded:
    mdtest writes and reads a file in one piece.
    """
    opened = work.count_of("create", "open").sum()
    if (work.list_data_directions() and work.has(*DATA["write"]) and not work.has("create")) or any(
        work.get_bytes_by_operation(way).astype(bool).sum() > opened for way in work.list_data_directions()
    ):
        return None
    directories = "director" in name
    return next(
        (
            (title, kind)
            for title, kind, is_directory in OPERATIONS
            if work.has(kind) and (kind in _ALWAYS or is_directory == directories)
        ),
        None,
    )


def compute_iteration_rate(work: Work, kind: str) -> float | None:
    """Return the rate of an iteration, operations/s."""
    return compute_rate(work, work.count_of(kind), CLOCK)


def summarise_rates(operation: str, phase: str, rates: Sequence[float]) -> MdtestRow:
    """Return the line over all iterations."""
    return MdtestRow(
        operation,
        phase,
        max(rates),
        min(rates),
        statistics.fmean(rates),
        statistics.stdev(rates) if len(rates) > 1 else 0.0,
        len(rates),
    )
