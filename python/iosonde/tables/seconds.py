"""Columns that count the seconds, intervals or samples inside each run: their rows are parts of one trial."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import TRIALS, ColumnRole
from iosonde.core.column_units import split_column_name
from iosonde.core.column_values import has_integers
from iosonde.core.message import Message
from iosonde.core.table import Column, Table

_SECONDS = frozenset(("second", "seconds", "sec", "secs", "sekunde", "seconde", "segundo", "minute", "tick"))
_AMBIGUOUS = frozenset(("t", "time", "s", "interval", "window", "sample", "zeit"))  # in a table with a column of runs
_LEAST_PARTS = 3


def mark_parts(table: Table) -> Table:
    """Return the table with such columns as parts of trials, with a warning: in the order of the rows each counts from
    0 or 1 to the end of a run, and begins again with the next."""
    names = [split_column_name(column.label or column.name) for column in table.columns.values()]
    has_runs = any(not set(TRIALS).isdisjoint(words[-1:]) for words in names)
    names_of_parts = _SECONDS | _AMBIGUOUS if has_runs else _SECONDS
    for column, words in zip(table.columns.values(), names, strict=True):
        if names_of_parts.issuperset(words or [""]) and not column.role and _counts_inside_runs(column):
            template = (
                "{column} counts inside each run: its rows are parts of one trial; {spell.roles:'{column}=setting'}"
            )
            message = Message("seconds-are-parts", template + " makes it a factor", column=column.name)
            columns = {**table.columns, column.name: replace(column, role=ColumnRole.PART)}
            table = replace(table, columns=columns, warnings=(*table.warnings, message))
    return table


def _counts_inside_runs(column: Column) -> bool:
    if not column.numeric or column.missing.any() or not has_integers(column):
        return False
    values: npt.NDArray[np.float64] = column.values.astype(float)
    begins = np.flatnonzero(np.diff(values, prepend=np.inf) < 0)
    steps = np.delete(np.diff(values), begins[1:] - 1)
    is_long = values.size >= _LEAST_PARTS * begins.size
    starts = set(values[begins].tolist())
    return is_long and begins.size > 1 and len(starts) == 1 and starts <= {0.0, 1.0} and bool(np.all(steps == 1))
