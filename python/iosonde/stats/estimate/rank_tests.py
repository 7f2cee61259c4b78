"""Tests that use only the order of the trials, and the shift between two samples that goes with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from .distributions import normal_quantile

BRUNNER_MUNZEL_FROM = 10
_EXACT_PAIRS = 1000
_MOST_PAIRS = 4_000_000  # so many differences are made and sorted, more are counted
_HALVINGS = 40

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

    superiority = _superiority(a, b)
    name, p = "Brunner-Munzel", np.nan
    if min(a.size, b.size) >= BRUNNER_MUNZEL_FROM and 0 < superiority < 1:
        with catch_warnings():
            simplefilter("ignore")  # ties alone: its variance is 0, and p is NaN
            p = float(stats.brunnermunzel(a, b).pvalue)
    if np.isnan(p):
        tied = np.unique(np.concatenate([a, b])).size < a.size + b.size
        method = "asymptotic" if tied or a.size * b.size > _EXACT_PAIRS else "exact"
        name, p = "Mann-Whitney", float(stats.mannwhitneyu(a, b, method=method).pvalue)
    rank = _rank_of_pairs(a.size, b.size, level)
    if a.size * b.size <= _MOST_PAIRS:
        pick = _of_all(np.subtract.outer(b, a).ravel())
    else:
        pick = _of_sums(np.sort(-a), np.sort(b))
    return RankTest(name, p, _shift(pick, a.size * b.size, rank, level, min(a.size, b.size)), superiority)


def paired(a: Array, b: Array, level: float) -> RankTest:
    """Wilcoxon's signed-rank test of B - A; the shift is the median of the Walsh averages."""
    from scipy import stats

    d = b - a
    superiority = float(np.mean(d > 0) + np.mean(d == 0) / 2)
    p = float(stats.wilcoxon(d).pvalue) if np.any(d != 0) else 1.0
    count = d.size * (d.size + 1) // 2
    if count <= _MOST_PAIRS:
        rows, columns = np.triu_indices(d.size)
        pick = _of_all((d[rows] + d[columns]) / 2)
    else:
        halves = np.sort(d / 2)
        pick = _of_sums(halves, halves, folded=True)
    return RankTest("Wilcoxon", p, _shift(pick, count, _rank_of_averages(d.size, level), level, d.size), superiority)


def _shift(pick: Callable[[int], float], count: int, rank: int, level: float, n: int) -> Estimate:
    """The median of ``count`` values, of which ``pick(k)`` gives the k-th smallest (from 1), with its interval."""
    center = (pick((count + 1) // 2) + pick(count // 2 + 1)) / 2
    if rank < 1:
        return Estimate(center, None, None, level, n, ("too few trials for an interval of the shift",))
    return Estimate(center, pick(rank), pick(count + 1 - rank), level, n)


def _superiority(a: Array, b: Array) -> float:
    """P(B > A) + P(B = A) / 2 over all pairs."""
    ordered = np.sort(b)
    up_to, below = (np.searchsorted(ordered, a, side) for side in ("right", "left"))
    return float((2 * b.size - up_to - below).mean() / 2 / b.size)


def _of_all(values: Array) -> Callable[[int], float]:
    ordered = np.sort(values)
    return lambda k: float(ordered[k - 1])


def _of_sums(x: Array, y: Array, folded: bool = False) -> Callable[[int], float]:
    """The k-th smallest of all xᵢ + yⱼ (``folded``: i <= j of equal x and y) of ordered x and y, without making them.

    By bisection on the number of sums up to a value (Johnson & Mizoguchi, SIAM J. Computing 7, 1978), to 2⁻⁴⁰ of
    their range.
    """

    def up_to(value: float) -> int:
        found = int(np.searchsorted(y, value - x, "right").sum())
        return (found + int(np.searchsorted(2 * x, value, "right"))) // 2 if folded else found

    def pick(k: int) -> float:
        low, high = float(x[0] + y[0]), float(x[-1] + y[-1])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if up_to(middle) >= k else (middle, high)
        return high

    return pick


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
