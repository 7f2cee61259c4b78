"""The order of measurement of the rows of a table, if one of its columns gives it."""

from collections.abc import Collection
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import split_column_name
from iosonde.core.table import Column, Table

Array = npt.NDArray[np.float64]

CLOCKS = ("started_at", "start", "started", "timestamp", "epoch")
_ORDERS = ("order", "block")


def find_measured_order(rows: Table, used: Collection[str]) -> Array | None:
    """Return a number for each trial that rises with time, from a date, a clock, or a column that numbers them; else
    None. Columns that are ``used``, as the response or as factors, are ignored."""
    columns = [column for name, column in rows.columns.items() if name not in used and not column.missing.any()]
    dates = (times for column in columns if not column.numeric and (times := _parse_times(column)) is not None)
    numeric = [column for column in columns if column.numeric]
    clocks = [column for column in numeric if _is_called(column, CLOCKS)]
    orders = [column for column in numeric if _is_called(column, _ORDERS) and _is_counting(column.values)]
    return next(chain(dates, (column.values.astype(float) for column in (*clocks, *orders))), None)


def _is_called(column: Column, words: Collection[str]) -> bool:
    return not {column.name, *split_column_name(column.label)[-1:]}.isdisjoint(words)


def _is_counting(values: npt.NDArray[Any]) -> bool:
    """Return whether they are 0, 1, 2, … or 1, 2, 3, …: ``block`` may be a size, too."""
    levels = np.unique(values)
    return bool(levels[0] in (0, 1) and np.array_equal(levels, levels[0] + np.arange(levels.size)))


def _parse_times(column: Column) -> Array | None:
    """Return the seconds of a column of dates; None for any other."""
    try:
        return np.array([datetime.fromisoformat(str(value)).timestamp() for value in column.values])
    except (ValueError, OverflowError):
        return None
