"""Effect of a fault on the phases of one trial: rate and durations before the fault, during it, during recovery, and
after; and the longest stall.

The parts are cut at measured moments, on the clock of the operations. A fault is in force from the moment it was
ordered, the earliest possible effect, until it was undone. Work across a cut counts in each part by the share of its
time inside; a duration counts where its operation began.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.faults import FaultDone
from iosonde.core.grouping import group_by_key
from iosonde.core.stored import StoredPhase, StoredRun

from ..estimate.percentiles import percentiles_from_durations
from .over_time import PhaseRows, select_phase_rows

BEFORE, DURING, HEALING, AFTER = "before", "during", "healing", "after"
UNDONE, WELL = "undone", "well"  # marks that are not faults
_LEAST_S = 0.05  # a shorter part has no reliable rate
_PERCENTILES = (0.5, 0.99)


@dataclass(frozen=True)
class FaultMark:
    """A moment of a fault within a phase: ``what`` (fault, undone, well) happened ``at_s`` after its first start."""

    at_s: float
    what: str


@dataclass(frozen=True)
class PhasePart:
    """A part of a phase: its length, its rate, and percentiles of durations (s), None if too few began in it."""

    name: str
    seconds: float
    rate: float
    p50: float | None
    p99: float | None


@dataclass(frozen=True)
class PhaseEffect:
    """A fault (on one host or several at once) and one phase of one trial. ``stall_s``: the longest time, from
    ``stall_at_s`` on, in which no operation ended, during or after the fault; ``usual_s``: the longest before."""

    fault: str
    operation: str
    unit: str
    kind: str
    slow: str
    parts: tuple[PhasePart, ...]
    stall_s: float
    stall_at_s: float
    usual_s: float | None
    heal_s: float | None


def measure_fault_effects(
    run: StoredRun, operations: npt.NDArray[Any], kinds: Sequence[str], level: float
) -> Iterator[PhaseEffect]:
    """Return the effect of every fault of a trial on every phase that it fell into; none if the clocks cannot be
    compared."""
    inflicted = (fault for fault in run.faults if fault.inflicting_ns is not None and fault.in_force_ns is not None)
    for several in group_by_key((repr(fault.planned), fault) for fault in inflicted).values():
        for phase in run.phases:
            rows = select_phase_rows(phase, operations, kinds) if phase.comparable else None
            if rows is not None and (effect := _measure_effect(several, phase, rows, level)):
                yield effect


def list_fault_marks(run: StoredRun, rows: PhaseRows) -> tuple[FaultMark, ...]:
    """Return the moments of all faults that lie within a phase."""
    end_s = float((rows.start + rows.duration).max()) / 1e9
    moments = [
        (at, what)
        for fault in run.faults
        for at, what in ((fault.inflicting_ns, fault.name), (fault.undone_ns, UNDONE), (fault.healed_ns, WELL))
    ]
    marks = dict.fromkeys(FaultMark((at - rows.zero_ns) / 1e9, what) for at, what in moments if at is not None)
    return tuple(sorted((mark for mark in marks if 0 <= mark.at_s <= end_s), key=lambda mark: mark.at_s))


def _measure_effect(several: list[FaultDone], phase: StoredPhase, rows: PhaseRows, level: float) -> PhaseEffect | None:
    end = float((rows.start + rows.duration).max())
    zero, last = rows.zero_ns, rows.zero_ns + end  # missing moments are after the end
    begun = float(min(fault.inflicting_ns or 0 for fault in several) - zero)
    undone = float(max(last if fault.undone_ns is None else fault.undone_ns for fault in several) - zero)
    healed = float(max(last if fault.healed_ns is None else fault.healed_ns for fault in several) - zero)
    if begun >= end or healed <= 0:
        return None
    cuts = [(BEFORE, 0.0, begun), (DURING, begun, undone), (HEALING, undone, healed), (AFTER, healed, end)]
    parts = tuple(
        _measure_part(name, rows, max(low, 0.0), min(high, end), level)
        for name, low, high in cuts
        if min(high, end) - max(low, 0.0) >= _LEAST_S * 1e9
    )
    if not parts:
        return None
    stall_at, stall = _find_stall(rows, max(begun, 0.0), end)
    first = several[0]
    host = first.host if len(several) == 1 else f"{len(several)} servers"
    heal_times = [fault.heal_s for fault in several if fault.heal_s is not None]
    return PhaseEffect(
        f"{first.name.rpartition(' on ')[0]} on {host}",
        phase.operation,
        rows.unit,
        rows.counted,
        rows.slow,
        parts,
        stall / 1e9,
        stall_at / 1e9,
        _find_stall(rows, 0.0, begun)[1] / 1e9 if begun > _LEAST_S * 1e9 else None,
        max(heal_times) if len(heal_times) == len(several) else None,
    )


def _measure_part(name: str, rows: PhaseRows, low: float, high: float, level: float) -> PhasePart:
    took = np.maximum(rows.duration, 1.0)
    inside = np.clip(np.minimum(rows.start + took, high) - np.maximum(rows.start, low), 0.0, None) / took
    began = rows.took_slow & (rows.start >= low) & (rows.start < high)
    percentiles = percentiles_from_durations(rows.duration[began] / 1e9, _PERCENTILES, level)
    seconds = (high - low) / 1e9
    return PhasePart(
        name, seconds, float((rows.work * inside).sum()) / seconds, *(percentiles[p] for p in _PERCENTILES)
    )


def _find_stall(rows: PhaseRows, low: float, high: float) -> tuple[float, float]:
    """Return (begin, length) of the longest time between two ends of operations, the second of which lies between
    ``low`` and ``high``: an operation that hangs in a fault began before it."""
    ends = np.unique(rows.start + rows.duration)
    begins, lengths = np.concatenate([[0.0], ends[:-1]]), np.diff(ends, prepend=0.0)
    inside = (ends > low) & (ends <= high)
    if not inside.any():
        return low, 0.0
    at = int(np.flatnonzero(inside)[lengths[inside].argmax()])
    return float(begins[at]), float(lengths[at])
