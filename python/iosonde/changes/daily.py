"""The pattern of the hours of a series that is measured around the clock, so that a busy afternoon is no change.

The logarithm of a value is a level of its day, an effect of its hour, and noise. Medians estimate both, so that a few
bad hours, or a change of the level on one of the days, hardly affect the pattern. Days are counted back from the newest
value, so that each covers every hour. Where the hours of the week still differ after that, as on a quiet weekend, they
have effects, too, estimated in the same way from weeks. Hours are those of the dates.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array
from iosonde.stats.estimate.distributions import f_upper_p

DAY_H, WEEK_H = 24, 168
MIN_DAYS = 3  # fewer cannot separate the hour from a change
MIN_WEEKS = 3
_MIN_SHARE = 0.5  # of the hours of a day with values, for a series that is measured around the clock
_MAX_P = 1e-3  # a pattern that chance explains is not removed
_SMOOTH_H = 1  # hours of the week to either side that have about the same effect, as their days are few


@dataclass(frozen=True, eq=False)
class DailyPattern:
    """``factors``: the typical value at each hour of the day, or of the week, relative to all; 1 at hours without
    values. ``days``: the number of days that it was estimated from; ``weeks``: of weeks, 0 if it is of the day."""

    factors: Array
    days: int
    weeks: int = 0

    @property
    def peak_hour(self) -> int:
        """Return the hour of the day with the highest values."""
        return int(np.argmax(self.factors)) % DAY_H

    @property
    def ratio(self) -> float:
        """Return the highest value relative to the lowest."""
        return float(self.factors.max() / self.factors.min())

    def remove_from(self, values: Array, hours: Array) -> Array:
        """Return the values without the pattern, in the same unit and at the same level."""
        return np.asarray(values / self.factors[_number_hours(hours, self.factors.size)], float)


def estimate_daily_pattern(values: Array, hours: Array) -> DailyPattern | None:
    """Return the pattern of a series, or None without one: values that are not all positive, too few days, or effects
    of hours that chance explains. ``hours``: hours since an epoch that is midnight, in order of time."""
    if values.size == 0 or not np.all(values > 0):
        return None
    logarithms = np.log(values)
    table = _tabulate(logarithms, hours, DAY_H)
    effects = _estimate_effects(table, MIN_DAYS)
    daily = DailyPattern(np.exp(effects), len(table))
    weeks = _tabulate(np.log(daily.remove_from(values, hours)), hours, WEEK_H)
    further = _smooth(_estimate_effects(weeks, MIN_WEEKS))
    if further.any():
        return replace(daily, factors=np.exp(np.tile(effects, WEEK_H // DAY_H) + further), weeks=len(weeks))
    return daily if effects.any() else None


def _tabulate(logarithms: Array, hours: Array, period: int) -> Array:
    """Return a row for each day, or week, of ``period`` hours that has enough of them: the median of each hour less
    that of the row; NaN without values."""
    numbers = _number_hours(hours, period)
    rows = []
    for places in _list_periods(hours, period):
        row, residuals = np.full(period, np.nan), logarithms[places] - np.median(logarithms[places])
        for hour in np.unique(numbers[places]):
            row[hour] = np.median(residuals[numbers[places] == hour])
        rows.append(row)
    return np.array(rows).reshape(-1, period)


def _estimate_effects(table: Array, least: int) -> Array:
    """Return the effect of each hour, 0 in hours that fewer than ``least`` rows have; 0 everywhere if there are too few
    of these, or if chance explains them."""
    effects = np.zeros(table.shape[1])
    measured = np.isfinite(table).sum(axis=0) >= least
    if measured.mean() < _MIN_SHARE or _compute_chance(table[:, measured]) > _MAX_P:
        return effects
    effects[measured] = np.nanmedian(table[:, measured], axis=0)
    effects[measured] -= effects[measured].mean()
    return effects


def _smooth(effects: Array) -> Array:
    """Return the medians of neighbouring hours, which keep steps; the last of the week is next to the first."""
    shifted = [np.roll(effects, hours) for hours in range(-_SMOOTH_H, _SMOOTH_H + 1)]
    return np.asarray(np.median(shifted, axis=0))


def _number_hours(hours: Array, period: int) -> np.ndarray:
    """Return the hour of the day, or of the week, of each value."""
    return np.asarray(np.floor(hours), int) % period


def _list_periods(hours: Array, period: int) -> Iterator[np.ndarray]:
    """Iterate over the places of the values of each period that has enough hours, newest first."""
    numbers = np.floor((hours[-1] - hours) / period).astype(int)
    for number in range(int(numbers[0]) + 1):
        places = np.flatnonzero(numbers == number)
        if np.unique(_number_hours(hours[places], period)).size >= _MIN_SHARE * period:
            yield places


def _compute_chance(table: Array) -> float:
    """Return the p-value of equal hours by an analysis of variance of days (weeks) × hours, with days as replicates:
    neighbours in an hour, which resemble each other, are one value."""
    counts = np.isfinite(table).sum(axis=0)
    means = np.nanmean(table, axis=0)
    between = float(counts @ np.square(means - np.nansum(table) / counts.sum())) / (counts.size - 1)
    df = int(counts.sum() - counts.size)
    within = float(np.nansum(np.square(table - means))) / max(df, 1)
    return 0.0 if within == 0 else f_upper_p(between / within, counts.size - 1, df)
