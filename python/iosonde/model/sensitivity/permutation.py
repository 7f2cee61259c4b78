"""Permutation tests: the share of a factor with shuffled labels gives p, and the zero line.

In a factorial the labels are shuffled inside each setting of the other factors, after removing its mean. This is exact
for "no effect whatever the others are", and the others' variance is not noise. In scattered settings the residuals of
the settings' means in an additive model of the other factors are shuffled (Freedman & Lane, J. Business & Economic
Statistics 1, 1983). The 8 settings of a fraction allow too few shuffles for a small p: the F test of the adjusted share
gives p. With few scattered settings p is the smaller of both, doubled. With few shuffles of 2 x 2 settings in a
factorial p is that of the F test inside the settings of the others. The zero line uses the raw response. Scattered
factors are noise to each other there, and a dummy that was not varied independently has a large one.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate.distributions import f_upper_p
from iosonde.stats.regression.scattered import FRACTION, SCATTERED

from .additive import remove_other_factors
from .adjusted import FEW_CELLS, Adjusted
from .design import Design
from .shares import Grouping, build_grouping, compute_variance_between_groups, group_means
from .variances import Array, split_rounds_to_fit_memory

_SHUFFLES, _SHUFFLES_OF_MANY, _MANY_ROWS, _MOST_SHUFFLES = 999, 199, 20_000, 100_000
_MOST_NUMBERS = 500_000_000  # shuffled for one factor
_ENOUGH_LOG_ORDERS = 25.0  # enough for every requested p
_MOST_COLUMNS, _MOST_PART = 500, 0.5  # of the other factors, and of all settings: beyond it the others' effects stay in


@dataclass(frozen=True)
class Null:
    """``p``: probability that a dummy has as large a share (Phipson & Smyth 2010: never 0); ``zero_line``: the share
    that a dummy exceeds with probability 1 - level. None: the noise is unknown."""

    p: float | None
    zero_line: float | None


def choose_shuffle_count(design: Design, level: float) -> int:
    """Return the number of shuffles: enough for the smallest p of the step-down over all factors; fewer for many
    rows."""
    if design.n > _MANY_ROWS:
        return _SHUFFLES_OF_MANY
    return max(
        _SHUFFLES, min(math.ceil(2 * len(design.features) / (1 - level)) - 1, _MOST_SHUFFLES, _MOST_NUMBERS // design.n)
    )


def estimate_dummy_effects(
    design: Design, level: float, rng: np.random.Generator, beyond: Adjusted | None = None
) -> list[Null]:
    """Test a dummy in the place of each factor; by the F test of ``beyond`` if the design allows too few shuffles."""
    rounds = choose_shuffle_count(design, level)
    if design.kind == SCATTERED:
        shuffled = _shuffle_over_cells(design, level, rounds, rng)
        return (
            shuffled
            if beyond is None or design.n_cells >= FEW_CELLS
            else [replace(null, p=_combine_p(null.p, _get_f_test_p(beyond, i))) for i, null in enumerate(shuffled)]
        )
    nulls = []
    for i in range(len(design.features)):
        if design.kind != FRACTION and _has_levels_inside_strata(design, i):
            nulls.append(_shuffle_inside_strata(design, i, level, rounds, rng))
        elif beyond is not None:
            nulls.append(Null(_get_f_test_p(beyond, i), beyond.zero_line(i, level)))
        else:
            nulls.append(_shuffle_residuals(design, i, level, rounds, rng))
    return nulls


def _combine_p(first: float | None, other: float | None) -> float | None:
    """Combine two tests of one factor (Bonferroni)."""
    p_values = [p for p in (first, other) if p is not None]
    return min(1.0, min(p_values) * len(p_values)) if p_values else None


def _get_f_test_p(beyond: Adjusted, factor: int) -> float | None:
    return beyond.parts[factor].p


def _build_null(
    design: Design, values: Array, weights: Array, groups: Grouping, shuffled: Array, dummies: Array, level: float
) -> Null:
    """Build the null of ``values`` (rows, or cells with their ``weights``) in ``groups``.

    If no shuffle has as large a share, p of many rows is the smaller one of the F test, which is then exact enough."""
    observed = float(compute_variance_between_groups(values * weights, groups))
    at_least = int((shuffled >= observed * (1 - 1e-9)).sum())
    p = (at_least + 1) / (len(shuffled) + 1)
    if not at_least and design.n > _MANY_ROWS:
        residual, df = float(values**2 @ weights) / design.n - observed, len(values) - groups.n
        p = min(p, f_upper_p(observed / (groups.n - 1) / max(residual / df, 1e-300), groups.n - 1, df))
    return Null(p, float(np.quantile(dummies, level)))


def _has_levels_inside_strata(design: Design, factor: int) -> bool:
    """Return whether any setting of the other factors was measured at several levels of this one."""
    return design.joint([i for i in range(len(design.features)) if i != factor])[1] < design.n_cells


def _shuffle_inside_strata(design: Design, factor: int, level: float, rounds: int, rng: np.random.Generator) -> Null:
    others = [i for i in range(len(design.features)) if i != factor]
    counts = design.counts.astype(np.intp)
    strata = np.repeat(design.joint(others)[0], counts)
    labels = np.repeat(design.codes[:, factor], counts)
    order = np.argsort(strata, kind="stable")
    strata, labels, y = strata[order], labels[order], (design.y - design.y.mean())[order]
    ones = np.ones(design.n)
    means = group_means(y, build_grouping(strata, ones))[strata]
    groups = build_grouping(labels, ones)
    inside, totals = [], []
    for size in split_rounds_to_fit_memory(rounds, 2 * design.n):
        order = np.argsort(rng.random((size, design.n)) + strata, axis=1)
        drawn = (y - means)[order]
        inside.append(compute_variance_between_groups(drawn, groups))
        totals.append(compute_variance_between_groups(drawn + means, groups))
    null = _build_null(
        design, y - means, ones, groups, np.concatenate(inside), np.concatenate(totals) / design.total, level
    )
    if _count_orders(strata, labels) * (1 - level) >= 2 * len(
        design.features
    ):  # the order and its mirror image are equivalent
        return null
    p = _compute_f_test_p_within_strata(y - means, groups, design.n - int(strata.max()) - groups.n)
    return null if p is None else replace(null, p=p)


def _count_orders(strata: npt.NDArray[np.intp], labels: npt.NDArray[np.intp]) -> float:
    """Count the distinct orders of the labels inside their strata."""
    log_orders = 0.0
    for stratum in np.unique(strata):
        counts = np.bincount(labels[strata == stratum])
        log_orders += math.lgamma(counts.sum() + 1) - sum(math.lgamma(count + 1) for count in counts)
        if log_orders > _ENOUGH_LOG_ORDERS:
            return math.inf
    return math.exp(log_orders)


def _compute_f_test_p_within_strata(values: Array, groups: Grouping, df: int) -> float | None:
    """Return p of the F test of the groups, for ``values`` without the means of their strata; ``df`` are those of the
    residuals. None without any."""
    explained = float(compute_variance_between_groups(values, groups)) * len(values)
    residual = float(values @ values) - explained
    return None if df < 1 else f_upper_p(explained / (groups.n - 1) / max(residual / df, 1e-300), groups.n - 1, df)


def _shuffle_residuals(design: Design, factor: int, level: float, rounds: int, rng: np.random.Generator) -> Null:
    values, groups = _remove_other_factors(design)[factor], build_grouping(design.codes[:, factor], design.counts)
    parts = [
        compute_variance_between_groups(
            rng.permuted(np.broadcast_to(values, (size, len(values))), axis=1) * design.counts, groups
        )
        for size in split_rounds_to_fit_memory(rounds, 2 * design.n_cells)
    ]
    shuffled = np.concatenate(parts)
    return _build_null(design, values, design.counts, groups, shuffled, shuffled / design.total, level)


def _shuffle_over_cells(design: Design, level: float, rounds: int, rng: np.random.Generator) -> list[Null]:
    """Shuffle cell means over the cells: repeats of one setting stay together; every factor has the same shuffles."""
    k = len(design.features)
    raw = design.means - design.y.mean()
    residuals = _remove_other_factors(design)
    groups = [build_grouping(column, design.counts) for column in design.codes.T]
    inside: list[list[float]] = [[] for _ in range(k)]
    totals: list[list[float]] = [[] for _ in range(k)]
    for _ in range(rounds):
        order = rng.permutation(design.n_cells)
        for i, group in enumerate(groups):
            inside[i].append(_compute_between(residuals[i][order] * design.counts, group))
            totals[i].append(_compute_between(raw[order] * design.counts, group))
    return [
        _build_null(
            design,
            residuals[i],
            design.counts,
            groups[i],
            np.array(inside[i]),
            np.array(totals[i]) / design.total,
            level,
        )
        for i in range(k)
    ]


def _compute_between(sums: Array, groups: Grouping) -> float:
    """Compute as ``shares.compute_variance_between_groups``, for one response of many cells, without sorting them."""
    group_sums = np.bincount(groups.codes, sums)
    n = groups.weights.sum()
    return float((group_sums**2 / groups.weights).sum() / n - (group_sums.sum() / n) ** 2)


def _remove_other_factors(design: Design) -> list[Array]:
    return remove_other_factors(design, min(_MOST_COLUMNS, _MOST_PART * design.n_cells))
