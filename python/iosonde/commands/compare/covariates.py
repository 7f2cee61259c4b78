"""Covariates: columns of a table that are neither set nor measured by the trial, as the load before it. Their values
hardly ever repeat, so they make no cells. If a covariate differs between the sides, it may explain the difference, and
a caveat is added."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.metrics import is_speed, metric_of
from iosonde.core.table import Column, Table
from iosonde.data import roles
from iosonde.data.looks import names_ranks

_DISTINCT = 0.5  # share of unique values above which a number is not a setting


def covariates(rows: Table, measured: Sequence[str], fixed_columns: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers that hardly repeat, without those that have an outcome's unit or name, or number the rows.
    ``fixed_columns``: the sides, and the columns of cells."""
    column_roles = roles.guess(rows, measured)
    return tuple(
        name
        for name in (*column_roles.others, *column_roles.settings)
        if name not in (*fixed_columns, *measured) and _is_covariate(rows.column(name))
    )


def makes_cells(rows: Table, name: str, sides: str) -> bool:
    """Return whether a column can be held fixed. A number that hardly repeats qualifies if most of its values occur on
    several sides."""
    if not _is_covariate(rows.column(name)):
        return True
    levels = rows.column(sides).codes()[0]
    shared = sum(at.size for _, at in rows.groups([name]) if len(set(levels[at].tolist())) > 1)
    return 2 * shared >= len(rows)


def _is_covariate(column: Column) -> bool:
    """Return whether a number hardly repeats and is not an outcome: a rate, time or amount."""
    outcome = bool(column.unit) or is_speed(metric_of(column.label or column.name, ""))
    if outcome or not column.numeric or names_ranks(column):
        return False
    present = column.values[~column.missing]
    return present.size > 2 and len(set(present.tolist())) > _DISTINCT * present.size
