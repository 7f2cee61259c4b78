"""Total shares: by group means in a factorial, by a forest surrogate for scattered settings, or refused."""

from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import f_upper_p
from iosonde.stats.estimate.variance_share import SumOfSquares
from iosonde.stats.regression.scattered import FACTORIAL, FRACTION

from . import surrogate
from .additive import build_factor_columns, compute_orthonormal_basis, compute_residuals_beyond_basis
from .adjusted import needs_adjusted_shares
from .design import Design
from .order import WORTH_A_WORD
from .variances import Groups, Resampled, VarianceShare

_MOST_CELLS = 1000  # for a model of all settings of the other factors
_ALIASED = Message(
    "aliased-fraction",
    "refused: a fraction of the combinations confounds a factor's interactions with other factors' effects",
)
_LINKED = Message(
    "correlated-factors",
    "refused: the factors were not varied independently, so ST is not defined; see the Shapley effects",
)
Total = tuple[Estimate, float | None]


@dataclass(frozen=True)
class TotalShares:
    """(ST, corrected ST) of each factor over all, and within the fixed ones. ``interacts``: ST significantly exceeds
    S1. ``name`` is the estimator, or the reason for having none."""

    name: str
    of: dict[int, Total]
    within: dict[int, Total]
    interacts: dict[int, bool]


def estimate_total_shares(
    design: Design,
    resampled: Resampled,
    fixed_factors: Groups,
    remaining_share: float,
    level: float,
    rng: np.random.Generator,
) -> TotalShares:
    """Estimate the total shares as the design allows. ``remaining_share`` is the share of V(Y) not explained by the
    fixed factors."""
    factors = range(len(design.features))
    if design.kind == FACTORIAL:
        return _estimate_by_group_means(design, resampled, fixed_factors, level)
    if design.links:
        return _build_refusal(design, _LINKED, level, "none: correlated factors")
    if design.kind == FRACTION:
        return _build_refusal(design, _ALIASED, level, "none: aliased fraction")
    surrogate_shares = surrogate.estimate_total_shares_by_forest(
        design,
        level,
        float(resampled.observed.noise / resampled.observed.total_corrected) if design.df_repeats else 0.0,
        rng,
    )
    if surrogate_shares.refused:
        return _build_refusal(design, surrogate_shares.refused, level, "none: the surrogate is too poor")
    of: dict[int, Total] = {i: (surrogate_shares.of[i], surrogate_shares.of[i].value) for i in factors}
    within: dict[int, Total] = {
        i: (_divide_estimate(surrogate_shares.of[i], remaining_share), None) for i in factors if i not in fixed_factors
    }
    interacts = {
        i: _is_above(surrogate_shares.of[i], resampled.estimate(VarianceShare(frozenset([i])), level, design.n))
        for i in factors
    }
    return TotalShares(surrogate_shares.name, of, within, interacts)


def _estimate_by_group_means(design: Design, resampled: Resampled, fixed_factors: Groups, level: float) -> TotalShares:
    """Estimate by group means; without repeats the explained variance is V(Y), and ST includes the noise."""
    everything: Groups = frozenset(range(len(design.features)))
    upper = everything if design.df_repeats else None
    of, within, interacts = {}, {}, {}
    for i in everything:
        share = VarianceShare(upper, everything - {i})
        of[i] = _compute_total(design, resampled, share, level)
        first = VarianceShare(frozenset([i]))
        interacts[i] = (
            _has_unbalanced_interaction(design, resampled, i, level)
            if needs_adjusted_shares(design) and design.df_repeats and design.n_cells <= _MOST_CELLS
            else _has_interaction(resampled, share, first, level, len(everything))
        )
        if i not in fixed_factors:
            within[i] = _compute_total(design, resampled, VarianceShare(upper, everything - {i}, fixed_factors), level)
    return TotalShares("group means, 1 - V(E(Y|others))/V(Y)", of, within, interacts)


def _compute_total(design: Design, resampled: Resampled, share: VarianceShare, level: float) -> Total:
    """Return one ST; without repeats it is corrected by the noise in the highest interaction, which V(Y) - V(others)
    contains."""
    has_draws = resampled.drawn is not None
    corrected = float(share.corrected(resampled.observed)) if has_draws else None
    return resampled.estimate(share, level, design.n), corrected


def _has_interaction(
    resampled: Resampled, total: VarianceShare, first: VarianceShare, level: float, factors: int
) -> bool:
    """Return whether ST is relevantly above S1, and its interactions are significant by F, at ``level`` over all
    factors."""
    over = float(total.corrected(resampled.observed) - first.corrected(resampled.observed))
    if not resampled.noise_df or over <= WORTH_A_WORD:
        return False
    full, alone, noise = (
        resampled.sum_of_squares(total),
        resampled.sum_of_squares(first),
        float(resampled.observed.noise),
    )
    df = full.df - alone.df
    if df < 1:
        return False
    return (
        f_upper_p((full.ss - alone.ss) / df / noise if noise > 0 else np.inf, df, resampled.noise_df)
        <= (1 - level) / factors
    )


def _has_unbalanced_interaction(design: Design, resampled: Resampled, factor: int, level: float) -> bool:
    """Return the same where cells are unbalanced, so that ST - S1 holds effects of other factors, too."""
    effect, noise = _measure_interactions(design, factor), float(resampled.observed.noise)
    if effect.df < 1 or effect.ss - effect.df * noise <= WORTH_A_WORD * design.total * design.n:
        return False
    p = f_upper_p(effect.mean_square / noise if noise > 0 else np.inf, effect.df, design.df_repeats)
    return p <= (1 - level) / len(design.features)


def _is_above(total: Estimate, first: Estimate) -> bool:
    """Return whether the intervals do not overlap and the values differ by more than ``WORTH_A_WORD``."""
    over = (total.value or 0.0) - (first.value or 0.0)
    return over > WORTH_A_WORD and (total.low or 0.0) > (first.high or 0.0)


def _divide_estimate(estimate: Estimate, remaining_share: float) -> Estimate:
    if estimate.value is None or remaining_share <= 0:
        return replace(estimate, value=None, low=None, high=None)
    ends = [
        None if end is None else min(1.0, end / remaining_share)
        for end in (estimate.value, estimate.low, estimate.high)
    ]
    return replace(estimate, value=ends[0], low=ends[1], high=ends[2])


def _build_refusal(design: Design, why: str, level: float, name: str) -> TotalShares:
    factors = range(len(design.features))
    nothing: Total = (Estimate(None, None, None, level, design.n, (why,)), None)
    return TotalShares(
        name, dict.fromkeys(factors, nothing), dict.fromkeys(factors, nothing), dict.fromkeys(factors, False)
    )


def _measure_interactions(design: Design, factor: int) -> SumOfSquares:
    """Measure what all interactions of a factor add to its main effect and to any effect of the others."""
    joint, groups = design.joint([i for i in range(len(design.features)) if i != factor])
    others = np.asarray(joint[:, None] == np.arange(1, groups), float)
    basis = compute_orthonormal_basis(design, np.column_stack([others, build_factor_columns(design, factor)]))
    residuals = compute_residuals_beyond_basis(design, basis)
    return SumOfSquares(float(design.counts @ residuals**2), design.n_cells - 1 - basis.shape[1])
