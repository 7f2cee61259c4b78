"""Samples that were drawn in each part of a population by itself: how many in each, and what they say of the whole.

The whole is the sum over the strata (Cochran, *Sampling Techniques*, 3rd ed. 1977, 5.3 and 5.9): its variance has only
what the draws differ inside of each. The interval of a share is Clopper and Pearson's on the effective number of draws,
with fewer degrees of freedom by one for each stratum (Korn and Graubard, Survey Methodology 24, 1998, 193-201).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import binomial_interval, t_critical

from .pieces import CertainPieces, certain_pieces, joined
from .rare import interval_of_mean
from .shares import (
    DrawnSample,
    DrawnSplit,
    OfWhole,
    Values,
    answers_of,
    bounds_of,
    design_effect_of,
    split_of,
    unknown_where_missing,
    widened,
    within_of_drawn,
)

_WORST = 0.25  # the largest variance that a value from 0 to 1 has: of a stratum with one draw none is known
_NOBODY = Message("unreadable-files", "nothing that was drawn could be looked at")


@dataclass(frozen=True)
class StratumValues:
    """What was drawn in one stratum: its values (0 to 1), which could be looked at, and the variance of each value by
    itself (of a file of which only ``pieces`` were looked at: so many, 0 where it was the whole)."""

    sample: DrawnSample
    values: npt.ArrayLike
    answered: npt.ArrayLike | None = None
    within: npt.ArrayLike | None = None
    pieces: npt.ArrayLike | None = None


def allocate(draws: int, masses: Sequence[float], files: Sequence[int], least: int = 2) -> list[int]:
    """How many of ``draws`` each stratum gets: proportional to its mass, by the largest remainders; ``least`` where it
    has as many files. One that would get more than it has is drawn whole, and the others share the rest. So the sum may
    be above ``draws`` where strata are many."""
    given = [0] * len(masses)
    some = {at for at, mass in enumerate(masses) if mass > 0}
    while some:
        left, whole = max(0, draws - sum(given)), sum(masses[at] for at in some)
        exact = {at: left * masses[at] / whole for at in some}
        full = {at for at in some if exact[at] >= files[at]}
        if not full:
            break
        some -= full
        for at in full:
            given[at] = files[at]
    if some:
        given = [math.floor(exact[at]) if at in some else one for at, one in enumerate(given)]
        order = sorted(some, key=lambda at: (given[at] - exact[at], at))
        for at in order[: max(0, draws - sum(given))]:
            given[at] += 1
    return [min(many, max(one, least)) if mass > 0 else 0
            for one, many, mass in zip(given, files, masses, strict=True)]  # fmt: skip


@dataclass(frozen=True)
class _Whole:
    """The strata that answered, added up: mass, that of what was certain and has the value, that of the rest."""

    splits: tuple[DrawnSplit, ...]
    n: int
    certain: CertainPieces
    pieces: float  # what pieces of files add to the variance of the total of the rest

    @cached_property
    def drawn(self) -> list[DrawnSplit]:
        """Those of which some was not certain."""
        return [one for one in self.splits if len(one.values) and one.rest > 0 and bool((one.chances < 1).any())]

    @cached_property
    def mass(self) -> float:
        return sum(one.mass for one in self.splits)

    @cached_property
    def value(self) -> float:
        return sum(one.mass * one.value for one in self.splits) / self.mass

    @cached_property
    def rest(self) -> float:
        return sum(one.rest for one in self.drawn)

    @cached_property
    def of_rest(self) -> float:
        """The mean of the rest."""
        return sum(one.rest * one.mean for one in self.drawn) / self.rest if self.rest else 0.0

    @cached_property
    def variance(self) -> float:
        """Of that mean."""
        return sum((one.rest / self.rest) ** 2 * _known(one.variance) for one in self.drawn)

    @cached_property
    def share_variance(self) -> float:
        """The same of a share: in no stratum that of more draws than there were."""
        return sum((one.rest / self.rest) ** 2 * _known(one.share_variance) for one in self.drawn)

    @cached_property
    def weighted(self) -> Values:
        """The values of the rest, each by the mass it stands for, so that their plain mean is that of the rest."""
        many = sum(len(one.values) for one in self.drawn)
        each = [one.values * (one.rest / len(one.values) * many / self.rest) for one in self.drawn]
        return np.concatenate(each) if each else np.zeros(0)

    @cached_property
    def spread(self) -> float:
        """The same with what pieces add."""
        return self.variance + self.pieces / self.rest**2 if self.drawn else 0.0

    @cached_property
    def freedom(self) -> int:
        """Draws beyond the first of each stratum."""
        return max(1, sum(len(one.values) - 1 for one in self.drawn))

    @cached_property
    def effective(self) -> float:
        """Draws with equal weights that would say as much of something of which nothing is known; 0 where all was
        drawn."""
        if not self.drawn:
            return 0.0
        free = [(one.rest / self.rest) ** 2 * float((1 - one.chances).mean()) / len(one.values) for one in self.drawn]
        return 1 / sum(free)


def _known(variance: float) -> float:
    return _WORST if math.isnan(variance) else variance


def _whole(strata: Sequence[StratumValues]) -> tuple[_Whole, tuple[float, float]]:
    splits, certain, ends, n, pieces, mass = [], [], np.zeros(2), 0, 0.0, 0.0
    for one in strata:
        values, mask = answers_of(one.sample, one.values, one.answered)
        ends += one.sample.mass * np.array(bounds_of(one.sample, values, mask))
        mass += one.sample.mass
        split = split_of(one.sample, values, mask)
        if split.mass:
            splits.append(split)
            n += int(mask.sum())
            own = np.zeros(len(values)) if one.within is None else np.asarray(one.within, float)
            certain.append(certain_pieces(one.sample.masses, values, own, one.pieces, one.sample.certain & mask))
            pieces += split.rest**2 * within_of_drawn(one.sample, own, mask)
    low, high = (ends / mass).tolist() if mass else (0.0, 1.0)
    return _Whole(tuple(splits), n, joined(certain), pieces), (low, high)


def _filled(strata: Sequence[StratumValues], missing: float) -> list[StratumValues]:
    """The strata with this value for all that gave no answer."""
    return [_filled_stratum(stratum, missing) for stratum in strata]


def _filled_stratum(stratum: StratumValues, missing: float) -> StratumValues:
    values, mask = answers_of(stratum.sample, stratum.values, stratum.answered)
    within = None if stratum.within is None else np.asarray(stratum.within, float) * mask
    return StratumValues(stratum.sample, np.where(mask, values, missing), None, within, stratum.pieces)


def stratified_share(strata: Sequence[StratumValues], level: float) -> OfWhole:
    """The share of the whole mass that has something (values 0 or 1), with an interval that holds whatever is in what
    gave no answer."""
    return widened(_share(strata, level), lambda missing: _share(_filled(strata, missing), level))


def _share(strata: Sequence[StratumValues], level: float) -> OfWhole:
    """The share of the mass that answered."""
    whole, bounds = _whole(strata)
    if not whole.splits:
        return OfWhole(Estimate(None, None, None, level, 0, (_NOBODY,)), None, *bounds)
    value = min(1.0, whole.value)
    if not whole.drawn:
        return OfWhole(Estimate(value, value, value, level, whole.n), 0.0, *bounds)
    p, rest = min(1.0, whole.of_rest), whole.rest / whole.mass
    draws = _effective(whole, p, level)
    low, high = binomial_interval(p * draws, draws, level)
    rare = binomial_interval(0, whole.effective, level)[1] if whole.effective else 0.0
    low, high = min(low, p - rare * p), max(high, p + rare * (1 - p))  # strata that agree are not all alike for that
    sure = value - rest * p
    found = Estimate(value, max(0.0, min(value, sure + rest * low)), min(1.0, max(value, sure + rest * high)), level,
                     whole.n)  # fmt: skip
    return OfWhole(found, design_effect_of(whole.variance * rest**2, value * (1 - value), whole.n), *bounds)


def _effective(whole: _Whole, p: float, level: float) -> float:
    """Draws with replacement that would say as much; each stratum takes a degree of freedom."""
    draws = sum(len(one.values) for one in whole.drawn)
    known = 0 < p < 1 and whole.share_variance > 0
    effective = p * (1 - p) / whole.share_variance if known else whole.effective
    if draws < 2:
        return effective
    return effective * (t_critical(level, draws - 1) / t_critical(level, whole.freedom)) ** 2


def stratified_mean(strata: Sequence[StratumValues], level: float, bounded: bool = True) -> OfWhole:
    """The mean over the whole mass of a value from 0 to 1, that may be near 1 (``bounded``): then its interval holds
    whatever is in what gave no answer."""
    found = _mean(strata, level, bounded)
    if not bounded:
        return unknown_where_missing(found)
    return widened(found, lambda missing: _mean(_filled(strata, missing), level, bounded))


def _mean(strata: Sequence[StratumValues], level: float, bounded: bool) -> OfWhole:
    """The mean over the mass that answered."""
    whole, bounds = _whole(strata)
    if not whole.splits:
        return OfWhole(Estimate(None, None, None, level, 0, (_NOBODY,)), None, *bounds)
    rest = whole.rest / whole.mass
    variance = whole.certain.variance / whole.mass**2 + whole.spread * rest**2
    down, up = (end / whole.mass for end in whole.certain.reach(level, whole.freedom, bounded))
    low, high = interval_of_mean(whole.weighted, whole.spread, whole.freedom, whole.effective, level, bounded)
    below, above = math.hypot(rest * (whole.of_rest - low), down), math.hypot(rest * (high - whole.of_rest), up)
    found = Estimate(whole.value, whole.value - below, whole.value + above, level, whole.n).within(low=0.0)
    values = np.concatenate([answers_of(one.sample, one.values, one.answered)[0] for one in strata])
    spread = float(np.var(values)) if len(values) > 1 else 0.0
    return OfWhole(found, design_effect_of(variance, spread, whole.n), *bounds)
