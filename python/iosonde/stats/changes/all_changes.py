"""Every kind of change of many series, each with its share of the false alarms: steps, and jumps of the newest few
values, which are too few for the test of steps."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from iosonde.core.arrays import Array

from .find import Break, Search
from .jumps import collect_magnitudes, find_jumps, measure_jump_delay
from .places import locate
from .pooled import Pool, find_changes_together
from .returns import find_return

_STEPS, _JUMPS = 0.8, 0.1  # shares of the rate


def get_step_search(search: Search) -> Search:
    """Return the search of steps, which has most of the false alarms."""
    return replace(search, rate=search.rate * _STEPS)


def find_all_changes(series: Sequence[Array], pools: Sequence[Pool], search: Search) -> list[tuple[Break, ...]]:
    """Return the changes of each series in order of time. Values are finite and in order of time."""
    steps = [
        _locate_all(values, changes)
        for values, changes in zip(series, find_changes_together(series, pools, get_step_search(search)), strict=True)
    ]
    search_jumps = replace(search, rate=search.rate * _JUMPS)
    jumps = find_jumps(series, pools, steps, search_jumps)
    breaks = [
        list(_iterate_returns(values, _add(changes, jump), search))
        for values, changes, jump in zip(series, steps, jumps, strict=True)
    ]
    alone = replace(search_jumps, rate=search_jumps.rate / max(1, len(series)))
    others = collect_magnitudes(series, pools, breaks, search)
    return [
        tuple(
            replace(change, n_until_detected=measure_jump_delay(values, changes, magnitudes, place, alone))
            for place, change in enumerate(changes)
        )
        for values, changes, magnitudes in zip(series, breaks, others, strict=True)
    ]


def _locate_all(values: Array, changes: Sequence[Break]) -> list[Break]:
    """Return steps with their most likely places between their neighbours."""
    places = [0, *(change.at for change in changes), values.size]
    located = [
        locate(values, replace(change, begin=begin, end=end))
        for change, begin, end in zip(changes, places, places[2:], strict=False)
    ]
    return [replace(change, begin=old.begin, end=old.end) for change, old in zip(located, changes, strict=True)]


def _add(changes: Sequence[Break], jump: Break | None) -> list[Break]:
    """Return the changes with a jump, unless it is one of them."""
    is_new = jump is not None and all(change.last < jump.first for change in changes)
    return [*changes, jump] if jump and is_new else list(changes)


def _iterate_returns(values: Array, changes: Sequence[Break], search: Search) -> Iterator[Break]:
    places = [0, *(change.at for change in changes), values.size]
    for change, begin, end in zip(changes, places, places[2:], strict=False):
        yield find_return(values, change, begin, end, search)
