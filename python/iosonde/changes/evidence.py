"""Evidence that a series changed its level somewhere, corrected for its autocorrelation.

1. Values are replaced by normal scores of their ranks (van der Waerden 1952). Skewed noise, two modes and single
   outliers then count no more than normal noise.
2. Each place has the difference of the means before and after, in standard errors. The variance of a mean is that of a
   first-order autoregressive series. Residuals after the most likely change give its correlation, corrected for bias
   (Kendall 1954, Biometrika 41, 403-404, for two means). A permutation of moving blocks (Künsch 1989) estimates the
   same by simulation, but its intervals are too short because blocks have ends.
3. The correlation is itself an estimate, which makes the tails longer: Student's t, with degrees of freedom from the
   delta method.
4. The p-value of the best place *over N looks* uses the rate at which the generalised likelihood ratio crosses a level
   without a change (Siegmund & Venkatraman 1995, Annals of Statistics 23, 255-271, with ν of Siegmund 1985). It must
   resolve 10⁻⁶, which permutations cannot.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from iosonde.core.arrays import Array
from iosonde.stats.estimate.distributions import normal_quantile, t_two_sided_p

_MOST_CORRELATED = 0.95
_NEARLY = 3.0  # in log likelihood
_STEPS = 64  # of an integral


@dataclass(frozen=True)
class RankSplit:
    """The most significant place of a series: ``at`` values are before it. ``z``: the difference of the levels in
    standard errors, as a normal deviate, above 0 where the values went up. ``correlation``: of neighbours, at least 0.
    ``first`` to ``last``: the places that are nearly as significant, likelihoods within a factor of e³. They enclose at
    least 95 of 100 detected changes (docs/method/watching.md)."""

    at: int
    z: float
    correlation: float
    first: int
    last: int


def find_best_split(values: Array, least: int, correlated: float = 0.0) -> RankSplit | None:
    """Return the most significant place with at least ``least`` values on either side, or None if there is none or no
    spread.

    ``correlated``: a lower bound of the correlation of neighbours that is known from more than these values. If the
    place is the last one with ``least`` values after it, the bounds reach further: a later one may be as likely.
    """
    if values.size < 2 * least or np.ptp(values) == 0:
        return None
    return _find_split(compute_normal_scores(values), least, values.size - least, correlated, values.size)


def find_best_pooled_split(values: Array, least: int, correlated: float = 0.0) -> RankSplit | None:
    """Return :func:`find_best_split` of values that are means of scores, with the evidence of both their ranks and the
    means themselves.

    Ranks limit what a few values can show, and means trust outliers and an underestimated correlation. ``z`` is the
    root of the mean of both squares, so that its p-value is about the geometric mean of theirs (Vovk & Wang 2020,
    Biometrika 107, 791-808; their factor e is not needed, as simulations in docs/method/watching.md show).
    """
    split = find_best_split(values, least, correlated)
    if split is None:
        return None
    mean = _find_split(values - values.mean(), least, values.size - least, correlated, values.size)
    if split.z * mean.z <= 0:
        return split
    return replace(
        split,
        z=math.copysign(math.hypot(split.z, mean.z) / math.sqrt(2), split.z),
        correlation=max(split.correlation, mean.correlation),
    )


def evaluate_split(values: Array, at: int, correlated: float = 0.0) -> RankSplit | None:
    """Return the evidence of a change at a place that is known from elsewhere, or None without spread."""
    return None if np.ptp(values) == 0 else _find_split(compute_normal_scores(values), at, at, correlated, at)


def _find_split(scores: Array, first: int, last: int, correlated: float, end: int) -> RankSplit:
    """Return the most significant of the places ``first`` to ``last``. The scores add up to 0. If it is the last one,
    its bounds reach on to the places below ``end`` that are nearly as significant."""
    n, n_tested = scores.size, last - first + 1
    before = np.arange(first, max(end, last + 1))
    sums = np.cumsum(scores)[before - 1]
    apart = -sums / (n - before) - sums / before  # difference of the means: the scores add up to 0
    scaled = np.abs(apart) * np.sqrt(before * (n - before))
    at = int(before[np.argmax(scaled[:n_tested])])
    rest = np.concatenate([scores[:at] - scores[:at].mean(), scores[at:] - scores[at:].mean()])
    square = float(rest @ rest)
    if square <= 1e-12 * n:
        return RankSplit(at, math.copysign(math.inf, apart[at - first]), 0.0, at, at)
    correlation = max(correlated, estimate_correlation(rest, square))
    worth = compute_variance_inflation(correlation, n)
    variance = square / max(1.0, n - worth[at] - worth[n - at])
    errors = np.sqrt(variance * (worth[before] / before + worth[n - before] / (n - before)))
    telling = apart / errors
    place = int(np.argmax(np.abs(telling[:n_tested])))
    possible = before.size if place == n_tested - 1 else n_tested
    near = before[:possible][telling[:possible] ** 2 >= telling[place] ** 2 - 2 * _NEARLY]
    return RankSplit(
        int(before[place]),
        t_to_normal_deviate(float(telling[place]), max(1.0, (n - 2) * (1 - correlation**2) / 2)),
        correlation,
        int(near[0]),
        int(near[-1]),
    )


def compute_normal_scores(values: Array) -> Array:
    """Φ⁻¹((rank - 3/8) / (n + 1/4)) (Blom 1958); equal values have the mean of their scores."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.concatenate([[0.0], np.cumsum(_compute_expected_scores(values.size))])
    last = np.cumsum(count)
    means = (ends[last] - ends[last - count]) / count
    return np.asarray(means[place], float)


@lru_cache(2048)
def _compute_expected_scores(n: int) -> Array:
    half = [normal_quantile((rank - 0.375) / (n + 0.25)) for rank in range(1, n // 2 + 1)]
    return np.array([*half, *([0.0] * (n % 2)), *(-score for score in reversed(half))])


def estimate_correlation(rest: Array, square: float) -> float:
    """Estimate the correlation of neighbours from residuals. It is at least 0: values that repel each other add no
    certainty."""
    uncorrected = float(rest[1:] @ rest[:-1]) / square
    n = rest.size
    return min(max((uncorrected + 2 / n) / max(0.1, 1 - 4 / n), 0.0), _MOST_CORRELATED)


def estimate_lasting_correlation(values: Array) -> float:
    """Estimate the correlation of neighbours in a series whose level may change a few times. A few changes hardly
    affect the mean squares of differences over one and two steps: 2σ²(1-ρ) and 2σ²(1-ρ²) of a first-order
    autoregressive series."""
    scores = compute_normal_scores(values)
    lag1_square, two = (float(np.mean(np.square(scores[lag:] - scores[:-lag]))) for lag in (1, 2))
    return min(max(two / lag1_square - 1, 0.0), _MOST_CORRELATED) if lag1_square > 0 else 0.0


def compute_variance_inflation(correlation: float, most: int) -> Array:
    """Return, for each number of neighbours up to ``most``, the variance of their mean relative to independent
    values."""
    n = np.arange(1, most + 1)
    limit = (1 + correlation) / (1 - correlation)
    ratios = limit - 2 * correlation * (1 - correlation**n) / (n * (1 - correlation) ** 2)
    return np.concatenate([[1.0], ratios])


def t_to_normal_deviate(t: float, df: float) -> float:
    """Return the normal deviate with the tail of this t."""
    p = t_two_sided_p(abs(t), df)
    return math.copysign(-normal_quantile(p / 2) if p > 0 else math.inf, t)


def compute_split_p(z: float, looks: int, least: int, longest: int) -> float:
    """Return the p-value of a split this significant, up or down, at any of ``looks`` looks at a series without a
    change. Each look searches for ``least`` to ``longest`` values after the split."""
    if z < 1:
        return 1.0
    if math.isinf(z):
        return 0.0
    low, high = z / math.sqrt(max(longest, least + 1)), z / math.sqrt(least)
    width = (high - low) / _STEPS
    x = low + width * (np.arange(_STEPS) + 0.5)
    crossings = float(np.sum(x * np.exp(-1.166 * x)) * width)  # ν(x) ≈ exp(-0.583 x)
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return min(1.0, 2 * looks * z * density * crossings + math.erfc(z / math.sqrt(2)))
