"""Interactions: pairs of factors, the effect of one of which depends on the other, by the type II test of `anova`.

In unbalanced cells ST - S1 also holds what a factor's marginal means lose to other factors. So the sum of squares of an
interaction is what it adds to all main effects and all other pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from iosonde.core.units import format_percent
from iosonde.stats.estimate.distributions import f_upper_p
from iosonde.stats.estimate.multiple import adjust_by_holm
from iosonde.stats.estimate.variance_share import LEAST_DF, SumOfSquares
from iosonde.stats.regression.scattered import SCATTERED

from .additive import build_factor_columns, compute_orthonormal_basis, compute_residuals_beyond_basis
from .design import Design
from .variances import Array

_MOST_COLUMNS, _MOST_FACTORS = 300, 8
_MIN_SHARE = 0.005  # of the variation


@dataclass(frozen=True)
class Interaction:
    """A significant interaction of two factors; ``share``: of the variation."""

    first: str
    second: str
    share: float

    @property
    def name(self) -> str:
        """``fs × net (1.8 %)``."""
        return f"{self.first} × {self.second} ({format_percent(self.share)})"


def find_interactions(design: Design, level: float) -> tuple[Interaction, ...]:
    """Return the pairs with a significant interaction (Holm's correction over all pairs), the largest first; none
    without repeats."""
    k = len(design.features)
    if design.kind == SCATTERED or design.df_repeats < LEAST_DF or not 1 < k <= _MOST_FACTORS:
        return ()
    main = [build_factor_columns(design, i) for i in range(k)]
    pairs = {(i, j): _multiply_columns(main[i], main[j]) for i, j in combinations(range(k), 2)}
    if sum(columns.shape[1] for columns in (*main, *pairs.values())) > _MOST_COLUMNS:
        return ()
    noise = SumOfSquares(float(design.ss_within.sum()), design.df_repeats)
    effects = {pair: _measure_added(design, pair, main, pairs) for pair in pairs}
    p = adjust_by_holm([_compute_p(effect, noise) for effect in effects.values()])
    total = design.total * design.n
    significant = [
        Interaction(design.features[i].name, design.features[j].name, effect.ss / total)
        for ((i, j), effect), adjusted in zip(effects.items(), p, strict=True)
        if adjusted is not None and adjusted < 1 - level and effect.ss >= _MIN_SHARE * total
    ]
    return tuple(sorted(significant, key=lambda interaction: -interaction.share))


def measure_interactions_of(design: Design, factor: int) -> SumOfSquares:
    """Measure what all interactions of a factor add to its main effect and to any effect of the others."""
    joint, groups = design.joint([i for i in range(len(design.features)) if i != factor])
    others = np.asarray(joint[:, None] == np.arange(1, groups), float)
    basis = compute_orthonormal_basis(design, np.column_stack([others, build_factor_columns(design, factor)]))
    residuals = compute_residuals_beyond_basis(design, basis)
    return SumOfSquares(float(design.counts @ residuals**2), design.n_cells - 1 - basis.shape[1])


def _multiply_columns(first: Array, other: Array) -> Array:
    return (first[:, :, None] * other[:, None, :]).reshape(len(first), -1)


def _measure_added(
    design: Design, pair: tuple[int, int], main: Sequence[Array], pairs: dict[tuple[int, int], Array]
) -> SumOfSquares:
    rest = [*main, *(columns for other, columns in pairs.items() if other != pair)]
    before = compute_orthonormal_basis(design, np.column_stack(rest))
    along = compute_orthonormal_basis(design, pairs[pair], before).T @ design.centred_means
    return SumOfSquares(float(along @ along), along.size)


def _compute_p(effect: SumOfSquares, noise: SumOfSquares) -> float | None:
    if effect.df < 1:
        return None
    return 0.0 if noise.ss <= 0 else f_upper_p(effect.mean_square / noise.mean_square, effect.df, noise.df)
