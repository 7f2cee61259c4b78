"""Series that were not measured in the newest nights, in which others of their metric were, as where a machine is down:
about them the newest nights say nothing."""

from collections.abc import Sequence

from iosonde.core.message import Message
from iosonde.core.words import format_count

from .series import WatchedSeries

_SHARED = 0.75  # share of its nights that a series has in common with one that is still measured


def list_missing_series(series: Sequence[WatchedSeries], newest: int) -> tuple[WatchedSeries, ...]:
    """Return the series that lack the last nights of another one with which they were measured, up to ``newest`` of
    them: one that lacks more was given up."""
    return tuple(item for item in series if 0 < count_missed_nights(item, series) <= newest)


def count_missed_nights(series: WatchedSeries, every: Sequence[WatchedSeries]) -> int:
    """Return the most nights that another series of the operation and metric, measured in the same nights before, has
    after the last one of this series."""
    return max((_count_later_nights(series, other) for other in every if other.name == series.name), default=0)


def _count_later_nights(series: WatchedSeries, other: WatchedSeries) -> int:
    common = set(series.nights) & set(other.nights)
    is_partner = bool(series.nights) and len(common) >= _SHARED * len(set(series.nights))
    if not is_partner or series.nights[-1] not in common:
        return 0
    return len(other.nights) - 1 - other.nights.index(series.nights[-1])


def describe_missing_series(series: WatchedSeries, every: Sequence[WatchedSeries]) -> Message:
    """Return the sentence on a series that lacks the newest nights."""
    template = "{series} was not measured in the newest {nights}: there it is inconclusive"
    n_nights = count_missed_nights(series, every)
    nights = "night" if n_nights == 1 else format_count(n_nights, "night")
    return Message("missing-nights", template, series=series.title, nights=nights, n_nights=n_nights)
