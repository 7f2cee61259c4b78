"""Changes over the history of a store: when, by how much, with which commit, and whether it is a regression."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.metrics import describe_change
from iosonde.core.stored import StoredRun
from iosonde.core.types import Better
from iosonde.core.units import format_ratio
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.core.words import format_count, format_decimals
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.assumptions import fails, holds, judge_all
from iosonde.stats.changes.facts import FactChange, find_changed_facts
from iosonde.stats.changes.find import BeforeAfter, Break, Search, compute_least_values, estimate_levels
from iosonde.stats.changes.pooled import find_changes_together, get_search_alone
from iosonde.stats.changes.step import find_step, measure_step

from .pools import build_pools
from .series import WatchedSeries, collect_series, determine_start, list_doubtful_headlines

WORSE, BETTER = "worse", "better"
_DAY = 10  # characters of an ISO date


@dataclass(frozen=True)
class SeriesChange:
    """A change of one series, most likely between the runs ``last_before`` and ``first_after``, and almost surely
    between ``surely_before`` and ``surely_after``: the first ones of the points next to it. ``levels`` before and after
    it, ``split``: its place and its test. ``new``: judged by this look. ``open``: it is for the worse, and the newest
    points are not back at the level before. ``places``: in the series, the first point before it, the first one after
    it, and their end."""

    series: WatchedSeries
    last_before: StoredRun
    first_after: StoredRun
    surely_before: StoredRun
    surely_after: StoredRun
    levels: BeforeAfter
    split: Break
    new: bool
    open: bool
    places: tuple[int, int, int]
    facts: tuple[FactChange, ...]

    @property
    def is_rise(self) -> bool:
        """Return whether the level rose. The ratio is unknown after a level of 0."""
        return (self.levels.after.value or 0.0) > (self.levels.before.value or 0.0)

    @property
    def verdict(self) -> str:
        """``worse`` or ``better``."""
        return BETTER if self.is_rise == (self.series.metric.better is Better.HIGHER) else WORSE

    @property
    def claim(self) -> UncheckedClaim:
        """Return the claim that the level changed."""
        return UncheckedClaim(
            "change",
            f"{self.series.operation} {self.series.metric.name}",
            (self.series.title,),
            VerdictState.DIFFERENT,
            Direction.UP if self.is_rise else Direction.DOWN,
            "open" if self.open else "",
            self.levels.ratio,
            self.split.p,
        )

    @property
    def word(self) -> str:
        """Return the change in a word: ``slower``, ``faster``, ``more``, ``less``."""
        return describe_change(self.series.metric, self.is_rise)

    @property
    def cause(self) -> str:
        """Describe the differences between the runs of the two sides."""
        was, now = self.surely_before.subject_commit, self.surely_after.subject_commit
        parts = [f"{fact.name} {fact.before} → {fact.after}" for fact in self.facts]
        if was and now:
            same = f"commit {_shorten_commit(now)} on both sides"
            parts = [same if was == now else f"commit {_shorten_commit(was)} → {_shorten_commit(now)}", *parts]
        return "; ".join(parts) or Message(
            "unknown-cause", "no recorded fact changed there; the commits are unknown (run {spell.subject_commit})"
        )

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            **_describe_series(self.series),
            "last_before": _describe_run(self.last_before),
            "first_after": _describe_run(self.first_after),
            "surely_before": _describe_run(self.surely_before),
            "surely_after": _describe_run(self.surely_after),
            "before": self.levels.before.to_json(),
            "after": self.levels.after.to_json(),
            "ratio": self.levels.ratio.to_json(),
            "p": self.split.p,
            "autocorrelation": self.split.correlation,
            "seen_after": self.split.n_until_detected,
            "together": self.split.together,
            "verdict": self.verdict,
            "word": self.word,
            "new": self.new,
            "open": self.open,
            "facts": [fact.to_json() for fact in self.facts],
        }

    def flat(self) -> dict[str, Any]:
        """The form in tables."""
        by = {name: level for name, level in self.series.by.items() if name not in ("operation", "metric")}
        of = {"operation": self.series.operation, "metric": self.series.metric.name, "unit": self.series.metric.unit}
        row = {
            "settings": self.series.settings,
            "started_at": self.first_after.started_at,
            "run": self.first_after.id,
            "commit_before": self.surely_before.subject_commit,
            "commit_after": self.surely_after.subject_commit,
            **self.levels.before.flat("before"),
            **self.levels.after.flat("after"),
            **self.levels.ratio.flat("ratio"),
            "p": self.split.p,
            "seen_after": self.split.n_until_detected,
            "verdict": self.verdict,
            "new": self.new,
            "open": self.open,
        }
        return {**of, **build_level_columns(by, {**of, **row}), **row}


@dataclass(frozen=True)
class Watch(Answer):
    """Changes of all series of a store, newest first. ``needed``: minimum number of points of a series. ``since``:
    changes after this date, run or commit are new; None: those among the newest points."""

    name: str
    series: tuple[WatchedSeries, ...]
    changes: tuple[SeriesChange, ...]
    search: Search
    since: str | None
    needed: int
    incomplete: int
    warnings: tuple[str, ...]
    schema: ClassVar[int] = 2  # 2: `together`; `p` may be that of several series

    @property
    def regressions(self) -> tuple[SeriesChange, ...]:
        """Return the new changes for the worse."""
        return tuple(change for change in self.changes if change.new and change.verdict == WORSE)

    @property
    def open_regressions(self) -> tuple[SeriesChange, ...]:
        """Return the older regressions whose level is not back; empty if ``since`` defines what is judged."""
        return tuple(change for change in self.changes if self.since is None and change.open and not change.new)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return one verdict per change, and an inconclusive one per series without any."""
        changed = {id(change.series) for change in self.changes}
        quiet = [
            UncheckedClaim(
                "change", f"{series.operation} {series.metric.name}", (series.title,), VerdictState.INCONCLUSIVE
            )
            for series in self.series
            if id(series) not in changed
        ]
        claims = [*(change.claim for change in self.changes), *quiet]
        too_short = (
            fails(
                "few-trials",
                VerdictState.INCONCLUSIVE,
                Message(
                    "short-series",
                    "a change takes {needed} points, and there are {n_points}",
                    needed=self.needed,
                    n_points=int(series.values.size),
                ),
                (series.title,),
            )
            for series in self.untold
        )
        checks = (*too_short, *holds("dependent", "few-trials"))  # dependent points are part of the test
        return judge_all((replace(claim, family=len(self.series)) for claim in claims), checks)

    @property
    def untold(self) -> tuple[WatchedSeries, ...]:
        """Return the series that are too short to show any change, however large."""
        return tuple(series for series in self.series if series.values.size < self.needed)

    @property
    def problem(self) -> bool:
        """Return whether there is a new regression, or an open one."""
        return bool(self.regressions or self.open_regressions)

    @property
    def period(self) -> str:
        """Describe the period of new changes."""
        return f"in the newest {self.search.newest} points" if self.since is None else f"since {self.since}"

    @property
    def sentence(self) -> str:
        """Describe the result."""
        n_judged = len(self.series) - len(self.untold)
        if not n_judged:
            longest = max(self.series, key=lambda series: series.values.size, default=None)
            most = 0 if longest is None else longest.values.size
            unit = "more night" if longest is not None and longest.nightly else "more trial"
            return (
                f"Inconclusive: detecting a change takes {format_count(self.needed, 'point')} per series, and the "
                f"longest has {most}: {format_count(self.needed - most, unit)}.{_describe_suspicion(self.untold)}"
            )
        looked, older = f"in {n_judged} series", self.open_regressions
        if self.regressions:
            of = format_count(len(self.regressions), "regression")
            more = f" {_describe_open(older, 'older regression')}." if older else ""
            return f"{of} {self.period}, {looked}; the largest: {_describe_largest(self.regressions)}.{more}"
        if older:
            return f"{_describe_open(older, 'regression')}, {looked}; the largest: {_describe_largest(older)}."
        others = f"; {format_count(len(self.changes), 'change')} besides" if self.changes else ""
        return f"No regression {self.period}, {looked}{others}."

    def content(self) -> dict[str, Any]:
        """As ``iosonde watch --json``; its schema is docs/schemas/watch.schema.json."""
        return {
            "store": self.name,
            "sentence": self.sentence,
            "problem": self.problem,
            "changes": [change.to_json() for change in self.changes],
            "series": [
                {
                    **_describe_series(series),
                    "points": int(series.values.size),
                    "trials": series.trials,
                    "point": "experiment" if series.nightly else "trial",
                    "told": series.values.size >= self.needed,
                }
                for series in self.series
            ],
            "settings": {
                "least": self.search.share,
                "min_segment": self.search.least,
                "newest": self.search.newest,
                "since": self.since,
                "false_alarms": self.search.rate,
                "looks": self.search.looks,
                "points_needed": self.needed,
            },
            "incomplete_runs_left_out": self.incomplete,
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per change."""
        return [change.flat() for change in self.changes]


def build_search(least: float, min_segment: int, newest: int, false_alarms: float, looks: int) -> Search:
    """Convert the options; shares are fractions. Raises InputError for an impossible share."""
    if not 0 < false_alarms < 1:
        raise InputError(
            "out-of-range",
            "false alarms of {false_alarms_percent:g} % are not possible",
            "give a share, as 5%",
            false_alarms_percent=100 * false_alarms,
        )
    if newest < min_segment:
        raise InputError(
            "too-few-points",
            "{newest_points} newest points hold no change with {min_segment_points} points after it",
            "give a larger {spell.newest}, or a smaller {spell.min_segment}",
            newest_points=newest,
            min_segment_points=min_segment,
        )
    return Search(min_segment, least, false_alarms, looks, newest)


def watch(source: Source, query: ResponseQuery, search: Search | None = None, since: str | None = None) -> Watch:
    """Find the changes of every series of a store. Raises InputError for a table, which has no history of runs, and for
    a ``since`` not in the store; DataError if nothing was measured."""
    source.require_campaign(
        "{source} is a table, whose rows have no history", "give a store: watch STORE", source=source.name
    )
    series, search = collect_series(source, query), search or Search()
    start, pools = determine_start(source.runs, since), build_pools(series)
    breaks_by_series = find_changes_together([item.values for item in series], pools, search)
    changes = (
        change
        for history, breaks in zip(series, breaks_by_series, strict=True)
        for change in _iterate_changes(history, breaks, search, start, query.level)
    )
    undated = sum(not run.started_at for run in source.runs)
    note = Message("undated-runs", "{runs} without a date, taken for the newest", runs=format_count(undated, "run"))
    return Watch(
        source.name,
        series,
        tuple(sorted(changes, key=lambda change: change.first_after.started_at, reverse=True)),
        search,
        since,
        compute_least_values(get_search_alone(search, pools), max(1, len(series))),
        sum(not run.counts for run in source.runs),
        (*([note] if undated else []), *list_doubtful_headlines(source, query)),
    )


def _iterate_changes(
    series: WatchedSeries, breaks: Sequence[Break], search: Search, start: str, level: float
) -> Iterator[SeriesChange]:
    ends, runs = [0, *(each.at for each in breaks), series.values.size], series.runs
    for begin, each, end in zip(ends, breaks, ends[2:], strict=False):
        levels = estimate_levels(series.values[begin : each.at], series.values[each.at : end], each.correlation, level)
        yield SeriesChange(
            series,
            runs[each.at - 1],
            runs[each.at],
            runs[each.first - 1],
            runs[each.last],
            levels,
            each,
            runs[each.at].started_at >= start if start else each.at >= series.values.size - search.newest,
            _is_open(series, levels, ends[-2], search),
            (begin, each.at, end),
            find_changed_facts(runs[begin : each.first], runs[each.last : end]),
        )


def _is_open(series: WatchedSeries, comparison: BeforeAfter, last_break: int, search: Search) -> bool:
    """Return whether a change for the worse persists: the newest points, all after the last change, are still worse
    than the level before it, by the search's margin."""
    before, after = comparison.before.value or 0.0, comparison.after.value or 0.0
    newest = float(series.values[max(last_break, series.values.size - search.newest) :].mean())
    margin = search.share * abs(before)
    if series.metric.better is Better.HIGHER:
        return after < before and newest <= before - margin
    return after > before and newest >= before + margin


def _describe_run(run: StoredRun) -> dict[str, str | None]:
    return {
        "run": run.id,
        "experiment": run.experiment,
        "started_at": run.started_at,
        "commit": run.subject_commit or None,
    }


def _describe_series(series: WatchedSeries) -> dict[str, Any]:
    return {
        "operation": series.operation,
        "metric": series.metric.name,
        "unit": series.metric.unit,
        "by": dict(series.by),
        "settings": series.settings or None,
    }


def _compute_change_size(change: SeriesChange) -> float:
    ratio = change.levels.ratio.value
    return max(ratio, 1 / ratio) if ratio is not None and ratio > 0 else float("inf")


def _describe_open(older: Sequence[SeriesChange], noun: str) -> str:
    """Return ``2 regressions are open since 2026-10-13``, the date of the first one."""
    verb = "is" if len(older) == 1 else "are"
    first = min(change.first_after.started_at for change in older)
    return f"{format_count(len(older), noun)} {verb} open since {first[:_DAY]}"


def _describe_suspicion(several: Sequence[WatchedSeries]) -> str:
    """Name the largest step of series that are too short for a test; '' if there is none."""
    steps = ((series, at) for series in several if (at := find_step(series.values)) is not None)
    series, at = max(steps, key=lambda step: measure_step(step[0].values, step[1]), default=(None, 0))
    if series is None:
        return ""
    before, after = float(series.values[:at].mean()), float(series.values[at:].mean())
    return (
        f" A suspicion, not a test: {series.title} is {format_ratio(after / before)} times the level before in all "
        f"{series.values.size - at} points since {series.runs[at].started_at[:_DAY]} ({series.runs[at].id})."
    )


def _describe_largest(regressions: Sequence[SeriesChange]) -> str:
    worst = max(regressions, key=_compute_change_size)
    ratio = worst.levels.ratio.value
    if ratio is None:
        return f"{worst.series.title} is {worst.word} than 0"
    return f"{worst.series.title} is {format_decimals(100 * abs(ratio - 1), 1)} % {worst.word}"


def _shorten_commit(commit: str) -> str:
    """Shorten a hash as Git does; keep other text."""
    hexadecimal = len(commit.rstrip("+")) == 40 and set(commit.rstrip("+")) <= set("0123456789abcdef")
    return commit[:10] + "+" * commit.endswith("+") if hexadecimal else commit
