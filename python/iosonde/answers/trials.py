"""Responses → cells: what the statistics of a store, and of a table, are computed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.data.asked import Asked
from iosonde.data.responses import Response, responses
from iosonde.data.source import Source
from iosonde.stats.overview.cells import Measured, TrialCell


def measured(source: Source, asked: Asked) -> Measured:
    """The trials of a store as cells of the factors that are known, or of those of ``asked.on``."""
    trials = source.trials(asked.clock)
    if not len(trials.rows):
        return Measured((), trials.rows, tuple(source.known.names), trials.warnings)
    found = responses(source, asked)
    by = tuple(found[0].names) if found else tuple(source.known.names)
    return Measured(tuple(cell for one in found for cell in cells_of(one)), trials.rows, by, trials.warnings)


def cells_of(response: Response) -> list[TrialCell]:
    """The trials of each setting, in the order in which they were made."""
    values, names = response.values, response.names
    runs = response.rows.columns["run"].values if "run" in response.rows.columns else None
    found = []
    for key, rows in response.rows.groups(names):
        rows = np.sort(rows)
        places = (
            _places(runs, rows) if runs is not None else tuple(response.rows.place(int(row)) for row in rows[:1000])
        )
        at = None if response.within_run or response.at is None else response.at[rows]
        found.append(TrialCell(dict(zip(names, key, strict=True)), response.metric.name, response.unit, values[rows],
                               response.operation, at, places, response.within_run))  # fmt: skip
    return found


def _places(runs: npt.NDArray[Any], rows: npt.NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(f"run {runs[row]}" for row in rows)
