"""Every kind of change of many series, each with its share of the false alarms: steps; jumps of the newest few values,
which are too few for the test of steps; and drifts, which no step explains or a step hides."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from iosonde.core.arrays import Array

from .drifts import find_drifts
from .find import INSIDE, Break, Search
from .interrupted import find_interrupted_drifts
from .jumps import LEAST, collect_magnitudes, find_jumps, measure_jump_delay
from .places import is_better_place, locate
from .pooled import Pool, find_changes_together
from .returns import find_return

_STEPS, _JUMPS, _DRIFTS, _INTERRUPTED = 0.8, 0.15, 0.025, 0.025  # shares of the rate


def get_step_search(search: Search) -> Search:
    """Return the search of steps, which has most of the false alarms."""
    return replace(search, rate=search.rate * _STEPS)


def find_all_changes(series: Sequence[Array], pools: Sequence[Pool], search: Search) -> list[tuple[Break, ...]]:
    """Return the changes of each series in order of time. Values are finite and in order of time."""
    steps = [
        _locate_all(values, changes, min(LEAST, search.least))
        for values, changes in zip(series, find_changes_together(series, pools, get_step_search(search)), strict=True)
    ]
    search_jumps = replace(search, rate=search.rate * _JUMPS)
    jumps = find_jumps(series, pools, steps, search_jumps)
    changed = [_merge(*each) for each in zip(series, steps, jumps, strict=True)]
    changed = _add_drifts(series, pools, changed, search)
    interrupted = replace(search, rate=search.rate * _INTERRUPTED)
    changed = find_interrupted_drifts(series, pools, changed, interrupted, search.rate)
    breaks = [list(_iterate_returns(values, changes, search)) for values, changes in zip(series, changed, strict=True)]
    alone = replace(search_jumps, rate=search_jumps.rate / max(1, len(series)))
    others = collect_magnitudes(series, pools, breaks, search)
    return [
        tuple(
            change
            if change.is_drift
            else replace(change, n_until_detected=measure_jump_delay(values, changes, magnitudes, place, alone))
            for place, change in enumerate(changes)
        )
        for values, changes, magnitudes in zip(series, breaks, others, strict=True)
    ]


def _locate_all(values: Array, changes: Sequence[Break], least: int) -> list[Break]:
    """Return steps with their most likely places between their neighbours; without those of fewer than ``least``
    values, which may be outliers."""
    places = [0, *(change.at for change in changes), values.size]
    located = [
        locate(values, replace(change, begin=begin, end=end))
        for change, begin, end in zip(changes, places, places[2:], strict=False)
    ]
    return [
        replace(change, begin=old.begin, end=old.end)
        for change, old in zip(located, changes, strict=True)
        if old.end - change.at >= least
    ]


def _merge(values: Array, steps: Sequence[Break], jumps: Sequence[Break]) -> list[Break]:
    """Return the steps and jumps of a series. A step next to a jump is the same change: it stays where the jump was
    found until its values clearly say otherwise, so that its date does not move while nights come."""
    changes = list(steps)
    for jump in jumps:
        rivals = [step for step in changes if abs(step.at - jump.at) < 2 * LEAST]
        if not any(step.at == jump.at or is_better_place(values, step, jump) for step in rivals):
            changes = [step for step in changes if step not in rivals] + [jump]
    return _sort(changes)


def _sort(changes: Sequence[Break]) -> list[Break]:
    return sorted(changes, key=lambda change: change.at)


def _iterate_returns(values: Array, changes: Sequence[Break], search: Search) -> Iterator[Break]:
    places = [0, *(change.at for change in changes), values.size]
    for change, begin, end in zip(changes, places, places[2:], strict=False):
        yield change if change.is_drift else find_return(values, change, begin, end, search)


def _add_drifts(
    series: Sequence[Array], pools: Sequence[Pool], breaks: Sequence[list[Break]], search: Search
) -> list[list[Break]]:
    """Return the changes of each series with its drift in place of the steps that it explains better: one that goes on,
    or one that ended with the last step."""
    drifting = replace(search, rate=search.rate * _DRIFTS)
    alone = replace(drifting, rate=drifting.rate / max(1, len(series)) / INSIDE)
    lasting = find_drifts(series, pools, breaks, drifting, search.rate)
    return [
        _replace_by_drift(changes, drift or _find_ended_drift(values, changes, alone))
        for values, changes, drift in zip(series, breaks, lasting, strict=True)
    ]


def _find_ended_drift(values: Array, changes: Sequence[Break], search: Search) -> Break | None:
    if not changes:
        return None
    before = values[: changes[-1].at]
    (drift,) = find_drifts([before], [], [changes[:-1]], search, search.rate)
    return drift and replace(drift, p=min(1.0, INSIDE * drift.p))


def _replace_by_drift(changes: Sequence[Break], drift: Break | None) -> list[Break]:
    if drift is None:
        return list(changes)
    others = (change for change in changes if change.at <= drift.begin or change.at >= drift.end)
    return _sort([*others, drift])
