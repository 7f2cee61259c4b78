"""Rows that repeat a block of others in every column, as a block that was pasted twice: they were measured once."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import TRIALS
from iosonde.core.column_units import split_column_name
from iosonde.core.column_values import is_mostly_distinct
from iosonde.core.contradiction import COPIED_ROWS
from iosonde.core.message import Message
from iosonde.core.table import Column, Table, number_combinations

_LEAST_BLOCK = 3  # rows
_LEAST_DIGITS = 3
_MOST_ROWS = 20_000  # more are no table that somebody pastes into
Indices = npt.NDArray[np.intp]


def drop_copied_rows(table: Table) -> Table:
    """Return the table without blocks of rows that repeat earlier ones in the same order, with a warning (S121), if
    chance or a deterministic program cannot explain them: trials of one setting differ, and no other row recurs."""
    if not 2 * _LEAST_BLOCK <= len(table) <= _MOST_ROWS:
        return table
    original = find_first_rows(table, table.names)
    copies = np.flatnonzero(original < np.arange(len(table)))
    blocks = np.split(copies, np.flatnonzero((np.diff(copies) != 1) | (np.diff(original[copies]) != 1)) + 1)
    if not copies.size or any(block.size < _LEAST_BLOCK for block in blocks) or not _has_noise(table, original):
        return table
    block = blocks[0]
    first, last = int(block[0]), int(block[-1])
    message = Message(
        COPIED_ROWS,
        "{n} of {n_rows} rows repeat others in every column ({row} {first} to {last} are {first_original} to"
        " {last_original} again): they count once",
        n=copies.size,
        n_rows=len(table),
        row=table.row_word,
        first=table.row_name(first),
        last=table.row_name(last),
        first_original=table.row_name(int(original[first])),
        last_original=table.row_name(int(original[last])),
    )
    remaining = np.setdiff1d(np.arange(len(table)), copies)
    return replace(table, warnings=(*table.warnings, message)).take(remaining)


def find_first_rows(table: Table, names: Sequence[str]) -> Indices:
    """Return the first row that is equal in these columns, for each row; 0 for no columns."""
    coded = ((codes, len(levels)) for codes, levels in (table.columns[name].codes() for name in names))
    _, first, inverse = np.unique(number_combinations(coded, len(table)), return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.intp)


def list_settings(table: Table) -> list[str]:
    """Return the columns that may form settings: with many duplicates, and not called a trial."""
    columns = [column for column in table.columns.values() if not is_mostly_distinct(column)]
    return [column.name for column in columns if not set(TRIALS).intersection(split_column_name(column.label)[-1:])]


def _has_noise(table: Table, original: Indices) -> bool:
    """Return whether rows that are no copies differ at the same settings, in numbers of several digits."""
    own = table.take(np.unique(original))
    settings = list_settings(own)
    is_precise = any(_has_digits(column) for name, column in own.columns.items() if name not in settings)
    return is_precise and np.unique(find_first_rows(own, settings)).size < len(own)


def _has_digits(column: Column) -> bool:
    """Return whether most of its numbers have so many digits that they seldom recur by chance."""
    values = column.values[~column.missing].astype(float) if column.numeric else np.zeros(0)
    digits = [len(f"{abs(value):.6g}".replace(".", "").strip("0")) for value in values.tolist()]
    return 2 * sum(n >= _LEAST_DIGITS for n in digits) > len(digits)
