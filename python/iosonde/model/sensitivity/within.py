"""Shares within fixed factors F: how much of the rest after F belongs to another factor.

If settings repeat in groups (factorials and parts of them) it is (V(E(Y|X,F)) - V(E(Y|F)))/(V(Y) - V(E(Y|F))).
Scattered settings are never equal in F, so groups by F and X together would hold one setting each and "explain"
everything. There an additive model removes F, and S1 is computed from its residual.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.errors import DataError
from iosonde.core.types import Estimate
from iosonde.stats.estimate.variance_share import LEAST_DF, NO_NOISE, SumOfSquares, clamp_share, compute_share_limits
from iosonde.stats.regression.scattered import SCATTERED

from . import scattered
from .additive import build_joint_columns, compute_orthonormal_basis, compute_residuals_beyond_basis
from .design import Design
from .shapley import LEAST_ROWS
from .variances import Groups, Resampled, VarianceShare

_MOST_COLUMNS = 0.5  # of the number of settings


@dataclass(frozen=True)
class Within:
    """``shares`` of ``resampled`` are those within the fixed factors; ``fixed`` is the share of these in V(Y)."""

    resampled: Resampled
    shares: Mapping[int, VarianceShare]
    fixed: Estimate


def compute_shares_within_fixed(
    design: Design, resampled: Resampled, fixed_factors: Groups, level: float, rng: np.random.Generator
) -> Within:
    """Compute the shares of every factor outside ``fixed_factors``. Raises DataError if these leave nothing to rank
    in."""
    rest = [i for i in range(len(design.features)) if i not in fixed_factors]
    if design.kind != SCATTERED:
        return Within(
            resampled,
            {i: VarianceShare(fixed_factors | {i}, fixed_factors, fixed_factors) for i in rest},
            resampled.estimate(VarianceShare(fixed_factors), level, design.n),
        )
    of = compute_orthonormal_basis(design, build_joint_columns(design, sorted(fixed_factors), LEAST_ROWS))
    if of.shape[1] > _MOST_COLUMNS * design.n_cells:
        raise DataError(
            "too-few-settings",
            "the fixed factors take {n_columns} columns of {n_cells} settings: too little is left to rank the others",
            "fix fewer factors, or measure more settings",
            n_columns=of.shape[1],
            n_cells=design.n_cells,
        )
    cell_residuals = compute_residuals_beyond_basis(design, of)
    moved = np.repeat(design.means - cell_residuals, design.counts.astype(int))
    rest_of = replace(design, means=cell_residuals, y=design.y - moved)
    alone = {i: VarianceShare(frozenset([i])) for i in rest}
    inner = scattered.resample_variances(rest_of, [Groups(), *(frozenset([i]) for i in rest)], rng)
    return Within(inner, alone, _compute_fixed_factors_share(design, rest_of, of.shape[1], level))


def _compute_fixed_factors_share(design: Design, residual_design: Design, df: int, level: float) -> Estimate:
    total, rest = design.total * design.n, residual_design.total * design.n
    effect, noise = SumOfSquares(total - rest, df), SumOfSquares(rest, design.n_cells - 1 - df)
    if noise.df < LEAST_DF:
        return Estimate(min(max(effect.ss / total, 0.0), 1.0), None, None, level, design.n, (NO_NOISE,))
    return clamp_share(
        effect.ss / total,
        compute_share_limits(effect, SumOfSquares(0.0, 0), noise, design.n_cells, level),
        level,
        design.n,
    )
