"""Columns whose levels were measured one after the other while values drifted."""

from collections.abc import Iterator, Sequence

import numpy as np

from iosonde.core.arrays import Array
from iosonde.core.message import Message
from iosonde.core.table import Table

from ..overview.cells import number_shared_bring_ups
from ..overview.measured_order import find_measured_order
from .check import AssumptionCheck, doubtful
from .drift import check_drift, detect_drift_in_turn, list_turns


def check_turns(rows: Table, columns: Sequence[str]) -> Iterator[AssumptionCheck]:
    """Yield a doubt for each of the ``columns`` whose levels were measured one after the other, by the times of the
    rows."""
    order = find_measured_order(rows, columns)
    if order is None or number_shared_bring_ups(rows) is not None:
        return
    template = "{column} was measured one level after the other: a change with time is in its effect, too"
    for column in columns:
        if list_turns(rows.column(column).codes()[0], order):
            yield doubtful("order", Message("measured-in-turn", template, column=column), (column,))


def check_drifts(
    rows: Table, title: str, values: Array, columns: Sequence[str], level: float, other_settings: Sequence[str] = ()
) -> Iterator[AssumptionCheck]:
    """Yield the checks of the drifting ``columns``, each tested inside the cells of the others and of the
    ``other_settings``, whose order is no drift. ``values``: of the response ``title``."""
    present = np.flatnonzero(~np.isnan(values))
    rows, values = rows.take(present), values[present]
    if number_shared_bring_ups(rows) is not None:
        return
    order = find_measured_order(rows, (title, *columns))
    times = np.arange(len(rows), dtype=float) if order is None else order
    for column in columns:
        others = rows.number_groups([name for name in (*columns, *other_settings) if name != column])
        drift = detect_drift_in_turn(rows.column(column).codes()[0], values, others, times, level)
        if drift is not None:
            yield from check_drift(column, drift, (column,))
