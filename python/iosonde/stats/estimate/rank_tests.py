"""Rank tests, and the shift between two samples that belongs to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, erfc, nan, sqrt

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .distributions import normal_quantile, normal_two_sided_p, t_two_sided_p

BRUNNER_MUNZEL_FROM = 10
_EXACT_PAIRS, _EXACT_TIED = 1000, 200  # limits of the exact test: pairs in all, and trials if there are ties
_EXACT_SIGNS = 50
_EXACT_RUNS = 200
_MOST_PAIRS = 4_000_000  # differences that are sorted in memory; more are counted by bisection
_HALVINGS = 40

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankTest:
    """Result of a rank test. ``shift`` is Hodges and Lehmann's estimate of B - A (Annals of Math. Statistics 34, 1963,
    598-611)."""

    name: str
    p: float
    shift: Estimate
    superiority: float  # P(B > A) + P(B = A) / 2, over all pairs


def run_unpaired_test(a: Array, b: Array, level: float) -> RankTest:
    """Run the Brunner-Munzel test from 10 trials per side (allows unequal spreads), below it the Mann-Whitney test.

    Brunner & Munzel, Biometrical Journal 42, 2000, 17-25: its t approximation needs 10. The Mann-Whitney null
    distribution is exact for few trials, with or without ties.
    """
    superiority = _compute_superiority(a, b)
    name, p = "Brunner-Munzel", nan
    if min(a.size, b.size) >= BRUNNER_MUNZEL_FROM and 0 < superiority < 1:
        p = _compute_brunner_munzel_p(a, b, superiority)
    if np.isnan(p):
        name, p = "Mann-Whitney", _compute_mann_whitney_p(a, b, superiority)
    rank = _find_interval_rank_of_pairs(a.size, b.size, level)
    pick = (
        _build_picker(np.subtract.outer(b, a).ravel())
        if a.size * b.size <= _MOST_PAIRS
        else _build_sum_picker(np.sort(-a), np.sort(b))
    )
    return RankTest(name, p, _estimate_shift(pick, a.size * b.size, rank, level, min(a.size, b.size)), superiority)


def run_paired_test(a: Array, b: Array, level: float) -> RankTest:
    """Run Wilcoxon's signed-rank test of B - A; the shift is the median of the Walsh averages."""
    d = b - a
    superiority = float(np.mean(d > 0) + np.mean(d == 0) / 2)
    p = _compute_wilcoxon_p(d) if np.any(d != 0) else 1.0
    count = d.size * (d.size + 1) // 2
    if count <= _MOST_PAIRS:
        rows, columns = np.triu_indices(d.size)
        pick = _build_picker((d[rows] + d[columns]) / 2)
    else:
        halves = np.sort(d / 2)
        pick = _build_sum_picker(halves, halves, folded=True)
    return RankTest(
        "Wilcoxon",
        p,
        _estimate_shift(pick, count, _find_interval_rank_of_averages(d.size, level), level, d.size),
        superiority,
    )


def compute_too_few_runs_p(marks: npt.NDArray[np.bool_]) -> float:
    """Return the p-value of as few runs, or fewer, of these marks in random order; 1 if all are alike.

    Wald & Wolfowitz, Annals of Math. Statistics 11, 1940, 147-162: exact up to 200 marks, else normal.
    """
    n, a = marks.size, int(marks.sum())
    b, runs = n - a, 1 + int((marks[1:] != marks[:-1]).sum())
    if not a or not b:
        return 1.0
    if n <= _EXACT_RUNS:
        ways = sum(
            comb(a - 1, (r + 1) // 2 - 1) * comb(b - 1, r // 2 - 1)
            + comb(a - 1, r // 2 - 1) * comb(b - 1, (r + 1) // 2 - 1)
            for r in range(2, runs + 1)
        )
        return ways / comb(n, a)
    usual = 1 + 2 * a * b / n
    spread = sqrt((usual - 1) * (usual - 2) / (n - 1))
    return erfc((usual - runs - 0.5) / spread / sqrt(2)) / 2


def _compute_brunner_munzel_p(a: Array, b: Array, superiority: float) -> float:
    """Return the p-value; NaN if ties leave no variance."""
    spread_a, spread_b = a.size * np.var(_count_below(a, b), ddof=1), b.size * np.var(_count_below(b, a), ddof=1)
    spread = float(spread_a + spread_b)
    if spread == 0:
        return nan
    df = spread**2 / float(spread_a**2 / (a.size - 1) + spread_b**2 / (b.size - 1))
    return t_two_sided_p(a.size * b.size * (superiority - 0.5) / sqrt(spread), df)


def _count_below(values: Array, others: Array) -> Array:
    """Return, for each value, how many of the others lie below it; equal ones count half."""
    ordered = np.sort(others)
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2


def _compute_mann_whitney_p(a: Array, b: Array, superiority: float) -> float:
    """Return the p-value: exact for few trials, else normal with correction for continuity and ties."""
    pairs = a.size * b.size
    larger = round(2 * pairs * max(superiority, 1 - superiority)) / 2  # the larger of both U
    both = np.concatenate([a, b] if a.size <= b.size else [b, a])
    ties = _sum_tie_cubes(both)
    if pairs <= _EXACT_PAIRS and (not ties or both.size <= _EXACT_TIED):
        return (
            _compute_permutation_p(_compute_twice_ranks(both), min(a.size, b.size))
            if ties
            else min(1.0, 2 * float(_build_mann_whitney_null(a.size, b.size)[int(larger) :].sum()))
        )
    n = a.size + b.size
    variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)))
    off = larger - pairs / 2 - 0.5
    return normal_two_sided_p(off / sqrt(variance)) if off > 0 and variance > 0 else 1.0


def _compute_permutation_p(twice_ranks: npt.NDArray[np.int_], n_a: int) -> float:
    """Return twice the smaller tail of the rank sum of the first ``n_a``, over all choices of ``n_a`` ranks.

    Equal trials share the mean of their ranks, so the sums are exact with ties, too (Lehmann, Nonparametrics, 1975,
    §1.4).
    """
    total = int(twice_ranks.sum())
    ways = np.zeros((n_a + 1, total + 1))  # [trials, sum]: number of choices
    ways[0, 0] = 1.0
    for rank in twice_ranks.tolist():
        ways[1:, rank:] += ways[:-1, : total + 1 - rank].copy()
    null = ways[n_a] / ways[n_a].sum()
    observed = int(twice_ranks[:n_a].sum())
    return min(1.0, 2 * float(min(null[: observed + 1].sum(), null[observed:].sum())))


def _compute_wilcoxon_p(d: Array) -> float:
    """Return the p-value: exact for few differences, with ties, too; else normal. Zeros are left out."""
    sizes = np.abs(d[d != 0])
    twice_ranks = _compute_twice_ranks(sizes)
    plus, n = int(twice_ranks[d[d != 0] > 0].sum()), sizes.size
    if n <= _EXACT_SIGNS:
        null = _build_signed_rank_null(twice_ranks.tolist())
        return min(1.0, 2 * float(min(null[: plus + 1].sum(), null[plus:].sum())))
    off = plus / 2 - n * (n + 1) / 4
    return normal_two_sided_p(off / sqrt((n * (n + 1) * (2 * n + 1) - _sum_tie_cubes(sizes) / 2) / 24))


def _compute_twice_ranks(values: Array) -> npt.NDArray[np.int_]:
    """Return twice the rank of each, so that mean ranks of ties are whole numbers, too."""
    return np.rint(2 * _count_below(values, values) + 1).astype(int)


def _sum_tie_cubes(values: Array) -> int:
    """Return the sum of t³ - t over groups of t equal values; 0 without ties."""
    sizes = np.unique(values, return_counts=True)[1]
    return int((sizes**3 - sizes).sum())


def _estimate_shift(pick: Callable[[int], float], count: int, rank: int, level: float, n: int) -> Estimate:
    """Estimate the median of ``count`` values with its interval; ``pick(k)`` returns the k-th smallest (from 1)."""
    center = (pick((count + 1) // 2) + pick(count // 2 + 1)) / 2
    return (
        Estimate(
            center, None, None, level, n, (Message("too-few-trials", "too few trials for an interval of the shift"),)
        )
        if rank < 1
        else Estimate(center, pick(rank), pick(count + 1 - rank), level, n)
    )


def _compute_superiority(a: Array, b: Array) -> float:
    """Return P(B > A) + P(B = A) / 2 over all pairs."""
    ordered = np.sort(b)
    up_to, below = (np.searchsorted(ordered, a, side) for side in ("right", "left"))
    return float((2 * b.size - up_to - below).mean() / 2 / b.size)


def _build_picker(values: Array) -> Callable[[int], float]:
    ordered = np.sort(values)
    return lambda k: float(ordered[k - 1])


def _build_sum_picker(x: Array, y: Array, folded: bool = False) -> Callable[[int], float]:
    """Return a function for the k-th smallest of all xᵢ + yⱼ (``folded``: i <= j of equal x and y) of ordered x and y,
    without computing all of them.

    It bisects on the number of sums up to a value (Johnson & Mizoguchi, SIAM J. Computing 7, 1978), to 2⁻⁴⁰ of their
    range.
    """

    def up_to(value: float) -> int:
        count = int(np.searchsorted(y, value - x, "right").sum())
        return (count + int(np.searchsorted(2 * x, value, "right"))) // 2 if folded else count

    def pick_smallest(k: int) -> float:
        low, high = float(x[0] + y[0]), float(x[-1] + y[-1])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if up_to(middle) >= k else (middle, high)
        return high

    return pick_smallest


@cache
def _find_interval_rank_of_pairs(n_a: int, n_b: int, level: float) -> int:
    """Return the largest k with P(U < k) <= alpha/2 under the Mann-Whitney null: the interval's rank from either
    end."""
    if n_a * n_b > _EXACT_PAIRS:
        mean, sd = n_a * n_b / 2, np.sqrt(n_a * n_b * (n_a + n_b + 1) / 12)
        return int(np.floor(mean - normal_quantile(0.5 + level / 2) * sd))
    return _find_rank(_build_mann_whitney_null(n_a, n_b), level)


@cache
def _build_mann_whitney_null(n_a: int, n_b: int) -> Array:
    """Return the probability of each U if both sides are alike."""
    # Orders of m and n trials with U = u: those that end in an A (above all n B), and those that end in a B.
    orders = [np.zeros(n_a * n_b + 1) for _ in range(n_a + 1)]
    for counts in orders:
        counts[0] = 1.0
    for n in range(1, n_b + 1):
        for m in range(1, n_a + 1):
            orders[m][n:] += orders[m - 1][:-n]
    shares: Array = orders[n_a] / orders[n_a].sum()
    return shares


@cache
def _find_interval_rank_of_averages(n: int, level: float) -> int:
    """Return the interval's rank for the signed-rank statistic."""
    if n > 50:
        mean, sd = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return int(np.floor(mean - normal_quantile(0.5 + level / 2) * sd))
    return _find_rank(_build_signed_rank_null(range(1, n + 1)), level)


def _build_signed_rank_null(ranks: Sequence[int]) -> Array:
    """Return the probability of each sum of positive ranks, each positive with probability 1/2."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1.0
    for rank in ranks:
        chances /= 2
        chances[rank:] += chances[:-rank].copy()
    return chances


def _find_rank(chances: Array, level: float) -> int:
    return int(np.searchsorted(np.cumsum(chances), (1 - level) / 2 + 1e-12, side="right"))
