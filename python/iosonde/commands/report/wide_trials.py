"""Operations of a store as columns of a table, one row a trial, so that one can be compared with another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iosonde.core.errors import InputError
from iosonde.core.table import Column, Table
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source, StoredSource

_TRIAL = ("repetition", "bring_up")


def widen_operations(source: StoredSource, query: ResponseQuery, operations: Sequence[str]) -> Source:
    """Return a table with a column for each operation, in the first metric that all have, and the settings of each
    trial. Raises InputError if they share no metric."""
    rows = source.trials(query.choice).rows
    cells = list(zip(*(rows.column(name).values for name in ("operation", "metric", "unit", "run")), strict=True))
    metrics = [{(metric, unit) for name, metric, unit, _ in cells if name == operation} for operation in operations]
    shared = sorted(set.intersection(*metrics))
    if not shared:
        hint = "name operations that were measured with the same metric"
        raise InputError("no-shared-metric", "{names} have no metric in common", hint, names=" and ".join(operations))
    metric, unit = shared[0]
    places = [
        {cell[3]: place for place, cell in enumerate(cells) if cell[:2] == (operation, metric)}
        for operation in operations
    ]
    runs = [run for run in places[0] if all(run in place_by_run for place_by_run in places)]
    trials = rows.take(np.array([places[0][run] for run in runs], dtype=np.intp))
    names = [name for name in (*source.varying_factors.names, *_TRIAL) if trials.has_column(name)]
    columns = {name: trials.column(name) for name in names}
    values = rows.numbers("value")
    for operation, place_by_run in zip(operations, places, strict=True):
        title = f"{operation} ({unit})"
        column = np.array([values[place_by_run[run]] for run in runs], dtype=np.float64)
        columns[title] = Column(title, column, operation, unit)
    return Source(Table(columns, source.name), source.name)
