"""Predicted time of an application by the bound of its cluster, against its measured time in each setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.answers.answer import Answer
from iosonde.core import expression
from iosonde.core.errors import InputError
from iosonde.core.table import Table
from iosonde.core.types import Estimate
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source
from iosonde.model.bound.application import (
    Application,
    PredictedTime,
    compare_with_prediction,
    describe_range_of_ratios,
    predict_time,
)

from .answer import TIMES
from .bounded_cells import BoundCell, iterate_cells
from .inputs import Inputs
from .lab_truth import LabTruths
from .shared_files import has_fixed_copy_groups, has_unstriped_files

_HINT = f"write {', '.join(f'{name}=…' for name in vars(Application()))}: numbers, or expressions over factors"


@dataclass(frozen=True)
class PredictedTimes(Answer):
    """The ``rows`` of all settings, with ``warnings``."""

    level: float
    rows: tuple[PredictedTime, ...]
    warnings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Return how far the measured times are from the predicted ones."""
        return describe_range_of_ratios(self.rows)

    def content(self) -> dict[str, Any]:
        """As ``iosonde bound --application --json``."""
        return {"level": self.level, "rows": [row.to_json() for row in self.rows], "warnings": list(self.warnings)}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per setting."""
        return [
            {key: value for key, value in row.to_json().items() if key not in ("by", "warnings", "parts")} | row.by
            for row in self.rows
        ]


def predict_times(
    source: Source | None, inputs: Inputs, query: ResponseQuery, words: Mapping[str, str]
) -> PredictedTimes:
    """Predict an application's times. ``words``: fields of an Application → expressions over the factors of a trial.
    Without DATA they are numbers, and the prediction stands alone. Raises InputError, DataError."""
    if unknown := [name for name in words if name not in vars(Application())]:
        raise InputError("unknown-key", "an application has no '{key}'", _HINT, key=unknown[0])
    if source is None:
        time, parts = predict_time(
            _build_application(Table({}), np.array([], dtype=np.intp), words), inputs.all, "", query.level
        )
        nothing = Estimate(None, None, None, query.level, 0)
        return PredictedTimes(query.level, (PredictedTime({}, time, parts, nothing, nothing),), inputs.notes)
    labs, runs = LabTruths.from_source(source), {run.id: run for run in source.runs}

    def predict_cell(response: Response, cell: BoundCell) -> tuple[Estimate, dict[str, float]]:
        ids = cell.runs(response)
        nodes = "nodes" in response.rows.columns and not {"clients"} & {*inputs.origins, *inputs.columns}
        clients = {"clients": _read_constant_level(response.rows, "nodes", cell.rows)} if nodes else {}
        own = inputs.changed(clients | inputs.beneath(labs.truth(ids)))
        of = [runs[run_id] for run_id in ids]
        is_unstriped = own.system.stripe_count is None and bool(of) and all(map(has_unstriped_files, of))
        placement = ("groups" if all(has_fixed_copy_groups(run) for run in of) else "random") if is_unstriped else ""
        return predict_time(_build_application(response.rows, cell.rows, words), own.all, placement, query.level)

    rows, warnings = [], dict.fromkeys(labs.warnings)
    for response in [candidate for candidate in build_responses(source, query) if candidate.unit in TIMES]:
        warnings |= dict.fromkeys(response.warnings)
        for cell in iterate_cells(response, list(inputs.columns.values())):
            predictions = [(part, *predict_cell(response, part)) for part in labs.apart(response, [cell])]
            if all(
                time == predictions[0][1] for _, time, _ in predictions
            ):  # what differs between these labs limits in none
                predictions = [(cell, *predictions[0][1:])]
            for part, time, parts in predictions:
                measured = compare_with_prediction(response.values[part.rows] / TIMES[response.unit], time, query.level)
                rows.append(PredictedTime(part.by, time, parts, *measured, response.rows.level_units(part.by)))
    if not rows:
        raise InputError(
            "no-time-column", "nothing in DATA is the time of an application", "name the column with {spell.response}"
        )
    return PredictedTimes(query.level, tuple(rows), tuple(warnings))


def _build_application(table: Table, rows: npt.NDArray[np.intp], words: Mapping[str, str]) -> Application:
    """Build the application of these trials. Raises InputError for a factor that differs between them."""
    fields: dict[str, Any] = {}
    for name, text in words.items():
        of = expression.read(text, table.names, f"application: {name}")
        number = of.number({factor: _read_constant_level(table, factor, rows) for factor in of.names})
        fields[name] = number if isinstance(getattr(Application(), name), float) else int(number)
    return Application(**fields)


def _read_constant_level(table: Table, name: str, rows: npt.NDArray[np.intp]) -> Any:
    levels = list(dict.fromkeys(table.columns[name].values[rows].tolist()))
    if len(levels) != 1:
        raise InputError(
            "varies-within-cell",
            "{name} is not the same in all trials of a setting",
            "add {name} to {spell.by}",
            name=name,
        )
    return levels[0]
