"""The noise in the sum of squares of an effect, by the ANOVA-type statistic: every cell has a variance of its own.

With U an orthonormal basis of the effect in √n of the cells, m their means and D their variances, the sum of squares
|U'√n·m|² of no effect is about g·χ² with f degrees of freedom, g·f = tr V and f = (tr V)² / tr V² of V = U'DU (Box,
Annals of Mathematical Statistics 25, 1954). So F = |U'√n·m|² / tr V has f and, by Satterthwaite, those of tr V as
degrees of freedom (Brunner, Dette & Munk, J. American Statistical Association 92, 1997). Of two cells it is Welch's t²,
of two levels within cells the t² of ``estimate.within_cells``; with one variance of all cells it is the F of every
textbook.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.types import Estimate

from ..estimate.cell_spread import CellSpread, compute_spread_df
from ..estimate.distributions import f_quantile, f_upper_p
from ..estimate.variance_share import LEAST_DF, ApproximateSum, Variation


@dataclass(frozen=True)
class EffectNoise:
    """``expected``: the sum of squares that noise alone adds to the effect on average, with the degrees of freedom of
    the effect and of the noise; ``of_others``, ``of_total``: the same of all other effects, and of all trials."""

    expected: float
    df: float
    error_df: float
    of_others: float
    of_total: float

    @classmethod
    def pooled(cls, effect_df: float, others_df: float, noise: ApproximateSum, n: int) -> EffectNoise:
        """Return the noise if all trials have one variance."""
        variance = noise.ss / noise.df if noise.df else 0.0
        return cls(effect_df * variance, effect_df, noise.df, others_df * variance, n * variance)

    def compute_p(self, ss: float) -> float:
        """Return the p of no effect."""
        return f_upper_p(ss / self.expected, self.df, self.error_df)

    def estimate_share(self, ss: float, total: float, noise: ApproximateSum, n: int, level: float) -> Estimate:
        """Return the share of the total with its interval, the dual of the test; none if the ``noise`` of all trials
        has few degrees of freedom."""
        if noise.df < LEAST_DF:
            return Variation(total, noise, n).estimate_explained_share(ApproximateSum(ss, self.df), level)
        unit = self.expected / self.df
        others = ApproximateSum(max(0.0, total - noise.ss - ss), self.of_others / unit)
        variation = Variation(total, ApproximateSum(unit * self.error_df, self.error_df), n, self.of_total / unit)
        return variation.estimate_share_besides(ApproximateSum(ss, self.df), others, level)

    def bound_distance(self, ss: float, level: float) -> float:
        """Return the upper limit of the length of the effect in its basis; of two levels it is that of Student's t
        (Scheffé's, of several)."""
        critical = f_quantile(level, self.df, self.error_df)
        return math.sqrt(max(0.0, ss)) + math.sqrt(self.expected * critical)


def measure_cell_noise(basis: Array, n: Array, squares: Array, group: Indices, least: float) -> EffectNoise | None:
    """Measure the noise of an effect with this ``basis`` from the trials of each cell; None if the cells of any
    ``group`` (a level of the factor) have fewer repeated trials than cells, so that only a pooled variance exists.
    ``least``: the variance below which noise is rounding."""
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
    return EffectNoise(
        expected, df, compute_spread_df(parts, sides)[0], float(others @ variances), float(n @ variances)
    )
