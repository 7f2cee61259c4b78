"""Changes over a history: when, by how much, with which commit, and whether it is a regression."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from iosonde.answers.answer import Answer
from iosonde.changes.all_changes import find_all_changes, get_step_search
from iosonde.changes.find import Break, Search, compute_least_values
from iosonde.changes.pooled import Pool, get_search_alone
from iosonde.changes.suspected import find_suspected
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.verdict import UncheckedClaim, Verdict, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.assumptions import fails, holds, judge_all
from iosonde.store.decisions import ACCEPTED, ChangeDecision

from .change import OPEN, WORSE, SeriesChange, SuspectedChange, describe_series, iterate_changes
from .deciding import apply_decisions
from .history import collect_history
from .missing import describe_missing_series, list_missing_series
from .pools import build_pools
from .sentence import describe_period, describe_result
from .series import WatchedSeries, determine_start

REGRESSION, INCONCLUSIVE, PASSED = "regression", "inconclusive", "passed"


@dataclass(frozen=True)
class Watch(Answer):
    """Changes of all series of a store, newest first. ``needed``: minimum number of points of a series. ``since``:
    changes after this date, run or commit are new; None: those among the newest points. ``decisions``: all that were
    read. ``suspected``: what a few more points would settle. ``strict``: an inconclusive
    result is a problem, too. ``copies``: series that are a multiple of one of ``series``, with that."""

    name: str
    series: tuple[WatchedSeries, ...]
    changes: tuple[SeriesChange, ...]
    search: Search
    since: str | None
    needed: int
    incomplete: int
    warnings: tuple[str, ...]
    decisions: tuple[ChangeDecision, ...] = ()
    suspected: tuple[SuspectedChange, ...] = ()
    strict: bool = False
    copies: tuple[tuple[WatchedSeries, WatchedSeries], ...] = ()
    # 2: `together`; `p` may be that of several series. 3: `id`, `state`, `decision`. 4: `back`, `drift`
    schema: ClassVar[int] = 4

    @property
    def regressions(self) -> tuple[SeriesChange, ...]:
        """Return the new changes for the worse about which nobody decided."""
        return tuple(
            change for change in self.changes if change.new and change.verdict == WORSE and change.decision is None
        )

    @property
    def open_regressions(self) -> tuple[SeriesChange, ...]:
        """Return the older regressions whose level is not back; empty if ``since`` defines what is judged."""
        older = [change for change in self.changes if change.state == OPEN and not change.new]
        return tuple(older) if self.since is None else ()

    @property
    def decided(self) -> tuple[SeriesChange, ...]:
        """Return the changes that are accepted, or belong to a baseline."""
        return tuple(change for change in self.changes if change.decision)

    @property
    def n_unmatched(self) -> int:
        """Count the accepted changes that are not among these."""
        concerned = {change.decision for change in self.decided}
        return sum(item.kind == ACCEPTED and item not in concerned for item in self.decisions)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return one verdict per change, and an inconclusive one per series without any."""
        changed = {id(change.series) for change in self.changes}
        quiet = [
            UncheckedClaim("change", series.name, (series.title,), VerdictState.INCONCLUSIVE)
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
    def missing(self) -> tuple[WatchedSeries, ...]:
        """Return the series that were not measured in the newest nights."""
        return list_missing_series(self.series, self.search.newest)

    @property
    def problem(self) -> bool:
        """Return whether there is a new regression, or an open one; if ``strict``, also whether it is inconclusive."""
        return self.result == REGRESSION or (self.strict and self.result == INCONCLUSIVE)

    @property
    def result(self) -> str:
        """Return REGRESSION, INCONCLUSIVE if a series is too short, suspected or not measured lately, or PASSED."""
        if self.regressions or self.open_regressions:
            return REGRESSION
        is_suspected = any(item.change.verdict == WORSE for item in self.suspected)
        return INCONCLUSIVE if self.untold or self.missing or is_suspected or not self.series else PASSED

    @property
    def period(self) -> str:
        """Describe the period of new changes."""
        return describe_period(self)

    @property
    def sentence(self) -> str:
        """Describe the result."""
        return describe_result(self)

    def content(self) -> dict[str, Any]:
        """As ``iosonde watch --json``; its schema is docs/schemas/watch.schema.json."""
        return {
            "store": self.name,
            "sentence": self.sentence,
            "problem": self.problem,
            "result": self.result,
            "changes": [change.to_json() for change in self.changes],
            "suspected": [item.to_json() for item in self.suspected],
            "series": [
                {
                    **describe_series(series),
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
            "decisions": [decision.to_json() for decision in self.decisions],
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


def watch(
    source: Source,
    query: ResponseQuery,
    search: Search | None = None,
    since: str | None = None,
    decisions: Sequence[ChangeDecision] = (),
) -> Watch:
    """Find the changes of every series of DATA. Raises InputError for a table without order in time, and for a
    ``since`` not in DATA; DataError if nothing was measured."""
    history, search = collect_history(source, query), search or Search()
    series = history.series
    start, pools = determine_start(history.runs, since), build_pools(series)
    breaks_by_series = find_all_changes([item.values for item in series], pools, search)
    changes = [
        change
        for item, breaks in zip(series, breaks_by_series, strict=True)
        for change in iterate_changes(item, breaks, search, start, query.level)
    ]
    return Watch(
        source.name,
        series,
        apply_decisions(sorted(changes, key=_get_moment, reverse=True), decisions),
        search,
        since,
        compute_least_values(get_search_alone(get_step_search(search), pools), max(1, len(series))),
        sum(not run.counts for run in source.runs),
        (*history.warnings, *(describe_missing_series(s, series) for s in list_missing_series(series, search.newest))),
        tuple(decisions),
        tuple(_iterate_suspected(series, pools, breaks_by_series, search, query.level)),
        copies=history.copies,
    )


def _iterate_suspected(
    series: Sequence[WatchedSeries],
    pools: Sequence[Pool],
    breaks_by_series: Sequence[Sequence[Break]],
    search: Search,
    level: float,
) -> Iterator[SuspectedChange]:
    suspicions = find_suspected([item.values for item in series], pools, breaks_by_series, search)
    for item, breaks, suspicion in zip(series, breaks_by_series, suspicions, strict=True):
        if suspicion is not None:
            *_, change = iterate_changes(item, (*breaks, suspicion.change), search, "", level)
            yield SuspectedChange(change, suspicion.remaining)


def _get_moment(change: SeriesChange) -> tuple[str, int]:
    return change.first_after.started_at, change.split.at
