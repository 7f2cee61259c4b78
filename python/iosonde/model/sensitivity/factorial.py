"""Shares of a factorial, or of a part of one: group means, noise from the repeats (or the highest interaction).

The settings are fixed, only the noise is random. So residuals are resampled inside each cell (setting), never rows over
cells: that would give a design that nobody measured. A group mean of G groups contains (G - 1)·σ²/n of noise, which the
corrected shares omit: for one factor of a balanced design that is ω² (Hays, Statistics, 1963, §12).
"""

from collections.abc import Callable, Iterable

import numpy as np

from iosonde.stats.estimate.variance_share import LEAST_DF
from iosonde.stats.regression.scattered import FACTORIAL, FRACTION

from .additive import build_factor_columns, compute_orthonormal_basis
from .design import Design
from .shares import Grouping, build_grouping, compute_interaction_residual, compute_variance_between_groups
from .variances import BOOTSTRAPS, Array, Groups, Resampled, Variances, join_variances, split_rounds_to_fit_memory

BY_REPEATS = "noise from the repeats"
BY_INTERACTION = "noise from the highest interaction, as nothing was repeated"
BY_MODEL = "noise from what the main effects leave, as too little was repeated"


def group_cells_by_factor_sets(design: Design, factor_sets: Iterable[Groups]) -> dict[Groups, Grouping]:
    """Group the cells by each set of factors."""
    return {key: build_grouping(design.joint(sorted(key))[0], design.counts) for key in factor_sets}


def find_noise_source(design: Design) -> str | None:
    """Return the source of the noise; None if it cannot be separated from the factors."""
    if design.df_repeats >= LEAST_DF:
        return BY_REPEATS
    if design.kind == FACTORIAL and len(design.features) > 1 and _compute_interaction_df(design) >= LEAST_DF:
        return BY_INTERACTION
    return BY_MODEL if design.kind == FRACTION and _compute_model_df(design) >= LEAST_DF else None


def _compute_model_df(design: Design) -> int:
    return design.n - sum(design.n_groups) + len(design.features) - 1


def _compute_interaction_df(design: Design) -> int:
    sizes = np.array(design.n_groups)
    return int(np.prod(sizes - 1) - (np.prod(sizes) - design.n_cells))


def resample_variances(design: Design, factor_sets: Iterable[Groups], rng: np.random.Generator) -> Resampled:
    """Compute variances of the data and of ``BOOTSTRAPS`` resampled ones, for the groups of factors ``factor_sets``."""
    groups = group_cells_by_factor_sets(design, factor_sets)
    everything: Groups = frozenset(range(len(design.features)))
    source = find_noise_source(design)
    means = design.means - design.y.mean()
    if source == BY_INTERACTION:
        without = [build_grouping(design.joint(sorted(everything - {i}))[0], design.counts) for i in sorted(everything)]
        return _resample_with_rest_as_noise(
            design, groups, means, lambda values: compute_interaction_residual(values, without, design.counts), rng
        )
    if source == BY_MODEL:
        return _resample_with_rest_as_noise(design, groups, means, _build_residual_function(design), rng)
    observed_ss = np.array(design.ss_within.sum())
    if source is None:
        observed = _compute_variances(design, groups, means * design.counts, observed_ss, np.array(0.0))
        return Resampled(observed, None, None, "")
    noise = observed_ss / design.df_repeats
    observed = _compute_variances(design, groups, means * design.counts, observed_ss, noise)
    residuals = _compute_scaled_residuals(design, float(noise))
    expected = float(residuals @ residuals)
    truth = _compute_truth(design, groups, means * design.counts, expected, expected / design.n)
    drawn = []
    for rounds in split_rounds_to_fit_memory(_count_rounds(design, noise), design.n):
        picked = _draw_residuals(design, residuals, rounds, rng)
        sums = np.add.reduceat(picked, design.starts, axis=1)
        ss = (picked**2).sum(1) - (sums**2 / design.counts).sum(1)
        drawn.append(_compute_variances(design, groups, means * design.counts + sums, ss, ss / design.df_repeats))
    return Resampled(
        observed, truth, join_variances(drawn), BY_REPEATS, design.df_repeats, _count_groups(groups), design.n
    )


def _count_rounds(design: Design, noise: Array) -> int:
    """Return the number of resamplings; without noise one suffices."""
    return BOOTSTRAPS if float(noise) > 1e-20 * design.total else 2


def _compute_scaled_residuals(design: Design, noise: float) -> Array:
    """Return residuals of the repeats, scaled to their variance. A cell of one row gets the root of the noise (never
    drawn, it represents the noise in the truth)."""
    rows = np.repeat(np.arange(design.n_cells), design.counts.astype(int))
    scale = np.sqrt(design.counts / np.maximum(design.counts - 1, 1))
    return np.asarray(
        np.where(design.counts[rows] == 1, np.sqrt(noise), (design.y - design.means[rows]) * scale[rows]), float
    )


def _draw_residuals(design: Design, residuals: Array, rounds: int, rng: np.random.Generator) -> Array:
    """Draw (rounds, rows): for each row a residual of its own cell, or of any repeated cell for a single row."""
    counts = design.counts.astype(np.intp)
    sizes, first = np.repeat(counts, counts), np.repeat(design.starts, counts)
    picked = residuals[first + (rng.random((rounds, design.n)) * sizes).astype(np.intp)]
    alone = sizes == 1
    if alone.any():
        pool = residuals[~alone]
        picked[:, alone] = pool[rng.integers(len(pool), size=(rounds, int(alone.sum())))]
    return np.asarray(picked, float)


def _build_residual_function(design: Design) -> Callable[[Array], Array]:
    """Return a function that computes the residuals of an additive model of (…, cells) values."""
    root = np.sqrt(design.counts)
    joint_basis = compute_orthonormal_basis(
        design, np.column_stack([build_factor_columns(design, i) for i in range(len(design.features))])
    )
    joint_basis = np.column_stack([root / np.linalg.norm(root), joint_basis])
    return lambda values: np.asarray(((values * root) - (values * root) @ joint_basis @ joint_basis.T) / root, float)


def _resample_with_rest_as_noise(
    design: Design,
    groups: dict[Groups, Grouping],
    means: Array,
    rest_of: Callable[[Array], Array],
    rng: np.random.Generator,
) -> Resampled:
    """Resample with ``rest_of`` the cell means as noise; in a fraction also its few repeats."""
    counts, inside = design.counts, design.ss_within.sum()
    modelled = design.kind == FRACTION
    df, more = (_compute_model_df(design), float(inside)) if modelled else (_compute_interaction_df(design), 0.0)
    rest = rest_of(means)
    noise = np.array((rest**2 @ counts + more) / df)
    observed = _compute_variances(design, groups, means * counts, np.array(inside), noise)
    fitted, pool = means - rest, rest * np.sqrt(design.n_cells / (df - (design.df_repeats if modelled else 0)))
    spread = float(np.mean(pool**2))
    truth = _compute_truth(design, groups, fitted * counts, spread * design.n, spread)
    drawn = []
    for rounds in split_rounds_to_fit_memory(_count_rounds(design, noise), 4 * design.n_cells):
        picked = pool[rng.integers(len(pool), size=(rounds, design.n_cells))]
        squares = rest_of(picked) ** 2 @ counts + more
        drawn.append(
            _compute_variances(design, groups, (fitted + picked) * counts, np.full(rounds, inside), squares / df)
        )
    return Resampled(
        observed,
        truth,
        join_variances(drawn),
        BY_MODEL if modelled else BY_INTERACTION,
        df,
        _count_groups(groups),
        design.n,
    )


def _count_groups(groups: dict[Groups, Grouping]) -> dict[Groups, int]:
    return {key: group.n for key, group in groups.items()}


def _compute_truth(
    design: Design, groups: dict[Groups, Grouping], sums: Array, ss_within: float, noise: float
) -> Variances:
    """Return the resampled world, in which these cell means are exact."""
    variances = _compute_variances(design, groups, sums, np.array(ss_within), np.array(noise))
    return Variances(variances.total, variances.total, variances.noise, variances.plain, variances.plain)


def _compute_variances(
    design: Design, groups: dict[Groups, Grouping], sums: Array, ss_within: Array, noise: Array
) -> Variances:
    """Compute variances from the cells' sums (…, cells), the squares inside cells (…) and the noise variance (…)."""
    n = design.n
    cells = sums / design.counts
    center = sums.sum(-1, keepdims=True) / n
    total = (((cells - center) ** 2) @ design.counts + ss_within) / n
    plain = {key: compute_variance_between_groups(sums, group) for key, group in groups.items()}
    return Variances(
        total,
        total + noise / n,
        noise,
        plain,
        {key: value - (groups[key].n - 1) * noise / n for key, value in plain.items()},
    )
