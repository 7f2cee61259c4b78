"""Shares of scattered settings: binned group means, whole settings resampled.

The other factors vary at random inside a bin and are noise to its mean. So whole settings with all their repeats are
resampled (a cluster bootstrap: Davison & Hinkley 1997, 3.8), and the part of the noise in a group mean is estimated
from the spread of its settings.
"""

from collections.abc import Iterable

import numpy as np

from .design import Design
from .factorial import group_cells_by_factor_sets
from .shares import Grouping, build_grouping, group_means
from .variances import BOOTSTRAPS, Array, Groups, Resampled, Variances, join_variances, split_rounds_to_fit_memory

_FEWER, _MANY = 199, 20_000  # resamplings beyond _MANY settings
HOW = "whole settings resampled"


def resample_scattered_variances(design: Design, factor_sets: Iterable[Groups], rng: np.random.Generator) -> Resampled:
    """Compute variances of the data and of resampled ones, for the groups of factors ``factor_sets``."""
    groups = group_cells_by_factor_sets(design, factor_sets)
    observed = _squeeze_variances(_compute_variances(design, groups, np.ones((1, design.n_cells))))
    truth = Variances(observed.total, observed.total, observed.noise, observed.plain, observed.plain)
    drawn = []
    for rounds in split_rounds_to_fit_memory(BOOTSTRAPS if design.n_cells <= _MANY else _FEWER, 4 * design.n_cells):
        times = rng.multinomial(design.n_cells, np.full(design.n_cells, 1 / design.n_cells), size=rounds)
        drawn.append(_compute_variances(design, groups, times.astype(float)))
    return Resampled(observed, truth, join_variances(drawn), HOW, unseen=_estimate_unseen(design, groups, observed))


def _estimate_unseen(design: Design, groups: dict[Groups, Grouping], observed: Variances) -> dict[Groups, float]:
    """Estimate the share hidden by bins: the loss if two bins are merged.

    A smooth response loses three times as much by merging as by binning; one that turns inside the bins, as much.
    """
    losses = {}
    for i, feature in enumerate(design.features):
        key = frozenset([i])
        if feature.name in design.binned and key in groups:
            wider = _squeeze_variances(
                _compute_variances(
                    design, {key: build_grouping(design.codes[:, i] // 2, design.counts)}, np.ones((1, design.n_cells))
                )
            )
            losses[key] = max(0.0, float((observed.corrected[key] - wider.corrected[key]) / observed.total_corrected))
    return losses


def _compute_variances(design: Design, groups: dict[Groups, Grouping], times: Array) -> Variances:
    """Compute variances of designs in which each cell occurs ``times`` (rounds × cells)."""
    counts, means = design.counts, design.means - design.y.mean()
    weights = times * counts
    n = weights.sum(1)
    center = (weights @ means / n)[:, None]
    spread = (weights * (means - center) ** 2).sum(1) / n
    total = spread + times @ design.ss_within / n
    # The mean over settings takes this out of their spread: 1 / (settings - 1) of it if all have as many rows.
    lost = (times * (counts * (means - center)) ** 2).sum(1) / n**2
    plain, corrected = {}, {}
    by_cell = np.ascontiguousarray(times.T)
    for key, group in groups.items():
        plain[key], bias = _compute_explained(group, by_cell, counts, means, center[:, 0], n)
        corrected[key] = plain[key] - np.maximum(bias - lost, 0.0)
    df = times @ (counts - 1)
    return Variances(
        total, total + lost, np.where(df > 0, times @ design.ss_within / np.maximum(df, 1), 0.0), plain, corrected
    )


def _compute_explained(
    group: Grouping, times: Array, counts: Array, means: Array, center: Array, n: Array
) -> tuple[Array, Array]:
    """Return (V(E(Y|G)), the part due to the noise of the group means); ``times`` is cells × rounds.

    Sums over groups are a product with a sparse matrix; the response is centred on its group's mean first, so that its
    squares do not cancel.
    """
    from scipy import sparse

    base = group_means(means * counts, group)
    off = means - base[group.codes]
    cells_of = np.arange(len(counts))

    def sum_groups(values: Array) -> Array:
        matrix = sparse.csr_array((values, (group.codes, cells_of)), shape=(group.n, len(counts)))
        return np.asarray(matrix @ times, float)

    cells = sum_groups(np.ones(len(counts)))
    same = bool((counts == 1).all())
    rows = cells if same else sum_groups(counts)
    first, second = sum_groups(counts * off), sum_groups((counts * off) ** 2)
    cross, square = (first, cells) if same else (sum_groups(counts**2 * off), sum_groups(counts**2))
    safe = np.where(rows > 0, rows, 1.0)
    shift = first / safe
    explained = (rows * (base[:, None] + shift - center) ** 2).sum(0) / n
    spread = np.maximum(second - 2 * shift * cross + shift**2 * square, 0.0)
    return explained, (rows * np.where(cells > 1, cells / np.maximum(cells - 1, 1), 0.0) * spread / safe**2).sum(0) / n


def _squeeze_variances(v: Variances) -> Variances:
    return Variances(
        v.total[0],
        v.total_corrected[0],
        v.noise[0],
        {k: x[0] for k, x in v.plain.items()},
        {k: x[0] for k, x in v.corrected.items()},
    )
