"""Diagnosis of stored runs by the counters that their tool kept, where no operations were recorded, or besides them."""

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.errors import DataError
from iosonde.core.grouping import group_by_key
from iosonde.core.io_counters import IO_COUNTERS, IoCounters
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun, describe_included_incomplete, strip_factor_prefix
from iosonde.core.words import format_count
from iosonde.data.source import Source
from iosonde.explain.counters.over_trials import CounterDiagnosis, diagnose_trials

from .answer import OperationCauses, diagnose

LIMITS = (
    "costs are upper limits: counters do not say what better accesses would have taken",
    "the costs of several findings overlap: do not add them",
)


def diagnose_all(
    source: Source, level: float, names: Sequence[str], response: Sequence[str], bandwidth: str | float
) -> OperationCauses:
    """Diagnose recorded operations, as ``answer.diagnose``, and counters; counters alone if there are no or too few
    recorded operations. Raises InputError, DataError."""
    runs = [run for run in source.runs if IO_COUNTERS in run.facts] if not (names or response) else []
    if not runs:
        return diagnose(source, level, names, response, bandwidth)
    chosen = [run for run in runs if run.counts] or runs
    diagnoses = _diagnose_settings(source, chosen, level)
    notes = (*_list_limits(diagnoses), *_list_notes(runs, chosen))
    if not any(run.n_operations for run in source.runs):
        return OperationCauses((), None, level, notes, diagnoses)
    try:
        causes = diagnose(source, level, names, response, bandwidth)
    except DataError as error:
        if error.code != "too-few-operations":
            raise
        return OperationCauses((), None, level, (error.message, *notes), diagnoses)
    return replace(causes, notes=(*causes.notes, *notes), counters=diagnoses)


def _list_limits(diagnoses: Sequence[CounterDiagnosis]) -> tuple[str, ...]:
    """Return what limits the costs: the first if there is one, both if one setting has several."""
    n_costs = [sum(pattern.elapsed_s.value is not None for pattern in diagnosis.patterns) for diagnosis in diagnoses]
    return LIMITS[: max(n_costs, default=0)]


def _list_notes(runs: Sequence[StoredRun], chosen: Sequence[StoredRun]) -> tuple[str, ...]:
    notes: list[str] = []
    if n_incomplete := len(runs) - len(chosen):
        notes.append(
            Message("incomplete-excluded", "{runs} left out", runs=format_count(n_incomplete, "incomplete run"))
        )
    elif not chosen[0].counts:
        notes.append(Message("only-incomplete", "no run is complete: incomplete ones are used"))
    if taken := describe_included_incomplete(chosen):
        notes.append(taken)
    return tuple(notes)


def _diagnose_settings(source: Source, runs: Sequence[StoredRun], level: float) -> tuple[CounterDiagnosis, ...]:
    """Diagnose the trials of each setting, the most costly setting first."""
    names = source.varying_factors.names
    units = {strip_factor_prefix(name): unit for name, unit in source.units().items()}
    runs_by_setting = group_by_key((tuple(run.level(name) for name in names), run) for run in runs)
    settings = [
        (dict(zip(map(strip_factor_prefix, names), levels, strict=True)), trials)
        for levels, trials in runs_by_setting.items()
    ]
    diagnoses = [
        diagnose_trials(
            setting,
            format_setting(setting, units),
            [IoCounters.from_json(run.facts[IO_COUNTERS]) for run in trials],
            level,
        )
        for setting, trials in settings
    ]
    return tuple(sorted(diagnoses, key=_get_cost, reverse=True))


def _get_cost(diagnosis: CounterDiagnosis) -> float:
    return max((pattern.elapsed_s.value or 0.0 for pattern in diagnosis.patterns), default=0.0)
