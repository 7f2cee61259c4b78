"""Sides that are set once for several trials: trials are averaged in each bring-up, and n counts bring-ups.

Trials of a bring-up share its random effect: taken separately, two bring-ups of twenty trials would look like forty
repetitions. If other settings vary inside bring-ups, a bring-up's mean is adjusted for cells (least squares on
bring-ups and cells), so that a missing trial does not shift it.
"""

from collections.abc import Sequence

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.schema import BRING_UPS
from iosonde.core.table import Cell, Table

from ..overview.cells import compute_group_means

Key = tuple[Cell, ...]
InEach = list[tuple[Array, Array]]


def number_bring_ups_by_group(rows: Table, group: str, campaign_columns: Sequence[str]) -> tuple[Key, ...]:
    """Return, for each row, the bring-up that holds the level of ``group`` constant; empty if it changes inside all of
    them. ``campaign_columns``: columns that separate rows of different campaigns."""
    columns = [name for name in BRING_UPS if name in rows.columns]
    apart = [name for name in campaign_columns if name in rows.columns]
    for depth in range(1, len(columns) + 1):
        alone = rows.columns[columns[depth - 1]].missing  # campaigns without hard-to-change factors
        groups = [(key, at) for key, at in rows.groups([*apart, *columns[:depth]]) if not alone[at[0]]]
        codes, _ = rows.column(group).codes()
        if groups and all(np.all(codes[at] == codes[at[0]]) for _, at in groups):
            keys = {int(place): key for key, at in groups for place in at}
            return tuple(keys.get(place, (place,)) for place in range(len(rows)))
    return ()


def has_repeated_bring_ups(units: Sequence[Key]) -> bool:
    """Return whether some bring-up has several trials."""
    return len(set(units)) < len(units)


def average_by_bring_up(values: Array, units: Sequence[Key]) -> Array:
    """Return the mean of each bring-up."""
    return compute_group_means(values, number_bring_ups(units))


def number_bring_ups(units: Sequence[Key]) -> Indices:
    """Return a number for each bring-up, in the order of first occurrence."""
    places: dict[Key, int] = {}
    return np.array([places.setdefault(unit, len(places)) for unit in units], dtype=np.intp)


def group_means_by_bring_up(
    values: tuple[Array, Array], cells: tuple[Sequence[Key], Sequence[Key]], units: tuple[Sequence[Key], Sequence[Key]]
) -> InEach:
    """Return (means of bring-ups of A, of B) in each cell of the factors that are constant inside bring-ups."""
    constant = _find_constant([*cells[0], *cells[1]], [*((0, *u) for u in units[0]), *((1, *u) for u in units[1])])
    rows_by_cell: dict[Key, list[list[int]]] = {}
    for side in (0, 1):
        for row, cell in enumerate(cells[side]):
            rows_by_cell.setdefault(tuple(level for level, own in zip(cell, constant, strict=True) if own), [[], []])[
                side
            ].append(row)
    return [
        _average_bring_ups(values, cells, units, rows, constant)
        for rows in rows_by_cell.values()
        if rows[0] and rows[1]
    ]


def _find_constant(cells: Sequence[Key], units: Sequence[Key]) -> list[bool]:
    """Return, for each column of the cells, whether it is constant in each bring-up."""
    first: dict[Key, Key] = {}
    constant = [True] * (len(cells[0]) if cells else 0)
    for cell, unit in zip(cells, units, strict=True):
        constant = [was and a == b for was, a, b in zip(constant, first.setdefault(unit, cell), cell, strict=True)]
    return constant


def _average_bring_ups(
    values: tuple[Array, Array],
    cells: tuple[Sequence[Key], Sequence[Key]],
    units: tuple[Sequence[Key], Sequence[Key]],
    rows: Sequence[Sequence[int]],
    constant: Sequence[bool],
) -> tuple[Array, Array]:
    y = np.concatenate([values[side][rows[side]] for side in (0, 1)])
    inner = [
        tuple(level for level, own in zip(cells[side][row], constant, strict=True) if not own)
        for side in (0, 1)
        for row in rows[side]
    ]
    of = number_bring_ups([(side, *units[side][row]) for side in (0, 1) for row in rows[side]])
    cell = number_bring_ups(inner)
    n_units, n_cells = int(of.max()) + 1, int(cell.max()) + 1
    x = np.column_stack([np.eye(n_units)[of], np.eye(n_cells)[cell][:, 1:]])
    beta = np.linalg.lstsq(x, y, rcond=None)[0]
    means = beta[:n_units] + (beta[n_units:].sum() / n_cells)
    n_a = len({units[0][row] for row in rows[0]})
    return means[:n_a], means[n_a:]
