"""A finding from counters, and the time that it can have cost at most.

Counters have the time of all reads of a file together, and of all writes. So they limit the cost of some of these
accesses from above; what better accesses would have taken they do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from iosonde.core.io_counters import FileCounters, IoCounters
from iosonde.core.units import format_percent, format_rate

HIGH, MEDIUM, LOW = "high", "medium", "low"
# Thresholds of Drishti (Bez, Ather, Byna 2022, PDSW): share of accesses, and their number.
MIN_ACCESSES = 1000
# With fewer accesses a pattern is reported if it may have taken this share of the time in I/O calls.
_MIN_SHARE_OF_FEW = 0.1
_MAX_NAMES = 3


@dataclass(frozen=True)
class CostLimit:
    """What a pattern can have cost at most, None where the log does not say it.

    ``rank_s``: time in I/O calls, summed over ranks; ``io_share``: its share of all time in I/O calls; ``elapsed_s``:
    time of the job.
    """

    rank_s: float | None
    io_share: float | None
    elapsed_s: float | None


@dataclass(frozen=True)
class CounterFinding:
    """A pattern in the counters of a job. ``part`` distinguishes findings of one code (``read``, ``write``).

    ``confidence`` is ``high`` if the counters measure the loss, ``medium`` if the pattern passes published thresholds,
    ``low`` below; ``grounds`` says why.
    """

    code: str
    part: str
    sentence: str
    cost: CostLimit
    confidence: str
    grounds: str
    action: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


def limit_by_calls(counters: IoCounters, rank_s: float) -> CostLimit:
    """Return the limit by the time of all calls of the pattern, ``rank_s`` summed over ranks. The job cannot be shorter
    by more than its slowest rank spent in I/O calls."""
    io_s = counters.io_seconds
    if not io_s:
        return CostLimit(None, None, None)
    limits = [rank_s, *(limit for limit in (counters.slowest_s, counters.seconds) if limit)]
    return CostLimit(rank_s, rank_s / io_s, min(limits))


def compute_share(n: float, total: float) -> float:
    """Return the share of accesses; 0 without any, and if the counters contradict each other, as in a damaged log."""
    return n / total if n <= total and total else 0.0


def judge_by_number(n: float, cost: CostLimit) -> str | None:
    """Return ``medium`` from Drishti's number of accesses on, ``low`` for fewer that can have taken a tenth of the time
    in I/O calls, None for fewer."""
    if n >= MIN_ACCESSES:
        return MEDIUM
    return LOW if (cost.io_share or 0.0) >= _MIN_SHARE_OF_FEW else None


def describe_number(n: float, confidence: str, share: float) -> str:
    """Return the grounds of a finding that passes a ``share`` of Drishti's."""
    if n >= MIN_ACCESSES:
        return f"Drishti reports it from {format_percent(share)} and {MIN_ACCESSES:,} accesses on"
    return f"above the {format_percent(share)} of Drishti, but below its {MIN_ACCESSES:,} accesses"


def rank_files(parts: Iterable[FileCounters], counter: str) -> list[FileCounters]:
    """Return the files with most of this counter, the most first: those with a tenth of all; at most three."""
    files = [part for part in parts if part.name and part.get(counter)]
    total = sum(part.get(counter) for part in files)
    ranked = sorted(files, key=lambda part: -part.get(counter))[:_MAX_NAMES]
    return [part for part in ranked if part.get(counter) >= 0.1 * total]


def describe_files(files: Iterable[FileCounters]) -> str:
    """Return ``; most in /a, /b``, or nothing without names."""
    names = ", ".join(part.name for part in files)
    return f"; most in {names}" if names else ""


def compute_rate(parts: Iterable[FileCounters], word: str) -> float | None:
    """Return the bytes of these reads or writes over the time in them, summed over ranks; None without."""
    chosen = list(parts)
    moved = "BYTES_READ" if word == "READ" else "BYTES_WRITTEN"
    seconds = sum(part.get(f"F_{word}_TIME") for part in chosen)
    n_bytes = sum(part.get(moved) for part in chosen)
    return n_bytes / seconds if seconds and n_bytes else None


def describe_seconds(seconds: float) -> str:
    """Return ``41.5 s``."""
    return format_rate(seconds, "s")
