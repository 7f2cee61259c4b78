"""Series of a store: one metric of one operation at one setting, in the order of time, one point per look."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.headlines import USUAL, choose_metric_of_kind, format_metric, merge_headlines
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.schema import HEALTH
from iosonde.core.stored import StoredRun, strip_factor_prefix
from iosonde.core.table import Cell as Level
from iosonde.core.table import is_missing, tidy_number
from iosonde.core.types import Experiment, Metric
from iosonde.core.words import format_count
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source

from .nights import assign_nights

# Settings of an experiment that say how often, and at which levels; the levels themselves are factors.
_NOT_WHAT = {
    "name",
    "file",
    "decision",
    "questions",
    "seed",
    "repetitions",
    "until",
    "design",
    "nodes",
    "ranks_per_node",
    "factors",
    "budget",
    "launcher",
    "pace",
    "abort_if",
    "store",
    "idle_timeout",
}
_NO_DATE = "9999"  # sorts after all others


@dataclass(frozen=True)
class WatchedSeries:
    """``values``: one point per look, oldest first, in the unit of ``metric``; ``runs`` are its first trials,
    ``trials`` counts them. ``nightly``: a point is the mean over the trials of an experiment, else a trial.
    ``settings``: separate it from series with the same factors, '' if there is none. ``nights``: names for the points,
    the same in all series that were measured together."""

    operation: str
    metric: Metric
    by: Mapping[str, Level]
    settings: str
    values: npt.NDArray[np.float64]
    runs: tuple[StoredRun, ...]
    trials: int
    nightly: bool
    units: Mapping[str, str]
    nights: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return operation and metric; a column of a table has no operation."""
        return f"{self.operation} {self.metric.name}".strip()

    @property
    def setting(self) -> str:
        """Return the setting in words; '' if there is only one."""
        return ", ".join(part for part in (format_setting(dict(self.by), self.units), self.settings) if part)

    @property
    def title(self) -> str:
        """Return operation, metric, and setting."""
        return self.name + (f" ({self.setting})" if self.setting else "")


def collect_series(source: Source, query: ResponseQuery, runs: Mapping[str, StoredRun]) -> tuple[WatchedSeries, ...]:
    """Return every series of a store, of its ``runs`` by id. Raises InputError, DataError as ``responses``."""
    nights = assign_nights(runs)
    kinds = _number_kinds(source.experiments)
    # Facts reported by a file system are not our settings: they may be why a series changed.
    declared = {factor.name for experiment in source.experiments for factor in experiment.factors}
    target_names = {name for run in source.runs for name in (HEALTH, *run.target_settings)} - declared
    series: list[WatchedSeries] = []
    for response in build_responses(source, query):
        names = [
            name for name in response.names if name != EXPERIMENT and strip_factor_prefix(name) not in target_names
        ]
        series += _build_series(response, names, runs, kinds, nights, source.units())
    return tuple(series)


def determine_start(runs: Sequence[StoredRun], since: str | None) -> str:
    """Return the date from which changes are new; '' if ``since`` is None. Raises InputError."""
    if since is None:
        return ""
    matches = [run for run in runs if since in (run.id, run.experiment)] or [
        run for run in runs if len(since) >= 4 and run.subject_commit.startswith(since)
    ]
    if matches:
        return min(run.started_at for run in matches)
    if since[:4].isdigit() and since[4:5] in ("", "-"):
        return since
    raise InputError(
        "unknown-run-or-date",
        "{spell.since:{reference}} is neither a date nor a run or commit of the store",
        "give a date as 2026-11-23, the id of a run, or a commit (4 letters or more)",
        reference=since,
    )


def list_doubtful_headlines(source: Source, query: ResponseQuery) -> list[str]:
    """Describe the headlines that have no series, or a shorter one, because they are not believed. Empty if the query
    names its metrics."""
    if query.metric or query.response:
        return []
    # The headlines of a run exclude what is not believed: its kinds are those of all runs.
    kinds = merge_headlines(run.headlines for run in source.runs)
    runs_by_number: dict[tuple[str, str], list[str]] = {}
    codes: dict[tuple[str, str], dict[str, None]] = {}
    for run in source.runs:
        for number, code in _iterate_doubtful_headlines(run, kinds):
            runs_by_number.setdefault(number, []).append(run.id)
            codes.setdefault(number, {})[code] = None
    return [
        Message(
            "doubtful-headline",
            "left out, as not believed ({codes}): {operation} {metric} of {n} of {runs}; {spell.metric} shows it",
            codes=", ".join(codes[operation, metric]),
            operation=operation,
            metric=format_metric(metric, operation),
            n=len(dict.fromkeys(runs)),
            runs=format_count(len(source.runs), "run"),
        )
        for (operation, metric), runs in runs_by_number.items()
    ]


def _iterate_doubtful_headlines(
    run: StoredRun, kinds: Mapping[str, Sequence[str]]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield ((operation, metric), code) of the numbers of a run that are not believed and of headline ``kinds``."""
    for contradiction in run.contradictions:
        headline_kinds = kinds.get(contradiction.operation) or USUAL
        for metric in contradiction.metrics:
            if any(choose_metric_of_kind(kind, (metric,)) for kind in headline_kinds):
                yield (contradiction.operation, metric), contradiction.code


def _build_series(
    response: Response,
    names: Sequence[str],
    runs: Mapping[str, StoredRun],
    kinds: Mapping[str, tuple[int, str]],
    nights: Mapping[str, str],
    units: Mapping[str, str],
) -> list[WatchedSeries]:
    ids = [str(run_id) for run_id in response.rows.column("run").values]
    columns = [response.rows.column(name).values for name in names]
    cells: dict[str, list[int]] = {}
    for row, run in enumerate(ids):
        if np.isfinite(response.values[row]):
            cells.setdefault(
                repr(([repr(column[row]) for column in columns], kinds.get(runs[run].experiment, (0, ""))[0])), []
            ).append(row)
    bare = [repr([column[rows[0]] for column in columns]) for rows in cells.values()]
    series = []
    for rows, key in zip(cells.values(), bare, strict=True):
        by = dict(zip(names, [_simplify_level(column[rows[0]]) for column in columns], strict=True))
        settings = kinds.get(runs[ids[rows[0]]].experiment, (0, ""))[1] if bare.count(key) > 1 else ""
        points = _build_points([(runs[ids[row]], float(response.values[row])) for row in rows], nights)
        series.append(
            WatchedSeries(
                response.operation or response.title,
                response.metric,
                by,
                settings,
                np.array([value for _, value in points.pairs]),
                tuple(run for run, _ in points.pairs),
                len(rows),
                points.nightly,
                units,
                points.nights,
            )
        )
    return series


@dataclass(frozen=True)
class _Points:
    pairs: list[tuple[StoredRun, float]]
    nightly: bool
    nights: tuple[str, ...]


def _build_points(trials: Sequence[tuple[StoredRun, float]], night_by_run: Mapping[str, str]) -> _Points:
    """Return the points: trials share their night, an experiment, so with several nights each is one point."""
    ordered = sorted(trials, key=lambda trial: (trial[0].started_at or _NO_DATE, trial[0].id))
    nights: dict[str, list[tuple[StoredRun, float]]] = {}
    for run, value in ordered:
        nights.setdefault(night_by_run[run.id], []).append((run, value))
    if len(nights) == len(ordered):
        return _Points(ordered, False, tuple(nights))
    if len(nights) == 1:
        return _Points(ordered, False, tuple(run.id for run, _ in ordered))
    means = [(some[0][0], float(np.mean([value for _, value in some]))) for some in nights.values()]
    return _Points(means, True, tuple(nights))


def _number_kinds(experiments: Sequence[Experiment]) -> dict[str, tuple[int, str]]:
    """Map experiments to (number, name) of the first one that measured the same: settings other than factors count,
    too."""
    first: dict[str, tuple[int, str]] = {}
    kinds = {}
    for experiment in experiments:
        what = {key: value for key, value in experiment.settings.items() if key not in _NOT_WHAT}
        key = json.dumps(what, sort_keys=True, default=str)
        kinds[experiment.id] = first.setdefault(key, (len(first), experiment.name or experiment.id))
    return kinds


def _simplify_level(level: Level) -> Level:
    if is_missing(level):
        return None
    plain = level.item() if isinstance(level, np.generic) else level
    return tidy_number(plain) if isinstance(plain, float) else plain
