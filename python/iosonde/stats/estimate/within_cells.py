"""Compare A and B within each cell of the other settings, then combine all cells.

Differences between cells favour neither side: only differences inside a cell count (randomised blocks; Montgomery,
Design and Analysis of Experiments, 8th ed., §4.1). Positive values are compared by their logs, so the cells' ratios are
averaged.

Where the cells differ beyond chance, one ratio for all describes none of them unless it has their direction: the sides
differ, and how depends on the cell (``Comparison.depends``). Such sides are never equal, whatever the mean is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .cell_spread import CellSpread, compute_satterthwaite_df, compute_spread_df
from .coarse import Rounding, build_coarse_clock_warning, measure_rounding
from .compare import (
    CANNOT_TELL,
    DIFFERENT,
    NO_SPREAD,
    Comparison,
    Group,
    build_few_trials_warning,
    check_margin,
    compute_difference_margin,
    judge_ratio,
    list_verdicts_by_level,
)
from .compare import judge_difference as verdict_of
from .distributions import f_upper_p, t_critical, t_two_sided_p
from .logs import exp_estimate
from .ratio import Moments, compute_moments, pool_moments

METHOD = "differences within cells"
_OWN_SPREAD = 3  # trials per cell and side for a separate variance
_STILL = 1e-12  # relative: a smaller standard error is rounding of equal values
_DIFFERS = 0.01  # p-value of equal ratios in all cells, below which they are reported to differ

Cells = Sequence[tuple[Array, Array]]


@dataclass(frozen=True)
class CellEffect:
    """The mean of the cells' differences B - A with its standard error and degrees of freedom. ``variance``: of a trial
    of A and one of B inside their cell, together. ``spread``: the smallest and the largest difference; ``p_same``:
    p-value of equal differences in all cells, None with too few repetitions; ``slack``: effect of half a clock tick.
    ``few``: the spread of a side rests on few trials compared with the other side. ``z``: each cell's difference by its
    standard error."""

    value: float
    error: float
    df: float
    variance: float
    spread: tuple[float, float]
    p_same: float | None
    slack: float = 0.0
    few: bool = False
    z: Array = field(default_factory=lambda: np.zeros(0))

    def reverses(self, level: float) -> bool:
        """Return whether one cell's difference is above 0 and another's below it, with Bonferroni's correction."""
        sure = t_critical(1 - (1 - level) / max(1, self.z.size), self.df) if self.df >= 1 else math.inf
        return bool(np.any(self.z > sure) and np.any(self.z < -sure))

    def interval(self, level: float, n: int) -> Estimate:
        """Return the mean with its t interval."""
        if self.df < 1:
            few = Message("single-trial", "one trial per side in one cell has no spread: repeat the cells")
            return Estimate(self.value, None, None, level, n, (few,))
        half = t_critical(level, self.df) * self.error + self.slack
        return Estimate(self.value, self.value - half, self.value + half, level, n)


@dataclass(frozen=True)
class _SideOfCells(CellSpread):
    """A side: trials, sums of squares and means of the cells."""

    mean: Array


def average_cell_differences(cells: Cells) -> CellEffect:
    """Average the cells' differences, a cell of n and m trials weighing nm ÷ (n + m), with a separate variance of each
    side (Welch's, inside each cell): se² = Σ w² (s_A² ÷ n + s_B² ÷ m).

    The mean is over these cells; if they differ, that over other cells is different (``p_same``). With fewer repeated
    trials than cells, the differences themselves are the repetition: their jackknife over cells, without any repetition
    the paired t.
    """
    a, b = (_summarise_side([cell[place] for cell in cells]) for place in (0, 1))
    return _average_side_differences(a, b)


def _average_side_differences(a: _SideOfCells, b: _SideOfCells) -> CellEffect:
    weights = a.n * b.n / (a.n + b.n)
    each = b.mean - a.mean
    value = float(weights @ each / weights.sum())
    spread = (float(each.min()), float(each.max()))
    if min(a.df, b.df) < max(1, each.size - 1):
        variance = _compute_jackknife_variance(each, weights)
        return CellEffect(value, math.sqrt(variance), each.size - 1, 2 * variance * float(weights.sum()), spread, None)
    share = weights / weights.sum()
    parts = [side.parts(share**2 / side.n) for side in (a, b)]
    df, few = compute_spread_df(parts, (a, b))
    error = math.sqrt(sum(float(squares.sum()) for squares, _ in parts))
    p_same = _compute_equal_difference_p(each, a, b)
    errors = np.sqrt(a.variance / a.n + b.variance / b.n)
    z = each / errors if errors.all() else np.zeros(each.size)
    return CellEffect(value, error, df, a.variance + b.variance, spread, p_same, few=few, z=z)


def _summarise_side(cells: Sequence[Array]) -> _SideOfCells:
    return _SideOfCells(
        np.array([float(x.size) for x in cells]),
        np.array([((x - x.mean()) ** 2).sum() for x in cells]),
        np.array([x.mean() for x in cells]),
    )


def _compute_jackknife_variance(each: Array, weights: Array) -> float:
    """Return the variance of the weighted mean by leaving out each cell (Efron 1982, chapter 3)."""
    k = each.size
    if k < 2:
        return 0.0
    without = (weights @ each - weights * each) / (weights.sum() - weights)
    return float((k - 1) / k * ((without - without.mean()) ** 2).sum())


def _compute_equal_difference_p(each: Array, a: _SideOfCells, b: _SideOfCells) -> float | None:
    """Return the p-value of one difference in all cells, weighed by their variances.

    A pooled variance per side rejects too often if the cells' spread differs; Welch's test (1951, Biometrika 38,
    330-336), with a variance per cell and side, if many cells have about three trials. The larger p does neither. With
    two trials in a cell, its own variance is useless: then the pooled test alone is used.
    """
    if each.size < 2:
        return None
    pooled = (np.array([a.variance * (1 / a.n).mean(), b.variance * (1 / b.n).mean()]), np.array([a.df, b.df]))
    if not pooled[0].sum():
        return None
    p = _compute_common_mean_p(each, a.variance / a.n + b.variance / b.n, compute_satterthwaite_df(*pooled))
    if min(a.n.min(), b.n.min()) < _OWN_SPREAD:
        return p
    variance_a, variance_b = (group.squares / (group.n - 1) / group.n for group in (a, b))
    variances = variance_a + variance_b
    if not np.all(variances > 0):
        return p
    own = 1 / ((variance_a / variances) ** 2 / (a.n - 1) + (variance_b / variances) ** 2 / (b.n - 1))
    return max(p, _compute_common_mean_p(each, variances, own))


def _compute_common_mean_p(each: Array, variances: Array, df: Array | float) -> float:
    """Return the p-value of Welch's test of a common mean; with a scalar ``df`` the variances are known up to a common
    factor."""
    k, precision = each.size, 1 / variances
    mean = float(precision @ each / precision.sum())
    f = float(precision @ (each - mean) ** 2) / (k - 1)
    if isinstance(df, float):
        return f_upper_p(f, k - 1, df)
    unsure = float(((1 - precision / precision.sum()) ** 2 / df).sum())
    return f_upper_p(f / (1 + 2 * (k - 2) / (k**2 - 1) * unsure), k - 1, (k**2 - 1) / (3 * unsure))


def compare_within_cells(
    names: tuple[str, str],
    cells: Cells,
    level: float,
    margin: float,
    base: float | None,
    *,
    display_cells: Cells | None = None,
    exact: bool = False,
) -> Comparison:
    """Compare the sides ``names`` over cells, each of which has trials of both. ``base``: as in ``compare``.
    ``display_cells``: the same cells for means and differences, if ratios use other means."""
    check_margin(level, margin)
    display_cells = cells if display_cells is None else display_cells
    sides = [np.concatenate([cell[place] for cell in display_cells]) for place in (0, 1)]
    logs = base is None and all(np.all(x > 0) for cell in cells for x in cell)
    effect = average_cell_differences([(np.log(a), np.log(b)) for a, b in cells] if logs else cells)
    ticks = Rounding() if exact or base is not None else _measure_rounding(display_cells)
    effect = replace(effect, slack=_compute_slack(cells, ticks) if logs else ticks.a + ticks.b)
    plain = replace(average_cell_differences(display_cells), slack=ticks.a + ticks.b) if logs else effect
    a, b = (Group(name, compute_moments(x), x) for name, x in zip(names, sides, strict=True))
    largest = max(float(np.abs(x).max()) for x in sides)
    return _conclude((a, b), (effect, plain), (level, margin, base), logs, len(cells), ticks, largest)


def compare_summaries_within_cells(
    names: tuple[str, str],
    cells: Sequence[tuple[Moments, Moments]],
    level: float,
    margin: float,
    base: float | None,
) -> Comparison:
    """Compare the sides over cells of which mean, standard deviation and n are known, as if their trials were: only
    logarithms are approximated (sd of log x ≈ sd ÷ mean). Arguments as of ``compare_within_cells``."""
    check_margin(level, margin)
    logs = base is None and all(side.log_sd is not None for cell in cells for side in cell)
    both = [[cell[place] for cell in cells] for place in (0, 1)]
    plain = _average_side_differences(*(_side_from_summaries(side, False) for side in both))
    effect = _average_side_differences(*(_side_from_summaries(side, True) for side in both)) if logs else plain
    a, b = (Group(name, pool_moments(side), is_pooled=True) for name, side in zip(names, both, strict=True))
    largest = max(abs(side.mean) for cell in cells for side in cell)
    return _conclude((a, b), (effect, plain), (level, margin, base), logs, len(cells), Rounding(), largest)


def _side_from_summaries(cells: Sequence[Moments], logs: bool) -> _SideOfCells:
    n = np.array([float(cell.n) for cell in cells])
    means = np.array([(cell.log_mean if logs else cell.mean) or 0.0 for cell in cells])
    sds = np.array([(cell.log_sd if logs else cell.sd) or 0.0 for cell in cells])
    return _SideOfCells(n, (n - 1) * sds**2, means)


def _conclude(
    groups: tuple[Group, Group],
    effects: tuple[CellEffect, CellEffect],
    question: tuple[float, float, float | None],
    logs: bool,
    n_cells: int,
    ticks: Rounding,
    largest: float,
) -> Comparison:
    """Judge the effect over cells, of logarithms if ``logs``, and the same of plain values. ``question``: level, margin
    and base; ``largest``: the largest absolute value."""
    (a, b), (effect, plain_effect), (level, margin, base) = groups, effects, question
    n = min(a.side.n, b.side.n)
    estimate = effect.interval(level, n)
    plain = plain_effect.interval(level, n)
    ratio = exp_estimate(estimate) if logs else None
    wide = compute_difference_margin(a.side.mean, b.side.mean, margin, base)

    def verdict_at(other: float) -> str:
        interval = effect.interval(other, n)
        return judge_ratio(exp_estimate(interval), margin) if logs else verdict_of(interval, wide)

    outcome = verdict_at(level)
    still = effect.df >= 1 and effect.error <= _STILL * (1 if logs else largest)
    t = None if still or effect.df < 1 else -effect.value / effect.error
    unlike = _describe_disagreement(effect, logs)
    coarse = (build_coarse_clock_warning(ticks.step),) if ticks else (NO_SPREAD,) if still else ()
    few = (build_few_trials_warning(a.side.n, b.side.n),) if effect.few else ()
    open_to_trials = outcome == CANNOT_TELL and not unlike and not ticks
    comparison = Comparison(
        a,
        b,
        _estimate_mean(a, level),
        _estimate_mean(b, level),
        overlap=None,
        mean_inside=None,
        t=t,
        df=effect.df,
        p=None if t is None else t_two_sided_p(t, effect.df),
        ratio=ratio,
        typical=None,
        difference=plain,
        method=METHOD,
        rank_test=None,
        effect_size=None,
        margin=margin,
        difference_margin=wide,
        verdict=outcome,
        paired=False,
        n_needed=None,
        warnings=(*estimate.warnings, *unlike, *coarse, *few),
        cells=n_cells,
        cells_differ=bool(unlike),
        p_depends=effect.p_same if unlike and (outcome != DIFFERENT or effect.reverses(level)) else None,
        by_level=list_verdicts_by_level(verdict_at),
        doubts=tuple(
            code for code, there in (("cells-differ", unlike), ("coarse-clock", coarse), ("few-trials", few)) if there
        ),
        at=(lambda other: exp_estimate(effect.interval(other, n))) if logs else None,
        on_logarithms=logs,
        trial_variance=effect.variance,
    )
    return comparison.with_n_needed() if open_to_trials else comparison


def _measure_rounding(cells: Cells) -> Rounding:
    a, b = (_summarise_side([cell[place] for cell in cells]) for place in (0, 1))
    if min(a.df, b.df) < 1:
        return Rounding()
    sides = [np.concatenate([cell[place] for cell in cells]) for place in (0, 1)]
    return measure_rounding(sides[0], sides[1], math.sqrt(a.variance), math.sqrt(b.variance))


def _compute_slack(cells: Cells, ticks: Rounding) -> float:
    """Return the possible error of the mean of the log differences."""
    weights = np.array([a.size * b.size / (a.size + b.size) for a, b in cells])
    each = np.array(
        [_share_to_log_slack(ticks.a / a.mean()) + _share_to_log_slack(ticks.b / b.mean()) for a, b in cells]
    )
    return float(weights @ each / weights.sum())


def _share_to_log_slack(share: float) -> float:
    return -math.log1p(-min(share, 0.999))


def _estimate_mean(group: Group, level: float) -> Estimate:
    """Estimate the mean over all cells, without an interval, which would be one of their differences."""
    return Estimate(group.side.mean, None, None, level, group.side.n)


def _describe_disagreement(effect: CellEffect, logs: bool) -> tuple[str, ...]:
    if effect.p_same is None or effect.p_same >= _DIFFERS:
        return ()
    low, high = (f"{math.exp(x) if logs else x:.3g}" for x in effect.spread)
    return (
        Message(
            "cells-differ",
            "the {effect} differs between cells ({low} to {high}, p = {p:.2g}): compare each with {spell.by}",
            effect="ratio" if logs else "difference",
            low=low,
            high=high,
            p=effect.p_same,
        ),
    )
