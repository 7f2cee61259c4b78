"""Headline numbers of experiments and the states of series, as ``iosonde summary`` and ``watch`` answer them.

They are kept as JSON by the state of the runs that they are about.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any

from iosonde.commands.summary import answer as summary_answer
from iosonde.commands.watch import answer as watch_answer
from iosonde.commands.watch.answer import Watch
from iosonde.commands.watch.series import WatchedSeries
from iosonde.commands.watch.states import SeriesState, determine_state
from iosonde.core.headlines import build_name_writer, format_metric
from iosonde.core.level_text import format_setting
from iosonde.core.table import build_column
from iosonde.core.types import Estimate
from iosonde.core.words import format_ratio_interval
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.layout.text import format_estimate
from iosonde.page.carried import to_jsonable
from iosonde.store.decisions import locate_decisions, read_decisions
from iosonde.store.files import read_file_state
from iosonde.store.index_query import IndexView

from .answer_cache import PROBLEM
from .shelf import Shelf, Shelved

MOST_OF_EXPERIMENT = 10_000  # runs
MOST_OF_HISTORY = 2000
_MOST_POINTS = 100  # of a sparkline


@dataclass(frozen=True)
class Headline:
    """The mean of one metric in one cell of an experiment, in the base unit, with its interval over ``n`` trials."""

    operation: str
    metric: str
    unit: str
    by: Mapping[str, Any]
    setting: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int

    @property
    def number(self) -> str:
        """Return ``657 (365–948) MiB/s``."""
        return format_estimate(Estimate(self.value, self.low, self.high, self.level, self.n), self.unit)

    @property
    def name(self) -> str:
        """Return ``write bandwidth``."""
        return f"{self.operation} {format_metric(self.metric, self.operation)}".strip()


@dataclass(frozen=True)
class SeriesPoint:
    """One point of a series; ``run`` is its first trial."""

    value: float
    run: str
    experiment: str
    started_at: str
    commit: str


@dataclass(frozen=True)
class ChangePoint:
    """A change of a series: the first run after it, ``place`` of its point, and how it is described."""

    place: int
    run: str
    started_at: str
    is_worse: bool
    word: str
    ratio: Sequence[float | None]  # value, low, high
    cause: str

    @property
    def text(self) -> str:
        """Return ``slower, × 0.929 (0.920 to 0.939)``."""
        value, low, high = self.ratio
        return f"{self.word}, × {format_ratio_interval(Estimate(value, low, high, 0.0, 0))}"


@dataclass(frozen=True)
class SeriesOverview:
    """A series: its newest points, changes (oldest first; places count from the first of ``points``), and state
    with the place where it began. ``n_points`` counts all its points, ``has_history`` is whether they are more than
    repetitions."""

    title: str
    operation: str
    metric: str
    unit: str
    by: Mapping[str, Any]
    setting: str
    state: SeriesState
    since: int | None
    n_points: int
    has_history: bool
    points: Sequence[SeriesPoint]
    changes: Sequence[ChangePoint]

    @property
    def name(self) -> str:
        """Return operation, metric and setting as people read them."""
        setting = f" ({self.setting})" if self.setting else ""
        return f"{self.operation} {format_metric(self.metric, self.operation)}{setting}"

    def find_place(self, experiment: str) -> int | None:
        """Return the place of the last point of an experiment, None if there is none."""
        return next(
            (at for at in range(len(self.points) - 1, -1, -1) if self.points[at].experiment == experiment), None
        )

    def get_state_at(self, place: int) -> SeriesState:
        """Return the state that the series had when this point was new, as far as its later points confirm it."""
        return self.state if self.since is None or place >= self.since else SeriesState.NO_CHANGE


@dataclass(frozen=True)
class StoreOverview:
    """The series of a store in order of their levels. ``problem``: why there are none."""

    sentence: str = ""
    problem: str = ""
    series: Sequence[SeriesOverview] = field(default_factory=tuple)


# Kept documents of other fields are not read.
_FORM = [field.name for kind in (Headline, SeriesPoint, ChangePoint, SeriesOverview) for field in fields(kind)]


def get_headlines(shelf: Shelf, shelved: Shelved, experiment: str, deadline: float) -> list[Headline] | None:
    """Return the headline numbers of an experiment, in order of operations and levels; empty if it has none, None if
    they are not computed by ``deadline``."""
    runs = IndexView(shelf.index, (shelved.number,)).list_run_states(experiment, MOST_OF_EXPERIMENT)
    key = ["headlines", *_FORM, str(shelved.store.path), experiment, *map(str, runs)]
    document = shelf.answers.get(key, partial(_summarize_experiment, shelved, [run for run, _ in runs]), deadline)
    return None if document is None else [Headline(**row) for row in document.get("headlines", ())]


def _summarize_experiment(shelved: Shelved, runs: Sequence[str]) -> dict[str, Any]:
    source = open_data(shelved.store.part(runs))
    document = summary_answer.summary(source, ResponseQuery()).to_dict()
    units = source.units()
    headlines = [
        Headline(
            group.get("operation", ""),
            group.get("metric", ""),
            group["unit"],
            group["by"],
            format_setting(group["by"], units),
            group["mean"],
            group["mean_low"],
            group["mean_high"],
            document["level"],
            group["n"],
        )
        for group in document["groups"]
    ]
    ranks = _rank_levels([headline.by for headline in headlines])
    kinds = list(dict.fromkeys((headline.operation, headline.metric) for headline in headlines))
    ordered = sorted(
        zip(headlines, ranks, strict=True), key=lambda pair: (kinds.index((pair[0].operation, pair[0].metric)), pair[1])
    )
    return {"headlines": [to_jsonable(asdict(headline)) for headline, _ in ordered]}


def get_overview(shelf: Shelf, shelved: Shelved, deadline: float) -> StoreOverview | None:
    """Return the series of the newest runs of a store; None if they are not computed by ``deadline``."""
    runs = IndexView(shelf.index, (shelved.number,)).list_run_states(None, MOST_OF_HISTORY)
    if not runs:
        return StoreOverview()
    decisions = locate_decisions(shelved.store.path)
    key = ["history", *_FORM, str(shelved.store.path), str(read_file_state(decisions)), *map(str, runs)]
    document = shelf.answers.get(key, partial(_watch_runs, shelved, [run for run, _ in runs]), deadline)
    return None if document is None else _overview_from_json(document)


def _watch_runs(shelved: Shelved, runs: Sequence[str]) -> dict[str, Any]:
    decisions = read_decisions(locate_decisions(shelved.store.path))
    watch = watch_answer.watch(open_data(shelved.store.part(runs)), ResponseQuery(), decisions=decisions)
    originals = {id(copy): original for copy, original in watch.copies}
    series = [
        _describe_series(watch, item, originals.get(id(item), item))
        for item in sort_series([*watch.series, *(copy for copy, _ in watch.copies)])
    ]
    write = build_name_writer([verdict.response for verdict in watch.verdicts])
    sentence = write(watch.sentence) if write else watch.sentence
    return {"sentence": sentence, "series": [to_jsonable(asdict(item)) for item in series]}


def _overview_from_json(document: Mapping[str, Any]) -> StoreOverview:
    series = [
        SeriesOverview(
            **{
                **row,
                "state": SeriesState(row["state"]),
                "points": [SeriesPoint(**point) for point in row["points"]],
                "changes": [ChangePoint(**change) for change in row["changes"]],
            }
        )
        for row in document.get("series", ())
    ]
    return StoreOverview(document.get("sentence", ""), document.get(PROBLEM, ""), series)


def sort_series(series: Sequence[WatchedSeries]) -> list[WatchedSeries]:
    """Sort series by operation and metric, in order of appearance, then by the order of their levels."""
    kinds = list(dict.fromkeys((item.operation, item.metric.name, item.settings) for item in series))
    ranks = _rank_levels([item.by for item in series])
    ordered = sorted(
        zip(series, ranks, strict=True),
        key=lambda pair: (kinds.index((pair[0].operation, pair[0].metric.name, pair[0].settings)), pair[1]),
    )
    return [item for item, _ in ordered]


def _rank_levels(settings: Sequence[Mapping[str, Any]]) -> list[tuple[int, ...]]:
    """Return the place of each setting's levels among those of all: numbers and sizes ascending, names as they
    appear."""
    names = dict.fromkeys(name for by in settings for name in by)
    places = [_rank_levels_of_factor(name, [by.get(name) for by in settings]) for name in names]
    return list(zip(*places, strict=True)) if places else [() for _ in settings]


def _rank_levels_of_factor(name: str, levels: Sequence[Any]) -> list[int]:
    """Return the place of each level in the order of its factor; a missing one is last."""
    codes = build_column(name, [level for level in levels if level is not None]).codes()[0].tolist()
    places = iter(codes)
    return [len(codes) if level is None else next(places) for level in levels]


def _describe_series(watch: Watch, series: WatchedSeries, judged: WatchedSeries) -> SeriesOverview:
    """Describe a series; ``judged`` has its changes: the series itself, or the one of which it is a multiple."""
    state = determine_state(watch, judged)
    first = max(0, series.values.size - _MOST_POINTS)
    changes = sorted((change for change in watch.changes if change.series is judged), key=lambda each: each.places[1])
    return SeriesOverview(
        series.title,
        series.operation,
        series.metric.name,
        series.metric.unit,
        dict(series.by),
        series.setting,
        state.state,
        None if state.since is None else state.since - first,
        int(series.values.size),
        series.nightly or len({run.experiment for run in series.runs}) > 1 or series.values.size >= watch.needed,
        [
            SeriesPoint(float(value), run.id, run.experiment, run.started_at, run.subject_commit)
            for value, run in zip(series.values[first:], series.runs[first:], strict=True)
        ],
        [
            ChangePoint(
                change.places[1] - first,
                change.first_after.id,
                change.first_after.started_at,
                change.verdict == "worse",
                change.word,
                (change.levels.ratio.value, change.levels.ratio.low, change.levels.ratio.high),
                change.cause,
            )
            for change in changes
        ],
    )


def get_deadline(seconds: float) -> float:
    """Return the moment until which a request waits for answers."""
    return time.monotonic() + seconds
