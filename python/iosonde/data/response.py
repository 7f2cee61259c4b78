"""A metric of one operation over the trials, built from a column or computed from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from iosonde.core.grouping import group_by_key
from iosonde.core.metrics import build_metric
from iosonde.core.table import Column, Table
from iosonde.core.types import Better, Factor, Metric

from . import derived, factors

VALUE = "value"


@dataclass(frozen=True)
class Response:
    """A metric of one operation over the trials: the input of every analysis.

    ``rows`` has one row per trial, in order of time if known, and a column called ``title`` with the value in
    ``metric.unit``. ``factors`` vary; each is a column of ``rows``. ``confounded`` maps an omitted factor, one of
    ``twins``, to the factor that it always changes with. ``at`` numbers the rows in ``Source.run_rows``.
    ``within_run``: the rows are iterations of single executions, not trials. ``transform`` is a function, such as
    ``log``, of the column ``measured``, whose unit is ``measured_unit``. ``are_parts``: rows are single ranks of
    unknown trials. ``trial_note`` is the warning about rows that are parts of one trial.
    """

    title: str
    metric: Metric
    rows: Table
    factors: tuple[Factor, ...]
    operation: str = ""
    confounded: tuple[tuple[str, str], ...] = ()
    twins: tuple[Factor, ...] = ()
    within_run: bool = False
    transform: str = ""
    measured: str = ""
    measured_unit: str = ""
    at: npt.NDArray[np.intp] | None = None
    warnings: tuple[str, ...] = ()
    are_parts: bool = False
    trial_note: str = ""

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """Value of each trial, NaN if missing."""
        return self.rows.numbers(self.title)

    @property
    def names(self) -> list[str]:
        """Columns of its factors."""
        return [factor.name for factor in self.factors]

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return self.metric.unit

    @property
    def lower_is_better(self) -> bool:
        """Return whether lower values are better."""
        return self.metric.better is Better.LOWER

    @property
    def together(self) -> dict[str, tuple[str, ...]]:
        """Factor → columns that always change with it, without ranks, which follow from nodes."""
        columns = group_by_key((twin, name) for name, twin in self.confounded if "ranks" not in (name, twin))
        return {factor: tuple(twins) for factor, twins in columns.items() if factor in self.names}

    def on(self, names: Sequence[str]) -> Response:
        """Return the response with other factors; the columns may or may not vary. Raises DataError."""
        columns = [self.rows.column(name) for name in names]
        chosen = {column.name for column in columns}
        confounded = tuple(pair for pair in self.confounded if pair[1] in chosen and pair[0] not in chosen)
        return replace(
            self, factors=tuple(factor_from_column(column) for column in columns), confounded=confounded, twins=()
        )

    def with_scattered(self) -> Response:
        """Add confounded factors that are uncorrelated, as in a Latin hypercube. For grouping the two are one, but a
        regression or bins can separate them."""
        apart = [pair for pair in self.confounded if factors.is_separable(self.rows, *pair)]
        if not apart:
            return self
        more = tuple(factor for factor in self.twins if factor.name in dict(apart))
        confounded = tuple(pair for pair in self.confounded if pair not in apart)
        return replace(self, factors=(*self.factors, *more), confounded=confounded, twins=())


def response_from_column(table: Table, name: str, varying: factors.VaryingFactors) -> Response:
    """Build a response from a column, whose unit may be in the column ``unit``, with the ``varying`` factors."""
    column = table.column(name)
    if not column.unit and column.name == VALUE and "unit" in table.columns and len(table):
        column = replace(column, unit=str(table.columns["unit"].values[0]))
        table = replace(table, columns={**table.columns, VALUE: column})
    return Response(
        name,
        build_metric(column.label or column.name, column.unit),
        table,
        tuple(factor for factor in varying.factors if factor.name != column.name),
        confounded=tuple(varying.confounded.items()),
        twins=varying.twins,
    )


def transform_response(
    response: Response, expression: derived.Derived, columns: dict[str, npt.NDArray[np.float64]], title: str, of: str
) -> Response:
    """Return the response with computed values, under its own title."""
    values = expression.values(columns)
    table = response.rows
    rest = [table.columns[name].unit for name in expression.names if name in table.columns and name != of]
    # With another column of the same unit the result has none, such as a share of the maximum.
    unit = response.unit if derived.is_scaled(expression.expression.tree, of) and response.unit not in rest else ""
    better = response.metric.better
    if derived.is_decreasing(expression.expression.tree, of):
        better = Better.HIGHER if better is Better.LOWER else Better.LOWER
    rows = replace(table, columns={**table.columns, title: Column(title, values, title, unit)})
    return replace(
        response,
        title=title,
        metric=replace(response.metric, unit=unit, better=better),
        rows=rows,
        transform=expression.transform,
        measured=table.column(response.title).name,
        measured_unit=response.unit,
    )


def factor_from_column(column: Column) -> Factor:
    """Build a factor from a column and its levels."""
    return Factor(column.name, column.unit, column.levels)
