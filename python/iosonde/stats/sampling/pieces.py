"""Uncertainty from files that were drawn with certainty but read only in pieces.

The mean of the pieces of a file has a variance of its own (Särndal, Swensson and Wretman, *Model Assisted Survey
Sampling*, 1992, 4.3). A property of few pieces, such as blocks of zeros, has no spread where no read piece shows it.
Then the interval is that of a rare property, from the effective number of pieces (Kish's).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate.distributions import t_critical

from .rare import few_decide, interval_of_mean, is_rounding

Floats = npt.NDArray[np.float64]
_RARE = 0.5  # share of the effective pieces that have the property


@dataclass(frozen=True)
class CertainPieces:
    """Files drawn with certainty: the mass of each, the mean of its pieces, the variance of this mean, and the number
    of pieces (0: the whole file was read)."""

    masses: Floats
    values: Floats
    within: Floats
    pieces: Floats

    @property
    def variance(self) -> float:
        """Return the variance of their total."""
        return float(self.masses**2 @ self.within)

    def reach(self, level: float, freedom: int, bounded: bool) -> tuple[float, float]:
        """Return how far their total may lie below and above the estimate. ``bounded``: values may be near 1."""
        usual = t_critical(level, freedom) * math.sqrt(self.variance)
        cut = self.pieces > 1
        mass, values = self.masses[cut], self.values[cut]
        if not bounded or not mass.sum():
            return usual, usual
        total_mass, weights = float(mass.sum()), mass / mass.mean()
        draws = total_mass**2 / float((mass**2 / self.pieces[cut]).sum())
        ends = [self._compute_rare_limits(side, weights, draws, level) for side in (values, 1 - values)]
        low, high = ends[0] or (0.0, 0.0), ends[1] or (0.0, 0.0)
        return max(usual, total_mass * max(low[0], high[1])), max(usual, total_mass * max(low[1], high[0]))

    def _compute_rare_limits(
        self, values: Floats, weights: Floats, draws: float, level: float
    ) -> tuple[float, float] | None:
        """Return how far the mean may lie below and above the estimate if few of the effective pieces have the
        property."""
        weighted = values * weights
        mean = float(weighted.mean())
        variance = float((weights / len(weights)) ** 2 @ self.within[self.pieces > 1])
        seldom = few_decide(weighted) and _compute_kish_size(weighted) < _RARE * _compute_kish_size(weights)
        if mean > 0 and not seldom and not is_rounding(variance, mean):
            return None
        low, high = interval_of_mean(weighted, variance, max(1, int(draws) - 1), draws, level)
        return max(0.0, mean - low), high - mean


def _compute_kish_size(values: Floats) -> float:
    return float(values.sum()) ** 2 / float(values @ values)


def certain_pieces(
    masses: Floats, values: Floats, within: Floats, pieces: npt.ArrayLike | None, sure: npt.NDArray[np.bool_]
) -> CertainPieces:
    """Select the files drawn with certainty (``sure``); ``pieces`` None: do not allow for rare properties."""
    many = np.zeros(len(masses)) if pieces is None else np.asarray(pieces, float)
    return CertainPieces(masses[sure], values[sure], within[sure], many[sure])


def joined(parts: Sequence[CertainPieces]) -> CertainPieces:
    """Join those of several parts of a population."""
    if not parts:
        return CertainPieces(*(np.zeros(0) for _ in range(4)))
    names = ("masses", "values", "within", "pieces")
    return CertainPieces(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
