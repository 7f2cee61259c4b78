"""The coefficients of a fit with the noise of each setting: Welch's of one factor, Satterthwaite's of several.

The variance of a setting is that of its residuals about the fit, with the trials less their leverage as degrees of
freedom; of a single factor these are its trials less 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array, Indices

from ..estimate.cell_spread import compute_satterthwaite_df
from ..estimate.distributions import f_upper_p, t_critical, t_two_sided_p
from ..estimate.ratio import compute_welch_df
from .ols import Coefficient, Fit
from .wald import MOST_UNCERTAIN, compute_wald_test

_MIN_TRIALS = 2  # per setting
_MOST_CELLS = 300
_ZERO = 1e-12


@dataclass(frozen=True)
class CellErrors:
    """``forms``: the weight of a trial of each setting (row) in each coefficient; ``variances`` of a trial, with their
    ``df``; ``n``: trials per setting."""

    forms: Array
    variances: Array
    df: Array
    n: Array

    def estimate_slope(self, slope: Coefficient, place: int, level: float) -> Coefficient:
        """Return the coefficient at ``place`` with the interval and the p of these variances."""
        weights = self.forms[:, place] ** 2 * self.n
        parts = weights * self.variances
        used = weights > _ZERO * weights.sum()
        df = self._compute_df(parts[used], np.flatnonzero(used))
        error = math.sqrt(float(parts.sum()))
        half, p = t_critical(level, df) * error, t_two_sided_p(slope.estimate / error, df)
        return replace(slope, low=slope.estimate - half, high=slope.estimate + half, p=p)

    def _compute_df(self, parts: Array, cells: Indices) -> float:
        if len(cells) == 2 and np.allclose(self.df[cells], self.n[cells] - 1):
            (a, b), sizes = parts * self.n[cells], self.n[cells].astype(int).tolist()
            return compute_welch_df(float(a), sizes[0], float(b), sizes[1])
        return max(1.0, compute_satterthwaite_df(parts, self.df[cells]))

    def compute_joint_p(self, places: Sequence[int], fit: Fit) -> float:
        """Return the p that all coefficients at these ``places`` are 0; with one variance of all settings where their
        trials are too few for one of each."""
        chosen, own = list(places), self.forms[:, places]
        parts = [
            (n * variance * np.outer(form, form), float(df))
            for form, n, variance, df in zip(own, self.n, self.variances, self.df, strict=True)
        ]
        test = compute_wald_test(fit.beta[chosen], parts, 2 * float(self.df.min()))
        if test.uncertain <= MOST_UNCERTAIN:
            return test.p
        beta, inverse = fit.beta[chosen], np.linalg.inv(fit.unscaled[np.ix_(chosen, chosen)])
        return f_upper_p(float(beta @ inverse @ beta) / len(chosen) / fit.mse, len(chosen), fit.df)


def measure_cell_errors(fit: Fit) -> CellErrors | None:
    """Measure the noise of each setting of a fit with levels; None of lines alone, of robust errors, and where a
    setting has a single trial or no noise."""
    if fit.robust or fit.f is None or fit.x is None or fit.y is None or fit.leverage is None:
        return None
    if not any("[" in name for name in fit.names):
        return None
    settings, cell = np.unique(fit.x, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    n: Array = np.bincount(cell).astype(float)
    if n.min() < _MIN_TRIALS or n.size > _MOST_CELLS:
        return None
    df: Array = n - np.bincount(cell, fit.leverage)
    squares = np.bincount(cell, fit.residuals**2)
    if df.min() < 1 - 1e-9 or squares.min() <= _ZERO * squares.max():
        return None
    return CellErrors(settings @ fit.unscaled, squares / df, df, n)


def compute_joint_p_values(fit: Fit) -> Mapping[str, float]:
    """Return the joint p of each factor with several coefficients, by the names of these."""
    errors = measure_cell_errors(fit)
    if errors is None:
        return {}
    places: dict[str, list[int]] = {}
    for place, name in enumerate(fit.names):
        if "[" in name and ":" not in name:
            places.setdefault(name.partition("[")[0], []).append(place)
    return {
        fit.names[place]: p
        for own in places.values()
        if len(own) > 1
        for p in [errors.compute_joint_p(own, fit)]
        for place in own
    }
