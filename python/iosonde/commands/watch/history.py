"""The history that DATA hold: the series of a store or of a table, in the order of time."""

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.words import format_count
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source

from .nights import date_imported_runs
from .series import WatchedSeries, collect_series, list_doubtful_headlines
from .table_series import collect_table_history


@dataclass(frozen=True)
class WatchedHistory:
    """``series``, and all ``runs`` that were measured, also incomplete ones."""

    series: tuple[WatchedSeries, ...]
    runs: tuple[StoredRun, ...]
    warnings: tuple[str, ...]


def collect_history(source: Source, query: ResponseQuery) -> WatchedHistory:
    """Return the history of DATA. Raises InputError for a table without order in time, DataError if nothing was
    measured."""
    if not source.knows_factors:
        table = collect_table_history(source, query)
        return WatchedHistory(
            table.series, tuple(run for series in table.series for run in series.runs), table.warnings
        )
    runs = date_imported_runs(source.runs)
    series = collect_series(source, query, runs)
    warnings = (*_warn_of_undated(list(runs.values())), *list_doubtful_headlines(source, query))
    return WatchedHistory(series, tuple(runs.values()), warnings)


def _warn_of_undated(runs: Sequence[StoredRun]) -> list[str]:
    undated = sum(not run.started_at for run in runs)
    note = Message("undated-runs", "{runs} without a date, taken for the newest", runs=format_count(undated, "run"))
    return [note] if undated else []
