"""Levels that drift: a trend over many nights, which no single step explains.

1. Scores of ranks in a window that ends with a history (or with a later step) have a slope, in standard errors of a
   first-order autoregressive series; Student's t, as of steps (``evidence``). p over all looks is the rate at which the
   slopes of windows of several lengths cross a level without a change (Siegmund & Venkatraman 1995): neighbouring
   windows of L values correlate by 1 - 3 ÷ L.
2. Pools as of steps: the mean scores of groups are histories, too. Benjamini & Hochberg over all of them, then each
   series in the window of a significant one, with Holm's correction.
3. A step that fits better than a trend is a step: the squares that remain of a level that drifts from some place on,
   against those of the steps that were found (or of the best one), by the Bayesian information criterion. Scores would
   not do: they spread within levels as far as between them. Series of a pool that cannot tell alone decide together.
4. Sen's slope (1968, JASA 63, 1379-1389), with the interval of Kendall's test, whose variance is scaled for the
   correlation.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import normal_quantile, normal_two_sided_p
from iosonde.stats.estimate.multiple import adjust_by_holm, find_discovery_p_limit
from iosonde.stats.estimate.trend import compute_slopes

from .evidence import compute_normal_scores, estimate_correlation, t_to_normal_deviate
from .find import BeforeAfter, Break, Search, compute_correlation_bound, list_seeded_ranges
from .places import measure_noise
from .pooled import Pool

_CLEAR = 2.0  # difference of the criterion that decides alone
_NEARLY = 6.0  # of starts that are possible: a likelihood within a factor of e³
_MOST_STARTS = 200  # that are tried
_MOST_VALUES = 1000  # of whose pairs the slopes are computed; neighbours of more are averaged
_NEIGHBOURS = 5
_EVEN = 1e-12  # squares that remain, relative to all, of values without noise
_FAR = 3.0  # standard deviations between a value and its neighbours
_LENGTHS = 3.5  # sum of 1 ÷ L over windows that are longer by √2 each, times the shortest


@dataclass(frozen=True)
class _Window:
    """The slope of a segment of a history: ``z`` in standard errors, and p over all looks."""

    begin: int
    end: int
    z: float
    p: float


@dataclass(frozen=True)
class _Candidate:
    """A possible drift of a series, by how much its criterion is better than that of steps, and the criterion of each
    of the ``starts`` in its segment."""

    drift: Break
    gain: float
    starts: Indices
    costs: Array

    @property
    def segment(self) -> tuple[int, int]:
        """Return the places where its segment begins and ends."""
        return self.drift.begin, self.drift.end


def find_drifts(
    series: Sequence[Array], pools: Sequence[Pool], breaks: Sequence[Sequence[Break]], search: Search, level: float
) -> list[Break | None]:
    """Return the drift at the end of each series, or None; one family of tests, at the rate of ``search``. ``level``:
    the most false ones among the series of a significant pool. ``breaks``: the steps of each series."""
    alone = [_find_window(values, search) for values in series]
    pooled = [
        (pool, group, _find_window(pool.pool_scores(group, 0, pool.nights), search))
        for pool in pools
        for group in pool.groups
    ]
    windows = [*alone, *(window for _, _, window in pooled)]
    limit = find_discovery_p_limit([1.0 if window is None else window.p for window in windows], search.rate)
    families = [[(number, window)] for number, window in enumerate(alone) if window and window.p <= limit]
    for pool, group, window in pooled:
        if window and window.p <= limit:
            families.append(list(_list_members(pool, group, window, series, level)))
    drifts: list[Break | None] = [None] * len(series)
    for family in families:
        candidates = {
            number: candidate
            for number, window in family
            if (candidate := _compare_with_steps(series[number], window, breaks[number], search))
        }
        together = sum(candidate.gain for candidate in candidates.values())
        for number, candidate in _share_starts(candidates, series, search).items():
            clear = _CLEAR * max(
                [1, *(change.together for change in breaks[number] if change.at > candidate.drift.begin)]
            )
            is_drift = candidate.gain >= clear or (candidate.gain > -_CLEAR and together >= clear)
            other = drifts[number]
            if is_drift and (other is None or candidate.drift.p < other.p):
                drifts[number] = replace(candidate.drift, together=len(candidates) if len(family) > 1 else 0)
    return drifts


def _share_starts(candidates: dict[int, _Candidate], series: Sequence[Array], search: Search) -> dict[int, _Candidate]:
    """Return the candidates of a family with the start that they have in common: one series hardly tells it."""
    segments = {candidate.segment for candidate in candidates.values()}
    if len(candidates) < 2 or len(segments) > 1:
        return candidates
    starts = next(iter(candidates.values())).starts
    costs = np.sum([candidate.costs for candidate in candidates.values()], axis=0)
    placed = {n: replace(each, drift=_place(each.drift, starts, costs)) for n, each in candidates.items()}
    return {n: each for n, each in placed.items() if _is_large(series[n], each.drift, search)}


def _place(drift: Break, starts: Indices, costs: Array) -> Break:
    """Return a drift with its most likely start: the first one if that is possible, as a drift from the first value on
    has no place of its own."""
    near = starts[costs <= costs.min() + _NEARLY]
    start = int(starts[0] if near[0] == starts[0] else starts[int(np.argmin(costs))])
    first, at, last = (drift.begin + int(place) for place in (near[0], start, near[-1]))
    return replace(drift, at=at, first=first, last=last, n_until_detected=drift.end - at)


def _is_large(values: Array, drift: Break, search: Search) -> bool:
    slope, base = fit_sen_line(values[drift.at : drift.end])
    return abs(slope) * (drift.end - drift.at - 1) >= search.share * abs(base)


def _find_window(values: Array, search: Search) -> _Window | None:
    """Return the window with the most significant slope of those that end with the values."""
    n, shortest = values.size, 4 * search.least
    if n < shortest or np.ptp(values) == 0:
        return None
    windows = [
        _Window(begin, end, z, compute_trend_p(abs(z), search.looks, shortest))
        for begin, end in list_seeded_ranges(n, shortest)
        if end == n
        for z in (measure_trend(values[begin:end], compute_correlation_bound(values, end - begin))[0],)
    ]
    return min(windows, key=lambda window: window.p)


def measure_trend(values: Array, correlated: float = 0.0) -> tuple[float, float]:
    """Return the slope of the scores of values in standard errors, as a normal deviate, and the correlation of
    neighbours, which is at least ``correlated``."""
    n = values.size
    if np.ptp(values) == 0:
        return 0.0, 0.0
    scores, x = compute_normal_scores(values), np.arange(n) - (n - 1) / 2
    slope = float(x @ scores / (x @ x))
    rest = scores - slope * x
    square = float(rest @ rest)
    if square <= 1e-12 * n:
        return math.copysign(math.inf, slope), 0.0
    correlation = max(correlated, estimate_correlation(rest, square))
    inflation = (1 + correlation) / (1 - correlation)
    variance = square / max(1.0, n - 2 * inflation) * inflation / float(x @ x)
    df = max(1.0, (n - 2) * (1 - correlation**2) / 2)
    return t_to_normal_deviate(slope / math.sqrt(variance), df), correlation


def compute_trend_p(z: float, looks: int, shortest: int) -> float:
    """Return the p-value of a slope this significant, up or down, in any window of ``shortest`` values or more, at any
    of ``looks`` looks at a series without a change."""
    if z < 1:
        return 1.0
    if math.isinf(z):
        return 0.0
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    rate = 3 * _LENGTHS / shortest * math.exp(-0.583 * z * math.sqrt(6 / shortest))
    n_lengths = 2 * math.log2(max(2.0, looks / shortest))
    return min(1.0, 2 * looks * z * density * rate + n_lengths * math.erfc(z / math.sqrt(2)))


def _list_members(
    pool: Pool, group: Sequence[int], window: _Window, series: Sequence[Array], level: float
) -> Iterator[tuple[int, _Window]]:
    """Iterate over the series of a group that drift in its window."""
    tests = []
    for row in group:
        number, measured = pool.members[row], np.isfinite(pool.values[row])
        begin, end = int(measured[: window.begin].sum()), int(measured[: window.end].sum())
        values = series[number]
        z, _ = measure_trend(values[begin:end], compute_correlation_bound(values, end - begin))
        tests.append((number, replace(window, begin=begin, end=end, z=z)))
    adjusted = adjust_by_holm([normal_two_sided_p(item.z) for _, item in tests])
    for (number, item), p in zip(tests, adjusted, strict=True):
        if p is not None and p <= level:
            yield number, replace(item, p=max(p, window.p))


def _compare_with_steps(values: Array, window: _Window, breaks: Sequence[Break], search: Search) -> _Candidate | None:
    """Return the drift of a series that is significant in a window, and its gain over steps; None if it is too small to
    count."""
    begin = max((change.at for change in breaks if change.at <= window.begin + search.least), default=0)
    inside = [change.at - begin for change in breaks if change.at > begin]
    part = values[begin : window.end]
    levels = limit_outliers(part)
    first = search.least if begin else 1
    starts = np.arange(first, max(first + 1, part.size - 4 * search.least + 1), max(1, part.size // _MOST_STARTS))
    least = _EVEN * float(levels @ levels)
    squares = np.array([max(least, _measure_drift_square(levels, int(start))) for start in starts])
    place = int(np.argmin(squares))
    correlation = measure_trend(part, compute_correlation_bound(values, part.size))[1]
    n = part.size * (1 - correlation) / (1 + correlation)
    costs = n * np.log(squares / part.size)
    n_steps, step_square = measure_step_square(levels, inside, search.least)
    step_cost = n * math.log(max(least, step_square) / part.size) + (1 + 2 * n_steps) * math.log(n)
    drift = _place(Break(begin, window.end, 0, window.p, correlation, 0, 0, is_drift=True), starts, costs)
    has_place = drift.at > begin + first
    gain = step_cost - float(costs[0 if not has_place else place]) - (2 + has_place) * math.log(n)
    return _Candidate(drift, gain, starts, costs) if _is_large(values, drift, search) else None


def limit_outliers(values: Array) -> Array:
    """Return values of which none lies far from the median of its neighbours, which keeps steps."""
    half = _NEIGHBOURS // 2
    padded = np.pad(values, half, mode="edge")
    medians = np.median(np.lib.stride_tricks.sliding_window_view(padded, _NEIGHBOURS), axis=1)
    reach = _FAR * measure_noise(np.diff(values)) / math.sqrt(2)
    return np.clip(values, medians - reach, medians + reach)


def _measure_drift_square(values: Array, start: int) -> float:
    """Return the sum of squares that remain of a level that is even up to a place and drifts from there on."""
    x = np.maximum(0.0, np.arange(values.size) - start + 1.0)
    x -= x.mean()
    centred = values - values.mean()
    return float(centred @ centred - (x @ centred) ** 2 / (x @ x))


def measure_step_square(values: Array, places: Sequence[int], least: int) -> tuple[int, float]:
    """Return the number of steps, and the sum of squares that they leave: those at ``places``, or else the best one."""
    if places:
        parts = np.split(values, list(places))
        return len(places), float(sum(part.size * part.var() for part in parts))
    centred = values - values.mean()
    at, n = np.arange(least, values.size - least + 1), values.size
    explained = np.cumsum(centred)[at - 1] ** 2 * n / (at * (n - at))
    return 1, float(centred @ centred - explained.max())


def estimate_drift(values: Array, correlation: float, level: float) -> tuple[BeforeAfter, Estimate]:
    """Estimate the first and the last level of a line through values, and its slope, relative to the first level.

    The intervals are those of the lines with the ends of the interval of Sen's slope; the relative slope is unknown
    after a level of 0.
    """
    slopes, last = estimate_sen_slope(values, correlation, level), values.size - 1
    firsts = [_locate_line(values, slope) for slope in slopes]
    lasts = [first + slope * last for first, slope in zip(firsts, slopes, strict=True)]

    def build(numbers: Sequence[float]) -> Estimate:
        return Estimate(numbers[0], min(numbers), max(numbers), level, values.size)

    def build_ratio(numbers: Sequence[float]) -> Estimate:
        if min(firsts) <= 0:
            return Estimate(None, None, None, level, values.size)
        return build([number / first for number, first in zip(numbers, firsts, strict=True)])

    return BeforeAfter(build(firsts), build(lasts), build_ratio(lasts)), build_ratio(slopes)


def fit_sen_line(values: Array) -> tuple[float, float]:
    """Return Sen's slope and the level of the first value."""
    slope = float(np.median(_list_slopes(values)))
    return slope, _locate_line(values, slope)


def estimate_sen_slope(values: Array, correlation: float, level: float) -> tuple[float, float, float]:
    """Return Sen's slope with the ends of its interval."""
    slopes = np.sort(_list_slopes(values))
    n, pairs = min(values.size, _MOST_VALUES), slopes.size
    inflation = (1 + correlation) / (1 - correlation)
    half = -normal_quantile((1 - level) / 2) * math.sqrt(n * (n - 1) * (2 * n + 5) / 18 * inflation)
    low, high = max(0, math.floor((pairs - half) / 2)), min(pairs - 1, math.ceil((pairs + half) / 2))
    return float(np.median(slopes)), float(slopes[low]), float(slopes[high])


def _locate_line(values: Array, slope: float) -> float:
    """Return the first level of a line with this slope, with half of the values above it."""
    return float(np.median(values - slope * np.arange(values.size)))


def _list_slopes(values: Array) -> Array:
    width = -(-values.size // _MOST_VALUES)
    means = values[: values.size // width * width].reshape(-1, width).mean(axis=1)
    return np.asarray(compute_slopes(means) / width)
