"""Progress of a trial's phases over time: ``iosonde plot STORE --kind time``."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy.typing as npt

from iosonde.answers.answer import Answer
from iosonde.commands.diagnose.answer import DiagnosedOperations, diagnose_trial
from iosonde.commands.report.axis import get_operation_sort_key, title
from iosonde.core.errors import DataError
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.words import format_count, join_names
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.explain import sizes
from iosonde.explain.operations import split_by_kind_and_size
from iosonde.explain.seen.group import OperationGroup, TrialOperations
from iosonde.stats.overview.fault_effect import FaultMark, list_fault_marks
from iosonde.stats.overview.over_time import OverTime, PhaseRows, bin_phase_rows, select_phase_rows

_LEVEL = 0.95
MOST_PHASES = 12


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


def classify_over_time(
    run: StoredRun, phase: StoredPhase, operations: npt.NDArray[Any], rows: PhaseRows
) -> ClassesOverTime | None:
    """Classify the drawn kind at the size that took most time; None if these are of one class."""
    columns = {name: operations[name] for name in operations.dtype.names or ()}
    several = [
        subset
        for kind, subset, _ in split_by_kind_and_size(
            columns, phase, _native.KINDS, units=sizes.get_reported_units(run)
        )
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


@dataclass(frozen=True)
class PhaseOverTime:
    """A phase. ``comparable``: times are by one clock; else each rank's are relative to its own start. ``marks``:
    faults and when they were undone. ``classes``: None if all are of one class."""

    operation: str
    title: str
    comparable: bool
    over_time: OverTime
    marks: tuple[FaultMark, ...] = ()
    classes: ClassesOverTime | None = None

    def to_json(self) -> dict[str, Any]:
        """Return every bin, and the classes if any."""
        return {
            "operation": self.operation,
            "comparable": self.comparable,
            **self.over_time.to_json(),
            **({"marks": [asdict(mark) for mark in self.marks]} if self.marks else {}),
            **({"classes": self.classes.to_json()} if self.classes else {}),
        }


@dataclass(frozen=True)
class OverTimePlot(Answer):
    """Phases of one trial; ``setting`` names it in words. ``notes`` identify it, ``omissions`` list what is not
    drawn."""

    run: str
    setting: str
    phases: tuple[PhaseOverTime, ...]
    notes: tuple[str, ...]
    omissions: tuple[str, ...]

    def content(self) -> dict[str, Any]:
        """Return every bin of every phase."""
        return {
            "run": self.run,
            "setting": self.setting,
            "phases": [phase.to_json() for phase in self.phases],
            "notes": [*self.notes, *self.omissions],
        }


def build_over_time_plot(source: Source, names: Sequence[str] = ()) -> OverTimePlot:
    """Plot the last complete trial with recorded operations; of its phases those of ``names``. Raises DataError."""
    runs = [run for run in source.runs if run.n_operations]
    if not runs:
        raise DataError(
            "no-recorded-operations",
            "{name} holds no recorded operations",
            "iosonde run records those of its own engine; of other tools import a log of operations, "
            "as of fio's --write_lat_log",
            name=source.name,
        )
    run = [candidate for candidate in runs if candidate.counts][-1:] or runs[-1:]
    return build_run_plot(source, run[0], len(runs), names)


def build_run_plot(source: Source, run: StoredRun, of: int, names: Sequence[str]) -> OverTimePlot:
    """Plot one trial out of ``of``. Raises DataError."""
    operations = source.operations(run.id)
    chosen = [phase for phase in run.phases if not names or {phase.operation, phase.name} & set(names)]
    if not chosen:
        raise DataError(
            "unknown-phase",
            "trial {id} has no such phase",
            "there are: {phases}",
            id=run.id,
            phases=_list_operations(run.phases),
        )
    rows_by_phase = [
        (phase, select_phase_rows(phase, operations, _native.KINDS))
        for phase in sorted(chosen, key=lambda phase: get_operation_sort_key(phase.operation))
    ]
    there = [(phase, rows) for phase, rows in rows_by_phase if rows is not None]
    phases = tuple(
        PhaseOverTime(
            phase.operation,
            title(phase.operation),
            phase.comparable,
            bin_phase_rows(rows),
            list_fault_marks(run, rows) if phase.comparable else (),
            classify_over_time(run, phase, operations, rows),
        )
        for phase, rows in there[:MOST_PHASES]
    )
    if not phases:
        raise DataError(
            "no-recorded-operations",
            "no operation of {phases} was recorded",
            "see which were: iosonde show STORE RUN",
            phases=_list_operations(chosen),
        )
    gone = [phase for phase, rows in rows_by_phase if rows is None]
    template = "no operation of {phases} was recorded"
    omissions = [Message("no-recorded-operations", template, phases=_list_operations(gone))] if gone else []
    if len(there) > MOST_PHASES:
        template = "{most} of {n_phases} phases are drawn: {spell.metric} chooses others"
        omissions.append(Message("truncated", template, most=MOST_PHASES, n_phases=len(there)))
    trial_text = f"trial {run.id}" + ("" if run.complete else ", incomplete")
    template = "{trial}, the last of {trials} with recorded operations: {spell.where:run=ID} draws another"
    which = Message("last-trial", template, trial=trial_text, trials=format_count(of, "trial"))
    setting = format_setting({name: run.level(name) for name in source.varying_factors.names}, source.units())
    heading = ", ".join([trial_text[0].upper() + trial_text[1:], *([setting] if setting else [])])
    return OverTimePlot(run.id, heading, phases, (which,) if of > 1 else (), tuple(omissions))


def _list_operations(phases: Sequence[StoredPhase]) -> str:
    return join_names(list(dict.fromkeys(phase.operation for phase in phases)))
