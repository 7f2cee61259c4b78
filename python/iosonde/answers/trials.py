"""From responses to cells, the input of statistics on a store or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.table import Table
from iosonde.data.choice import texts
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, responses
from iosonde.data.source import Source
from iosonde.stats.overview.cells import MeasuredCells, TrialCell, bring_ups_of
from iosonde.stats.overview.measured_order import measured_order

from .caveats import warn_confounded_cells


def measured(source: Source, query: ResponseQuery) -> MeasuredCells:
    """Return the trials of a store as cells of the known factors, or of ``query.on``."""
    trials = source.trials(query.choice)
    if not len(trials.rows) and not query.response:
        return MeasuredCells((), trials.rows, tuple(source.varying_factors.names), trials.warnings)
    candidates = responses(source, query)
    by = tuple(candidates[0].names) if candidates else tuple(source.varying_factors.names)
    rows, at = (trials.rows, trials.at) if not query.response else _rows_of(source, candidates)
    places = np.full(len(source.run_rows), -1, dtype=np.intp)
    places[at] = np.arange(len(at))
    messages = [text for response in candidates for text in (*response.warnings, *warn_confounded_cells(response))]
    cells = tuple(cell for response in candidates for cell in cells_of(response, places))
    warnings = tuple(dict.fromkeys([*([] if query.response else trials.warnings), *messages]))
    return MeasuredCells(cells, rows, by, warnings, candidates[0].together if candidates else {})


def _rows_of(source: Source, candidates: Sequence[Response]) -> tuple[Table, npt.NDArray[np.intp]]:
    """Return the results behind these responses, by time, and their places in ``Source.whole``."""
    positions = [response.at for response in candidates if response.at is not None]
    at = np.unique(np.concatenate(positions)) if positions else np.empty(0, dtype=np.intp)
    at = at[np.argsort(texts(source.run_rows, "started_at")[at], kind="stable")]
    return source.run_rows.take(at), at


def cells_of(response: Response, places: npt.NDArray[np.intp] | None = None) -> list[TrialCell]:
    """Return the trials of each setting, in order of measurement; ``places`` maps rows of ``Source.whole`` to numbers
    in the cells."""
    values, names = response.values, response.names
    runs = response.rows.columns["run"].values if "run" in response.rows.columns else None
    cells, units = [], response.rows.level_units(names)
    # A computed response is a metric of its own, distinct from its source.
    metric = response.title if response.measured else response.metric.name
    shared = None if response.within_run else bring_ups_of(response.rows)
    order = None if runs is not None else measured_order(response.rows, (response.title, *names))
    for key, rows in response.rows.groups(names):
        rows = np.sort(rows)
        origins = (
            _places(runs, rows) if runs is not None else tuple(response.rows.place(int(row)) for row in rows[:1000])
        )
        at = None if response.within_run or response.at is None or places is None else places[response.at[rows]]
        cells.append(
            TrialCell(
                dict(zip(names, key, strict=True)),
                metric,
                response.unit,
                values[rows],
                response.operation,
                at,
                origins,
                response.within_run,
                units,
                None if shared is None else shared[rows],
                rows if order is None else order[rows],
            )
        )
    return cells


def _places(runs: npt.NDArray[Any], rows: npt.NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(f"run {runs[row]}" for row in rows)
