"""Adjusted shares: what each factor explains beyond all others, if factors were not varied independently.

S1 of one factor then contains effects of those that changed with it. The adjusted share is the type II sum of squares
of a main effect over that of the response. (Yates, J. American Statistical Association 29, 1934; Langsrud, Statistics
and Computing 13, 2003.) An additive model of all factors loses this share without the factor. In a balanced design it
is S1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from iosonde.stats.estimate.distributions import f_quantile
from iosonde.stats.estimate.variance_share import LEAST_DF, SumOfSquares
from iosonde.stats.regression.scattered import FRACTION, GRID, SCATTERED

from .additive import build_factor_columns, compute_orthonormal_basis
from .design import Design
from .parts import Scale, build_scale, draw_shares_under_noise, estimate_added_part, sum_squares_of_coordinates
from .variances import Array, Groups, VariancePart

_MOST_COLUMNS = 400
FEW_CELLS = 40  # scattered cells: too few shuffles, or too coarse bins, for a small p
_DEPENDS = 0.05  # Cramér's V: S1 contains its square of another factor's share


@dataclass(frozen=True)
class Adjusted:
    """``parts`` are shares of V(Y), one a factor; ``within`` those of the rest after the fixed factors. ``moves`` and
    ``moves_within`` are their changes under resampled noise, or settings. ``interactions`` are beyond all main effects,
    None without repeats to separate them from the noise."""

    parts: list[VariancePart]
    within: Mapping[int, VariancePart]
    moves: Mapping[int, Array | None]
    moves_within: Mapping[int, Array | None]
    interactions: VariancePart | None
    scale: Scale

    def zero_line(self, factor: int, level: float) -> float | None:
        """Return the share that noise alone rarely exceeds, by F; None if the noise is unknown."""
        df, noise = self.parts[factor].df, self.scale.noise
        return (
            None
            if df < 1 or noise.df < 1 or self.scale.total <= 0
            else min(1.0, f_quantile(level, df, noise.df) * df * self.scale.variance / self.scale.total)
        )


def needs_adjusted_shares(design: Design) -> bool:
    """Return whether S1 would confound the factors."""
    return bool(design.links) or (design.kind != SCATTERED and design.imbalance > _DEPENDS)


def compute_adjusted_shares(
    design: Design, fixed_factors: Groups, level: float, rng: np.random.Generator
) -> Adjusted | None:
    """Compute the adjusted shares; None if not needed, or if the factors have more levels than the settings allow."""
    sample = bool(design.binned)
    few = design.kind == SCATTERED and design.n_cells < FEW_CELLS
    if not (needs_adjusted_shares(design) or design.kind == FRACTION or design.kind == GRID or few):
        return None
    matrices = [build_factor_columns(design, i) for i in range(len(design.features))]
    wide = sum(matrix.shape[1] for matrix in matrices)
    if wide > min(_MOST_COLUMNS, design.n_cells - 1 - (1 if sample else 0)):
        return None
    fixed = (
        compute_orthonormal_basis(design, np.column_stack([matrices[i] for i in sorted(fixed_factors)]))
        if fixed_factors
        else _build_empty(design)
    )
    rest = compute_orthonormal_basis(design, np.column_stack(matrices), fixed)
    joint_basis = np.column_stack([fixed, rest])
    along = joint_basis.T @ design.centred_means
    scale, beyond = build_scale(design, along, level)
    parts, within, moves, own = [], {}, {}, {}
    for i in range(len(matrices)):
        others = [matrix for j, matrix in enumerate(matrices) if j != i]
        before = compute_orthonormal_basis(design, np.column_stack(others)) if others else _build_empty(design)
        own[i] = compute_orthonormal_basis(design, matrices[i], before)
        part, moves[i] = estimate_added_part(design, scale, before, own[i], _build_empty(design), sample)
        if part.p is None:  # too few degrees of freedom for an interval, enough for a test
            f, p = scale.f_test(sum_squares_of_coordinates(along @ (joint_basis.T @ own[i])))
            part = replace(part, f=f, p=p)
        parts.append(part)
        if fixed_factors and i not in fixed_factors:
            within[i] = estimate_added_part(design, scale, before, own[i], fixed, sample)[0]
    moves_within = {i: moves[i] for i in within}
    if not sample:
        moves = _draw_moves(own, joint_basis, along[:0], along, scale, rng)
        f = fixed.shape[1]
        moves_within = _draw_moves({i: own[i] for i in within}, rest, along[:f], along[f:], scale, rng)
    return Adjusted(
        parts,
        within,
        moves,
        moves_within,
        None if beyond is None or beyond.df < 1 else scale.part(beyond, SumOfSquares(0.0, 0)),
        scale,
    )


def _build_empty(design: Design) -> Array:
    return np.zeros((design.n_cells, 0))


def _draw_moves(
    own: Mapping[int, Array], joint_basis: Array, before: Array, along: Array, scale: Scale, rng: np.random.Generator
) -> dict[int, Array | None]:
    if scale.noise.df < LEAST_DF:
        return dict.fromkeys(own)
    drawn = draw_shares_under_noise(
        {str(i): joint_basis.T @ matrix for i, matrix in own.items()}, before, along, scale, rng
    )
    return {i: drawn[str(i)] for i in own}
