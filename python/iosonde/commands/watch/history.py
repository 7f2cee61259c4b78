"""The history that DATA hold: the series of a store or of a table, in the order of time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Better
from iosonde.core.words import format_count, join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source

from .hours import remove_daily_patterns
from .nights import date_imported_runs
from .series import WatchedSeries, collect_series, list_doubtful_headlines
from .table_series import collect_table_history

_SAME_RATIO = 1e-3  # spread of the ratio of two series that measure the same: numbers are rounded


@dataclass(frozen=True)
class WatchedHistory:
    """``series``, each of another measurement; all ``runs`` that were measured, also incomplete ones; ``copies``:
    series that are a multiple of another one, with that."""

    series: tuple[WatchedSeries, ...]
    runs: tuple[StoredRun, ...]
    warnings: tuple[str, ...]
    copies: tuple[tuple[WatchedSeries, WatchedSeries], ...] = ()


def collect_history(source: Source, query: ResponseQuery) -> WatchedHistory:
    """Return the history of DATA. Raises InputError for a table without order in time, DataError if nothing was
    measured."""
    if not source.knows_factors:
        table = collect_table_history(source, query)
        runs = tuple(run for series in table.series for run in series.runs)
        series, notes = remove_daily_patterns(table.series)
        return _separate_copies(WatchedHistory(series, runs, (*table.warnings, *notes)))
    dated = date_imported_runs(source.runs)
    series = collect_series(source, query, dated)
    series, notes = remove_daily_patterns(series)
    warnings = (*_warn_of_undated(list(dated.values())), *list_doubtful_headlines(source, query), *notes)
    return _separate_copies(WatchedHistory(series, tuple(dated.values()), warnings))


def _separate_copies(history: WatchedHistory) -> WatchedHistory:
    """Separate the series that measure the same as an earlier one, such as operations and bytes per second of one size:
    they are no evidence of their own."""
    originals: list[WatchedSeries] = []
    copies: list[tuple[WatchedSeries, WatchedSeries]] = []
    for series in history.series:
        original = next((other for other in originals if _is_copy(series, other)), None)
        if original is None:
            originals.append(series)
        else:
            copies.append((series, original))
    kinds = dict.fromkeys((copy.name, original.name) for copy, original in copies)
    notes = (
        Message("copied-series", "{copy} is not judged: it is a multiple of {original}", copy=copy, original=original)
        for copy, original in kinds
    )
    warnings = (*history.warnings, *notes, *_warn_unknown_directions(originals))
    return replace(history, series=tuple(originals), copies=tuple(copies), warnings=warnings)


def _warn_unknown_directions(series: Sequence[WatchedSeries]) -> list[Message]:
    names = list(dict.fromkeys(item.metric.name for item in series if item.metric.better is Better.UNKNOWN))
    template = (
        "nothing says whether a higher or a lower {metrics} is better: any change counts as a regression, until a unit"
        " in its name says it, as '{metric} (ms)'"
    )
    return [Message("unknown-direction", template, metrics=join_names(names), metric=names[0])] if names else []


def _is_copy(series: WatchedSeries, other: WatchedSeries) -> bool:
    """Return whether a series is a positive multiple of another metric of the same operation at the same points."""
    if not (_get_measurement(series) == _get_measurement(other) and np.all(other.values > 0)):
        return False
    ratios = series.values / other.values
    return bool(series.values.size > 1 and ratios.min() > 0 and np.ptp(ratios) <= _SAME_RATIO * ratios.mean())


def _get_measurement(series: WatchedSeries) -> tuple[object, ...]:
    return series.operation, series.by, series.settings, series.nights, series.metric.better


def _warn_of_undated(runs: Sequence[StoredRun]) -> list[str]:
    undated = sum(not run.started_at for run in runs)
    note = Message("undated-runs", "{runs} without a date, taken for the newest", runs=format_count(undated, "run"))
    return [note] if undated else []
