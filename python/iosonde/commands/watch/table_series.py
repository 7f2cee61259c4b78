"""Series of a table: its rows in the order of a column of dates or numbers, one point per night."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.column_roles import COMMIT_NAMES, SET_ROLES, ColumnRole, Roles
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric
from iosonde.core.stored import SUBJECT_COMMIT, StoredRun
from iosonde.core.table import Column, Table, format_cell
from iosonde.core.types import Metric
from iosonde.data.looks import get_last_word
from iosonde.data.query import ResponseQuery
from iosonde.data.response import VALUE, Response
from iosonde.data.responses import build_responses
from iosonde.data.roles import guess_roles_of_rows
from iosonde.data.source import Source
from iosonde.data.tables import normalize_dates
from iosonde.data.varying import list_measured_columns
from iosonde.stats.overview.measured_order import CLOCKS

from .nights import group_sessions
from .series import WatchedSeries

_COMMITS = (*sorted(COMMIT_NAMES), SUBJECT_COMMIT)
# Columns of these names describe the system of a night. Its change is not another setting.
_FACTS = (*_COMMITS, "version", "release", "kernel", "build", "driver", "firmware", "compiler", "branch", "tag")
_NAMES = ("operation", "metric", "unit")  # of what the rows of an exported store hold
_EPOCH_S, _EPOCH_MS = 1e9, 1e12  # the smallest numbers that are taken for seconds, and for milliseconds since 1970


@dataclass(frozen=True)
class TableHistory:
    """The series of a table, and what was assumed of its columns."""

    series: tuple[WatchedSeries, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Order:
    """``moments``: an ISO date or time per row, or ''; ``ranks``: numbers that rise with time; ``labels``: for people,
    and distinct for each moment."""

    column: str
    moments: list[str]
    ranks: np.ndarray
    labels: list[str]


def collect_table_history(source: Source, query: ResponseQuery) -> TableHistory:
    """Return every series of a table. Raises InputError if no column orders its rows, and as ``build_responses``."""
    clocks = [name for name, column in source.table.columns.items() if not column.role and _is_epoch(column)]
    source = source.with_roles(dict.fromkeys(clocks, str(ColumnRole.ORDER)))
    series: list[WatchedSeries] = []
    warnings: dict[str, None] = {}
    for response in build_responses(source, query):
        measured = list_measured_columns(response)
        roles = guess_roles_of_rows(response.rows, measured)
        order = _find_order(source, response.rows, roles)
        facts = [name for name in response.rows.names if _is_fact(response.rows.columns[name], roles)]
        settings = [name for name in roles.settings if name not in (*facts, order.column)]
        cells = [name for name in settings if response.rows.columns[name].is_varying]
        series += _iterate_series(response, order, cells, facts, source.units())
        warnings[_describe_columns(response, order, cells, facts)] = None
    return TableHistory(tuple(series), tuple(warnings))


def _iterate_series(
    response: Response, order: _Order, cells: Sequence[str], facts: Sequence[str], units: Mapping[str, str]
) -> Iterator[WatchedSeries]:
    rows, values = response.rows, response.values
    sessions = group_sessions([moment for moment in order.moments if moment])
    nights = np.array([sessions.get(moment, label) for moment, label in zip(order.moments, order.labels, strict=True)])
    for key, at in rows.groups(cells):
        at = at[np.isfinite(values[at]) & np.isfinite(order.ranks[at])]
        at = at[np.argsort(order.ranks[at], kind="stable")]
        if not at.size:
            continue
        levels = dict(zip(cells, key, strict=True))
        by_night: dict[str, list[int]] = {}
        for row in at.tolist():
            by_night.setdefault(str(nights[row]), []).append(row)
        yield WatchedSeries(
            _read_name(rows, "operation", int(at[0])),
            _choose_metric(response, int(at[0])),
            {name: level for name, level in levels.items() if name not in _NAMES},
            "",
            np.array([float(values[several].mean()) for several in by_night.values()]),
            tuple(_build_run(rows, night, several[0], order, facts) for night, several in by_night.items()),
            int(at.size),
            at.size > len(by_night),
            units,
            tuple(by_night),
        )


def _choose_metric(response: Response, row: int) -> Metric:
    """Return the metric; of an exported store, whose rows name theirs, that of the row."""
    name = _read_name(response.rows, "metric", row)
    if response.title != VALUE or not name:
        return response.metric
    return build_metric(name, _read_name(response.rows, "unit", row))


def _read_name(rows: Table, column: str, row: int) -> str:
    """Return the text of a cell; '' without such a column or text."""
    return str(rows.columns[column].values[row] or "") if column in rows.columns else ""


def _build_run(rows: Table, night: str, row: int, order: _Order, facts: Sequence[str]) -> StoredRun:
    """Return the point of a night as a run: its date, its commit, and the facts of its first row."""
    texts = {
        name: format_cell(_get_cell(rows.columns[name], row)) for name in facts if not rows.columns[name].missing[row]
    }
    commit_column = next((name for name in facts if get_last_word(rows.columns[name]) in _COMMITS), "")
    commit = texts.pop(commit_column) if commit_column and not rows.columns[commit_column].missing[row] else ""
    return StoredRun(
        {
            "id": night,
            "experiment": night,
            "source": "",
            "started_at": order.moments[row],
            "facts": {SUBJECT_COMMIT: commit, "machine": texts},
        }
    )


def _get_cell(column: Column, row: int) -> Any:
    value = column.values[row]
    return None if column.missing[row] else float(value) if column.numeric else value


def _is_fact(column: Column, roles: Roles) -> bool:
    """Return whether a column describes the system of a night: by its role, or by its name unless its role is
    stated."""
    role = roles.by_column.get(column.name)
    if role in (ColumnRole.FACT, ColumnRole.COVARIATE):
        return True
    return column.name not in roles.stated and role in SET_ROLES and get_last_word(column) in _FACTS


def _is_epoch(column: Column) -> bool:
    is_clock = column.numeric and {column.name, get_last_word(column)} & set(CLOCKS)
    return bool(is_clock) and bool(np.nanmin(column.values.astype(float), initial=np.inf) >= _EPOCH_S)


def _find_order(source: Source, rows: Table, roles: Roles) -> _Order:
    """Return the order of a stated column, else of the first with dates, with numbers. Raises InputError without."""
    names = sorted(
        (name for name in roles.select(ColumnRole.ORDER) if rows.columns[name].is_varying),
        key=lambda name: (name not in roles.stated, rows.columns[name].numeric),
    )
    for name in names:
        if (order := _read_order(rows.columns[name])) is not None:
            return order
    raise InputError(
        "no-order-in-time",
        "{source} is a table without a column of dates, so its rows have no history",
        "name the column that dates or numbers them: {spell.roles:COL=order}",
        source=source.name,
    )


def _read_order(column: Column) -> _Order | None:
    missing = column.missing
    if column.numeric:
        ranks = column.values.astype(float)
        moments = [""] * ranks.size
        if np.nanmin(ranks, initial=np.inf) >= _EPOCH_S:
            seconds = ranks / 1000 if np.nanmin(ranks) >= _EPOCH_MS else ranks
            moments = [f"{moment}Z" for moment in np.datetime_as_string((seconds * 1000).astype("datetime64[ms]"), "s")]
        labels = [f"{column.label or column.name} {value:.15g}" for value in ranks]
        return _Order(column.name, moments, ranks, labels)
    dates = normalize_dates([str(value) for value in column.values[~missing]], column.name)
    if dates is None:
        return None
    moments_of_rows, present = [""] * missing.size, iter(dates)
    for row in np.flatnonzero(~missing):
        moments_of_rows[row] = next(present)
    ranks = np.full(missing.size, np.nan)
    places = {moment: place for place, moment in enumerate(sorted(set(dates)))}
    ranks[~missing] = [places[date] for date in dates]
    return _Order(column.name, moments_of_rows, ranks, moments_of_rows)


def _describe_columns(response: Response, order: _Order, cells: Sequence[str], facts: Sequence[str]) -> str:
    template = "data: {response} in the order of {order}" + ("; a series for each {settings}" if cells else "")
    template += "; {facts}: facts of a night ({spell.roles:COL=setting} makes one a setting)" if facts else ""
    template += "; {undated} without {order} left out" if (n := int(np.isnan(order.ranks).sum())) else ""
    return Message(
        "assumed-order",
        template,
        response=response.title,
        order=order.column,
        settings=", ".join(cells),
        facts=", ".join(facts),
        undated=f"{n} row" + "s" * (n != 1),
    )
