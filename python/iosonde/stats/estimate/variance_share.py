"""Share of the variation that an effect explains, with its interval: for `anova`, S1 in `rank`, and every sentence.

Exact for a single effect, combined for several, if the degrees of freedom of the noise are known.

The share is V / (V + V of the other effects + σ²), with λ = n·V/σ² the odds λ / (n + λ of the others). The limits of λ
are the noncentralities at which the effect's F would be at a quantile (Steiger & Fouladi, in: What if there were no
significance tests?, 1997). Their tails are those of the two-sided interval of one mean μ, λ = μ²: the lower limit is
above 0 if and only if the F test is significant, and the upper limit is never that of an F too small by chance.

Other effects are combined with their limits as MOVER does for ratios (Donner & Zou, Statistical Methods in Medical
Research 21, 2012, eq. 7-8); the part due to an unknown σ² counts as far as the ratio depends on it. Bootstrap intervals
of such shares are too narrow for small effects, because their spread grows with the share itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .distributions import chi2_quantile, normal_quantile, normal_upper_p, t_critical

LEAST_DF = 4  # of noise
NO_NOISE = Message(
    "no-replication", "no interval: noise cannot be separated from effects; repeat every setting, 3 times or more"
)
_LARGE = 2_000.0  # of χ'²: above, √χ'² is normal to all relevant digits
_LARGE_F = 500.0
_NO_EFFECT = 1e-12  # in units of the variance: an effect of exactly 0 has the limits of one that is nearly 0
_NO_DF = 1e-9  # a difference of degrees of freedom that is rounding
_HALVINGS = 48  # of an interval, down to floating-point precision


@dataclass(frozen=True)
class ApproximateSum:
    """A sum of squares whose degrees of freedom need not be whole."""

    ss: float
    df: float

    @property
    def mean_square(self) -> float:
        """Return the sum over its degrees of freedom."""
        return self.ss / self.df


@dataclass(frozen=True)
class SumOfSquares(ApproximateSum):
    """The sum of squares of an effect, with its degrees of freedom."""

    df: int


@dataclass(frozen=True)
class _Limits:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Variation:
    """The variation of ``n`` rows about their mean: sums of squares of the ``total`` and of the ``noise``; the rest are
    effects. ``weight``: the noise of all rows in units of the effect's own noise, if the rows have several
    variances."""

    total: float
    noise: ApproximateSum
    n: int
    weight: float | None = None

    def estimate_explained_share(
        self, effect: ApproximateSum, level: float, tested: ApproximateSum | None = None
    ) -> Estimate:
        """Return the effect's share of the total, which in a balanced design is its S1. The interval is that of the
        share in the population; there is none below ``LEAST_DF`` of noise. ``tested``: the noise of the effect, if it
        is another one."""
        if self.noise.df < LEAST_DF:
            value = min(1.0, max(0.0, effect.ss) / self.total)
            return Estimate(value, None, None, level, self.n, (NO_NOISE,))
        others = ApproximateSum(
            max(0.0, self.total - self.noise.ss - effect.ss), max(0, self.n - 1 - self.noise.df - effect.df)
        )
        return replace(self, noise=tested or self.noise).estimate_share_besides(effect, others, level)

    def estimate_share_besides(self, effect: ApproximateSum, others: ApproximateSum, level: float) -> Estimate:
        """Return the same, with the sum of squares of all ``others``."""
        value, weight = min(1.0, max(0.0, effect.ss) / self.total), self.n if self.weight is None else self.weight
        return clamp_share(value, compute_share_limits(effect, others, self.noise, weight, level), level, self.n)


def clamp_share(value: float, limits: tuple[float, float], level: float, n: int) -> Estimate:
    """Return ``value`` with limits widened to include it if bias excludes it, and cut at 0 and 1."""
    value, low, high = (min(1.0, max(0.0, x)) for x in (value, *limits))
    return Estimate(value, min(low, value), max(high, value), level, n)


def compute_share_limits(
    effect: ApproximateSum, others: ApproximateSum, noise: ApproximateSum, n: float, level: float
) -> tuple[float, float]:
    """Return (low, high) of the effect's share of all three, over ``n`` rows."""
    if effect.df < 1:
        return 0.0, 0.0
    variance = noise.ss / noise.df
    if variance <= 1e-24 * (effect.ss + others.ss):
        explained = effect.ss + others.ss
        value = effect.ss / explained if explained > 0 else 0.0
        return value, value
    fixed, exact = _FixedNoise.of(noise, level), _compute_exact(effect, noise, level)
    mine, rest = fixed.limits(effect, exact), fixed.limits(others)
    below = _Limits(n + rest.value, n + rest.low, n + rest.high)
    weight = (effect.df + mine.value * max(0.0, n - others.df) / below.value) / (effect.df + mine.value)
    low, high = _combine_lower_limits(mine, exact, below, weight), _combine_upper_limits(mine, exact, below, weight)
    return low / (1 + low), high / (1 + high)


@dataclass(frozen=True)
class _Tails:
    """Probabilities that F is below its value, at each limit of λ = μ²: ``tail`` at either end of a two-sided interval
    of μ ± z, so far as it lies on one side of 0. The lower limit leaves twice the tail at λ = 0."""

    tail: float

    @property
    def z(self) -> float:
        """The normal quantile."""
        return normal_quantile(1 - self.tail)

    def below(self, noncentrality: float) -> float:
        """Return the probability at the lower limit."""
        return 1 - self.tail - normal_upper_p(self.z + 2 * math.sqrt(noncentrality))

    def above(self, noncentrality: float) -> float:
        """Return the probability at the upper limit."""
        return max(0.0, self.tail - normal_upper_p(2 * math.sqrt(noncentrality) - self.z))


@dataclass(frozen=True)
class _FixedNoise:
    """Limits of λ for σ² as estimated; they are wider by the ratio of Student's t to the normal quantile, for the error
    of σ²."""

    variance: float
    tails: _Tails
    wider: float

    @classmethod
    def of(cls, noise: ApproximateSum, level: float) -> _FixedNoise:
        tails = _Tails((1 - level) / 2)
        return cls(noise.ss / noise.df, tails, t_critical(level, noise.df) / tails.z)

    def limits(self, effect: ApproximateSum, within: _Limits | None = None) -> _Limits:
        """Return the limits, cut at those of ``within``."""
        if effect.df < _NO_DF:
            return _Limits(0.0, 0.0, 0.0)
        x = max(effect.ss / self.variance, _NO_EFFECT)
        value = max(0.0, x - effect.df)
        lowest, highest = (_solve_noncentrality(x, effect.df, tail) for tail in (self.tails.below, self.tails.above))
        low = max(0.0, value - self.wider * max(0.0, value - lowest))
        high = value + self.wider * max(0.0, highest - value)
        if within is not None:
            low, high = max(low, min(within.low, value)), min(high, max(within.high, value))
        return _Limits(value, low, high)


def _compute_exact(effect: ApproximateSum, noise: ApproximateSum, level: float) -> _Limits:
    """Return λ with the limits of the noncentral F for an unknown σ²."""
    x, tail = max(effect.ss * noise.df / noise.ss, _NO_EFFECT), (1 - level) / 2
    value, tails = max(0.0, x - effect.df), _Tails(tail)
    if x > _LARGE_F:  # both sums of squares then have separable errors
        near, df = _FixedNoise(noise.ss / noise.df, tails, 1.0).limits(effect), effect.df
        down = math.hypot(math.log(x / (near.low + df)), math.log(chi2_quantile(tail, noise.df) / noise.df))
        up = math.hypot(math.log((near.high + df) / x), math.log(chi2_quantile(1 - tail, noise.df) / noise.df))
        return _Limits(value, max(0.0, x * math.exp(-down) - df), x * math.exp(up) - df)
    return _Limits(
        value,
        _solve_noncentrality_of_f(x, effect.df, noise.df, tails.below),
        _solve_noncentrality_of_f(x, effect.df, noise.df, tails.above),
    )


def _combine_lower_limits(top: _Limits, exact: _Limits, below: _Limits, weight: float) -> float:
    """Combine the limits on a log scale: the upper limit of the noise may be many times its estimate (few
    repetitions)."""
    if exact.low <= 0 or top.value <= 0:
        return 0.0
    effect_error, total_error = math.log(top.value / top.low), max(0.0, math.log(top.value / exact.low))
    return (
        top.value
        / below.value
        * math.exp(
            -math.hypot(
                effect_error,
                weight * math.sqrt(max(0.0, total_error**2 - effect_error**2)),
                math.log(below.high / below.value),
            )
        )
    )


def _combine_upper_limits(top: _Limits, exact: _Limits, below: _Limits, weight: float) -> float:
    """Combine the limits as Donner & Zou do, which allows a top of 0."""
    effect_error, total_error = top.high - top.value, max(0.0, exact.high - top.value)
    a, b, end_a = (
        top.value,
        below.value,
        top.value + math.hypot(effect_error, weight * math.sqrt(max(0.0, total_error**2 - effect_error**2))),
    )
    end_b = max(below.low, 0.01 * b)
    down = end_b * (2 * b - end_b)
    return (a * b + math.sqrt(max((a * b) ** 2 - end_a * (2 * a - end_a) * down, 0.0))) / down


def _solve_noncentrality(x: float, df: float, p: Callable[[float], float]) -> float:
    """Return λ at which χ'² of ``df`` is below ``x`` with probability p(λ); 0 if even λ = 0 is less likely."""
    from scipy.special import chndtr

    if x > _LARGE:
        return float(max(0.0, math.sqrt(max(0.0, x - df + 1)) - normal_quantile(p(x))) ** 2)
    return _find_root_of_falling(lambda noncentrality: float(chndtr(x, df, noncentrality)) - p(noncentrality), x)


def _solve_noncentrality_of_f(x: float, df: float, noise_df: float, p: Callable[[float], float]) -> float:
    """Return the same for x/df as the noncentral F."""
    from scipy.special import ncfdtr

    f = x / df
    return _find_root_of_falling(
        lambda noncentrality: float(ncfdtr(df, noise_df, noncentrality, f)) - p(noncentrality), x
    )


def _find_root_of_falling(excess: Callable[[float], float], start: float) -> float:
    """Return the λ >= 0 at which a falling function is 0; 0 if it is nowhere positive."""
    if not excess(0.0) > 0:
        return 0.0
    low, high = 0.0, max(start, 1.0)
    while excess(high) > 0:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):  # loading scipy.optimize would take longer than bisection
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2
