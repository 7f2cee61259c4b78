"""Changes that several series have in common: found by the evidence of all of them, then assigned to each.

1. Each series of a *pool* is measured in the same nights. In a segment its values become normal scores of their ranks,
   with the sign that makes a better value a higher one. The pooled value of a night is the mean of the scores of a
   group of series. A change of k independent series is √k times as many standard errors in it as in one of them, and
   with a correlation ρ of nights √(k ÷ (1 + (k - 1) ρ)) times. The sum is a projection (Wang & Samworth 2018, JRSS B
   80, 57-83) on a direction that is known, for dense changes (Enikeeva & Harchaoui 2019, Annals of Statistics 47,
   2051-2079). Combined p-values would not do: those of Simes, or of Liu & Xie (2020, JASA 115, 393-402), add up no
   evidence of series that are each not significant.
2. The pooled values are judged as one series (``evidence``), also by their ranks, as a bad night is an outlier of all
   series. Their residuals hold the correlations between the series, so that no covariance matrix is needed.
3. A change of a few series alone is diluted in a group. So the 2, 4, 8, … rows that changed most are pooled, too. They
   are chosen by the same values: their p is multiplied by the number of sets of so many rows.
4. Groups and sets are a family of their own (Benjamini & Hochberg), with half of the rate; series alone have the other
   half. So the probability of any false alarm stays at most the rate, however these depend on each other.
5. A pooled change says that some series changed. Each is tested at its place, and only there, with Holm's correction
   (hierarchical testing: Meinshausen 2008, Biometrika 95, 265-278). A series that is not significant did not change.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from iosonde.core.arrays import Array
from iosonde.stats.estimate.distributions import normal_two_sided_p
from iosonde.stats.estimate.multiple import adjust_by_holm

from .evidence import compute_normal_scores, evaluate_split, find_best_pooled_split
from .find import (
    Break,
    Search,
    SearchedValues,
    build_break,
    build_searched_values,
    compute_correlation_bound,
    is_large,
    search_histories,
)

FamilySearch = Callable[[Sequence[SearchedValues], Search], list[tuple[Break, ...]]]

_ALONE = 0.5  # share of the rate for series alone; the rest is for groups


@dataclass(frozen=True, eq=False)
class Pool:
    """Series that are measured in the same nights. ``members``: their numbers; ``values``: a row each, a column a
    night, NaN where it was not measured; ``signs``: 1 where higher is better, else -1; ``groups``: sets of rows that
    one change may touch."""

    members: tuple[int, ...]
    values: Array
    signs: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    _scores: dict[tuple[int, int], Array] = field(default_factory=dict, repr=False)

    @property
    def nights(self) -> int:
        """Return the number of nights."""
        return int(self.values.shape[1])

    def pool_scores(self, group: Sequence[int], begin: int, end: int) -> Array:
        """Return the mean score of a group for each night of a segment; 0, the mean of all, for a night without any."""
        scores = self.compute_scores(begin, end)[list(group)]
        counts = np.isfinite(scores).sum(axis=0)
        return np.asarray(np.nansum(scores, axis=0) / np.maximum(counts, 1))

    def compute_scores(self, begin: int, end: int) -> Array:
        """Return the normal scores of each row in a segment, with its sign; NaN where it was not measured."""
        if (begin, end) not in self._scores:
            scores = self.values[:, begin:end].copy()
            for row, sign in zip(scores, self.signs, strict=True):
                measured = np.isfinite(row)
                row[measured] = sign * compute_normal_scores(row[measured])
            self._scores[begin, end] = scores
        return self._scores[begin, end]


@dataclass(frozen=True)
class _Event:
    """A pooled change, and the rows of the pool that take part in its evidence."""

    pool: Pool
    change: Break
    rows: tuple[int, ...]


def find_changes_together(
    series: Sequence[Array], pools: Sequence[Pool], search: Search, find: FamilySearch = search_histories
) -> list[tuple[Break, ...]]:
    """Return the changes of each series in order of time, by its own evidence and by that of its pools. ``find``:
    which changes of a family are searched."""
    alone = get_search_alone(search, pools)
    breaks = [list(changes) for changes in find(build_searched_values(series, alone), alone)]
    for event in _find_events(pools, search, find):
        for row, change in _assign(event, series, breaks, search):
            own = breaks[event.pool.members[row]]
            own[:] = sorted(
                [*(other for other in own if not _overlap(other, change)), change], key=lambda item: item.at
            )
    return [tuple(changes) for changes in breaks]


def get_search_alone(search: Search, pools: Sequence[Pool]) -> Search:
    """Return the search of series alone: with pools, half of the false alarms are for them."""
    return replace(search, rate=search.rate * _ALONE) if pools else search


def build_histories(pools: Sequence[Pool], search: Search) -> list[tuple[Pool, tuple[int, ...], SearchedValues]]:
    """Return the pooled values of each group of each pool, and of its rows that changed most, with all its rows."""
    histories = []
    for pool in pools:
        n_rows = len(pool.members)
        finders = [(group, partial(_find_pooled_break, pool, group, search=search)) for group in pool.groups]
        finders += [
            (tuple(range(n_rows)), partial(_find_subset_break, pool, size, search=search))
            for size in _list_subset_sizes(n_rows)
        ]
        histories += [(pool, rows, SearchedValues(pool.nights, find)) for rows, find in finders]
    return histories


def _list_subset_sizes(n_rows: int) -> list[int]:
    """Return 2, 4, 8, … below the number of rows."""
    return [2**power for power in range(1, n_rows.bit_length()) if 2**power < n_rows]


def _find_subset_break(pool: Pool, size: int, begin: int, end: int, search: Search) -> Break | None:
    """Return the change of the rows that changed most, with p of any set of so many of them (Bonferroni)."""
    rows = _choose_rows(pool.compute_scores(begin, end), size, search.least)
    change = None if rows is None else _find_pooled_break(pool, rows, begin, end, search)
    return change and replace(change, p=min(1.0, change.p * math.comb(len(pool.members), size)))


def _choose_rows(scores: Array, size: int, least: int) -> tuple[int, ...] | None:
    """Return the ``size`` rows whose means differ most before and after one place, in the same direction; None if the
    nights are too few."""
    n = scores.shape[1]
    if n < 2 * least:
        return None
    before = np.arange(least, n - least + 1)
    sums = np.cumsum(np.nan_to_num(scores), axis=1)[:, before - 1]
    evidence = sums / np.sqrt(before * (n - before))
    signed = np.concatenate([evidence, -evidence], axis=1)
    largest = np.sort(signed, axis=0)[-size:].sum(axis=0)
    return tuple(int(row) for row in np.sort(np.argsort(signed[:, np.argmax(largest)])[-size:]))


def _find_pooled_break(pool: Pool, group: tuple[int, ...], begin: int, end: int, search: Search) -> Break | None:
    bound = compute_correlation_bound(pool.pool_scores(group, 0, pool.nights), end - begin)
    split = find_best_pooled_split(pool.pool_scores(group, begin, end), search.least, bound)
    return None if split is None else build_break(split, begin, end, search)


def _find_events(pools: Sequence[Pool], search: Search, find: FamilySearch) -> list[_Event]:
    """Return the pooled changes. Those of several groups of a pool at one place are one: that of the most significant
    group."""
    histories = build_histories(pools, search)
    together = replace(search, rate=search.rate * (1 - _ALONE))
    breaks_by_history = find([history for _, _, history in histories], together)
    changes = sorted(
        (
            _Event(pool, change, group)
            for (pool, group, _), breaks in zip(histories, breaks_by_history, strict=True)
            for change in breaks
        ),
        key=lambda event: event.change.p,
    )
    events: list[_Event] = []
    for event in changes:
        same = [
            place
            for place, other in enumerate(events)
            if other.pool is event.pool and _overlap(other.change, event.change)
        ]
        if same:
            other = events[same[0]]
            events[same[0]] = replace(other, rows=tuple(sorted({*other.rows, *event.rows})))
        else:
            events.append(event)
    return events


def _overlap(a: Break, b: Break) -> bool:
    """Return whether two changes may lie at the same place."""
    return a.first <= b.last and b.first <= a.last


def _assign(
    event: _Event, series: Sequence[Array], breaks: Sequence[Sequence[Break]], search: Search
) -> list[tuple[int, Break]]:
    """Return the rows that changed, each with its change."""
    candidates = [(row, _test_member(event, row, series, breaks, search)) for row in event.rows]
    adjusted = adjust_by_holm([None if change is None else change.p for _, change in candidates])
    members = []
    for (row, change), p in zip(candidates, adjusted, strict=True):
        number = event.pool.members[row]
        own = next((other for other in breaks[number] if change and _overlap(other, change)), None)
        if change is None or p is None or (own is None and p > search.rate):
            continue
        if own is None:
            change = replace(change, p=max(p, event.change.p))
        elif own.first <= change.at <= own.last:  # the place of all is more precise than that of one
            change = replace(own, at=change.at, first=max(own.first, change.first), last=min(own.last, change.last))
        else:
            change = own
        members.append((row, replace(change, n_until_detected=_get_delay(event, own))))
    return [(row, replace(change, together=len(members))) for row, change in members]


def _get_delay(event: _Event, own: Break | None) -> int:
    pooled = event.change.n_until_detected
    return pooled if own is None else min(own.n_until_detected, pooled)


def _test_member(
    event: _Event, row: int, series: Sequence[Array], breaks: Sequence[Sequence[Break]], search: Search
) -> Break | None:
    """Return the change of one series at the place of a pooled one, with the p-value of that place alone. Return None
    if it has too few values there or is too small to count."""
    number, pooled = event.pool.members[row], event.change
    values = series[number]
    measured = np.isfinite(event.pool.values[row])
    # Nights → places in the series, which may lack some of them.
    begin, first, at, last, end = (
        int(measured[:night].sum()) for night in (pooled.begin, pooled.first, pooled.at, pooled.last, pooled.end)
    )
    others = [change.at for change in breaks[number] if not change.first <= last or not first <= change.last]
    begin = max([begin, *(place for place in others if place <= at)])
    end = min([end, *(place for place in others if place > at)])
    if min(at - begin, end - at) < search.least:
        return None
    part = values[begin:end]
    split = evaluate_split(part, at - begin, compute_correlation_bound(values, part.size))
    if split is None or not is_large(part, at - begin, search):
        return None
    p = normal_two_sided_p(split.z)
    return Break(begin, end, at, p, split.correlation, max(first, 1), min(last, values.size - 1))
