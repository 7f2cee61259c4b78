"""Cells that are in the wrong place or unit: two cells of a row swapped, a rate in KB/s among MB/s."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.contradiction import OTHER_UNIT
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, is_speed
from iosonde.core.table import Column, Table
from iosonde.core.types import Better

from .copied_rows import find_first_rows, list_settings

_LEAST_ROWS = 6
_MOST_WRONG = 0.1  # of a column
_LEAST_GAP = 50.0  # between numbers in one unit and those in another
_TOLERANCE = 4 / 3  # of a range
_FACTORS = (1000.0, 1024.0, 1e6)
_MOST_LEVELS_SHARE = 0.5
Floats = npt.NDArray[np.float64]


def drop_swapped_rows(table: Table) -> Table:
    """Return the table without rows in which a column of a few whole numbers has a number with decimals of another
    column's range, and that one has such a whole number, with a warning."""
    swaps = [swap for column in table.columns.values() for swap in _iter_swaps(table, column)]
    if not swaps:
        return table
    row, setting, measured = swaps[0]
    message = Message(
        "swapped-cells",
        "{place}: {setting} {odd:g} and {measured} {level:g} look swapped: {n} such rows are left out",
        place=table.place(row),
        setting=setting.name,
        odd=float(setting.values[row]),
        measured=measured.name,
        level=float(measured.values[row]),
        n=len(swaps),
    )
    remaining = np.setdiff1d(np.arange(len(table)), [row for row, _, _ in swaps])
    return replace(table, warnings=(*table.warnings, message)).take(remaining)


def _iter_swaps(table: Table, setting: Column) -> Iterator[tuple[int, Column, Column]]:
    """Yield (row, column of settings, column of measurements) for each row that looks swapped."""
    if not setting.numeric or len(table) < _LEAST_ROWS:
        return
    values: Floats = setting.values.astype(float)
    odd = np.isfinite(values) & (values != np.round(values))
    if not 0 < odd.sum() <= max(1.0, _MOST_WRONG * len(table)):
        return
    levels = np.unique(values[~odd & np.isfinite(values)])
    if levels.size > _MOST_LEVELS_SHARE * len(table):
        return
    for other in (column for column in table.columns.values() if column.numeric and column is not setting):
        numbers: Floats = other.values.astype(float)
        rest = numbers[~odd & np.isfinite(numbers)]
        if not rest.size or bool(np.all(rest == np.round(rest))):
            continue
        for row in np.flatnonzero(odd).tolist():
            is_inside = rest.min() / _TOLERANCE <= values[row] <= rest.max() * _TOLERANCE
            if is_inside and numbers[row] in levels and not rest.min() <= numbers[row] <= rest.max():
                yield row, setting, other


def drop_other_units(table: Table) -> Table:
    """Return the table without speeds that are too fast by a factor between units (47200 among 40 to 60 MB/s), which
    become missing values, with a warning for each column (S126). Speeds too slow by such a factor may be stalls."""
    for column in table.columns.values():
        wrong = _find_other_unit(column)
        if wrong is not None and _have_other_trials(table, wrong):
            first = int(np.flatnonzero(wrong)[0])
            message = Message(
                OTHER_UNIT,
                "{n} of {n_rows} values of {column} look as if in another unit ({place}: {value:g}, the others are"
                " {low:g} to {high:g}): they are left out until they are corrected",
                n=int(wrong.sum()),
                n_rows=len(table),
                column=column.name,
                place=table.place(first),
                value=float(column.values[first]),
                cells={table.row_name(row): float(column.values[row]) for row in np.flatnonzero(wrong).tolist()},
                low=float(np.nanmin(column.values[~wrong].astype(float))),
                high=float(np.nanmax(column.values[~wrong].astype(float))),
            )
            cleaned = replace(column, values=np.where(wrong, np.nan, column.values.astype(float)))
            columns = {**table.columns, column.name: cleaned}
            table = replace(table, columns=columns, warnings=(*table.warnings, message))
    return table


def _have_other_trials(table: Table, wrong: npt.NDArray[np.bool_]) -> bool:
    """Return whether each wrong row has another one of its setting, which is none."""
    setting = find_first_rows(table, list_settings(table))
    return set(setting[wrong].tolist()) <= set(setting[~wrong].tolist())


def _find_other_unit(column: Column) -> npt.NDArray[np.bool_] | None:
    metric = build_metric(column.label or column.name, column.unit)
    if not column.numeric or not is_speed(metric) or len(column.values) < _LEAST_ROWS:
        return None
    values: Floats = column.values.astype(float)
    present = np.sort(values[np.isfinite(values)])
    if not present.size or present[0] <= 0:
        return None
    speeds = np.sort(1 / present) if metric.better is Better.LOWER else present
    n_most = int(max(1.0, _MOST_WRONG * speeds.size))
    gaps = speeds[1:] / speeds[:-1]
    place = int(np.argmax(gaps)) + 1 if gaps.size else 0
    if not place or gaps[place - 1] < _LEAST_GAP or speeds.size - place > n_most:
        return None
    low, high = speeds[0] / _TOLERANCE, speeds[place - 1] * _TOLERANCE
    fits = [bool(np.all((low <= speeds[place:] / factor) & (speeds[place:] / factor <= high))) for factor in _FACTORS]
    own = 1 / values if metric.better is Better.LOWER else values
    return np.asarray(own >= speeds[place]) if any(fits) else None
