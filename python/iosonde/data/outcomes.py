"""Find measured numbers that have the unit of a setting: bytes received, counts of packets.

In a table with repetitions, settings repeat too. A number without duplicates among the repetitions of any setting was
therefore not set. Settings of a scattered design never repeat either; they differ from outcomes in their variation.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iosonde.core.table import Column, Table

from .looks import TRIALS, is_mostly_distinct

_MIN_REPEATED_SHARE = 0.9  # share of rows in a setting with another row
_MIN_UNIQUE_SHARE = 0.9  # share of unique values inside one setting
_MAX_UNEXPLAINED_SHARE = 0.5  # of the variation within settings, relative to numbers drawn at random
_MAX_RELATIVE_SPREAD = 0.1  # inside a setting: no design varies a size or a count by less
_PERCENT = ("percent", "%")  # decimals that no one sets, such as cpu_percent

Rows = Sequence[npt.NDArray[np.intp]]


def find_outcomes(table: Table, columns: Sequence[Column], numbering: Sequence[str]) -> list[str]:
    """Return the names of those ``columns`` that are outcomes; ``numbering`` counts rows. Empty without repeated
    settings."""
    columns = [column for column in columns if column.is_varying]
    numbers = [column for name in numbering if (column := table.columns[name]).numeric]
    counters = [column for column in numbers if set(TRIALS) & set(re.split(r"[\W_]+", column.label.lower()))]
    stated = next(
        (names for counter in counters if (names := _find_varying_beyond_design(table, columns, counter))), []
    )
    return [*stated, *_find_unrepeated(table, [column for column in columns if column.name not in stated])]


def _find_varying_beyond_design(table: Table, columns: Sequence[Column], counter: Column) -> list[str]:
    """Return numbers that vary among repetitions according to a ``counter``. The design is all text columns, and the
    numbers with the fewest levels that make each repetition one row."""
    design = [column.name for column in columns if not column.numeric]
    numbers = sorted((column for column in columns if column.numeric), key=lambda column: len(column.codes()[1]))
    while len(table.groups([*design, counter.name])) < len(table):
        if not numbers:
            return []
        design.append(numbers.pop(0).name)
    cells = [rows for _, rows in table.groups(design)] if design else []
    most = max((rows.size for rows in cells), default=0)
    if most < 2 or len(cells) <= len(counter.codes()[1]):
        return []
    return [
        column.name for column in numbers if len(column.codes()[1]) > most and _is_varying_inside_cells(column, cells)
    ]


def _is_varying_inside_cells(column: Column, cells: Rows) -> bool:
    values = [column.values[rows].astype(float) for rows in cells]
    return sum(np.unique(inside[~np.isnan(inside)]).size > 1 for inside in values) > 1


def _find_unrepeated(table: Table, columns: Sequence[Column]) -> list[str]:
    """Return numbers with hardly any duplicates, if the other columns form repeated settings."""
    candidates = [
        column
        for column in columns
        if column.numeric and is_mostly_distinct(column) and not _has_chosen_numbers(column)
    ]
    settings = [column.name for column in columns if column not in candidates]
    cells = [rows for _, rows in table.groups(settings) if rows.size > 1] if candidates and settings else []
    if sum(rows.size for rows in cells) < _MIN_REPEATED_SHARE * len(table) or len(cells) < 2:
        return []
    return [column.name for column in candidates if column.unit in _PERCENT or _is_outcome(column, cells)]


def _has_chosen_numbers(column: Column) -> bool:
    """Return whether most of its numbers look chosen: powers of two, multiples of 512, two digits and zeros."""
    numbers = np.unique(column.values[~column.missing].astype(float))
    numbers = numbers[numbers > 0]
    digits = 10.0 ** np.maximum(0, np.floor(np.log10(np.maximum(numbers, 1))) - 1)
    typed = (numbers % 512 == 0) | (numbers % digits == 0) | (np.log2(numbers) % 1 == 0)
    return 2 * int(typed.sum()) > numbers.size


def _is_outcome(column: Column, cells: Rows) -> bool:
    present = ~column.missing
    values = [column.values[rows[present[rows]]].astype(float) for rows in cells]
    samples = [inside for inside in values if inside.size > 1]
    n = sum(inside.size for inside in samples)
    is_unrepeated = n > 0 and sum(np.unique(inside).size for inside in samples) >= _MIN_UNIQUE_SHARE * n
    return is_unrepeated and (_has_small_spread(samples) or _is_dependent_on_cells(samples, n))


def _has_small_spread(samples: Sequence[npt.NDArray[np.float64]]) -> bool:
    spreads = [float(np.std(inside, ddof=1) / abs(np.mean(inside))) for inside in samples if np.mean(inside)]
    return bool(spreads) and float(np.median(spreads)) < _MAX_RELATIVE_SPREAD


def _is_dependent_on_cells(samples: Sequence[npt.NDArray[np.float64]], n: int) -> bool:
    """Return whether variation within settings is far smaller than for numbers drawn independently of them."""
    total = float(np.var(np.concatenate(samples)) * n)
    within = sum(float(np.var(inside) * inside.size) for inside in samples)
    return within < _MAX_UNEXPLAINED_SHARE * total * (n - len(samples)) / (n - 1)
