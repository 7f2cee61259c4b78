"""Classes of the operations that took most of a phase's time, as ``diagnose`` finds them in this trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from iosonde.commands.diagnose.answer import DiagnosedOperations, diagnose_trial
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.engine import _native
from iosonde.explain import sizes
from iosonde.explain.operations import split
from iosonde.explain.seen.group import OperationGroup, TrialOperations
from iosonde.stats.overview.over_time import PhaseRows

_LEVEL = 0.95


@dataclass(frozen=True)
class ClassesOverTime:
    """``diagnosis``: operations of one kind and size, the first of which began ``after_s`` after the phase."""

    diagnosis: DiagnosedOperations
    after_s: float

    def to_json(self) -> dict[str, Any]:
        """Return the classes, and their shares in each part of the time: of operations, and of their total time."""
        after = self.after_s
        parts = [
            {
                "begin_s": after + period.begin_s,
                "end_s": after + period.end_s,
                "shares": list(period.shares),
                "time_shares": list(period.time_shares),
            }
            for period in self.diagnosis.drawn.times
        ]
        classes = [
            {
                "label": operation_class.label,
                "low": operation_class.low_s,
                "high": operation_class.high_s,
                "cause": operation_class.cause,
                "reading": operation_class.reading.words if operation_class.reading else None,
            }
            for operation_class in self.diagnosis.classes
        ]
        group = self.diagnosis.group
        return {"kind": group.kind, "size": group.size, "classes": classes, "over_time": parts}


def classes_over_time(
    run: StoredRun, phase: StoredPhase, operations: npt.NDArray[Any], rows: PhaseRows
) -> ClassesOverTime | None:
    """Classify the drawn kind at the size that took most time; None if these are of one class."""
    columns = {name: operations[name] for name in operations.dtype.names or ()}
    several = [
        subset
        for kind, subset, _ in split(columns, phase, _native.KINDS, units=sizes.units_of(run))
        if _native.KINDS[kind] == rows.slow
    ]
    if not several:
        return None
    most = max(several, key=lambda subset: float(subset.duration_ns.sum()))
    group = OperationGroup(phase.operation, rows.slow, most.size)
    diagnosis = diagnose_trial(group, TrialOperations(run.id, most, 0), _LEVEL)
    if diagnosis is None or len(diagnosis.classes) < 2:
        return None
    first = rows.start[rows.took_slow & (rows.size == most.size)].min(initial=float("inf"))
    return ClassesOverTime(diagnosis, float(first) / 1e9)
