"""Series that are measured around the clock, without the pattern of the hours of the day or the week."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from iosonde.changes.daily import DAY_H, MIN_DAYS, DailyPattern, estimate_daily_pattern
from iosonde.core.message import Message

from .series import WatchedSeries

_HOUR_S = 3600
_MIN_POINTS = 12  # a day: a history of fewer is not about hours


def remove_daily_patterns(series: Sequence[WatchedSeries]) -> tuple[tuple[WatchedSeries, ...], tuple[Message, ...]]:
    """Return the series without the pattern of their hours, where they have one, and notes."""
    hours = [_collect_hours(item) for item in series]
    patterns = [
        None if at is None else estimate_daily_pattern(item.values, at) for item, at in zip(series, hours, strict=True)
    ]
    adjusted = [
        item if pattern is None or at is None else replace(item, values=pattern.remove_from(item.values, at))
        for item, pattern, at in zip(series, patterns, hours, strict=True)
    ]
    notes = (*_describe_patterns(patterns), *_warn_of_short_histories(hours))
    return tuple(adjusted), notes


def _collect_hours(series: WatchedSeries) -> npt.NDArray[np.float64] | None:
    """Return the hours since 1970 of each point, in UTC, or as the dates say if none has a zone; None if a date is
    unknown, or the zone of some."""
    try:
        moments = [datetime.fromisoformat(run.started_at) for run in series.runs]
    except ValueError:
        return None
    if not any(moment.tzinfo for moment in moments):
        moments = [moment.replace(tzinfo=UTC) for moment in moments]
    is_known = all(moment.tzinfo for moment in moments)
    return np.array([moment.timestamp() / _HOUR_S for moment in moments]) if is_known else None


def _describe_patterns(patterns: Sequence[DailyPattern | None]) -> Iterator[Message]:
    strongest = max((item for item in patterns if item is not None), key=lambda item: item.ratio, default=None)
    if strongest is not None:
        yield Message(
            "daily-pattern",
            "the hour of the {period} is taken out of {n} series (estimated from {days} days; up to × {ratio:.3g}, "
            "highest from {hour:02d}:00)",
            period="week" if strongest.weeks else "day",
            n=sum(item is not None for item in patterns),
            days=strongest.days,
            ratio=strongest.ratio,
            hour=strongest.peak_hour,
        )


def _warn_of_short_histories(hours: Sequence[npt.NDArray[np.float64] | None]) -> Iterator[Message]:
    longest = max((at for at in hours if at is not None), key=len, default=None)
    if longest is None or longest.size < _MIN_POINTS or longest[-1] - longest[0] >= DAY_H * MIN_DAYS:
        return
    if longest.size >= _MIN_POINTS * (longest[-1] - longest[0]) / DAY_H:
        yield Message(
            "no-daily-pattern",
            "a history of less than {days} days cannot tell the hour of the day from a change",
            days=MIN_DAYS,
        )
