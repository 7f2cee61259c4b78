"""Progress of a trial's phases over time: ``iosonde plot STORE --kind time``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.commands.report.axis import place, title
from iosonde.core.errors import DataError
from iosonde.core.level_text import setting_text
from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.words import counted, listed
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.stats.overview.fault_effect import FaultMark, marks
from iosonde.stats.overview.over_time import OverTime, in_bins, phase_rows

from .over_time_classes import ClassesOverTime, classes_over_time

MOST_PHASES = 12


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
        marks = {"marks": [asdict(mark) for mark in self.marks]} if self.marks else {}
        classes = {"classes": self.classes.to_json()} if self.classes else {}
        return {
            "operation": self.operation,
            "comparable": self.comparable,
            **self.over_time.to_json(),
            **marks,
            **classes,
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


def over_time_plot(source: Source, names: Sequence[str] = ()) -> OverTimePlot:
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
            phases=_titles(run.phases),
        )
    rows_by_phase = [
        (phase, phase_rows(phase, operations, _native.KINDS))
        for phase in sorted(chosen, key=lambda phase: place(phase.operation))
    ]
    there = [(phase, rows) for phase, rows in rows_by_phase if rows is not None]
    phases = tuple(
        PhaseOverTime(
            phase.operation,
            title(phase.operation),
            phase.comparable,
            in_bins(rows),
            marks(run, rows) if phase.comparable else (),
            classes_over_time(run, phase, operations, rows),
        )
        for phase, rows in there[:MOST_PHASES]
    )
    if not phases:
        raise DataError(
            "no-recorded-operations",
            "no operation of {phases} was recorded",
            "see which were: iosonde show STORE RUN",
            phases=_titles(chosen),
        )
    gone = [phase for phase, rows in rows_by_phase if rows is None]
    omissions: list[str] = []
    if gone:
        omissions.append(
            Message("no-recorded-operations", "no operation of {phases} was recorded", phases=_titles(gone))
        )
    if len(there) > MOST_PHASES:
        template = "{most} of {n_phases} phases are drawn: {spell.metric} chooses others"
        omissions.append(Message("truncated", template, most=MOST_PHASES, n_phases=len(there)))
    trial_text = f"trial {run.id}" + ("" if run.complete else ", incomplete")
    template = "{trial}, the last of {trials} with recorded operations: {spell.where:run=ID} draws another"
    which = Message("last-trial", template, trial=trial_text, trials=counted(of, "trial"))
    setting = setting_text({name: run.level(name) for name in source.varying_factors.names}, source.units())
    heading = ", ".join([trial_text[0].upper() + trial_text[1:], *([setting] if setting else [])])
    return OverTimePlot(run.id, heading, phases, (which,) if of > 1 else (), tuple(omissions))


def _titles(phases: Sequence[StoredPhase]) -> str:
    return listed(list(dict.fromkeys(phase.operation for phase in phases)))
