"""The share of a variation that an effect explains, and its interval: of `anova`, of S1 in `rank`, of every sentence.

Exact for each sum of squares, then joined, where the degrees of freedom of the noise are known.

The share is V / (V + V of the other effects + σ²). A sum of squares over the noise variance is noncentral χ², which
gives limits of its noncentrality λ = n·V/σ²; the noise has those of χ². The limits are joined as MOVER does for sums
and ratios of independent estimates (Zou & Donner, Statistics in Medicine 27, 2008; Donner & Zou, Statistical Methods
in Medical Research 21, 2012, eq. 7-8). A bootstrap of such shares has too short intervals where effects are small, as
their spread grows with the share itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from iosonde.core.types import Estimate

from .distributions import chi2_quantile, noncentral_chi2, normal_quantile, t_critical
from .special import increasing_root

LEAST_DF = 4  # of noise
NO_NOISE = "no interval: nothing tells noise from effects; repeat every setting, 3 times or more"
_LARGE = 2_000.0  # of χ'²: beyond it √χ'² is normal to all digits that matter


@dataclass(frozen=True)
class SumOfSquares:
    """Of an effect, with its degrees of freedom."""

    ss: float
    df: int


@dataclass(frozen=True)
class _Limits:
    value: float
    low: float
    high: float

    def __add__(self, other: _Limits) -> _Limits:
        value = self.value + other.value
        return _Limits(value, value - math.hypot(self.value - self.low, other.value - other.low),
                       value + math.hypot(self.high - self.value, other.high - other.value))  # fmt: skip


@dataclass(frozen=True)
class Variation:
    """Of ``n`` rows about their mean: the sum of squares in ``total`` and of the ``noise``; the rest are effects."""

    total: float
    noise: SumOfSquares
    n: int

    def explained_by(self, effect: SumOfSquares, level: float) -> Estimate:
        """The effect's share of the total, which in a balanced design is its S1, with the interval of that share in the
        population; without one below ``LEAST_DF`` of noise."""
        value = min(1.0, max(0.0, effect.ss) / self.total)
        if self.noise.df < LEAST_DF:
            return Estimate(value, None, None, level, self.n, (NO_NOISE,))
        df = max(0, self.n - 1 - self.noise.df - effect.df)
        others = SumOfSquares(max(0.0, self.total - self.noise.ss - effect.ss), df)
        return held_between(value, share_limits(effect, others, self.noise, self.n, level), level, self.n)


def held_between(value: float, limits: tuple[float, float], level: float, n: int) -> Estimate:
    """``value`` with limits that are widened to hold it where bias moves it out, and cut at 0 and 1."""
    value, low, high = (min(1.0, max(0.0, x)) for x in (value, *limits))
    return Estimate(value, min(low, value), max(high, value), level, n)


def share_limits(
    effect: SumOfSquares, others: SumOfSquares, noise: SumOfSquares, n: float, level: float
) -> tuple[float, float]:
    """(low, high) of the effect's share of all three, over ``n`` rows."""
    variance = noise.ss / noise.df
    if variance <= 1e-24 * (effect.ss + others.ss):
        whole = effect.ss + others.ss
        value = effect.ss / whole if whole > 0 else 0.0
        return value, value
    tail = (1 - level) / 2
    spread = _Limits(1.0, noise.df / chi2_quantile(1 - tail, noise.df), noise.df / chi2_quantile(tail, noise.df))
    mine = _noncentrality(effect, variance, noise.df, spread, level)
    rest = _noncentrality(others, variance, noise.df, spread, level)
    rest = rest + _Limits(n, n * spread.low, n * spread.high)
    low, high = _lowest_ratio(mine, rest), _highest_ratio(mine, rest)
    return low / (1 + low), high / (1 + high)


def _lowest_ratio(top: _Limits, bottom: _Limits) -> float:
    """On the scale of logarithms: the high limit of the noise may be many times its estimate (few repeats)."""
    if top.low <= 0:
        return 0.0
    down = math.hypot(math.log(top.value / top.low), math.log(bottom.high / bottom.value))
    return top.value / bottom.value * math.exp(-down)


def _highest_ratio(top: _Limits, bottom: _Limits) -> float:
    """As Donner & Zou have it, which allows a top of 0."""
    a, b, end_a = top.value, bottom.value, top.high
    end_b = max(bottom.low, 0.01 * b)
    down = end_b * (2 * b - end_b)
    return (a * b + math.sqrt(max((a * b) ** 2 - end_a * (2 * a - end_a) * down, 0.0))) / down


def _noncentrality(effect: SumOfSquares, variance: float, noise_df: int, spread: _Limits, level: float) -> _Limits:
    """λ with its limits; the noise's own error is in its bias (df·σ²) and, as Student's t, in the width."""
    if effect.df < 1:
        return _Limits(0.0, 0.0, 0.0)
    x, tail = max(effect.ss, 0.0) / variance, (1 - level) / 2
    value = max(0.0, x - effect.df)
    wider = t_critical(level, noise_df) / normal_quantile(1 - tail)
    down = wider * (value - min(value, _solve(x, effect.df, 1 - tail)))
    up = wider * (max(value, _solve(x, effect.df, tail)) - value)
    return _Limits(value, max(0.0, value - math.hypot(down, effect.df * (spread.high - 1))),
                   value + math.hypot(up, effect.df * (1 - spread.low)))  # fmt: skip


def _solve(x: float, df: int, p: float) -> float:
    """λ at which χ'² of ``df`` is below ``x`` with probability ``p``; 0 where it is less likely already without."""
    if x <= chi2_quantile(p, df):
        return 0.0
    if x > _LARGE:
        return float(max(0.0, math.sqrt(max(0.0, x - df + 1)) - normal_quantile(p)) ** 2)

    def missing(noncentrality: float) -> tuple[float, float]:
        below, slope = noncentral_chi2(x, df, noncentrality)
        return p - below, -slope

    return increasing_root(missing, x, 0.0, (math.sqrt(x) + 10) ** 2)
