"""The result of a watch in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from iosonde.changes.find import Search
from iosonde.changes.step import find_step, measure_step
from iosonde.core.units import format_ratio
from iosonde.core.words import format_count, format_decimals

from .change import WORSE, SeriesChange, SuspectedChange, describe_commit
from .series import WatchedSeries

_DAY = 10  # characters of an ISO date


class WatchResult(Protocol):
    """What a watch found, as its answer has it."""

    @property
    def series(self) -> Sequence[WatchedSeries]: ...  # noqa: D102
    @property
    def untold(self) -> Sequence[WatchedSeries]: ...  # noqa: D102
    @property
    def missing(self) -> Sequence[WatchedSeries]: ...  # noqa: D102
    @property
    def changes(self) -> Sequence[SeriesChange]: ...  # noqa: D102
    @property
    def regressions(self) -> Sequence[SeriesChange]: ...  # noqa: D102
    @property
    def open_regressions(self) -> Sequence[SeriesChange]: ...  # noqa: D102
    @property
    def decided(self) -> Sequence[SeriesChange]: ...  # noqa: D102
    @property
    def suspected(self) -> Sequence[SuspectedChange]: ...  # noqa: D102
    @property
    def search(self) -> Search: ...  # noqa: D102
    @property
    def since(self) -> str | None: ...  # noqa: D102
    @property
    def needed(self) -> int: ...  # noqa: D102


def describe_result(watch: WatchResult) -> str:
    """Describe what is new, what is open, and what is suspected or inconclusive."""
    n_judged = len(watch.series) - len(watch.untold)
    if not n_judged:
        return _describe_short_series(watch)
    looked, older = f"in {n_judged} series", watch.open_regressions
    suspicion = _describe_suspected(watch)
    if watch.regressions:
        of = format_count(len(watch.regressions), "regression")
        more = f" {_describe_open(older, 'older regression')}." if older else ""
        largest = _describe_largest(watch.regressions)
        return f"{of} {describe_period(watch)}, {looked}; the largest: {largest}.{more}{suspicion}"
    if older:
        of = _describe_open(older, "regression")
        return f"{of}, {looked}; the largest: {_describe_largest(older)}.{suspicion}"
    others = f"; {format_count(len(watch.changes), 'change')} besides" if watch.changes else ""
    others += f", {len(watch.decided)} of them accepted" if watch.decided else ""
    missing = f" Not measured in the newest nights: {len(watch.missing)} series." if watch.missing else ""
    return f"No regression {describe_period(watch)}, {looked}{others}.{suspicion}{missing}"


def describe_period(watch: WatchResult) -> str:
    """Describe the period of new changes."""
    if watch.since is not None:
        return f"since {watch.since}"
    longest = _count_points(watch)
    return f"in the newest {watch.search.newest} points" if longest > watch.search.newest else f"in {longest} points"


def _describe_short_series(watch: WatchResult) -> str:
    """Describe series that are all too short for a test. The points that would settle a suspicion are counted for its
    own step: the fewest for any step are not repeated beside it."""
    most, is_nightly = _count_points(watch), any(series.nightly for series in watch.series)
    suspicion = _describe_suspected(watch) or _describe_step(watch.untold)
    unit = "more night" if is_nightly else "more trial"
    more = "" if watch.suspected else f": {format_count(watch.needed - most, unit)}"
    points = format_count(watch.needed, "point")
    return f"Inconclusive: detecting a change takes {points} per series, and the longest has {most}{more}.{suspicion}"


def _count_points(watch: WatchResult) -> int:
    return max((series.values.size for series in watch.series), default=0)


def _describe_suspected(watch: WatchResult) -> str:
    worse = sum(item.change.verdict == WORSE for item in watch.suspected)
    return f" Suspected: {format_count(worse, 'regression')}." if worse else ""


def _describe_open(older: Sequence[SeriesChange], noun: str) -> str:
    """Return ``2 regressions are open since 2026-10-13``, the date of the first one."""
    verb = "is" if len(older) == 1 else "are"
    first = min(change.first_after.started_at for change in older)
    return f"{format_count(len(older), noun)} {verb} open since {first[:_DAY]}"


def _describe_step(several: Sequence[WatchedSeries]) -> str:
    """Name the largest step of series that are too short for a test; '' if there is none."""
    steps = ((series, at) for series in several if (at := find_step(series.values)) is not None)
    series, at = max(steps, key=lambda step: measure_step(step[0].values, step[1]), default=(None, 0))
    if series is None:
        return ""
    before, after = float(series.values[:at].mean()), float(series.values[at:].mean())
    commit = describe_commit(series.runs[at - 1], series.runs[at])
    return (
        f" A suspicion, not a test: {series.title} is {format_ratio(after / before)} times the level before in all "
        f"{series.values.size - at} points since {series.runs[at].started_at[:_DAY]} "
        f"({', '.join([series.runs[at].id, *commit])})."
    )


def _describe_largest(regressions: Sequence[SeriesChange]) -> str:
    worst = max(regressions, key=compute_change_size)
    ratio = worst.levels.ratio.value
    if ratio is None:
        return f"{worst.series.title} is {worst.word} than 0"
    return f"{worst.series.title} is {format_decimals(100 * abs(ratio - 1), 1)} % {worst.word}"


def compute_change_size(change: SeriesChange) -> float:
    """Return by how many times a level changed, up or down; infinity from or to 0."""
    ratio = change.levels.ratio.value
    return max(ratio, 1 / ratio) if ratio is not None and ratio > 0 else float("inf")
