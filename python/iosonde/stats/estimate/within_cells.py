"""A against B where other settings vary, too: within each cell of them, and then all cells together.

What the cells differ in is in neither side's favour: only differences inside a cell count (randomised blocks;
Montgomery, Design and Analysis of Experiments, 8th ed., §4.1). Of positive values the logs are compared, so the cells'
ratios are what is averaged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate

from .compare import CANNOT_TELL, Comparison, Group, at_levels, check_margin, enough, margin_of_difference, verdict
from .compare import verdict_of_difference as verdict_of
from .distributions import f_upper_p, t_critical, t_two_sided_p
from .logs import exp_of
from .ratio import side

METHOD = "differences within cells"
_DIFFERS = 0.01  # p of the cells' ratios being one: below it they are said to differ

Array = npt.NDArray[np.float64]
Cells = Sequence[tuple[Array, Array]]


@dataclass(frozen=True)
class CellEffect:
    """The mean of the cells' differences B - A with its standard error and degrees of freedom. ``spread``: the smallest
    and the largest; ``p_same``: of the cells having one difference, None where nothing is repeated in a cell."""

    value: float
    error: float
    df: int
    variance: float  # of one trial inside its cell
    spread: tuple[float, float]
    p_same: float | None

    def interval(self, level: float, n: int) -> Estimate:
        """The mean with its t interval."""
        if self.df < 1:
            few = "one trial a side in one cell shows no spread: repeat the cells"
            return Estimate(self.value, None, None, level, n, (few,))
        half = t_critical(level, self.df) * self.error
        return Estimate(self.value, self.value - half, self.value + half, level, n)


def within(cells: Cells) -> CellEffect:
    """By least squares on a level of each cell and one difference: a cell of n and m trials weighs nm ÷ (n + m)."""
    weights = np.array([a.size * b.size / (a.size + b.size) for a, b in cells])
    each = np.array([b.mean() - a.mean() for a, b in cells])
    value = float(weights @ each / weights.sum())
    inside = float(sum(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum() for a, b in cells))
    between = float(weights @ (each - value) ** 2)
    n = sum(a.size + b.size for a, b in cells)
    df, df_inside = n - len(cells) - 1, n - 2 * len(cells)
    variance = (inside + between) / df if df > 0 else 0.0
    p_same = None
    if len(cells) > 1 and df_inside > 0 and inside > 0:
        p_same = f_upper_p(between / (len(cells) - 1) / (inside / df_inside), len(cells) - 1, df_inside)
    return CellEffect(
        value, math.sqrt(variance / weights.sum()), df, variance, (float(each.min()), float(each.max())), p_same
    )


def compare_within(
    names: tuple[str, str], cells: Cells, level: float, margin: float, base: float | None, *, shown: Cells | None = None
) -> Comparison:
    """The comparison of ``names`` A and B over cells, each of which has trials of both. ``base``: as of ``compare``.
    ``shown``: the same cells for means and differences, where ratios are of other means."""
    check_margin(level, margin)
    shown = cells if shown is None else shown
    sides = [np.concatenate([cell[place] for cell in shown]) for place in (0, 1)]
    logs = base is None and all(np.all(x > 0) for cell in cells for x in cell)
    made = within([(np.log(a), np.log(b)) for a, b in cells] if logs else cells)
    n = min(x.size for x in sides)
    estimate = made.interval(level, n)
    plain = within(shown).interval(level, n) if logs else estimate
    a, b = (Group(name, side(x), x) for name, x in zip(names, sides, strict=True))
    ratio = exp_of(estimate) if logs else None
    wide = margin_of_difference(a.side.mean, b.side.mean, margin, base)

    def verdict_at(other: float) -> str:
        found = made.interval(other, n)
        return verdict(exp_of(found), margin) if logs else verdict_of(found, wide)

    said = verdict_at(level)
    t = None if made.error == 0 or made.df < 1 else -made.value / made.error
    half = math.log1p(margin) / 2 if logs else wide / 2
    unlike = _unlike(made, logs)
    open_to_trials = said == CANNOT_TELL and not unlike
    return Comparison(
        a, b, _mean(a, level), _mean(b, level), overlap=None, mean_inside=None,
        t=t, df=made.df, p=None if t is None else t_two_sided_p(t, made.df), ratio=ratio, typical=None,
        difference=plain, method=METHOD, rank_test=None, effect_size=None, margin=margin, difference_margin=wide,
        verdict=said, paired=False, n_needed=enough(2 * made.variance, half, level) if open_to_trials else None,
        warnings=(*estimate.warnings, *unlike), cells=len(cells), cells_differ=bool(unlike),
        by_level=at_levels(verdict_at), doubts=("cells-differ",) if unlike else (),
    )  # fmt: skip


def _mean(one: Group, level: float) -> Estimate:
    """Over all cells, where an interval would be one of their differences."""
    return Estimate(one.side.mean, None, None, level, one.side.n)


def _unlike(made: CellEffect, logs: bool) -> tuple[str, ...]:
    if made.p_same is None or made.p_same >= _DIFFERS:
        return ()
    low, high = (f"{math.exp(x) if logs else x:.3g}" for x in made.spread)
    what = "ratio" if logs else "difference"
    return (
        f"the {what} is not the same in all cells ({low} to {high}, p = {made.p_same:.2g}): compare each with --by",
    )
