"""Where the time between bound and result was lost, of each cell whose operations a store kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.errors import InputError
from iosonde.core.stored import StoredPhase
from iosonde.data.source import Source
from iosonde.explain import waterfall
from iosonde.explain.waterfall import CURES, TITLES, Waterfall
from iosonde.model.bound.shares import Share

_UNEVEN = 0.02
_MUCH = 0.05
_TRAFFIC = "the bound's assumption that traffic with the metadata server is small does not hold here."


def waterfalls(source: Source, shares: Sequence[Share], level: float) -> tuple[list[Waterfall], list[str]]:
    """One for each measured cell whose operations were recorded, and why others have none. Raises InputError."""
    if source.store is None:
        raise InputError("a waterfall needs the operations of a store", "give a store that 'iosonde run' made")
    phases = {run.id: {phase.operation: phase for phase in run.phases} for run in source.runs}
    trials: dict[int, list[waterfall.Trial]] = {}
    notes: dict[str, None] = {}
    for run_id in dict.fromkeys(run for one in shares for run in one.runs):
        for place, made in _of_run(source, run_id, phases.get(run_id, {}), shares, notes):
            trials.setdefault(place, []).append(made)
    found = [
        waterfall.together(shares[place].operation, shares[place].by, shares[place].ceiling, several, level)
        for place, several in sorted(trials.items())
    ]
    if not found:
        raise InputError("no cell has a waterfall", "; ".join(notes) or "operations of rates of bytes are needed")
    return found, list(notes)


def _of_run(
    source: Source, run_id: str, phases: Mapping[str, StoredPhase], shares: Sequence[Share], notes: dict[str, None]
) -> Iterator[tuple[int, waterfall.Trial]]:
    """(place of the share, its trial) of one run, whose operations alone are in memory."""
    from iosonde.engine import _native

    assert source.store is not None
    rows = source.store.operations(run_id)
    for place, one in enumerate(shares):
        phase = phases.get(one.operation)
        if run_id not in one.runs or phase is None:
            continue
        why = waterfall.why_not(phase, len(rows) > 0)
        if why:
            notes[f"{one.operation} has no waterfall: {why}"] = None
            continue
        own = rows[rows["phase"] == phase.index]
        bound_s = one.ceiling.seconds(waterfall.data_bytes(phase))
        yield place, waterfall.of_trial(phase, own, _native.KINDS, bound_s)


def said(one: Waterfall) -> Iterator[str]:
    """What a waterfall means, in sentences."""
    total = one.delivered.value or 0.0
    if one.largest:
        yield f"Most is surely lost to {TITLES[one.largest]}; what helps: {CURES[one.largest]}."
    if one.doubtful:
        yield f"~ {TITLES[one.doubtful]} may have cost more, but the interval holds 0: repeat the trials"
    calls = (one.parts["calls"].value or 0.0) / total if total else 0.0
    if calls > _MUCH:
        yield f"Open and other calls take {100 * calls:.0f} % of the time: {_TRAFFIC}"
    if one.work_excess > _UNEVEN:
        more = f"{100 * one.work_excess:.0f} %"
        yield f"The work is uneven: the busiest rank has {more} more bytes than the mean one."
    if (one.parts["slow_operations"].value or 0.0) < 0:
        yield "Operations were faster than the bound allows: a cache served them, or an input is wrong."
