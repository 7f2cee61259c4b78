"""Stratified samples: allocation of draws to strata, and estimates of the whole population.

The whole is the sum over the strata (Cochran, *Sampling Techniques*, 3rd ed. 1977, 5.3 and 5.9): its variance contains
only the spread within strata. The interval of a share is Clopper and Pearson's on the effective number of draws. Each
stratum takes one degree of freedom (Korn and Graubard, Survey Methodology 24, 1998, 193-201).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import binomial_interval, t_critical

from .pieces import CertainPieces, compute_mean_limits, join_certain_pieces, select_certain_pieces
from .shares import (
    DrawnSample,
    DrawnSplit,
    PopulationEstimate,
    Values,
    compute_design_effect,
    compute_missing_bounds,
    compute_piece_variance,
    drop_mostly_missing_value,
    split_answers,
    split_draws,
    widen_for_missing,
)

_WORST = 0.25  # the largest variance of a value from 0 to 1, for a stratum with a single draw


@dataclass(frozen=True)
class StratumValues:
    """The draws of one stratum: their values (0 to 1), which files ``answered``, and the variance ``within`` each
    value. ``pieces``: the number of pieces read of each file, 0 for the whole."""

    sample: DrawnSample
    values: npt.ArrayLike
    answered: npt.ArrayLike | None = None
    within: npt.ArrayLike | None = None
    pieces: npt.ArrayLike | None = None


def allocate_by_mass(draws: int, masses: Sequence[float], files: Sequence[int], least: int = 2) -> list[int]:
    """Allocate ``draws`` to strata in proportion to their mass, by the largest remainders, at least ``least`` where a
    stratum has that many files. A stratum that would get more than its files is drawn whole, and the others share the
    rest. So the sum may exceed ``draws`` with many strata."""
    allocation = [0] * len(masses)
    some = {at for at, mass in enumerate(masses) if mass > 0}
    while some:
        remaining, total_mass = max(0, draws - sum(allocation)), sum(masses[at] for at in some)
        exact = {at: remaining * masses[at] / total_mass for at in some}
        full = {at for at in some if exact[at] >= files[at]}
        if not full:
            break
        some -= full
        for at in full:
            allocation[at] = files[at]
    if some:
        allocation = [math.floor(exact[at]) if at in some else count for at, count in enumerate(allocation)]
        order = sorted(some, key=lambda at: (allocation[at] - exact[at], at))
        for at in order[: max(0, draws - sum(allocation))]:
            allocation[at] += 1
    return [
        min(many, max(count, least)) if mass > 0 else 0
        for count, many, mass in zip(allocation, files, masses, strict=True)
    ]


@dataclass(frozen=True)
class _CombinedStrata:
    """The strata with answers, added up: mass, mass of the certain files with the property, mass of the rest."""

    splits: tuple[DrawnSplit, ...]
    n: int
    certain: CertainPieces
    pieces: float  # variance that pieces of files add to the total of the rest

    @cached_property
    def drawn(self) -> list[DrawnSplit]:
        """Return the strata in which some files were not certain."""
        return [
            split for split in self.splits if len(split.values) and split.rest > 0 and bool((split.chances < 1).any())
        ]

    @cached_property
    def mass(self) -> float:
        return sum(split.mass for split in self.splits)

    @cached_property
    def value(self) -> float:
        return sum(split.mass * split.value for split in self.splits) / self.mass

    @cached_property
    def rest(self) -> float:
        return sum(split.rest for split in self.drawn)

    @cached_property
    def rest_mean(self) -> float:
        """Return the mean of the rest."""
        return sum(split.rest * split.mean for split in self.drawn) / self.rest if self.rest else 0.0

    @cached_property
    def variance(self) -> float:
        """Return the variance of the mean of the rest."""
        return sum((split.rest / self.rest) ** 2 * _bound_variance(split.variance) for split in self.drawn)

    @cached_property
    def share_variance(self) -> float:
        """Return the variance of a share: in each stratum, the effective number is at most the number of draws."""
        return sum((split.rest / self.rest) ** 2 * _bound_variance(split.share_variance) for split in self.drawn)

    @cached_property
    def weighted(self) -> Values:
        """Return the values of the rest, weighted by the mass they stand for: their plain mean is that of the rest."""
        many = sum(len(split.values) for split in self.drawn)
        each = [split.values * (split.rest / len(split.values) * many / self.rest) for split in self.drawn]
        return np.concatenate(each) if each else np.zeros(0)

    @cached_property
    def spread(self) -> float:
        """Return the variance including that of pieces."""
        return self.variance + self.pieces / self.rest**2 if self.drawn else 0.0

    @cached_property
    def freedom(self) -> int:
        """Return the degrees of freedom: draws beyond the first of each stratum."""
        return max(1, sum(len(split.values) - 1 for split in self.drawn))

    @cached_property
    def effective(self) -> float:
        """Return the effective number of draws with equal weights for an unknown property; 0 where all was drawn."""
        if not self.drawn:
            return 0.0
        free = [
            (split.rest / self.rest) ** 2 * float((1 - split.chances).mean()) / len(split.values)
            for split in self.drawn
        ]
        return 1 / sum(free)


def _bound_variance(variance: float) -> float:
    return _WORST if math.isnan(variance) else variance


def _combine_strata(strata: Sequence[StratumValues]) -> tuple[_CombinedStrata, tuple[float, float]]:
    splits, certain, ends, n, pieces, mass = [], [], np.zeros(2), 0, 0.0, 0.0
    for stratum in strata:
        values, mask = split_answers(stratum.sample, stratum.values, stratum.answered)
        ends += stratum.sample.mass * np.array(compute_missing_bounds(stratum.sample, values, mask))
        mass += stratum.sample.mass
        split = split_draws(stratum.sample, values, mask)
        if split.mass:
            splits.append(split)
            n += int(mask.sum())
            own = np.zeros(len(values)) if stratum.within is None else np.asarray(stratum.within, float)
            certain.append(
                select_certain_pieces(stratum.sample.masses, values, own, stratum.pieces, stratum.sample.certain & mask)
            )
            pieces += split.rest**2 * compute_piece_variance(stratum.sample, own, mask)
    low, high = (ends / mass).tolist() if mass else (0.0, 1.0)
    return _CombinedStrata(tuple(splits), n, join_certain_pieces(certain), pieces), (low, high)


def _fill_missing(strata: Sequence[StratumValues], missing: float) -> list[StratumValues]:
    return [_fill_missing_in_stratum(stratum, missing) for stratum in strata]


def _fill_missing_in_stratum(stratum: StratumValues, missing: float) -> StratumValues:
    values, mask = split_answers(stratum.sample, stratum.values, stratum.answered)
    return StratumValues(
        stratum.sample,
        np.where(mask, values, missing),
        None,
        None if stratum.within is None else np.asarray(stratum.within, float) * mask,
        stratum.pieces,
    )


def estimate_stratified_share(strata: Sequence[StratumValues], level: float) -> PopulationEstimate:
    """Estimate the share of the whole mass with a property (values 0 or 1). The interval holds whatever is in missing
    files."""
    return widen_for_missing(
        _estimate_share(strata, level), lambda missing: _estimate_share(_fill_missing(strata, missing), level)
    )


def _estimate_share(strata: Sequence[StratumValues], level: float) -> PopulationEstimate:
    combined, bounds = _combine_strata(strata)
    if not combined.splits:
        return PopulationEstimate.without_value(level, bounds)
    value = min(1.0, combined.value)
    if not combined.drawn:
        return PopulationEstimate(Estimate(value, value, value, level, combined.n), 0.0, *bounds)
    p, rest = min(1.0, combined.rest_mean), combined.rest / combined.mass
    draws = _compute_effective(combined, p, level)
    low, high = binomial_interval(p * draws, draws, level)
    rare = binomial_interval(0, combined.effective, level)[1] if combined.effective else 0.0
    low, high = min(low, p - rare * p), max(high, p + rare * (1 - p))  # equal draws do not prove equal strata
    sure = value - rest * p
    estimate = Estimate(
        value, max(0.0, min(value, sure + rest * low)), min(1.0, max(value, sure + rest * high)), level, combined.n
    )
    return PopulationEstimate(
        estimate, compute_design_effect(combined.variance * rest**2, value * (1 - value), combined.n), *bounds
    )


def _compute_effective(combined: _CombinedStrata, p: float, level: float) -> float:
    """Return the effective number of draws with replacement; each stratum takes a degree of freedom."""
    draws = sum(len(split.values) for split in combined.drawn)
    is_estimable = 0 < p < 1 and combined.share_variance > 0
    effective = p * (1 - p) / combined.share_variance if is_estimable else combined.effective
    return (
        effective
        if draws < 2
        else effective * (t_critical(level, draws - 1) / t_critical(level, combined.freedom)) ** 2
    )


def estimate_stratified_mean(strata: Sequence[StratumValues], level: float, bounded: bool = True) -> PopulationEstimate:
    """Estimate the mean over the whole mass of a value from 0 to 1. ``bounded``: it may be near 1, and its interval
    holds whatever is in missing files."""
    sample_estimate = _estimate_mean(strata, level, bounded)
    return (
        widen_for_missing(
            sample_estimate, lambda missing: _estimate_mean(_fill_missing(strata, missing), level, bounded)
        )
        if bounded
        else drop_mostly_missing_value(sample_estimate)
    )


def _estimate_mean(strata: Sequence[StratumValues], level: float, bounded: bool) -> PopulationEstimate:
    combined, bounds = _combine_strata(strata)
    if not combined.splits:
        return PopulationEstimate.without_value(level, bounds)
    rest = combined.rest / combined.mass
    down, up = (end / combined.mass for end in combined.certain.reach(level, combined.freedom, bounded))
    low, high = compute_mean_limits(
        combined.weighted, combined.spread, combined.freedom, combined.effective, level, bounded
    )
    below, above = (
        math.hypot(rest * (combined.rest_mean - low), down),
        math.hypot(rest * (high - combined.rest_mean), up),
    )
    estimate = Estimate(combined.value, combined.value - below, combined.value + above, level, combined.n).within(
        low=0.0
    )
    values = np.concatenate([split_answers(stratum.sample, stratum.values, stratum.answered)[0] for stratum in strata])
    return PopulationEstimate(
        estimate,
        compute_design_effect(
            combined.certain.variance / combined.mass**2 + combined.spread * rest**2,
            float(np.var(values)) if len(values) > 1 else 0.0,
            combined.n,
        ),
        *bounds,
    )
