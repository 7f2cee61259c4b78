"""The state of every watched series, in one word, for lists of many series."""

from dataclasses import dataclass
from enum import StrEnum

from iosonde.changes.step import find_step
from iosonde.core.types import Better

from .answer import Watch
from .change import WORSE
from .series import WatchedSeries


class SeriesState(StrEnum):
    """OPEN: a regression is new, or its level is not back. SUSPECTED: a regression is significant by this look
    alone, or all newest points are worse, too few for a test.
    IMPROVED: a change for the better is new. CANNOT_TELL: too few points for any change."""

    OPEN = "open"
    SUSPECTED = "suspected"
    IMPROVED = "improved"
    NO_CHANGE = "no change"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class StateSince:
    """A state, and the place of the first point that has it; None if all have it."""

    state: SeriesState
    since: int | None = None


def determine_state(watch: Watch, series: WatchedSeries) -> StateSince:
    """Return the state of one series of a watch."""
    changes = [change for change in watch.changes if change.series is series]
    regressions = {id(change) for change in (*watch.regressions, *watch.open_regressions)}
    open_places = [change.places[1] for change in changes if id(change) in regressions]
    if open_places:
        return StateSince(SeriesState.OPEN, min(open_places))
    suspected = [item.change for item in watch.suspected if item.change.series is series]
    if suspected and suspected[0].verdict == WORSE:
        return StateSince(SeriesState.SUSPECTED, suspected[0].places[1])
    improved = [change.places[1] for change in changes if change.new and change.verdict == "better"]
    if improved:
        return StateSince(SeriesState.IMPROVED, min(improved))
    if series.values.size >= watch.needed:
        return StateSince(SeriesState.NO_CHANGE)
    step = find_step(series.values)
    if step is None or not _is_worse(series, step):
        return StateSince(SeriesState.CANNOT_TELL)
    return StateSince(SeriesState.SUSPECTED, step)


def _is_worse(series: WatchedSeries, step: int) -> bool:
    is_rise = bool(series.values[step] > series.values[step - 1])
    return series.metric.better is not (Better.HIGHER if is_rise else Better.LOWER)
