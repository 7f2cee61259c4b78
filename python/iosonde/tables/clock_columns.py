"""Columns of the clock at the start and at the end of each trial (``start,end``; ``t0,t1``): their difference was
measured."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import ColumnRole
from iosonde.core.column_units import TIME_UNITS, split_column_name
from iosonde.core.column_values import has_integers
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table

from .dates import parse_moments

_STARTS = frozenset(("start", "started", "begin", "from", "t0", "beginn", "anfang", "début", "inicio"))
_ENDS = frozenset(("end", "ended", "finish", "finished", "stop", "stopped", "to", "t1", "ende", "fin"))
_CLOCK_WORDS = frozenset(("time", "timestamp", "ts", "at", "epoch", "date", "zeit", "unix", "clock", "heure", "hora"))
_AMBIGUOUS = frozenset(("from", "to", "t0", "t1"))  # without a date or an epoch they may be anything
_DURATION = "duration"
_STATISTICS = frozenset(("max", "maximum", "mean", "avg", "average", "median", "mittelwert", "sd", "std", "stdev"))
_DAY = 86400.0  # seconds
# Ranges of epochs of the years 2001 to 2128 → their unit.
_EPOCHS = ((1e9, 5e9, "s"), (1e12, 5e12, "ms"), (1e15, 5e15, "us"), (1e18, 5e18, "ns"))
Numbers = npt.NDArray[np.float64]


def derive_durations(table: Table) -> Table:
    """Return the table with the clock's columns as the order of its rows, and with a column of durations if no other
    column is a rate or a time, with a warning."""
    pairs = [(start, end) for start in table.columns.values() for end in table.columns.values() if _is_pair(start, end)]
    if len(pairs) != 1:
        return table
    start, end = pairs[0]
    clocks = (_read_clock(start), _read_clock(end))
    if clocks[0] is None or clocks[1] is None or clocks[0][1] != clocks[1][1]:
        return table
    seconds, unit = clocks[1][0] - clocks[0][0], clocks[0][1]
    if not start.numeric and np.nanmax(clocks[1][0]) <= _DAY:
        seconds = np.where(seconds < 0, seconds + _DAY, seconds)  # times of a day, past midnight
    present = ~np.isnan(seconds)
    if not present.any() or np.any(seconds[present] < 0):
        return table
    clock = {column.name: replace(column, role=ColumnRole.ORDER) for column in (start, end)}
    columns = {**table.columns, **clock}
    others = [column for name, column in table.columns.items() if name not in clock and column.numeric]
    if table.has_column(_DURATION) or any(map(_is_speed, others)):
        return replace(table, columns=columns)
    columns[_DURATION] = Column(_DURATION, seconds, _DURATION, unit)
    template = "{column} is {end} - {start}" + (", in {unit}" if unit else ", in the unit of these")
    message = Message("durations", template, column=_DURATION, start=start.name, end=end.name, unit=unit)
    return replace(table, columns=columns, warnings=(*table.warnings, message))


def mark_minutes(table: Table) -> Table:
    """Return the table with minutes in a column called ``min``, unless another statistic is there: then it is the
    minimum."""
    minutes = table.columns.get("min")
    words = {word for column in table.columns.values() for word in split_column_name(column.label or column.name)}
    if minutes is None or minutes.unit or not minutes.numeric or not _STATISTICS.isdisjoint(words):
        return table
    return replace(table, columns={**table.columns, "min": replace(minutes, unit="min")})


def _is_pair(start: Column, end: Column) -> bool:
    """Return whether the names differ in the words for start and end only, and the columns are of one kind."""
    begin, finish = _split_name(start), _split_name(end)
    has_words = bool(begin & _STARTS) and bool(finish & _ENDS) and begin - _STARTS == finish - _ENDS
    return has_words and not start.role and not end.role and begin - _STARTS <= _CLOCK_WORDS and start.unit == end.unit


def _split_name(column: Column) -> set[str]:
    return set(split_column_name(column.label or column.name))


def _read_clock(column: Column) -> tuple[Numbers, str] | None:
    """Return numbers with their unit: that of the column, or that of epochs; seconds of dates and times of a day. None
    for other texts, and for other units."""
    if not column.numeric:
        seconds = _parse_dates(column)
        return None if seconds is None else (seconds, "s")
    values: Numbers = column.values.astype(float)
    if column.unit:
        return (values, column.unit) if column.unit in TIME_UNITS else None
    present = values[~np.isnan(values)]
    units = [unit for low, high, unit in _EPOCHS if present.size and np.all((low <= present) & (present < high))]
    is_clock = bool(units) or not (
        has_integers(column) or _AMBIGUOUS & _split_name(column)
    )  # sectors are whole numbers
    return (values, "".join(units)) if is_clock else None


def _parse_dates(column: Column) -> Numbers | None:
    texts: Sequence[str] = [str(value) for value in column.values if value is not None]
    try:
        moments = parse_moments(texts, column.name)
    except InputError:  # the month may be first or second
        return None
    if not moments:
        return None
    seconds = np.full(len(column.values), np.nan)
    seconds[~column.missing] = moments
    return seconds


def _is_speed(column: Column) -> bool:
    return is_speed(build_metric(column.label or column.name, column.unit))
