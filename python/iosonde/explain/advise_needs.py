"""Measurements that would decide an open advice: how many instances, which cells, how many trials of each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.table import Cell
from iosonde.core.types import Estimate

from .advise_cases import compare_speeds
from .advise_defaults import get_best_values
from .advise_parts import needs_split_by_repeat
from .instances import OWN_NOISE, Instances

_MOST_CELLS = 5
_MOST_TRIALS = 1000
_MOST_VALUES = 1_000_000
_POWER = 0.8


@dataclass(frozen=True)
class UndecidedPair:
    """Two settings of one instance that do not differ significantly. ``more``: trials of each that would find the
    difference significant, if it is as measured (None: too small to be worth it). ``more_to_settle``: those that settle
    it within the margin of practical equality, as ``compare`` says (None: unknown)."""

    instance: dict[str, Cell]
    setting: str
    other: str
    ratio: float
    trials: int
    more: int | None
    more_to_settle: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "instance": self.instance,
            "setting": self.setting,
            "other": self.other,
            "ratio": self.ratio,
            "trials": self.trials,
            "more": self.more,
            "more_to_settle": self.more_to_settle,
        }


@dataclass(frozen=True)
class Needs:
    """Needed measurements.

    ``instances``, or if they are too few to be held out ``trials`` of both settings of one of ``cells``: the total
    that shows a gain of the measured size with a power of 80 % (both None: unknown). ``of`` names that gain. ``cells``
    are those with most to gain and least certainty; ``repeats``: how many each cell needs first (0: no more)."""

    instances: int | None
    trials: int | None
    of: str | None
    cells: tuple[UndecidedPair, ...]
    repeats: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "instances": self.instances,
            "trials": self.trials,
            "of": self.of,
            "repeats": self.repeats,
            "cells": [c.to_json() for c in self.cells],
        }


def compute_deciding_needs(
    instances: Instances, gains: Mapping[str, Estimate], ties: npt.NDArray[np.bool_], level: float
) -> Needs:
    """Compute what would decide the choice. ``gains`` are the tried ones: the one that becomes significant first
    counts."""
    few = needs_split_by_repeat(instances)
    least = 3 if few else 2  # repeats: two have no interval of their own
    repeats = 0 if instances.slots >= least else least
    cells = () if instances.slots < 2 else tuple(_select_undecided_pairs(instances, ties, level))
    if few:
        first = next((cell for cell in cells if cell.more is not None), None)
        if first is None or first.more is None:
            return Needs(None, None, None, cells, repeats)
        return Needs(None, first.trials + first.more, f"{first.setting} over {first.other}", cells, repeats)
    counts = {what: n for what, gain in gains.items() if (n := compute_sufficient_values(gain)) is not None}
    of = min(counts, key=counts.__getitem__) if counts else None
    return Needs(None if of is None else counts[of], None, of, cells, repeats)


def compute_sufficient_values(gain: Estimate) -> int | None:
    """Return the number of values, in all, that shows a mean of this size at the level of its t interval, with a power
    of 80 %.

    n = ((t(level) + t(80 %)) · sd ÷ mean)², solved with the degrees of freedom of n (Chow et al. 2008, section 3.1).
    None without an interval or a gain, or beyond a million.
    """
    from iosonde.stats.estimate.distributions import t_critical, t_quantile

    if not gain.value or gain.value <= 0 or gain.low is None or not gain.n or gain.low == gain.value:
        return None
    size = gain.value / (((gain.value - gain.low) / t_critical(gain.level, gain.n - 1)) * math.sqrt(gain.n))

    def has_power(n: int) -> bool:
        return n * size**2 >= (t_critical(gain.level, n - 1) + t_quantile(_POWER, n - 1)) ** 2

    low, high = gain.n, gain.n
    while not has_power(high):
        low, high = high, 2 * high
        if high > _MOST_VALUES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if has_power(middle) else (middle, high)
    return max(high, gain.n + 1)


def _select_undecided_pairs(instances: Instances, ties: npt.NDArray[np.bool_], level: float) -> list[UndecidedPair]:
    """Select of each instance with a tie the best setting and the farthest tied one; the widest gaps first.

    ``more`` trials of both show a difference of this size with a power of 80 % by the limit of ``tied``.
    """
    values, noise, counts = instances.values, instances.noise(), instances.trials
    gap = np.abs(np.log(values) - np.log(get_best_values(values, instances.lower))[:, None])
    few, candidates = needs_split_by_repeat(instances), []
    for row in np.flatnonzero(ties.sum(axis=1) > 1).tolist():
        at = int(values[row].argmin() if instances.lower else values[row].argmax())
        rest = [s for s in np.flatnonzero(ties[row]).tolist() if s != at and gap[row, s] > 0]
        if rest:
            other = max(rest, key=lambda s: gap[row, s])
            candidates.append((float(gap[row, other]), row, at, other))
    candidates.sort(key=lambda item: -item[0])
    pairs = []
    for size, row, at, other in candidates[:_MOST_CELLS]:
        trials = int(min(counts[row, at], counts[row, other]))
        comparison, tests = compare_speeds(instances, [(row, at, other)], level), len(instances.settings) - 1
        if few and comparison is not None:  # as compare: two-sided, with the spread of these two
            squares = instances.log_ss[row, [at, other]] / np.maximum(counts[row, [at, other]] - 1, 1)
            spread, df, tests = math.sqrt(squares.mean()), 2.0 * trials - 2, 2 * tests
        else:
            spread = float(noise[row])
            df = float(instances.log_df[row] if instances.log_df[row] >= OWN_NOISE else instances.log_df.sum())
        n_needed = _compute_trials(size / spread, trials, df, 1 - (1 - level) / tests) if spread else None
        pairs.append(
            UndecidedPair(
                instances.key(row),
                instances.names[at],
                instances.names[other],
                math.exp(size),
                trials,
                None if n_needed is None else n_needed - trials,
                None if comparison is None or comparison.n_more is None else max(comparison.n_more),
            )
        )
    return pairs


def _compute_trials(size: float, trials: int, df: float, level: float) -> int | None:
    """Return the trials of each of two settings that show a difference of ``size`` standard deviations with a power of
    80 %.

    The test is a one-sided t at ``level``. There are ``trials`` now, and ``df`` degrees of freedom, which grow with
    them."""
    from iosonde.stats.estimate.distributions import t_quantile

    for count in range(trials + 1, _MOST_TRIALS + 1):
        grown = df + 2 * (count - trials)
        if count * size**2 >= 2 * (t_quantile(level, grown) + t_quantile(_POWER, grown)) ** 2:
            return count
    return None
