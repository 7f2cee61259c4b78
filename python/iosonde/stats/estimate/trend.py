"""Drift of a series of trials: Mann-Kendall over several cells at once, exact for few trials.

Each cell is compared only with itself, so cells may have different means, and the cells' statistics add up: the
seasonal Kendall test (Hirsch, Slack & Smith 1982, Water Resources Research 18, 107-121), with cells as seasons.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from iosonde.core.arrays import Array, Indices, compute_median, count_distinct

from .distributions import normal_two_sided_p

_LONGEST = 1000  # trials of a series; longer ones are averaged to this length
_SHORTEST = 10  # lower limit of the averaged length with many series
_MOST_PAIRS = 5_000_000  # of all series together, whose slopes are held in memory
_EXACT_PAIRS = 2000  # limit of pairs for the exact null distribution


@dataclass(frozen=True)
class Trend:
    """``s``: rising minus falling pairs; ``tau``: the same over all pairs; ``relative_change``: from first to
    last trial."""

    s: int
    tau: float
    p: float
    relative_change: float
    n: int


def estimate_trend(series: Sequence[Array]) -> Trend | None:
    """Return the common trend of several series, each in its own order; None if no series has 3 distinct values.

    ``relative_change`` is the median of all pairwise slopes (Theil-Sen; Sen 1968, JASA 63, 1379-1389), each over its
    series' mean, times the length of the longest series.
    """
    most = int(np.clip(math.sqrt(2 * _MOST_PAIRS / max(1, len(series))), _SHORTEST, _LONGEST))
    used = [thinned for x in series if x.size >= 3 and np.ptp(thinned := _thin_series(x, most)) > 0]
    if not used:
        return None
    s = sum(_compute_score(x) for x in used)
    pairs = sum(x.size * (x.size - 1) // 2 for x in used)
    tied = any(count_distinct(x) < x.size for x in used)
    p = (
        _compute_exact_p(s, [x.size for x in used])
        if not tied and pairs <= _EXACT_PAIRS
        else _compute_normal_p(s, used)
    )
    slopes = np.concatenate([compute_slopes(x) / abs(float(np.mean(x)) or 1.0) for x in used])
    longest = max(x.size for x in used)
    return Trend(s, s / pairs, p, compute_median(slopes) * (longest - 1), sum(x.size for x in used))


def _thin_series(x: Array, longest: int) -> Array:
    """Average neighbours of a long series: the number of pairs grows with the square, and the means show a drift as
    well."""
    if x.size <= longest:
        return x
    starts = np.arange(longest) * x.size // longest
    return np.asarray(np.add.reduceat(x, starts) / np.diff(starts, append=x.size))


@lru_cache(maxsize=8)  # cells mostly have the same number of trials
def _index_pairs(n: int) -> tuple[Indices, Indices]:
    rows, columns = np.triu_indices(n, 1)
    return rows, columns


def _compute_score(x: Array) -> int:
    rows, columns = _index_pairs(x.size)
    return int(np.sign(x[columns] - x[rows]).sum())


def compute_slopes(x: Array) -> Array:
    """Return the slope of every pair of values."""
    rows, columns = _index_pairs(x.size)
    slopes: Array = (x[columns] - x[rows]) / (columns - rows)
    return slopes


def _compute_exact_p(s: int, sizes: list[int]) -> float:
    """Return P(|S| >= |s|) if every order within every series is equally likely (counted by convolution)."""
    inversions = np.ones(1)
    for size in sizes:
        for k in range(2, size + 1):
            inversions = np.convolve(inversions, np.full(k, 1 / k))
    scores = 2 * np.arange(inversions.size) - (inversions.size - 1)
    return float(min(1.0, inversions[np.abs(scores) >= abs(s)].sum()))


def _compute_normal_p(s: int, series: list[Array]) -> float:
    variance = 0.0
    for x in series:
        n, ties = x.size, np.unique(x, return_counts=True)[1]
        variance += (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    return 1.0 if variance == 0 else normal_two_sided_p(max(0, abs(s) - 1) / math.sqrt(variance))
