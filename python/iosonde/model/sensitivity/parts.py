"""Parts of a variance by additive least squares: what a set of columns adds to another, against which noise.

With repeats they give the noise; without, it is the model's residual. If settings are a sample themselves the limits
come from influence functions, else from sums of squares (``noncentral``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import LEAST_P, f_upper_p, t_critical
from iosonde.stats.estimate.variance_share import LEAST_DF, NO_NOISE, SumOfSquares, clamp_share, compute_share_limits
from iosonde.stats.regression.scattered import SCATTERED

from .additive import compute_residuals_beyond_basis
from .design import Design
from .variances import Array, VariancePart

DRAWS = 999


@dataclass(frozen=True)
class Scale:
    """Reference of an effect: ``total`` sum of squares, ``residual_ss`` of it after all effects, which have
    ``effects_df``. ``noise`` is the denominator of F, and ``rows`` the number of rows whose noise is in the total."""

    total: float
    residual_ss: float
    effects_df: int
    noise: SumOfSquares
    rows: float
    level: float
    n: int

    @property
    def variance(self) -> float:
        """Variance of the noise of one row."""
        return self.noise.ss / self.noise.df if self.noise.df else 0.0

    @property
    def unexplained_share(self) -> float:
        """Share of V(Y) left after all effects."""
        return (
            self.rows * self.variance / (self.total + self.variance) if self.noise.df else self.residual_ss / self.total
        )

    def part(self, effect: SumOfSquares, before: SumOfSquares) -> VariancePart:
        """Return the share of ``effect`` in everything except ``before``."""
        total = self.total - before.ss
        value = effect.ss / total if total > 0 else 0.0
        if self.noise.df < LEAST_DF:
            share = Estimate(value, None, None, self.level, self.n, (NO_NOISE,))
            return VariancePart(share, value, effect.df, None, None)
        limits = compute_share_limits(
            effect,
            SumOfSquares(max(0.0, total - effect.ss - self.residual_ss), self.effects_df - effect.df - before.df),
            self.noise,
            self.rows,
            self.level,
        )
        share = clamp_share(
            (effect.ss - effect.df * self.variance) / (total + self.variance), limits, self.level, self.n
        )
        return VariancePart(share, value, effect.df, *self.f_test(effect))

    def f_test(self, effect: SumOfSquares) -> tuple[float | None, float | None]:
        """Return (F, p), exact for normal noise at any degrees of freedom; None without any."""
        if effect.df < 1 or self.noise.df < 1:
            return None, None
        if self.variance <= 1e-20 * self.total / self.n:
            return None, LEAST_P if effect.ss > 1e-12 * self.total else 1.0
        f = effect.ss / effect.df / self.variance
        return f, f_upper_p(f, effect.df, self.noise.df)


@dataclass(frozen=True)
class Additive:
    """An additive model of the rows on the columns of ``basis`` (cells × columns)."""

    design: Design
    basis: Array

    @property
    def df(self) -> int:
        """The number of columns without the mean."""
        return int(self.basis.shape[1])

    def squares(self) -> Array:
        """Return each setting's part of the residual sum of squares."""
        return np.asarray(
            self.design.counts * compute_residuals_beyond_basis(self.design, self.basis) ** 2 + self.design.ss_within,
            float,
        )


def estimate_part_of_sampled_settings(
    before: Additive, after: Additive, reference: Additive, level: float
) -> tuple[VariancePart, Array]:
    """Return the part of ``reference``'s residual that ``after`` explains beyond ``before``, if settings are a sample.

    The limits come from influence functions. To first order an R² varies with the squared residuals of the settings
    alone, as least squares leaves no slope in the coefficients. (van der Vaart, Asymptotic Statistics, 1998, ch. 20.)
    Also returns each setting's influence on the share, over √settings.
    """
    design, m = before.design, before.design.n_cells
    moved, v, adjusted = [], [], []
    for model in (before, after, reference):
        squares = model.squares()
        v.append(squares.sum() / design.n)
        moved.append((squares - v[-1] * design.counts) * m / design.n)
        adjusted.append(v[-1] * m / (m - 1 - model.df))
    value, corrected = (v[0] - v[1]) / v[2], (adjusted[0] - adjusted[1]) / adjusted[2]
    df, residual_df = after.df - before.df, m - 1 - after.df
    moves = (moved[0] - moved[1] - value * moved[2]) / v[2] / np.sqrt(m)
    half = t_critical(level, residual_df) * float(np.std(moves))
    share = clamp_share(corrected, (corrected - half, corrected + half), level, design.n)
    if df < 1 or v[1] <= 1e-20 * v[2]:
        return VariancePart(share, value, df, None, None if df < 1 else LEAST_P), moves
    f = (v[0] - v[1]) / df / (v[1] / residual_df)
    return VariancePart(share, value, df, f, f_upper_p(f, df, residual_df)), moves


def estimate_added_part(
    design: Design, scale: Scale, before: Array, own: Array, reference: Array, sample: bool
) -> tuple[VariancePart, Array | None]:
    """Return what the columns ``own`` add to the columns ``before``, as a share of the residual of the columns
    ``reference``. For a ``sample`` of settings also return each setting's influence on it."""
    if sample:
        return estimate_part_of_sampled_settings(
            Additive(design, before),
            Additive(design, np.column_stack([before, own])),
            Additive(design, reference),
            scale.level,
        )
    return scale.part(
        sum_squares_of_coordinates(own.T @ design.centred_means),
        sum_squares_of_coordinates(reference.T @ design.centred_means),
    ), None


def sum_squares_of_coordinates(along: Array) -> SumOfSquares:
    """Return the sum of squares of coordinates in an orthonormal basis."""
    return SumOfSquares(float(along @ along), len(along))


def build_scale(design: Design, along: Array, level: float) -> tuple[Scale, SumOfSquares | None]:
    """Return (the scale, the interactions if repeats separate them from the noise)."""
    total, inside, model = design.total * design.n, float(design.ss_within.sum()), sum_squares_of_coordinates(along)
    beyond = SumOfSquares(max(0.0, total - inside - model.ss), design.n_cells - 1 - model.df)
    if design.kind != SCATTERED and design.df_repeats >= LEAST_DF:
        return Scale(
            total, inside, design.n_cells - 1, SumOfSquares(inside, design.df_repeats), design.n, level, design.n
        ), beyond
    # A setting is one row; its repeats add to the total only.
    variance = beyond.ss / beyond.df if beyond.df else 0.0
    return Scale(
        total,
        beyond.ss + inside,
        model.df,
        beyond,
        design.n_cells + (inside / variance if variance > 0 else 0.0),
        level,
        design.n,
    ), None


def draw_shares_under_noise(
    turns: Mapping[str, Array], before: Array, along: Array, scale: Scale, rng: np.random.Generator
) -> dict[str, Array | None]:
    """Draw the factors' shares under other draws of normal noise. ``turns`` map the coordinates ``along`` that are not
    ``before`` to those of a factor alone."""
    if scale.noise.df < LEAST_DF:
        return dict.fromkeys(turns)
    drawn = along + np.sqrt(scale.variance) * rng.normal(size=(DRAWS, len(along)))
    remainder = scale.total - scale.residual_ss - float(before @ before) - float(along @ along)
    unexplained = scale.residual_ss * rng.chisquare(scale.noise.df, DRAWS) / scale.noise.df
    totals = (drawn**2).sum(1) + remainder + unexplained
    return {name: ((drawn @ turn) ** 2).sum(1) / totals for name, turn in turns.items()}
