"""Large changes of a few values, before ranks can show any.

Ranks of three values after 60 are never significant over a year of looks. A value that lies far beyond all earlier ones
is rare, and the next values hardly ever lie there, too, without a change:

1. Residuals of the values before, from the median of their segment, in units of their median magnitude. Those of all
   series of a pool say together how long the tails are.
2. The probability that one value lies as far as the *nearest* of the new ones: the share of residuals beyond it, where
   there are any; else 1 ÷ (n + 1) times (largest residual ÷ distance)³, the tail of Student's t with 3 degrees of
   freedom. A year whose outliers are as far makes the test wait.
3. Outliers come in groups. The probability of each further one, after a first one, is at least ``_STICKY``, that of the
   first one, and an upper bound of the correlation of neighbours.
4. p over all looks is their sum. Benjamini & Hochberg over all series.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from iosonde.core.arrays import Array
from iosonde.stats.estimate.multiple import find_discovery_p_limit

from .evidence import estimate_lasting_correlation
from .find import Break, Search
from .places import measure_noise
from .pooled import Pool

LEAST = 3  # values after a jump
_MOST = 7  # values that add up: more of them make the difference a question of levels, which ranks answer
_BEFORE = 20  # values before
_STICKY = 0.2
_SURE = 1.645  # standard errors of the correlation: an upper bound of 95 %
_APART = 2.5  # standard deviations of a step that is tried
_TAIL = 3.0


def find_jumps(
    series: Sequence[Array], pools: Sequence[Pool], breaks: Sequence[Sequence[Break]], search: Search
) -> list[list[Break]]:
    """Return the jumps of each series that some look has or had, in order of time; one family of tests. ``breaks``: the
    other changes of each series."""
    magnitudes = collect_magnitudes(series, pools, breaks, search)
    jumps = [
        _find_in_series(values, changes, others, search)
        for values, changes, others in zip(series, breaks, magnitudes, strict=True)
    ]
    limit = find_discovery_p_limit([min((jump.p for jump in several), default=1.0) for several in jumps], search.rate)
    return [[jump for jump in several if jump.p <= limit] for several in jumps]


def _find_in_series(values: Array, breaks: Sequence[Break], others: Array, search: Search) -> list[Break]:
    jumps: list[Break] = []
    for at in _list_candidates(values, min(LEAST, search.least)):
        # A step that is nearer may be this jump, dated wrongly.
        before = [*(change for change in breaks if change.at <= at - 2 * LEAST), *jumps]
        tests = [
            _test(values[: at + after], before, others, after, search)
            for after in _list_lengths(search)
            if at + after <= values.size
        ]
        best = min((jump for jump in tests if jump), key=lambda jump: jump.p, default=None)
        is_duplicate = any(abs(jump.at - at) < LEAST for jump in jumps)
        if best and best.p <= search.rate and not is_duplicate:
            jumps.append(best)
    return jumps


def _list_candidates(values: Array, least: int) -> list[int]:
    """Return the places where the next values lie clearly apart from those before."""
    if values.size < _BEFORE + least:
        return []
    before, after = (
        np.median(np.lib.stride_tricks.sliding_window_view(values, width), axis=1) for width in (2 * LEAST, least)
    )
    steps = after[2 * LEAST :] - before[: values.size - least - 2 * LEAST + 1]
    noise = measure_noise(np.diff(values)) / math.sqrt(2)
    return [int(place) + 2 * LEAST for place in np.flatnonzero(np.abs(steps) > _APART * noise)]


def measure_jump_delay(values: Array, changes: Sequence[Break], others: Array, place: int, search: Search) -> int:
    """Return the number of values after a change with which it was a jump; ``n_until_detected`` if it never was.

    ``changes`` of the series, in which it has this ``place``; ``others``: as of :func:`collect_magnitudes`;
    ``search``: with the rate of this series alone.
    """
    change = changes[place]
    tests = (
        (after, _test(values[: change.at + after], changes[:place], others, after, search))
        for after in _list_lengths(search)
        if after < change.n_until_detected
    )
    return next((after for after, jump in tests if jump and jump.p <= search.rate), change.n_until_detected)


def collect_magnitudes(
    series: Sequence[Array], pools: Sequence[Pool], breaks: Sequence[Sequence[Break]], search: Search
) -> list[Array]:
    """Return, for each series, the magnitudes of the older residuals of those measured in the same nights."""
    magnitudes = [
        _measure_magnitudes(values[: -search.newest], changes) for values, changes in zip(series, breaks, strict=True)
    ]
    pooled = {number: pool.members for pool in pools for number in pool.members}
    return [
        np.concatenate([np.empty(0), *(magnitudes[member] for member in pooled.get(number, ()))])
        for number in range(len(series))
    ]


def _list_lengths(search: Search) -> range:
    return range(min(LEAST, search.least), search.newest + 1)


def _collect_residuals(values: Array, changes: Sequence[Break]) -> Array:
    """Return residuals from the medians of the segments between the changes."""
    places = sorted({0, values.size, *(change.at for change in changes if change.at < values.size)})
    return np.concatenate([values[begin:end] - np.median(values[begin:end]) for begin, end in pairwise(places)])


def _measure_magnitudes(values: Array, changes: Sequence[Break]) -> Array:
    """Return the magnitudes of residuals relative to their noise; none without noise."""
    if values.size == 0:
        return values
    residuals = _collect_residuals(values, changes)
    noise = measure_noise(residuals)
    return np.asarray(np.abs(residuals) / noise) if noise > 0 else np.empty(0)


def _test(values: Array, changes: Sequence[Break], others: Array, after: int, search: Search) -> Break | None:
    """Return the newest ``after`` values as a jump; None if they are clearly none, or too few or too even values are
    before them."""
    at, begin = values.size - after, max((change.at for change in changes), default=0)
    if at < _BEFORE or at - begin < 2 * LEAST:
        return None
    level = float(np.median(values[begin:at]))
    distances = values[at:] - level
    is_large = abs(float(distances.mean())) >= search.share * abs(level)
    is_earlier = abs(values[at - 1] - level) > abs(values[at - 1] - np.median(values[at:]))
    if not is_large or is_earlier or np.ptp(np.sign(distances)):
        return None
    residuals = _collect_residuals(values[:at], changes)
    noise = measure_noise(residuals)
    if noise == 0:
        return None
    nearest, own = float(np.abs(distances).min()) / noise, np.abs(residuals) / noise
    first = max(float(np.mean(own >= nearest)), _compute_tail(np.concatenate([own, others]), nearest))
    if search.looks * first * _STICKY ** (min(after, _MOST) - 1) > search.rate:
        return None
    correlation = estimate_lasting_correlation(values[:at])
    further = max(_STICKY, first, min(1.0, correlation + _SURE / math.sqrt(at)))
    p = search.looks * first * further ** (min(after, _MOST) - 1)
    return Break(begin, values.size, at, min(1.0, p), correlation, at, at, after)


def _compute_tail(magnitudes: Array, distance: float) -> float:
    """Return an estimate of the probability that one value is so far from its level."""
    beyond = int((magnitudes >= distance).sum())
    share = float(min(1.0, float(magnitudes.max()) / distance) ** _TAIL)
    return (beyond + share) / (magnitudes.size + 1)
