"""Numbers of a table that cannot be true: a rate, a time or a latency below 0, often a mark of a failed trial (-1); and
numbers that may be such marks (0, 9999)."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from iosonde.core.contradiction import BELOW_ZERO
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table

from .clock_columns import derive_durations, mark_minutes
from .copied_rows import drop_copied_rows
from .failed_rows import drop_failed_rows
from .identifiers import mark_identifiers
from .marked_rows import drop_marked_rows
from .seconds import mark_parts
from .wrong_cells import drop_other_units, drop_swapped_rows

# Differences may be below 0, and so may times on a clock.
_DIFFERENCES = re.compile(
    r"(?:^|[\W_])(?:delta|diff\w*|change\w*|gain\w*|offset|error|err|skew|drift|residuals?|start\w*|end|log)(?:$|[\W_])",
    re.I,
)


_LEAST_MARK = 99.0
_MOST_MARKED = 0.2  # of a column


def drop_impossible_numbers(table: Table) -> Table:
    """Return the table without rows that are no trials (failed, marked, copied, with swapped cells), and without rates
    and times below 0 (S138) or in another unit (S126), which become missing values, with a warning for each column. A
    column in which those below 0 are as many as the others is left as it is: it holds differences. Numbers that may be
    marks of failed trials stay, with a warning. Raises DataError for a column of speeds below 0 only."""
    table = drop_swapped_rows(drop_copied_rows(drop_marked_rows(drop_failed_rows(table))))
    table = derive_durations(mark_identifiers(mark_parts(drop_other_units(_drop_below_zero(mark_minutes(table))))))
    warnings = [warning for column in table.columns.values() for warning in _iterate_mark_warnings(table, column)]
    return replace(table, warnings=(*table.warnings, *warnings)) if warnings else table


def _drop_below_zero(table: Table) -> Table:
    columns = {
        column.name: (column, mask)
        for column in table.columns.values()
        if (mask := _find_below_zero(table, column)) is not None
    }
    if not columns:
        return table
    cleaned = {
        name: replace(column, values=np.where(mask, np.nan, column.values)) for name, (column, mask) in columns.items()
    }
    warnings = [_build_warning(table, column, mask) for column, mask in columns.values()]
    return replace(table, columns={**table.columns, **cleaned}, warnings=(*table.warnings, *warnings))


def _iterate_mark_warnings(table: Table, column: Column) -> Iterator[Message]:
    """Yield a warning if a few speeds are 0, or one same number of nines above all others."""
    if not column.numeric or not is_speed(build_metric(column.label or column.name, column.unit)):
        return
    values = column.values.astype(float)
    present = values[np.isfinite(values)]
    for mark in {0.0, float(np.max(present, initial=0.0))}:
        others = present[present != mark]
        is_mark = mark == 0 or (
            mark >= _LEAST_MARK and set(f"{mark:.0f}") == {"9"} and mark > 2 * others.max(initial=0)
        )
        n_marked = len(present) - len(others)
        if is_mark and others.size and others.min() > 0 and 0 < n_marked <= _MOST_MARKED * len(present):
            yield Message(
                "possible-mark",
                "{n} of {n_rows} values of {column} are {value:g} ({place}): if that is a mark of failed trials,"
                " {spell.where:'{condition}'} leaves them out",
                n=n_marked,
                n_rows=len(present),
                column=column.name,
                value=mark,
                place=table.place(int(np.flatnonzero(values == mark)[0])),
                condition=f"{column.name}>0" if mark == 0 else f"{column.name}<{mark:g}",
            )


def _find_below_zero(table: Table, column: Column) -> np.ndarray | None:
    """Return which numbers are impossible; None if there are none, or the column may hold numbers below 0. Raises
    DataError if all are."""
    name = column.label or column.name
    if not column.numeric or _DIFFERENCES.search(name) or not is_speed(build_metric(name, column.unit)):
        return None
    values = column.values.astype(float)
    below, above = values < 0, values > 0
    if below.any() and not np.any(values >= 0) and not np.all(np.diff(values) > 0):
        raise DataError(
            "only-below-zero",
            "{row}, column '{column}': {value:g} and all other values are below 0, which no rate or time can be",
            "correct the signs, or call a column of differences {column}_change",
            row=table.place(int(np.argmax(below))),
            column=column.name,
            value=float(values[below][0]),
        )
    if not below.any() or 2 * below.sum() >= above.sum() or bool(np.all(np.diff(values) > 0)):
        return None
    return below


def _build_warning(table: Table, column: Column, mask: np.ndarray) -> Message:
    first = int(np.flatnonzero(mask)[0])
    return Message(
        BELOW_ZERO,
        "{n} of {n_rows} values of {column} are below 0 ({place}: {value:g}), which no rate or time can be: they are"
        " left out",
        n=int(mask.sum()),
        n_rows=len(table),
        column=column.name,
        place=table.place(first),
        value=float(column.values[first]),
    )
