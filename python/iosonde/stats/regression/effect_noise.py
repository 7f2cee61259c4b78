"""The noise in the sum of squares of an effect, if every cell has a variance of its own.

With U an orthonormal basis of the effect in √n of the cells, m their means and D their variances, u = U'√n·m has the
variance V = U'DU. Of few degrees of freedom, the Wald-type statistic u'V⁻¹u weighs each level by its precision, with
the F of Johansen (Biometrika 67, 1980, 85-92): of one factor it is Welch's ANOVA (Biometrika 38, 1951), of two levels
his t². Johansen's degrees of freedom are too many where one level has two or three trials: they are at most twice those
of that level.

Of many levels with few trials each, Johansen's F claims too often. There |u|² is tested, which of no effect is about
g·χ² with f degrees of freedom, g·f = tr V and f = (tr V)² / tr V² (Box, Annals of Mathematical Statistics 25, 1954):
the ANOVA-type statistic F = |u|² / tr V has f and, by Satterthwaite, those of tr V as degrees of freedom (Brunner,
Dette & Munk, J. American Statistical Association 92, 1997). With one variance of all cells it is the F of every
textbook.

False claims in 100 of the two, at 3 to 20 trials per level: docs/method/importance.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.types import Estimate

from ..estimate.cell_spread import CellSpread, compute_spread_df, has_few_trials
from ..estimate.distributions import f_quantile, f_upper_p
from ..estimate.variance_share import LEAST_DF, ApproximateSum, Variation
from .wald import MOST_UNCERTAIN, compute_wald_test


@dataclass(frozen=True)
class EffectNoise:
    """``expected``: the sum of squares that noise alone adds to the effect on average, with the degrees of freedom of
    the effect and of the noise; ``of_others``, ``of_total``: the same of all other effects, and of all trials.
    ``weighted``: the noise in the direction of the effect, if the test weighs each level by its precision."""

    expected: float
    df: float
    error_df: float
    of_others: float
    of_total: float
    weighted: WeightedNoise | None = None

    @classmethod
    def pooled(cls, effect_df: float, others_df: float, noise: ApproximateSum, n: int) -> EffectNoise:
        """Return the noise if all trials have one variance."""
        variance = noise.ss / noise.df if noise.df else 0.0
        return cls(effect_df * variance, effect_df, noise.df, others_df * variance, n * variance)

    def compute_p(self, ss: float) -> float:
        """Return the p of no effect."""
        if self.weighted is not None:
            return self.weighted.compute_p(ss)
        return f_upper_p(ss / self.expected, self.df, self.error_df)

    def estimate_share(self, ss: float, total: float, noise: ApproximateSum, n: int, level: float) -> Estimate:
        """Return the share of the total with its interval, the dual of the test; none if the ``noise`` of all trials
        has few degrees of freedom."""
        if noise.df < LEAST_DF:
            return Variation(total, noise, n).estimate_explained_share(ApproximateSum(ss, self.df), level)
        average = self._estimate_share(ss, total, noise, n, level)
        if self.weighted is None:
            return average
        share = self.weighted._estimate_share(ss, total, noise, n, level)
        least = self.weighted.bound_sum(level)
        low, high = min(share.low or 0.0, least / (total - ss + least)), max(share.high or 0.0, average.high or 0.0)
        return replace(share, low=low, high=high)

    def _estimate_share(self, ss: float, total: float, noise: ApproximateSum, n: int, level: float) -> Estimate:
        unit = self.expected / self.df
        others = ApproximateSum(max(0.0, total - noise.ss - ss), self.of_others / unit)
        variation = Variation(total, ApproximateSum(unit * self.error_df, self.error_df), n, self.of_total / unit)
        return variation.estimate_share_besides(ApproximateSum(ss, self.df), others, level)

    def bound_distance(self, ss: float, level: float) -> float:
        """Return the upper limit of the length of the effect in its basis; of two levels it is that of Student's t
        (Scheffé's, of several)."""
        critical = f_quantile(level, self.df, self.error_df)
        return math.sqrt(max(0.0, ss)) + math.sqrt(self.expected * critical)


@dataclass(frozen=True)
class WeightedNoise(EffectNoise):
    """The noise in the direction of an effect, if each level is weighed by its precision: the ``parts`` of its sum of
    squares along the axes of the covariance, with their ``variances``. ``scale``: of the critical F."""

    parts: Array = field(kw_only=True)
    variances: Array = field(kw_only=True)
    scale: float = field(kw_only=True)

    def bound_sum(self, level: float) -> float:
        """Return the smallest sum of squares of the effect within its confidence ellipsoid."""
        squared_radius = self.scale * f_quantile(level, self.df, self.error_df)
        if float((self.parts / self.variances).sum()) <= squared_radius:
            return 0.0
        low, high = -80.0, 80.0  # log of the multiplier of the nearest point, in units of the largest variance
        for _ in range(60):
            shift = self.variances.max() * math.exp((low + high) / 2)
            is_outside = float((self.parts * self.variances / (self.variances + shift) ** 2).sum()) > squared_radius
            low, high = ((low + high) / 2, high) if is_outside else (low, (low + high) / 2)
        return float((self.parts * (shift / (self.variances + shift)) ** 2).sum())


def measure_cell_noise(
    basis: Array, n: Array, means: Array, squares: Array, group: Indices, least: float
) -> EffectNoise | None:
    """Measure the noise of an effect with this ``basis`` from the ``means`` of the cells and the trials of each; None
    if the cells of any ``group`` (a level of the factor) have fewer repeated trials than cells, so that only a pooled
    variance exists. ``least``: the variance below which noise is rounding."""
    groups = [np.flatnonzero(group == number) for number in np.unique(group)]
    sides = [CellSpread(n[cells], np.maximum(squares[cells], least * (n[cells] - 1))) for cells in groups]
    if any(side.df < max(1, len(cells) - 1) for side, cells in zip(sides, groups, strict=True)):
        return None
    variances, leverage = np.empty(n.size), np.einsum("ij,ij->i", basis, basis)
    for side, cells in zip(sides, groups, strict=True):
        variances[cells] = side.variances
    parts = [side.parts(leverage[cells]) for side, cells in zip(sides, groups, strict=True)]
    noise = basis.T @ (variances[:, None] * basis)
    expected = float(np.trace(noise))
    df = min(float(basis.shape[1]), max(1.0, expected**2 / float(np.sum(noise * noise))))
    others = np.maximum(0.0, 1 - n / n.sum() - leverage)
    average = EffectNoise(
        expected, df, compute_spread_df(parts, sides)[0], float(others @ variances), float(n @ variances)
    )
    uncertain = sum(
        float(leverage[cells] @ leverage[cells]) / side.df for side, cells in zip(sides, groups, strict=True)
    )
    if basis.shape[1] == 1 or uncertain > MOST_UNCERTAIN:
        return average
    return replace(average, weighted=_weigh_levels(basis, np.sqrt(n) * means, groups, sides, average))


def _weigh_levels(
    basis: Array, roots: Array, groups: Sequence[Indices], sides: Sequence[CellSpread], average: EffectNoise
) -> WeightedNoise | None:
    """Return the noise in the direction of the effect, by Johansen's F; ``roots``: √n·mean of each cell. None of an
    effect that is exactly 0."""
    parts = [part for side, cells in zip(sides, groups, strict=True) for part in _split(basis, cells, side)]
    few, many = (pick(sides, key=lambda side: side.df) for pick in (min, max))
    most_df = few.df if has_few_trials(few, many) and few.df < 2 else 2 * few.df
    along = basis.T @ roots
    test = compute_wald_test(along, parts, most_df)
    if test.statistic <= 0:
        return None
    variances, axes = np.linalg.eigh(test.covariance)
    return WeightedNoise(
        float(along @ along) * test.scale / test.statistic,
        test.df,
        test.error_df,
        average.of_others,
        average.of_total,
        parts=(axes.T @ along) ** 2,
        variances=variances,
        scale=test.scale,
    )


def _split(basis: Array, cells: Indices, side: CellSpread) -> Iterator[tuple[Array, float]]:
    """Yield the independent parts of the covariance of the effect that the cells of a level add, with their degrees of
    freedom: one for each repeated cell, which includes a share of the unrepeated ones."""
    repeated = side.n > 1
    single = basis[cells[~repeated]]
    for cell, squares, df in zip(cells[repeated], side.squares[repeated], side.n[repeated] - 1, strict=True):
        yield squares * (np.outer(basis[cell], basis[cell]) / df + single.T @ single / side.df), float(df)
