"""Columns of somebody's table that are neither set nor measured by the trial: what was there before it, as a load.

Nobody can compare within the cells of a number that hardly comes twice. Where it differs between the sides the
difference may be its own: that is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.metrics import is_speed, metric_of
from iosonde.core.table import Column, Table
from iosonde.data import roles
from iosonde.data.looks import names_ranks

_DISTINCT = 0.5  # share of the values that come once: above it, a number is no setting


def covariates(rows: Table, measured: Sequence[str], fixed_columns: Sequence[str]) -> tuple[str, ...]:
    """The numbers that hardly come twice, besides what has a unit or a name of an outcome, and besides what numbers
    the rows. ``fixed_columns``: the sides, and what is compared within."""
    column_roles = roles.guess(rows, measured)
    return tuple(name for name in (*column_roles.others, *column_roles.settings)
                 if name not in (*fixed_columns, *measured) and _is_covariate(rows.column(name)))  # fmt: skip


def makes_cells(rows: Table, name: str, sides: str) -> bool:
    """Whether a column can be held fixed: of a number that hardly comes twice most values are of several sides."""
    column = rows.column(name)
    if not _is_covariate(column):
        return True
    keys = rows.groups([name])
    levels = rows.column(sides).codes()[0]
    shared = sum(at.size for _, at in keys if len(set(levels[at].tolist())) > 1)
    return 2 * shared >= len(rows)


def _is_covariate(column: Column) -> bool:
    """A number that hardly comes twice, and no outcome: no rate, time or amount."""
    outcome = bool(column.unit) or is_speed(metric_of(column.label or column.name, ""))
    if outcome or not column.numeric or names_ranks(column):
        return False
    present = column.values[~column.missing]
    return present.size > 2 and len(set(present.tolist())) > _DISTINCT * present.size
