"""Shares, means and totals of a population from a sample drawn with known probabilities.

The population has a known mass: the number of its files, or their bytes. A part was drawn with certainty and is known.
The others were drawn with a probability proportional to their mass (equal where the mass is the number). So the plain
mean over the draws estimates the mean over the mass of the rest: Hansen and Hurwitz (Annals of Mathematical Statistics
14, 1943, 333-362), in the ratio form of Horvitz and Thompson (JASA 47, 1952, 663-685). Its variance without replacement
is Hájek's, each squared deviation times 1 − probability (Hájek, *Sampling from a Finite Population*, 1981). Intervals
of shares and means are Clopper and Pearson's on the effective number of draws (Korn and Graubard, Survey Methodology
24, 1998, 193-201). For values from 0 to 1 of which few are not 0, Student's interval would be too narrow on the side of
the rare values; elsewhere the two agree. Where few draws decide, the interval is Stringer's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import binomial_interval

from .pieces import compute_mean_limits, select_certain_pieces

Values = npt.NDArray[np.float64]
_FEW = 30
_MOST_MISSING = 0.5  # share of the mass: with more unreadable, the rest does not represent the whole


@dataclass(frozen=True)
class DrawnSample:
    """``mass``: of the whole population; ``masses`` and ``chances`` of the draws; a chance of 1 is certain."""

    mass: float
    masses: Values
    chances: Values

    @property
    def certain(self) -> npt.NDArray[np.bool_]:
        """Return which files were drawn with certainty."""
        return self.chances >= 1

    @property
    def rest(self) -> float:
        """Return the mass of all files that were not certain to be drawn."""
        return max(0.0, self.mass - float(self.masses[self.certain].sum()))

    @property
    def weights(self) -> Values:
        """Return the mass that each draw stands for: its own if it was certain, else an equal part of the rest."""
        sure = self.certain
        return np.where(sure, self.masses, self.rest / max(1, int((~sure).sum())))


def sample_by_count(draws: int, population: int) -> DrawnSample:
    """Describe ``draws`` files drawn with equal probability, without replacement."""
    ones = np.ones(draws)
    return DrawnSample(float(population), ones, ones * (draws / population if population else 1.0))


def sample_by_size(masses: Values, threshold: float | None, mass: float) -> DrawnSample:
    """Describe files drawn by their mass with the threshold of priority sampling: the files with the smallest keys,
    each a random number of (0, 1) over the mass. A ``threshold`` of None: all files were drawn."""
    return DrawnSample(mass, masses, np.ones(len(masses)) if threshold is None else np.minimum(1.0, masses * threshold))


@dataclass(frozen=True)
class PopulationEstimate:
    """An estimate for the whole population. ``design_effect``: its variance relative to that of as many draws with
    replacement and equal weights; None if unknown. ``if_none`` and ``if_all``: the value if none or all of the missing
    files had the property."""

    estimate: Estimate
    design_effect: float | None
    if_none: float
    if_all: float

    @classmethod
    def without_value(cls, level: float, bounds: tuple[float, float]) -> PopulationEstimate:
        """Return the bounds alone: no drawn file could be read."""
        warning = Message("unreadable-files", "no drawn file could be read")
        return cls(Estimate(None, None, None, level, 0, (warning,)), None, *bounds)

    def times(self, mass: float) -> PopulationEstimate:
        """Return the total over a mass: bytes from a share of bytes."""
        estimate = self.estimate
        value, low, high = (None if x is None else x * mass for x in (estimate.value, estimate.low, estimate.high))
        return PopulationEstimate(
            Estimate(value, low, high, estimate.level, estimate.n, estimate.warnings),
            self.design_effect,
            self.if_none * mass,
            self.if_all * mass,
        )


@dataclass(frozen=True)
class DrawnSplit:
    """The readable files: the mass and values of those that were certain, the values and chances of the rest."""

    sure_mass: Values
    sure: Values
    values: Values
    chances: Values
    rest: float

    @property
    def mean(self) -> float:
        """Return the mean of the rest."""
        return float(self.values.mean()) if len(self.values) else 0.0

    @property
    def mass(self) -> float:
        """Return the mass that the readable files stand for."""
        return float(self.sure_mass.sum()) + (self.rest if len(self.values) else 0.0)

    @property
    def value(self) -> float:
        """Return the mean of the whole."""
        sure_total = float(self.sure_mass @ self.sure)
        return (sure_total + (self.rest * self.mean if len(self.values) else 0.0)) / self.mass

    @property
    def variance(self) -> float:
        """Return the variance of the mean of the rest, 0 where all of it was drawn."""
        n = len(self.values)
        return math.nan if n < 2 else float(((1 - self.chances) * (self.values - self.mean) ** 2).sum()) / (n * (n - 1))

    @property
    def effective(self) -> float:
        """Return the effective number of draws for a property that none of them has; 0 where all was drawn."""
        free = float((1 - self.chances).mean()) if len(self.values) else 0.0
        return len(self.values) / free if free > 0 else 0.0

    @property
    def share_variance(self) -> float:
        """Return the variance of the mean of values 0 or 1. The effective number is at most the number of draws,
        truncated as in Parker et al. (NCHS Vital and Health Statistics 2(175), 2017)."""
        return max(self.variance, self.mean * (1 - self.mean) / self.effective) if self.effective else self.variance


def estimate_share(
    sample: DrawnSample, has: npt.ArrayLike, level: float, answered: npt.ArrayLike | None = None
) -> PopulationEstimate:
    """Estimate the share of the mass that ``has`` a property (0 or 1 for each draw). ``answered``: which files could be
    read; the interval holds whatever is in the others."""
    values, mask = split_answers(sample, has, answered)
    return widen_for_missing(
        _estimate_readable_share(sample, values, level, mask),
        lambda missing: _estimate_readable_share(
            sample, np.where(mask, values, missing), level, np.ones(len(mask), bool)
        ),
    )


def _estimate_readable_share(
    sample: DrawnSample, values: Values, level: float, mask: npt.NDArray[np.bool_]
) -> PopulationEstimate:
    split = split_draws(sample, values, mask)
    bounds = compute_missing_bounds(sample, values, mask)
    n = int(mask.sum())
    if not split.mass:
        return PopulationEstimate.without_value(level, bounds)
    value = min(1.0, split.value)
    low, high = _estimate_interval(split, level)
    sure = float(split.sure_mass @ split.sure)
    ends = [(sure + split.rest * end) / split.mass for end in (low, high)] if len(split.values) else [value, value]
    return PopulationEstimate(
        Estimate(value, min(value, ends[0]), max(value, min(1.0, ends[1])), level, n),
        compute_design_effect(split.variance * (split.rest / split.mass) ** 2, value * (1 - value), n)
        if len(split.values)
        else 0.0,
        *bounds,
    )


def estimate_mean(
    sample: DrawnSample,
    values: npt.ArrayLike,
    level: float,
    answered: npt.ArrayLike | None = None,
    within: npt.ArrayLike | None = None,
    bounded: bool = True,
    pieces: npt.ArrayLike | None = None,
) -> PopulationEstimate:
    """Estimate the mean over the mass of a value from 0 to 1, such as the compressed size of a file. ``bounded``: the
    value may be near 1; else it is always small, such as seconds per byte.

    ``within``: the variance of each value, where only some pieces of a file were read (``pieces``: how many; 0: the
    whole). The interval holds whatever is in missing files, unless values are not ``bounded``.
    """
    numbers, mask = split_answers(sample, values, answered)
    own = np.zeros(len(numbers)) if within is None else np.asarray(within, float)
    sample_estimate = _estimate_readable_mean(sample, numbers, level, mask, own, bounded, pieces)
    if not bounded:
        return drop_mostly_missing_value(sample_estimate)

    def estimate_filled(missing: float) -> PopulationEstimate:
        return _estimate_readable_mean(
            sample, np.where(mask, numbers, missing), level, np.ones(len(mask), bool), own * mask, bounded, pieces
        )

    return widen_for_missing(sample_estimate, estimate_filled)


def _estimate_readable_mean(
    sample: DrawnSample,
    numbers: Values,
    level: float,
    mask: npt.NDArray[np.bool_],
    own: Values,
    bounded: bool,
    pieces: npt.ArrayLike | None,
) -> PopulationEstimate:
    split = split_draws(sample, numbers, mask)
    bounds = compute_missing_bounds(sample, numbers, mask)
    n = int(mask.sum())
    if not split.mass:
        return PopulationEstimate.without_value(level, bounds)
    cut = select_certain_pieces(sample.masses, numbers, own, pieces, sample.certain & mask)
    inner = cut.variance / split.mass**2
    part = split.rest / split.mass if len(split.values) else 0.0
    spread = split.variance + compute_piece_variance(sample, own, mask) if part else 0.0
    if math.isnan(spread):
        return PopulationEstimate(Estimate(split.value, None, None, level, n, (_NO_SPREAD,)), None, *bounds)
    low, high = compute_mean_limits(split.values, spread, len(split.values) - 1, split.effective, level, bounded)
    down, up = (end / split.mass for end in cut.reach(level, max(1, len(split.values) - 1), bounded))
    below, above = math.hypot(part * (split.mean - low), down), math.hypot(part * (high - split.mean), up)
    few = 0 < len(split.values) < _FEW
    warnings = (
        (
            Message(
                "small-sample",
                "{n} files drawn at random are too few for a reliable interval of a mean",
                n=len(split.values),
            ),
        )
        if few
        else ()
    )
    return PopulationEstimate(
        Estimate(split.value, split.value - below, split.value + above, level, n, warnings).within(low=0.0),
        compute_design_effect(inner + spread * part**2, float(np.var(numbers[mask])) if n > 1 else 0.0, n),
        *bounds,
    )


def drop_mostly_missing_value(sample_estimate: PopulationEstimate) -> PopulationEstimate:
    """Return the estimate, without a number if most of the mass is missing."""
    if sample_estimate.if_all - sample_estimate.if_none <= _MOST_MISSING or sample_estimate.estimate.value is None:
        return sample_estimate
    estimate = sample_estimate.estimate
    return PopulationEstimate(
        Estimate(None, None, None, estimate.level, estimate.n, (*estimate.warnings, MOSTLY_MISSING)),
        sample_estimate.design_effect,
        sample_estimate.if_none,
        sample_estimate.if_all,
    )


def widen_for_missing(
    sample_estimate: PopulationEstimate, filled: Callable[[float], PopulationEstimate]
) -> PopulationEstimate:
    """Widen an interval by missing files: its ends assume that none or all of them have the property.

    ``filled`` returns the estimate with this value for missing files. If most of the mass is missing, only limits are
    left.
    """
    estimate = sample_estimate.estimate
    if (
        sample_estimate.if_all <= sample_estimate.if_none
        or estimate.value is None
        or estimate.low is None
        or estimate.high is None
    ):
        return drop_mostly_missing_value(sample_estimate)
    low, high = filled(0.0).estimate.low, filled(1.0).estimate.high
    assert low is not None and high is not None
    unknown = drop_mostly_missing_value(sample_estimate).estimate
    wide = Estimate(
        unknown.value, min(low, estimate.low), max(high, estimate.high), estimate.level, estimate.n, unknown.warnings
    )
    return PopulationEstimate(wide, sample_estimate.design_effect, sample_estimate.if_none, sample_estimate.if_all)


def compute_piece_variance(sample: DrawnSample, within: Values, answered: npt.NDArray[np.bool_]) -> float:
    """Return the variance that pieces add to the variance of the mean of the rest. The spread of the draws includes it,
    except for the part that the probabilities remove (Särndal, Swensson and Wretman, *Model Assisted Survey Sampling*,
    1992, 4.3)."""
    drawn = ~sample.certain & answered
    n = int(drawn.sum())
    return float(sample.chances[drawn] @ within[drawn]) / n**2 if n else 0.0


MOSTLY_MISSING = Message("unreadable-files", "more than half of the sample could not be read")
_NO_SPREAD = Message("single-file", "one file drawn at random has no spread; draw more")


def split_answers(
    sample: DrawnSample, values: npt.ArrayLike, answered: npt.ArrayLike | None
) -> tuple[Values, npt.NDArray[np.bool_]]:
    """Return the values as numbers, and which files could be read."""
    numbers = np.asarray(values, float)
    return numbers, np.ones(len(sample.masses), bool) if answered is None else np.asarray(answered, bool)


def split_draws(sample: DrawnSample, values: Values, mask: npt.NDArray[np.bool_]) -> DrawnSplit:
    """Split the readable files into certain and random draws."""
    sure, drawn = sample.certain & mask, ~sample.certain & mask
    return DrawnSplit(sample.masses[sure], values[sure], values[drawn], sample.chances[drawn], sample.rest)


def compute_missing_bounds(sample: DrawnSample, values: Values, mask: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the value if none, and if all, of the missing files had the property."""
    everyone = np.ones(len(mask), bool)
    if not sample.mass or not len(mask):
        return 0.0, 1.0
    if mask.all():
        value = min(1.0, split_draws(sample, values, mask).value)
        return value, value
    ends = [split_draws(sample, np.where(mask, values, missing), everyone).value for missing in (0.0, 1.0)]
    return min(1.0, ends[0]), min(1.0, ends[1])


def _estimate_interval(split: DrawnSplit, level: float) -> tuple[float, float]:
    n, p = len(split.values), split.mean
    if not split.effective:
        return p, p
    effective = p * (1 - p) / split.share_variance if n > 1 and 0 < p < 1 else split.effective
    return binomial_interval(p * effective, effective, level)


def compute_design_effect(variance: float, spread: float, n: int) -> float | None:
    """Return a variance relative to that of ``n`` draws with replacement from values of this spread."""
    return variance / (spread / n) if spread > 0 and n and not math.isnan(variance) else None


def estimate_hansen_hurwitz_share(values: npt.ArrayLike, level: float) -> Estimate:
    """Estimate a share of the mass from draws *with* replacement by probabilities proportional to the mass: the plain
    mean over the draws, in which a file that was drawn twice counts twice."""
    numbers = np.asarray(values, float)
    low, high = binomial_interval(float(numbers.sum()), len(numbers), level)
    return Estimate(float(numbers.mean()), low, high, level, len(numbers))
