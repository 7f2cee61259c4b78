"""Drifts that a step hides: a level that sinks all the time, and rises at one place, has no other mean and no trend.

1. A level, a slope and one step explain the values better than steps do, by the Bayesian information criterion over the
   series of a pool. They say where the step is.
2. Beyond that place the values drift by the test of all drifts (``drifts``), which knows nothing of those before.
3. Without these slopes the step is one by the test of all steps (``evidence``).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array

from .drifts import find_drifts, fit_sen_line, limit_outliers, measure_step_square
from .evidence import estimate_correlation, find_best_split
from .find import Break, Search, build_break, compute_correlation_bound
from .places import locate
from .pooled import Pool

_CLEAR = 2.0  # difference of the criterion that decides, as of drifts
_PARAMETERS = 4  # a level, a slope, a step and its place
_LOOKS = 2  # as of a return
_WINDOWS = 4  # times the smallest segment: values on either side, of which a trend needs so many


@dataclass(frozen=True)
class _Family:
    """Series that are judged together: their numbers, their values of the same nights, and how to pool them."""

    numbers: tuple[int, ...]
    values: Array
    pool: Pool | None

    def cut(self, begin: int, end: int) -> tuple[list[Array], list[Pool]]:
        """Return the series and their pool between two nights."""
        values = self.values[:, begin:end]
        pools = [] if self.pool is None else [replace(self.pool, members=tuple(range(len(values))), values=values)]
        return list(values), pools


def find_interrupted_drifts(
    series: Sequence[Array], pools: Sequence[Pool], breaks: Sequence[Sequence[Break]], search: Search, level: float
) -> list[list[Break]]:
    """Return the changes of each series; where a step hid a drift, these instead. ``breaks``: the changes that are
    known; a series with a drift keeps its own. ``search``, ``level``: as of :func:`find_drifts`."""
    changed = [list(changes) for changes in breaks]
    for family in _iterate_families(series, pools):
        drifts = _search_family(family, breaks, search, level)
        for number, several in zip(family.numbers, drifts, strict=True):
            if several and not any(change.is_drift for change in breaks[number]):
                changed[number] = several
    return changed


def _iterate_families(series: Sequence[Array], pools: Sequence[Pool]) -> Iterator[_Family]:
    complete = [pool for pool in pools if np.all(np.isfinite(pool.values))]
    pooled = {number for pool in complete for number in pool.members}
    yield from (_Family(pool.members, pool.values, pool) for pool in complete)
    yield from (_Family((n,), values[np.newaxis], None) for n, values in enumerate(series) if n not in pooled)


def _search_family(
    family: _Family, breaks: Sequence[Sequence[Break]], search: Search, level: float
) -> list[list[Break]]:
    n_nights, least = family.values.shape[1], _WINDOWS * search.least
    none: list[list[Break]] = [[] for _ in family.numbers]
    places = np.arange(search.least, n_nights - least + 1)
    if not places.size:
        return none
    gains = np.array(
        [
            _measure_gains(values, [change.at for change in breaks[number]], places, search.least)
            for number, values in zip(family.numbers, family.values, strict=True)
        ]
    )
    place = int(np.argmax(gains.sum(axis=0)))
    if gains[:, place].sum() < _CLEAR:
        return none
    at = int(places[place])
    after = find_drifts(*_with_no_breaks(family.cut(at, n_nights)), search, level)
    look = replace(search, looks=_LOOKS)  # the drift before it is a second question about what is significant
    before = find_drifts(*_with_no_breaks(family.cut(0, at)), look, level)
    return [
        [] if drift is None or gain <= -_CLEAR else _describe(values, at, earlier, drift, search)
        for values, earlier, drift, gain in zip(family.values, before, after, gains[:, place], strict=True)
    ]


def _with_no_breaks(part: tuple[list[Array], list[Pool]]) -> tuple[list[Array], list[Pool], list[tuple[Break, ...]]]:
    return *part, [()] * len(part[0])


def _measure_gains(values: Array, steps: Sequence[int], places: Array, least: int) -> Array:
    """Return by how much the criterion of a slope with a step at each place is better than that of steps."""
    levels, n = limit_outliers(values), values.size
    x = np.asarray(np.arange(n) - (n - 1) / 2, float)
    centred = levels - levels.mean()
    rest = centred - float(x @ centred) / float(x @ x) * x
    after = n - places
    lengths = after - after**2 / n - np.cumsum(x[::-1])[after - 1] ** 2 / float(x @ x)  # of steps without a line
    explained = np.cumsum(rest[::-1])[after - 1] ** 2 / lengths
    square = float(rest @ rest)
    floor = 1e-12 * float(levels @ levels) + 1e-300
    n_steps, step_square = measure_step_square(levels, steps, least)
    costs = np.log(np.maximum(floor, square - explained) / n)
    best = int(places[int(np.argmin(costs))])
    size = _estimate_noise_inflation(rest, x, best)
    step_cost = math.log(max(floor, step_square) / n)
    return np.asarray(n / size * (step_cost - costs) + (1 + 2 * n_steps - _PARAMETERS) * math.log(n / size))


def _estimate_noise_inflation(rest: Array, x: Array, at: int) -> float:
    """Return for how many values one counts, as neighbours are correlated beyond a slope and a step."""
    columns = np.stack([np.ones(x.size), x, np.arange(x.size) >= at], axis=1)
    residuals = rest - columns @ np.linalg.lstsq(columns, rest, rcond=None)[0]
    square = float(residuals @ residuals)
    correlation = estimate_correlation(residuals, square) if square > 0 else 0.0
    return (1 + correlation) / (1 - correlation)


def _describe(values: Array, at: int, earlier: Break | None, drift: Break, search: Search) -> list[Break]:
    """Return the earlier drift, the step and the drift since then; nothing if there is no step without them."""
    slopes = [0.0 if earlier is None else fit_sen_line(values[:at])[0], fit_sen_line(values[at:])[0]]
    x = np.arange(values.size) - at
    even = values - np.where(x < 0, slopes[0], slopes[1]) * x
    split = find_best_split(even, search.least, compute_correlation_bound(even, even.size))
    if split is None:
        return []
    step = locate(even, build_break(split, 0, values.size, search))
    is_near = step.first <= at + search.least and step.last >= at - search.least
    if not is_near or step.p > search.rate or values.size - step.at <= _WINDOWS * search.least:
        return []
    begin = step.at + search.least  # the step is measured by the first values after it
    since = replace(
        drift,
        begin=step.at,
        end=values.size,
        at=max(begin, at + drift.at),
        first=max(begin, at + drift.first),
        last=max(begin, at + drift.last),
    )
    ended = [] if earlier is None else [replace(earlier, end=step.at)]
    return [*ended, replace(step, n_until_detected=values.size - step.at), since]
