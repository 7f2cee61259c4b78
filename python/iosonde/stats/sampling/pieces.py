"""Files that were certain to be drawn, and of which only pieces were looked at: what that leaves open.

The mean of the pieces of a file is known with a variance of its own (Särndal, Swensson and Wretman, *Model Assisted
Survey Sampling*, 1992, 4.3). Of something that is in few pieces, as blocks of zeros, pieces that met none of it have no
spread: then their interval is that of what is rare, from the number of pieces that tell of the mass (Kish's).
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
_RARE = 0.5  # of the pieces that tell: those in which there is any of it


@dataclass(frozen=True)
class CertainPieces:
    """Of each file that was certain: its mass, the mean of its pieces, the variance of that, and how many pieces there
    are (0: it was looked at whole)."""

    masses: Floats
    values: Floats
    within: Floats
    pieces: Floats

    @property
    def variance(self) -> float:
        """Of their total."""
        return float(self.masses**2 @ self.within)

    def reach(self, level: float, freedom: int, bounded: bool) -> tuple[float, float]:
        """How far their total may lie below and above the estimate. ``bounded``: values may be near 1."""
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
        """How far the mean of something may lie below and above where few of the pieces that tell have any of it."""
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
    """Of the files that were certain (``sure``); ``pieces`` None: what is rare in them is not looked for."""
    many = np.zeros(len(masses)) if pieces is None else np.asarray(pieces, float)
    return CertainPieces(masses[sure], values[sure], within[sure], many[sure])


def joined(parts: Sequence[CertainPieces]) -> CertainPieces:
    """Those of several parts of a population as one."""
    if not parts:
        return CertainPieces(*(np.zeros(0) for _ in range(4)))
    names = ("masses", "values", "within", "pieces")
    return CertainPieces(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
