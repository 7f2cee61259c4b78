"""The independent unit: do rows with an equal key, of which nothing says that it names a trial, resemble each other?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.message import Message
from iosonde.core.table import Table

from ..estimate.distributions import f_upper_p
from .check import AssumptionCheck, doubtful

ALPHA = 0.01  # over all candidates
_FEWEST = 3  # units that several rows share


@dataclass(frozen=True)
class SharedUnit:
    """A ``column`` whose rows with an equal value, inside one setting, resemble each other: ``correlation`` is their
    intraclass correlation (Donner & Koval, Biometrics 36, 1980, 19-25)."""

    column: str
    correlation: float
    p: float
    units: int
    rows: int


def check_units(
    rows: Table, values: Array, cells: Sequence[str], candidates: Sequence[str]
) -> Iterator[AssumptionCheck]:
    """Yield a doubt for each of the columns ``candidates`` that names a unit of several rows inside the ``cells``."""
    for name in candidates:
        unit = measure_shared_unit(rows, values, cells, name)
        if unit is not None and unit.p * len(candidates) < ALPHA:
            template = (
                "rows with the same {column} resemble each other (intraclass correlation {correlation:.2g}): "
                "n counts {rows} rows of {units} units"
            )
            yield doubtful("subsamples", Message("shared-unit", template, **vars(unit)))


def measure_shared_unit(rows: Table, values: Array, cells: Sequence[str], column: str) -> SharedUnit | None:
    """Measure the intraclass correlation of rows with an equal value of a ``column``, by a one-way analysis of variance
    inside the cells; None if too few units have several rows."""
    present = np.flatnonzero(~np.isnan(values) & ~rows.column(column).missing)
    rows, values = rows.take(present), values[present]
    cell_of, unit_of = rows.number_groups(cells), rows.number_groups([*cells, column])
    n_cells, n_units = (int(numbers.max(initial=-1)) + 1 for numbers in (cell_of, unit_of))
    sizes = np.bincount(unit_of, minlength=n_units)
    df_between, df_within = n_units - n_cells, values.size - n_units
    if np.count_nonzero(sizes > 1) < _FEWEST or df_between < 1 or df_within < 1:
        return None
    between, within = compute_mean_squares(values, cell_of, unit_of, (df_between, df_within))
    if within <= 0:
        return None
    typical = (values.size - float((sizes**2).sum()) / values.size) / max(1, n_units - 1)
    correlation = (between - within) / (between + (typical - 1) * within)
    p = f_upper_p(between / within, df_between, df_within)
    return SharedUnit(column, correlation, p, n_units, int(values.size)) if correlation > 0 else None


def compute_mean_squares(values: Array, cell_of: Indices, unit_of: Indices, df: tuple[int, int]) -> tuple[float, float]:
    """Return the mean squares between units inside the cells, and within units."""
    of_cells, of_units = (
        (np.bincount(numbers, values) / np.bincount(numbers))[numbers] for numbers in (cell_of, unit_of)
    )
    between, within = float(((of_units - of_cells) ** 2).sum()), float(((values - of_units) ** 2).sum())
    return between / df[0], within / df[1]
