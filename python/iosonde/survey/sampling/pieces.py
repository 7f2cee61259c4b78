"""Uncertainty from files that were drawn with certainty but read only in pieces.

The mean of the pieces of a file has a variance of its own (Särndal, Swensson and Wretman, *Model Assisted Survey
Sampling*, 1992, 4.3). A property of few pieces, such as blocks of zeros, has no spread where no read piece shows it.
Then the interval is that of a rare property, from the effective number of pieces (Kish's).

The interval of a mean of values from 0 to 1 that depends on few draws, such as the share of zeros in files of which
most have none, is the bound that auditors use for errors in accounts, where the observed spread does not represent rare
values. Stringer (Proceedings of the Business and Economic Statistics Section, ASA, 1963, 405-411): the j-th largest
value counts as much as a j-th hit would raise Clopper and Pearson's limit. For values 0 and 1 it is that limit. It is
known to be conservative (Panel on Nonstandard Mixtures of Distributions, Statistical Science 4, 1989, 2-33).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.stats.estimate.distributions import binomial_interval, normal_quantile, t_critical

_FEW = 30.0
_ROUNDING = 1e-12  # relative to a mean: a smaller standard error is only rounding
_EXACTLY = 100  # further values count as the last of these: a close upper bound


def is_decided_by_few(values: npt.NDArray[np.float64]) -> bool:
    """Return whether the effective number of values (Kish's) is below 30."""
    squares = float(values @ values)
    return squares > 0 and float(values.sum()) ** 2 / squares < _FEW


def compute_rare_interval(values: npt.NDArray[np.float64], draws: float, level: float) -> tuple[float, float]:
    """Return the interval of the mean. ``draws``: the number of draws with replacement that all ``values`` are
    worth."""
    hits = -np.sort(-values[values > 0])
    each = draws / len(values)
    some = hits[:_EXACTLY]
    low, high = zip(*(binomial_interval(each * many, draws, level) for many in range(len(some) + 1)), strict=True)
    rises = [np.diff(limits) for limits in (low, high)]
    lower, upper = (float(rise @ some) for rise in rises)
    rest = float(hits[_EXACTLY:].sum())
    if rest:
        lower, upper = lower + rest * float(rises[0][-1]), upper + rest * float(rises[1][-1])
    return lower, min(1.0, high[0] + upper)


def compute_mean_limits(
    values: npt.NDArray[np.float64], variance: float, freedom: int, effective: float, level: float, bounded: bool = True
) -> tuple[float, float]:
    """Return the limits of the mean of values from 0 to 1 that has this variance.

    ``effective``: effective number of draws for a property that no value has. ``bounded``: rare values that were not
    drawn may be 1, and the interval is never narrower than they allow; else they are like the drawn values.
    """
    mean = float(values.mean()) if len(values) else 0.0
    if not effective:
        return mean, mean
    rare = binomial_interval(0, effective, level)[1]
    largest = 1.0 if bounded else float(values.max())
    unmet = mean - rare * mean, mean + rare * max(0.0, largest - mean)
    if is_rounding(variance, mean) or not 0 < mean < 1:
        return unmet
    wider = (t_critical(level, max(1, freedom)) / normal_quantile(0.5 + level / 2)) ** 2
    # Draws of 0 and 1 whose mean would have the same variance.
    draws = mean * (1 - mean) / variance / wider
    low, high = binomial_interval(mean * draws, draws, level)
    if not bounded:
        return low, high
    low, high = min(low, unmet[0]), max(high, unmet[1])
    if is_decided_by_few(values):
        least, most = compute_rare_interval(values, effective, level)
        low, high = min(low, least), max(high, most)
    if is_decided_by_few(1 - values):
        least, most = compute_rare_interval(1 - values, effective, level)
        low, high = min(low, 1 - most), max(high, 1 - least)
    return low, high


def is_rounding(variance: float, mean: float) -> bool:
    """Return whether a variance of a mean is 0 except for rounding."""
    return not variance > (_ROUNDING * mean) ** 2


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
        seldom = is_decided_by_few(weighted) and _compute_kish_size(weighted) < _RARE * _compute_kish_size(weights)
        if mean > 0 and not seldom and not is_rounding(variance, mean):
            return None
        low, high = compute_mean_limits(weighted, variance, max(1, int(draws) - 1), draws, level)
        return max(0.0, mean - low), high - mean


def _compute_kish_size(values: Floats) -> float:
    return float(values.sum()) ** 2 / float(values @ values)


def select_certain_pieces(
    masses: Floats, values: Floats, within: Floats, pieces: npt.ArrayLike | None, sure: npt.NDArray[np.bool_]
) -> CertainPieces:
    """Select the files drawn with certainty (``sure``); ``pieces`` None: do not allow for rare properties."""
    many = np.zeros(len(masses)) if pieces is None else np.asarray(pieces, float)
    return CertainPieces(masses[sure], values[sure], within[sure], many[sure])


def join_certain_pieces(parts: Sequence[CertainPieces]) -> CertainPieces:
    """Join those of several parts of a population."""
    if not parts:
        return CertainPieces(*(np.zeros(0) for _ in range(4)))
    names = ("masses", "values", "within", "pieces")
    return CertainPieces(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
