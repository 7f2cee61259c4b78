"""All changes of many series at once. The search is hierarchical, as E-divisive (Matteson & James 2014, JASA 109,
334-345; Hunter: Fleming et al. 2023, ICPE), on seeded intervals (Kovács et al. 2023, Biometrika 110, 249-256), which
also detect a temporary dip. Benjamini & Hochberg limit the false discovery rate among the series. The levels before
and after a change, and their ratio, have intervals that know the autocorrelation."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import t_critical
from iosonde.stats.estimate.multiple import find_discovery_p_limit
from iosonde.stats.estimate.ratio import Moments, compute_moments, estimate_ratio_of_means

from .evidence import (
    RankSplit,
    compute_split_p,
    compute_variance_inflation,
    estimate_lasting_correlation,
    find_best_split,
)

_MANY = 1000
# Segments inside a history, which no look has among its newest values, are about so many times more than
# compute_split_p counts (docs/method/watching.md).
INSIDE = 5.0
LEAST = 5  # values on either side of a change
SHARE = 0.03
RATE = 0.05
LOOKS = 365
NEWEST = 14


@dataclass(frozen=True)
class Search:
    """Criteria of a change. ``least``: values on either side; ``share``: minimum relative difference of the means;
    ``rate``: the most false alarms, over all series and ``looks`` together, of changes among the ``newest`` values."""

    least: int = LEAST
    share: float = SHARE
    rate: float = RATE
    looks: int = LOOKS
    newest: int = NEWEST


@dataclass(frozen=True)
class Break:
    """A change between value ``at`` - 1 and ``at``, at least between ``first`` and ``last``, in the segment from
    ``begin`` to ``end``. ``p``: p-value over all looks at a series that does not change. ``n_until_detected``: values
    after the change that suffice to detect it if all values before it are known. ``together``: the series that changed
    here by their pooled evidence; 0 if it was found by its own evidence alone. ``until``: the first value that is back
    at the level before, up to which the change is measured; 0 without one. ``is_drift``: a trend that begins there and
    goes on to ``end``, not a step."""

    begin: int
    end: int
    at: int
    p: float
    correlation: float
    first: int
    last: int
    n_until_detected: int = 0
    together: int = 0
    until: int = 0
    is_drift: bool = False


@dataclass(frozen=True)
class SearchedValues:
    """``size`` values in order of time. ``find`` returns the most significant change between two places, or None."""

    size: int
    find: Callable[[int, int], Break | None]


def find_changes(series: Sequence[Array], search: Search) -> list[tuple[Break, ...]]:
    """Return the changes of each series in order of time. Values are finite and in order of time."""
    return search_histories(build_searched_values(series, search), search)


def build_searched_values(series: Sequence[Array], search: Search) -> list[SearchedValues]:
    """Return series of values for a search."""
    return [SearchedValues(values.size, partial(find_break, values, search=search)) for values in series]


def search_histories(histories: Sequence[SearchedValues], search: Search) -> list[tuple[Break, ...]]:
    """Return the changes of each history in order of time, one family of tests.

    The newest values are judged among themselves: an old change in another history must not make an alarm today
    likelier.
    """
    first = [_find_strongest(history, 0, history.size, search, 1.0) for history in histories]
    most = _compute_p_limit(first, search)
    breaks_by_history = [
        list(_split_segment(history, 0, history.size, search, most, top))
        for history, top in zip(histories, first, strict=True)
    ]
    newest = [
        min(
            (change for change in breaks if _is_new(change, history.size, search)),
            key=lambda change: change.p,
            default=None,
        )
        for history, breaks in zip(histories, breaks_by_history, strict=True)
    ]
    newest_limit = min(most, _compute_p_limit(newest, search))
    return [
        tuple(_select_significant(history, breaks, search, most, newest_limit))
        for history, breaks in zip(histories, breaks_by_history, strict=True)
    ]


def _compute_p_limit(breaks: Sequence[Break | None], search: Search) -> float:
    return find_discovery_p_limit([1.0 if change is None else change.p for change in breaks], search.rate)


def _is_new(change: Break, size: int, search: Search) -> bool:
    return change.at >= size - search.newest


def _select_significant(
    history: SearchedValues, breaks: Sequence[Break], search: Search, most: float, newest_limit: float
) -> Iterator[Break]:
    for change in breaks:
        limit = newest_limit if _is_new(change, history.size, search) else most
        if change.p <= limit:
            yield replace(change, n_until_detected=_measure_delay(history, change, search, limit))


def _split_segment(
    history: SearchedValues, begin: int, end: int, search: Search, most: float, top: Break | None
) -> Iterator[Break]:
    """Iterate over the changes of a segment from left to right; ``top`` is the most significant one."""
    if top is None or top.p > most:
        return
    for low, high in ((begin, top.at), (top.at, end)):
        if low == top.at:
            yield top
        yield from _split_segment(history, low, high, search, most, _find_strongest(history, low, high, search, most))


def _find_strongest(history: SearchedValues, begin: int, end: int, search: Search, most: float) -> Break | None:
    """Return the most significant change in a segment that is large enough to count, or None."""
    candidates = (
        _weigh(history.find(begin + low, begin + high), end)
        for low, high in list_seeded_ranges(end - begin, 4 * search.least)
    )
    return min(
        (candidate for candidate in candidates if candidate and candidate.p <= most),
        key=lambda candidate: candidate.p,
        default=None,
    )


def _weigh(change: Break | None, end: int) -> Break | None:
    """Return a change with the p-value of its segment: one that ends before its parent, as a dip needs, is one of
    many more."""
    return change if change is None or change.end == end else replace(change, p=min(1.0, INSIDE * change.p))


def find_break(values: Array, begin: int, end: int, search: Search) -> Break | None:
    """Return the most significant change in a part of a series that is large enough to count, or None."""
    part = values[begin:end]
    split = find_best_split(part, search.least, compute_correlation_bound(values, part.size))
    if split is None or not is_large(part, split.at, search):
        return None
    return build_break(split, begin, end, search)


def is_large(values: Array, at: int, search: Search) -> bool:
    """Return whether the difference of the means before and after a place is large enough to count."""
    before, after = float(values[:at].mean()), float(values[at:].mean())
    return abs(after - before) >= search.share * abs(before)


def build_break(split: RankSplit, begin: int, end: int, search: Search) -> Break:
    """Build a change from the most significant split of the segment from ``begin`` to ``end``. As its nights pass, the
    places that a look searches become more, so that p of an older change counts all those after it."""
    longest = max(search.newest, end - begin - split.at)
    return Break(
        begin,
        end,
        begin + split.at,
        compute_split_p(abs(split.z), search.looks, search.least, longest),
        split.correlation,
        begin + split.first,
        begin + split.last,
    )


def compute_correlation_bound(values: Array, part: int) -> float:
    """Return a lower bound of the correlation of neighbours in a part of a series with so many values. A short stretch
    of a series that wanders looks like two levels and is too short to estimate its correlation."""
    return 0.0 if 2 * part > values.size else _compute_correlation(values.tobytes())


@lru_cache(64)
def _compute_correlation(values: bytes) -> float:
    return estimate_lasting_correlation(np.frombuffer(values))


def _measure_delay(history: SearchedValues, change: Break, search: Search, most: float) -> int:
    """Return the number of values after a change that a look needs to detect it."""
    for end in range(change.at + search.least, change.end):
        candidate = history.find(change.begin, end)
        if candidate and candidate.p <= most and candidate.last >= change.first:
            return end - change.at
    return change.end - change.at


def compute_least_values(search: Search, series: int) -> int:
    """Return the fewest values of a series in which a change of any size can be detected, among ``series`` series."""
    return next(n for n in range(2 * search.least, _MANY) if _is_detectable(n, search, series))


@lru_cache(64)
def _is_detectable(n: int, search: Search, series: int) -> bool:
    """Return whether a large change is detectable in ``n`` values with perfectly even noise."""
    noise = np.modf(np.arange(n) * 0.6180339887)[0]
    split = find_best_split(noise + 100.0 * (np.arange(n) >= n - n // 2), search.least)
    return (
        split is not None
        and compute_split_p(abs(split.z), search.looks, search.least, search.newest) <= search.rate / series
    )


@lru_cache(4096)
def list_seeded_ranges(n: int, shortest: int) -> tuple[tuple[int, int], ...]:
    """Return the whole range, and ranges of n/√2, n/2, … that overlap by half, the last of each ending at ``n``."""
    intervals, halvings = [(0, n)], 0.5  # each is shorter by √2 (Kovács et al.)
    while (length := n * 0.5**halvings) >= shortest:
        count = max(1, int(np.ceil((n - length) / (length / 2))))
        intervals += [
            (round(i * (n - length) / count), round(i * (n - length) / count + length)) for i in range(count + 1)
        ]
        halvings += 0.5
    return tuple(intervals)


def compute_newest_p(values: Array, search: Search) -> float:
    """Return the p-value of the most significant change among the newest values of a series, or 1 if there is none. It
    is that of :func:`find_changes` for one series in the segments that end with it."""
    (history,) = build_searched_values([values], search)
    return compute_newest_p_of(history, search)


def compute_newest_p_of(history: SearchedValues, search: Search) -> float:
    """Return the same for any history."""
    change = _find_newest(history, search)
    return 1.0 if change is None else change.p


def search_newest(histories: Sequence[SearchedValues], search: Search) -> list[tuple[Break, ...]]:
    """Return the most significant change among the newest values of each history, one family of tests: only segments
    that end with them are searched, and the delay of a change is not measured."""
    changes = [_find_newest(history, search) for history in histories]
    limit = _compute_p_limit(changes, search)
    return [(change,) if change and change.p <= limit else () for change in changes]


def _find_newest(history: SearchedValues, search: Search) -> Break | None:
    n = history.size
    ends = [history.find(begin, end) for begin, end in list_seeded_ranges(n, 4 * search.least) if end == n]
    return min(
        (candidate for candidate in ends if candidate and _is_new(candidate, n, search)),
        key=lambda candidate: candidate.p,
        default=None,
    )


@dataclass(frozen=True)
class BeforeAfter:
    """Means before and after, and their ratio after / before. ``n`` counts points."""

    before: Estimate
    after: Estimate
    ratio: Estimate


def estimate_levels(before: Array, after: Array, correlation: float, level: float) -> BeforeAfter:
    """Estimate the levels of two segments of a series with this ``correlation`` of neighbours.

    The standard deviation is scaled by the square root of the variance that the correlation adds to a mean. The
    interval is Student's, and that of the ratio is that of ``compare``. The largest of many possible changes is, in a
    series with few or noisy values, overestimated.
    """
    sides = [_widen_by_correlation(compute_moments(part), correlation) for part in (before, after)]
    means = [_estimate_mean(moments, level) for moments in sides]
    return BeforeAfter(means[0], means[1], estimate_ratio_of_means(sides[1], sides[0], level))


def _widen_by_correlation(of: Moments, correlation: float) -> Moments:
    times = math.sqrt(compute_variance_inflation(correlation, of.n)[of.n])
    return replace(of, sd=of.sd * times, log_sd=None if of.log_sd is None else of.log_sd * times)


def _estimate_mean(of: Moments, level: float) -> Estimate:
    if of.n < 2:
        return Estimate(of.mean, None, None, level, of.n, (Message("single-trial", "one trial shows no spread"),))
    half = t_critical(level, of.n - 1) * of.sd / math.sqrt(of.n)
    return Estimate(of.mean, of.mean - half, of.mean + half, level, of.n).within(
        low=0.0 if of.log_mean is not None else None
    )
