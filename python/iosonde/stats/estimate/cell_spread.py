"""The variance of a linear form of cell means, where each cell has a variance of its own (Welch's, inside the cells):
for two sides within cells (``compare``) and for the effect of a factor (``summary``, ``rank`` and others)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from iosonde.core.arrays import Array

from .ratio import has_too_few_trials

_MIN_SPREAD_DF = 6  # degrees of freedom sufficient for the spread of two or three trials per cell


@dataclass(frozen=True)
class CellSpread:
    """The cells of one side or one level: their trials ``n``, and sums of ``squares`` about their means."""

    n: Array
    squares: Array

    @cached_property
    def df(self) -> float:
        """The degrees of freedom of the variance over all cells."""
        return float((self.n - 1).sum())

    @property
    def variance(self) -> float:
        """The variance of a trial inside its cell, over all cells."""
        return float(self.squares.sum() / self.df)

    @property
    def variances(self) -> Array:
        """The variance of a trial of each cell; of an unrepeated cell that of all repeated ones."""
        return np.where(self.n > 1, self.squares / np.maximum(self.n - 1, 1), self.variance)

    def parts(self, weights: Array) -> tuple[Array, Array]:
        """Return Σ weight·σ² of the cells as independent parts with degrees of freedom: one for each repeated cell.
        Each part includes a share of the unrepeated cells, whose variance is that of all repeated ones."""
        repeated = self.n > 1
        df = self.n[repeated] - 1
        single = float(weights[~repeated].sum())
        return self.squares[repeated] * (weights[repeated] / df + single / self.df), df


def has_few_trials(a: CellSpread, b: CellSpread) -> bool:
    """Return whether the degrees of freedom are those of the side with few trials (as in ``compute_welch_df``). They
    are if all cells together have so few repetitions, or if few cells have two or three trials against many each."""
    if has_too_few_trials(a.df + 1, b.df + 1):
        return True
    few, many = (a, b) if a.df < b.df else (b, a)
    paired = few.n.size == many.n.size
    return few.df < _MIN_SPREAD_DF and all(
        n < m and has_too_few_trials(n, m)
        for n, m in zip(few.n, many.n if paired else np.full(few.n.size, many.n.min()), strict=True)
    )


def compute_satterthwaite_df(parts: Array, df: Array) -> float:
    """Return the degrees of freedom of a sum of variances (Satterthwaite 1946, Biometrics Bulletin 2, 110-114).

    For more than two variances, ν + 2 replaces ν and 2 is subtracted at the end (as Jain 1991, §13.4.2): E[s⁴] is σ⁴(ν
    + 2) ÷ ν. Otherwise many variances of two trials would leave next to no degrees of freedom.
    """
    total = float(parts.sum())
    if total == 0:
        return float(df.sum())
    more = 0 if parts.size <= 2 else 2
    return float(1 / ((parts / total) ** 2 / (df + more)).sum() - more)


def compute_spread_df(parts: Sequence[tuple[Array, Array]], sides: Sequence[CellSpread]) -> tuple[float, bool]:
    """Return (degrees of freedom of the sum of the ``parts`` of all ``sides``; whether they are those of the side with
    few trials alone)."""
    both, dfs = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    df, ordered = compute_satterthwaite_df(both, dfs), sorted(sides, key=lambda side: side.df)
    few = has_few_trials(ordered[0], ordered[-1])
    return (min(df, ordered[0].df) if few else df), few
