"""The hour-of-day pattern of a series that is measured around the clock, so that a busy afternoon is no change.

The logarithm of a value is a level of its day, an effect of its hour, and noise. Medians estimate both, so that a few
bad hours, or a change of the level on one of the days, hardly affect the pattern. Days are counted back from the newest
value, so that each covers every hour. Hours are those of UTC.
"""

from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array
from iosonde.stats.estimate.distributions import f_upper_p

DAY_H = 24
MIN_DAYS = 3  # fewer cannot separate the hour from a change
_MIN_HOURS = 12  # of a day with values, for a series that is measured around the clock
_MAX_P = 1e-3  # a pattern that chance explains is not removed


@dataclass(frozen=True, eq=False)
class DailyPattern:
    """``factors``: the typical value at each hour of the day (UTC) relative to that of the day; 1 at hours without
    values. ``days``: the number of days that it was estimated from."""

    factors: Array
    days: int

    @property
    def peak_hour(self) -> int:
        """Return the hour with the highest values."""
        return int(np.argmax(self.factors))

    @property
    def ratio(self) -> float:
        """Return the highest value relative to the lowest."""
        return float(self.factors.max() / self.factors.min())

    def remove_from(self, values: Array, hours: Array) -> Array:
        """Return the values without the pattern, in the same unit and at the same level."""
        return np.asarray(values / self.factors[_get_hour_of_day(hours)], float)


def estimate_daily_pattern(values: Array, hours: Array) -> DailyPattern | None:
    """Return the pattern of a series, or None without one: values that are not all positive, too few days, or effects
    of hours that chance explains. ``hours``: hours since an epoch that is midnight, in order of time."""
    if values.size == 0 or not np.all(values > 0):
        return None
    days = _list_days(hours)
    if len(days) < MIN_DAYS:
        return None
    logarithms, hour_of_day = np.log(values), _get_hour_of_day(hours)
    table = np.full((len(days), DAY_H), np.nan)
    for row, places in zip(table, days, strict=True):
        residuals = logarithms[places] - np.median(logarithms[places])
        for hour in np.unique(hour_of_day[places]):
            row[hour] = np.median(residuals[hour_of_day[places] == hour])
    measured = np.isfinite(table).sum(axis=0) >= MIN_DAYS
    if measured.sum() < _MIN_HOURS or _compute_chance(table[:, measured]) > _MAX_P:
        return None
    effects = np.zeros(DAY_H)
    effects[measured] = np.nanmedian(table[:, measured], axis=0)
    effects[measured] -= effects[measured].mean()
    return DailyPattern(np.exp(effects), len(days))


def _get_hour_of_day(hours: Array) -> np.ndarray:
    return np.asarray(np.floor(hours), int) % DAY_H


def _list_days(hours: Array) -> list[np.ndarray]:
    """Return the places of the values of each day that has enough hours, newest first."""
    if hours.size == 0:
        return []
    numbers = np.floor((hours[-1] - hours) / DAY_H)
    days = (np.flatnonzero(numbers == number) for number in range(int(numbers[0]) + 1))
    return [places for places in days if np.unique(_get_hour_of_day(hours[places])).size >= _MIN_HOURS]


def _compute_chance(table: Array) -> float:
    """Return the p-value of equal hours by an analysis of variance of days × hours, with days as replicates: neighbours
    in an hour, which resemble each other, are one value."""
    counts = np.isfinite(table).sum(axis=0)
    means = np.nanmean(table, axis=0)
    between = float(counts @ np.square(means - np.nansum(table) / counts.sum())) / (counts.size - 1)
    df = int(counts.sum() - counts.size)
    within = float(np.nansum(np.square(table - means))) / max(df, 1)
    return 0.0 if within == 0 else f_upper_p(between / within, counts.size - 1, df)
