"""Tests that use only the order of the trials, and the shift between two samples that goes with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from .distributions import normal_quantile

BRUNNER_MUNZEL_FROM = 10
_EXACT_PAIRS = 1000

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankTest:
    """``shift`` is Hodges and Lehmann's estimate of B - A (Annals of Math. Statistics 34, 1963, 598-611)."""

    name: str
    p: float
    shift: Estimate
    superiority: float  # P(B > A) + P(B = A) / 2, over all pairs


def unpaired(a: Array, b: Array, level: float) -> RankTest:
    """Brunner-Munzel from 10 trials a side (unequal spreads are allowed), below it the Mann-Whitney test.

    Brunner & Munzel, Biometrical Journal 42, 2000, 17-25: its t approximation needs 10; the Mann-Whitney null
    is exact for any number of trials without ties.
    """
    from scipy import stats

    differences = np.subtract.outer(b, a).ravel()
    superiority = float(np.mean(differences > 0) + np.mean(differences == 0) / 2)
    if min(a.size, b.size) >= BRUNNER_MUNZEL_FROM and 0 < superiority < 1:
        name, p = "Brunner-Munzel", float(stats.brunnermunzel(a, b).pvalue)
    else:
        tied = np.unique(np.concatenate([a, b])).size < a.size + b.size
        method = "asymptotic" if tied or a.size * b.size > _EXACT_PAIRS else "exact"
        name, p = "Mann-Whitney", float(stats.mannwhitneyu(a, b, method=method).pvalue)
    rank = _rank_of_pairs(a.size, b.size, level)
    return RankTest(name, p, _shift(differences, rank, level, min(a.size, b.size)), superiority)


def paired(a: Array, b: Array, level: float) -> RankTest:
    """Wilcoxon's signed-rank test of B - A; the shift is the median of the Walsh averages."""
    from scipy import stats

    d = b - a
    superiority = float(np.mean(d > 0) + np.mean(d == 0) / 2)
    p = float(stats.wilcoxon(d).pvalue) if np.any(d != 0) else 1.0
    rows, columns = np.triu_indices(d.size)
    averages = (d[rows] + d[columns]) / 2
    return RankTest("Wilcoxon", p, _shift(averages, _rank_of_averages(d.size, level), level, d.size), superiority)


def _shift(values: Array, rank: int, level: float, n: int) -> Estimate:
    ordered = np.sort(values)
    center = float(np.median(ordered))
    if rank < 1:
        return Estimate(center, None, None, level, n, ("too few trials for an interval of the shift",))
    return Estimate(center, float(ordered[rank - 1]), float(ordered[-rank]), level, n)


@cache
def _rank_of_pairs(n_a: int, n_b: int, level: float) -> int:
    """The largest k with P(U < k) <= alpha/2 under the Mann-Whitney null: the interval's place from either
    end."""
    if n_a * n_b > _EXACT_PAIRS:
        mean, sd = n_a * n_b / 2, np.sqrt(n_a * n_b * (n_a + n_b + 1) / 12)
        return int(np.floor(mean - normal_quantile(0.5 + level / 2) * sd))
    # Orders of m and n trials with U = u: those that end in an A (it beats all n B), and those that end in a B.
    orders = [np.zeros(n_a * n_b + 1) for _ in range(n_a + 1)]
    for counts in orders:
        counts[0] = 1.0
    for n in range(1, n_b + 1):
        for m in range(1, n_a + 1):
            orders[m][n:] += orders[m - 1][:-n]
    return _rank_of(orders[n_a] / orders[n_a].sum(), level)


@cache
def _rank_of_averages(n: int, level: float) -> int:
    """The same for the signed-rank statistic."""
    if n > 50:
        mean, sd = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return int(np.floor(mean - normal_quantile(0.5 + level / 2) * sd))
    chances = np.ones(1)
    for i in range(1, n + 1):
        step = np.zeros(i + 1)
        step[0] = step[i] = 0.5
        chances = np.convolve(chances, step)
    return _rank_of(chances, level)


def _rank_of(chances: Array, level: float) -> int:
    below = np.cumsum(chances)
    return int(np.searchsorted(below, (1 - level) / 2 + 1e-12, side="right"))
