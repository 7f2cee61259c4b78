"""A change of one series: its place, its levels, and what changed with it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from iosonde.answers.answer import build_level_columns
from iosonde.changes.drifts import estimate_drift
from iosonde.changes.facts import FactChange, find_changed_facts
from iosonde.changes.find import BeforeAfter, Break, Search, estimate_levels
from iosonde.changes.places import compute_place_shares
from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.metrics import describe_change
from iosonde.core.stored import StoredRun, strip_factor_prefix
from iosonde.core.types import Better, Estimate
from iosonde.core.verdict import Direction, UncheckedClaim, VerdictState
from iosonde.store.decisions import ChangeDecision

from .series import WatchedSeries

WORSE, BETTER = "worse", "better"
OPEN, FIXED = "open", "fixed"  # states of a change for the worse without a decision
_ID_LETTERS = 8


@dataclass(frozen=True)
class ChangePlace:
    """A run that may be the first after a change, with its share of the likelihood, the run before it, and the facts
    that changed exactly there."""

    run: StoredRun
    last_before: StoredRun
    share: float
    facts: tuple[FactChange, ...]

    @property
    def cause(self) -> str:
        """Describe what changed at this place; '' if nothing recorded did."""
        return "; ".join(_list_causes(self.last_before, self.run, self.facts))

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        facts = [fact.to_json() for fact in self.facts]
        return {
            **_describe_run(self.run),
            "commit_before": self.last_before.subject_commit or None,
            "share": self.share,
            "facts": facts,
        }


@dataclass(frozen=True)
class SeriesChange:
    """A change of one series, most likely between the runs ``last_before`` and ``first_after``, and almost surely
    between ``surely_before`` and ``surely_after``: the first ones of the points next to it. ``levels`` before and after
    it, ``split``: its place and its test. ``new``: judged by this look. ``open``: it is for the worse, and the newest
    points are not back at the level before. ``places``: in the series, the first point before it, the first one after
    it, and their end. ``back``: the first run of its return, with which they end; None without one. ``drift``: the
    change of a point, relative to the level before; None for a step. ``decision``: what people decided about it."""

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
    decision: ChangeDecision | None = None
    back: StoredRun | None = None
    drift: Estimate | None = None

    @property
    def id(self) -> str:
        """Return a short name, from the series and the first run after the change."""
        return _build_id(self.series, self.first_after)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Return the runs that may be the first after the change."""
        return tuple(run.id for run in self.series.runs[self.split.first : self.split.last + 1])

    @property
    def earlier_ids(self) -> tuple[str, ...]:
        """Return the ids that the change has if its place moves within its bounds."""
        return tuple(_build_id(self.series, run) for run in self.series.runs[self.split.first : self.split.last + 1])

    @property
    def likely_places(self) -> tuple[ChangePlace, ...]:
        """Return the places of the change within its bounds, the most likely first; none of a drift, which has no
        place."""
        if self.drift:
            return ()
        runs, (begin, _, end) = self.series.runs, self.places
        shares = compute_place_shares(self.series.values, replace(self.split, begin=begin, end=end))
        places = [
            ChangePlace(runs[at], runs[at - 1], share, find_changed_facts(runs[begin:at], runs[at:end]))
            for at, share in enumerate(shares, self.split.first)
        ]
        return tuple(sorted(places, key=lambda place: -place.share))

    @property
    def state(self) -> str:
        """Return ``open``, ``fixed``, or the kind of the decision; '' for a change for the better."""
        if self.verdict == BETTER:
            return ""
        return self.decision.kind if self.decision else OPEN if self.open else FIXED

    @property
    def is_rise(self) -> bool:
        """Return whether the level rose. The ratio is unknown after a level of 0."""
        return (self.levels.after.value or 0.0) > (self.levels.before.value or 0.0)

    @property
    def verdict(self) -> str:
        """``worse`` or ``better``; ``worse`` too where nobody knows, so that somebody looks."""
        return BETTER if self.series.metric.better is (Better.HIGHER if self.is_rise else Better.LOWER) else WORSE

    @property
    def heading(self) -> str:
        """``worse``, ``better``, or ``changed`` where the better direction is unknown."""
        return "changed" if self.series.metric.better is Better.UNKNOWN else self.verdict

    @property
    def claim(self) -> UncheckedClaim:
        """Return the claim that the level changed."""
        return UncheckedClaim(
            "change",
            self.series.name,
            (self.series.title,),
            VerdictState.DIFFERENT,
            Direction.UP if self.is_rise else Direction.DOWN,
            OPEN if self.state == OPEN else "",
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
        if self.drift:
            return Message("cause-of-drift", "no single commit explains a drift")
        causes = _list_causes(self.surely_before, self.surely_after, self.facts)
        return "; ".join(causes) or Message(
            "unknown-cause", "no recorded fact changed there; the commits are unknown (run {spell.subject_commit})"
        )

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "id": self.id,
            "state": self.state or None,
            "decision": self.decision and self.decision.to_json(),
            **describe_series(self.series),
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
            "back": self.back and _describe_run(self.back),
            "drift": self.drift and self.drift.to_json(),
            "facts": [fact.to_json() for fact in self.facts],
            "places": [place.to_json() for place in self.likely_places],
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
            "id": self.id,
            "state": self.state,
        }
        return {**of, **build_level_columns(by, {**of, **row}), **row}


@dataclass(frozen=True)
class SuspectedChange:
    """A change that is significant by this look alone, not over all looks. ``remaining``: further points at its level
    that would settle it, None if there are too many."""

    change: SeriesChange
    remaining: int | None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        change = self.change
        return {
            **describe_series(change.series),
            "first_after": _describe_run(change.first_after),
            "before": change.levels.before.to_json(),
            "after": change.levels.after.to_json(),
            "ratio": change.levels.ratio.to_json(),
            "p": change.split.p,
            "verdict": change.verdict,
            "word": change.word,
            "points_to_settle": self.remaining,
        }


def iterate_changes(
    series: WatchedSeries, breaks: Sequence[Break], search: Search, start: str, level: float
) -> Iterator[SeriesChange]:
    """Yield the changes of a series in order of time. ``start``: those from this date on are new; '': those among the
    newest points."""
    ends, runs = [0, *(each.at for each in breaks), series.values.size], series.runs
    starts = [0, *(max(each.at, each.end - search.newest) if each.is_drift else each.at for each in breaks)]
    for begin, each, next_at in zip(starts, breaks, ends[2:], strict=False):
        end = each.until or next_at
        levels, drift = _estimate(series.values, each, begin, end, level)
        yield SeriesChange(
            series,
            runs[each.at - 1],
            runs[each.at],
            runs[each.first - 1],
            runs[each.last],
            levels,
            each,
            runs[each.at].started_at >= start if start else each.at >= series.values.size - search.newest,
            is_open(series, levels, ends[-2], search, is_lasting=each.is_drift and each.end == series.values.size),
            (begin, each.at, end),
            () if drift else find_changed_facts(runs[begin : each.first], runs[each.last : end]),
            back=runs[each.until] if each.until else None,
            drift=drift,
        )


def _estimate(values: Array, change: Break, begin: int, end: int, level: float) -> tuple[BeforeAfter, Estimate | None]:
    """Estimate the levels of both sides of a step, or of both ends of a drift with its slope."""
    if change.is_drift:
        return estimate_drift(values[change.at : end], change.correlation, level)
    return estimate_levels(values[begin : change.at], values[change.at : end], change.correlation, level), None


def is_open(
    series: WatchedSeries, comparison: BeforeAfter, last_break: int, search: Search, is_lasting: bool = False
) -> bool:
    """Return whether a change for the worse, or of an unknown direction, persists: the newest points, all after the
    last change, are still farther from the level before it than the search's margin; of a drift that goes on
    (``is_lasting``) its last level."""
    before, after = comparison.before.value or 0.0, comparison.after.value or 0.0
    newest = float(series.values[max(last_break, series.values.size - search.newest) :].mean())
    newest = after if is_lasting else newest
    margin = search.share * abs(before)
    if after < before:
        return series.metric.better is not Better.LOWER and newest <= before - margin
    return after > before and series.metric.better is not Better.HIGHER and newest >= before + margin


def describe_commit(before: StoredRun, after: StoredRun) -> list[str]:
    """Return the difference of the commits of two runs, in words; empty if one of them is unknown."""
    was, now = before.subject_commit, after.subject_commit
    if not (was and now):
        return []
    same = f"commit {_shorten_commit(now)} on both sides"
    return [same if was == now else f"commit {_shorten_commit(was)} → {_shorten_commit(now)}"]


def _list_causes(before: StoredRun, after: StoredRun, facts: Sequence[FactChange]) -> list[str]:
    """Describe the difference of the commits of two runs, and the facts."""
    return [*describe_commit(before, after), *(f"{fact.name} {fact.before} → {fact.after}" for fact in facts)]


def _describe_run(run: StoredRun) -> dict[str, str | None]:
    return {
        "run": run.id,
        "experiment": run.experiment,
        "started_at": run.started_at,
        "commit": run.subject_commit or None,
    }


def describe_series(series: WatchedSeries) -> dict[str, Any]:
    """Return the stable JSON form of what a series is."""
    return {
        "operation": series.operation,
        "metric": series.metric.name,
        "unit": series.metric.unit,
        "by": dict(series.by),
        "settings": series.settings or None,
    }


def _shorten_commit(commit: str) -> str:
    """Shorten a hash as Git does; keep other text."""
    hexadecimal = len(commit.rstrip("+")) == 40 and set(commit.rstrip("+")) <= set("0123456789abcdef")
    return commit[:10] + "+" * commit.endswith("+") if hexadecimal else commit


def _build_id(series: WatchedSeries, run: StoredRun) -> str:
    """Return the hash of a run and of what it does not say of the series: settings of the run are left out, as new ones
    may vary later."""
    inside = {name: str(level) for name, level in series.by.items() if strip_factor_prefix(name) not in run.factors}
    text = json.dumps([series.operation, series.metric.name, inside, run.id], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:_ID_LETTERS]
