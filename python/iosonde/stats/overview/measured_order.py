"""The order in which the rows of a table were measured, where one of its columns tells it."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import numpy.typing as npt

from iosonde.core.column_units import words_of
from iosonde.core.table import Column, Table

Array = npt.NDArray[np.float64]

_CLOCKS = ("started_at", "start", "started", "timestamp", "epoch")
_ORDERS = ("order", "block")


def measured_order(rows: Table, response: str) -> Array | None:
    """A number for each trial that rises with time, by a date, a clock, or a column that numbers them; else None."""
    columns = [column for name, column in rows.columns.items() if name != response and not column.missing.any()]
    for column in columns:
        if not column.numeric and (times := _times(column)) is not None:
            return times
    for words in (_CLOCKS, _ORDERS):
        for column in columns:
            if column.numeric and (column.name in words or _last_word(column) in words):
                return column.values.astype(float)
    return None


def _times(column: Column) -> Array | None:
    """Seconds of a column of dates; None of any other."""
    try:
        return np.array([datetime.fromisoformat(str(value)).timestamp() for value in column.values])
    except (ValueError, OverflowError):
        return None


def _last_word(column: Column) -> str:
    words = words_of(column.label)
    return words[-1] if words else ""
