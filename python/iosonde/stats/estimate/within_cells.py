"""A against B where other settings vary, too: within each cell of them, and then all cells together.

What the cells differ in is in neither side's favour: only differences inside a cell count (randomised blocks;
Montgomery, Design and Analysis of Experiments, 8th ed., §4.1). Of positive values the logs are compared, so the cells'
ratios are what is averaged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate

from .coarse import Rounding, coarse_text, rounding
from .compare import (
    CANNOT_TELL,
    NO_SPREAD,
    Comparison,
    Group,
    at_levels,
    check_margin,
    enough,
    few_trials_text,
    margin_of_difference,
    verdict,
)
from .compare import verdict_of_difference as verdict_of
from .distributions import f_upper_p, t_critical, t_two_sided_p
from .logs import exp_of
from .ratio import few_trials, side

METHOD = "differences within cells"
_OWN_SPREAD = 3  # trials that a side needs in a cell for a variance of its own
_MIN_SPREAD_DF = 6  # degrees of freedom with which the spread of two or three trials a cell is known
_STILL = 1e-12  # relative: a smaller standard error is what sums of equal values leave
_DIFFERS = 0.01  # p of the cells' ratios being one: below it they are said to differ

Array = npt.NDArray[np.float64]
Cells = Sequence[tuple[Array, Array]]


@dataclass(frozen=True)
class CellEffect:
    """The mean of the cells' differences B - A with its standard error and degrees of freedom. ``variance``: of a trial
    of A and one of B inside their cell, together. ``spread``: the smallest difference and the largest; ``p_same``: of
    the cells having one difference, None where too little is repeated in them; ``slack``: what half a tick of the clock
    leaves open; ``few``: the trials that tell the spread of a side are few against those of the other."""

    value: float
    error: float
    df: float
    variance: float
    spread: tuple[float, float]
    p_same: float | None
    slack: float = 0.0
    few: bool = False

    def interval(self, level: float, n: int) -> Estimate:
        """The mean with its t interval."""
        if self.df < 1:
            few = Message("single-trial", "one trial a side in one cell shows no spread: repeat the cells")
            return Estimate(self.value, None, None, level, n, (few,))
        half = t_critical(level, self.df) * self.error + self.slack
        return Estimate(self.value, self.value - half, self.value + half, level, n)


@dataclass(frozen=True)
class _SideOfCells:
    """One side: trials, means and sums of squares of the cells."""

    n: Array
    mean: Array
    squares: Array

    @property
    def df(self) -> float:
        """Of the side's variance over all cells."""
        return float((self.n - 1).sum())

    @property
    def variance(self) -> float:
        """Of a trial inside its cell, over all cells."""
        return float(self.squares.sum() / self.df)

    def parts(self, share: Array) -> tuple[Array, Array]:
        """The variance of the mean that gives each cell this share, as independent parts with degrees of freedom: one
        of each repeated cell. That of an unrepeated one is the variance of all of them, so each carries a share of
        it."""
        repeated = self.n > 1
        df = self.n[repeated] - 1
        single_share = float((share[~repeated] ** 2).sum())
        return self.squares[repeated] * (share[repeated] ** 2 / self.n[repeated] / df + single_share / self.df), df


def within(cells: Cells) -> CellEffect:
    """The cells' differences, a cell of n and m trials weighing nm ÷ (n + m), with the variance of each side of its own
    (Welch's, inside each cell): se² = Σ w² (s_A² ÷ n + s_B² ÷ m).

    It is the mean over these cells; where they differ, that over others is another one (``p_same``). Where fewer trials
    are repeated than there are cells, the differences themselves are the repetition: their jackknife over cells, of
    unrepeated ones the paired t.
    """
    a, b = (_side_of([cell[place] for cell in cells]) for place in (0, 1))
    weights = a.n * b.n / (a.n + b.n)
    each = b.mean - a.mean
    value = float(weights @ each / weights.sum())
    spread = (float(each.min()), float(each.max()))
    if min(a.df, b.df) < max(1, len(cells) - 1):
        variance = _jackknife_variance(each, weights)
        return CellEffect(value, math.sqrt(variance), len(cells) - 1, 2 * variance * float(weights.sum()), spread, None)
    share = weights / weights.sum()
    parts, dfs = (np.concatenate(both) for both in zip(a.parts(share), b.parts(share), strict=True))
    error, variance, few = math.sqrt(float(parts.sum())), a.variance + b.variance, _has_few_trials(a, b)
    df = satterthwaite(parts, dfs)
    df = min(df, a.df, b.df) if few else df
    return CellEffect(value, error, df, variance, spread, _p_same(each, a, b), few=few)


def _has_few_trials(a: _SideOfCells, b: _SideOfCells) -> bool:
    """Whether the degrees of freedom are those of the few (as ``welch_df``'s): where so few trials are repeated in all
    cells together, or two or three stand against many in each cell, and the cells are few."""
    if few_trials(a.df + 1, b.df + 1):
        return True
    few, many = (a, b) if a.df < b.df else (b, a)
    return few.df < _MIN_SPREAD_DF and all(n < m and few_trials(n, m) for n, m in zip(few.n, many.n, strict=True))


def satterthwaite(parts: Array, df: Array) -> float:
    """Degrees of freedom of a sum of variances (Satterthwaite 1946, Biometrics Bulletin 2, 110-114).

    Of more than two with ν + 2 for ν and 2 less in the end (as Jain 1991, §13.4.2): E[s⁴] is σ⁴(ν + 2) ÷ ν, and many
    variances of a trial or two would leave next to nothing without.
    """
    total = float(parts.sum())
    if total == 0:
        return float(df.sum())
    more = 0 if parts.size <= 2 else 2
    return float(total**2 / (parts**2 / (df + more)).sum() - more)


def _side_of(cells: Sequence[Array]) -> _SideOfCells:
    means = np.array([x.mean() for x in cells])
    squares = np.array([((x - x.mean()) ** 2).sum() for x in cells])
    return _SideOfCells(np.array([float(x.size) for x in cells]), means, squares)


def _jackknife_variance(each: Array, weights: Array) -> float:
    """The variance of the weighted mean, from what it is without each of the cells (Efron 1982, chapter 3)."""
    k = each.size
    if k < 2:
        return 0.0
    without = (weights @ each - weights * each) / (weights.sum() - weights)
    return float((k - 1) / k * ((without - without.mean()) ** 2).sum())


def _p_same(each: Array, a: _SideOfCells, b: _SideOfCells) -> float | None:
    """Of one difference in all cells, weighed by their variances.

    With one variance a side it rejects too often where the cells' spread differs; Welch's (1951, Biometrika 38,
    330-336), with one of each cell and side, where many cells have three trials or so. The larger p does neither. Of
    two trials in a cell its own variance says nothing: then that of the side alone.
    """
    if each.size < 2:
        return None
    pooled = (np.array([a.variance * (1 / a.n).mean(), b.variance * (1 / b.n).mean()]), np.array([a.df, b.df]))
    if not pooled[0].sum():
        return None
    p = _p_of(each, a.variance / a.n + b.variance / b.n, satterthwaite(*pooled))
    if min(a.n.min(), b.n.min()) < _OWN_SPREAD:
        return p
    variance_a, variance_b = (group.squares / (group.n - 1) / group.n for group in (a, b))
    variances = variance_a + variance_b
    if not np.all(variances > 0):
        return p
    own = variances**2 / (variance_a**2 / (a.n - 1) + variance_b**2 / (b.n - 1))
    return max(p, _p_of(each, variances, own))


def _p_of(each: Array, variances: Array, df: Array | float) -> float:
    """Welch's test of one mean behind all; with a single ``df`` the variances are known but for a common factor."""
    k, precision = each.size, 1 / variances
    mean = float(precision @ each / precision.sum())
    f = float(precision @ (each - mean) ** 2) / (k - 1)
    if isinstance(df, float):
        return f_upper_p(f, k - 1, df)
    unsure = float(((1 - precision / precision.sum()) ** 2 / df).sum())
    return f_upper_p(f / (1 + 2 * (k - 2) / (k**2 - 1) * unsure), k - 1, (k**2 - 1) / (3 * unsure))


def compare_within(
    names: tuple[str, str],
    cells: Cells,
    level: float,
    margin: float,
    base: float | None,
    *,
    display_cells: Cells | None = None,
    exact: bool = False,
) -> Comparison:
    """The comparison of ``names`` A and B over cells, each of which has trials of both. ``base``: as of ``compare``.
    ``display_cells``: the same cells for means and differences, where ratios are of other means."""
    check_margin(level, margin)
    display_cells = cells if display_cells is None else display_cells
    sides = [np.concatenate([cell[place] for cell in display_cells]) for place in (0, 1)]
    logs = base is None and all(np.all(x > 0) for cell in cells for x in cell)
    effect = within([(np.log(a), np.log(b)) for a, b in cells] if logs else cells)
    ticks = Rounding() if exact or base is not None else _measure_rounding(display_cells)
    effect = replace(effect, slack=_compute_slack(cells, ticks) if logs else ticks.a + ticks.b)
    n = min(x.size for x in sides)
    estimate = effect.interval(level, n)
    plain = replace(within(display_cells), slack=ticks.a + ticks.b).interval(level, n) if logs else estimate
    a, b = (Group(name, side(x), x) for name, x in zip(names, sides, strict=True))
    ratio = exp_of(estimate) if logs else None
    wide = margin_of_difference(a.side.mean, b.side.mean, margin, base)

    def verdict_at(other: float) -> str:
        interval = effect.interval(other, n)
        return verdict(exp_of(interval), margin) if logs else verdict_of(interval, wide)

    outcome = verdict_at(level)
    still = effect.df >= 1 and effect.error <= _STILL * (1 if logs else max(float(np.abs(x).max()) for x in sides))
    t = None if still or effect.df < 1 else -effect.value / effect.error
    half = math.log1p(margin) / 2 if logs else wide / 2
    unlike = _describe_disagreement(effect, logs)
    coarse = (coarse_text(ticks.step),) if ticks else (NO_SPREAD,) if still else ()
    few = (few_trials_text(a.side.n, b.side.n),) if effect.few else ()
    doubts = tuple(
        code for code, there in (("cells-differ", unlike), ("coarse-clock", coarse), ("few-trials", few)) if there
    )
    open_to_trials = outcome == CANNOT_TELL and not unlike and not ticks
    return Comparison(
        a, b, _estimate_mean(a, level), _estimate_mean(b, level), overlap=None, mean_inside=None,
        t=t, df=effect.df, p=None if t is None else t_two_sided_p(t, effect.df), ratio=ratio, typical=None,
        difference=plain, method=METHOD, rank_test=None, effect_size=None, margin=margin, difference_margin=wide,
        verdict=outcome, paired=False, n_needed=enough(effect.variance, half, level) if open_to_trials else None,
        warnings=(*estimate.warnings, *unlike, *coarse, *few), cells=len(cells), cells_differ=bool(unlike),
        by_level=at_levels(verdict_at), doubts=doubts,
        at=(lambda other: exp_of(effect.interval(other, n))) if logs else None,
    )  # fmt: skip


def _measure_rounding(cells: Cells) -> Rounding:
    """Half a tick of each side, against its spread inside the cells."""
    a, b = (_side_of([cell[place] for cell in cells]) for place in (0, 1))
    if min(a.df, b.df) < 1:
        return Rounding()
    sides = [np.concatenate([cell[place] for cell in cells]) for place in (0, 1)]
    return rounding(sides[0], sides[1], math.sqrt(a.variance), math.sqrt(b.variance))


def _compute_slack(cells: Cells, ticks: Rounding) -> float:
    """Of the mean of the logarithms' differences."""
    weights = np.array([a.size * b.size / (a.size + b.size) for a, b in cells])
    each = np.array([_log_slack(ticks.a / a.mean()) + _log_slack(ticks.b / b.mean()) for a, b in cells])
    return float(weights @ each / weights.sum())


def _log_slack(share: float) -> float:
    return -math.log1p(-min(share, 0.999))


def _estimate_mean(group: Group, level: float) -> Estimate:
    """Over all cells, where an interval would be one of their differences."""
    return Estimate(group.side.mean, None, None, level, group.side.n)


def _describe_disagreement(effect: CellEffect, logs: bool) -> tuple[str, ...]:
    if effect.p_same is None or effect.p_same >= _DIFFERS:
        return ()
    low, high = (f"{math.exp(x) if logs else x:.3g}" for x in effect.spread)
    what = "ratio" if logs else "difference"
    return (
        Message(
            "cells-differ",
            "the {effect} is not the same in all cells ({low} to {high}, p = {p:.2g}): compare each with {spell.by}",
            effect=what,
            low=low,
            high=high,
            p=effect.p_same,
        ),
    )
