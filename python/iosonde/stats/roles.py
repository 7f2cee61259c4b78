"""Which column of a table is likely the response, and which are settings, where nobody says."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.errors import DataError

from .formula import is_mostly_numbers
from .table import Table


def likely_response(table: Table) -> str:
    """The numeric column with the most different values; of equals the last.

    Raises DataError if none is numeric, or if one would be but for a cell.
    """
    for name, column in table.columns.items():
        if not column.numeric and is_mostly_numbers(column.values):
            table.numbers(name)  # refuses, with the cell that is no number
    numeric = [name for name, column in table.columns.items() if column.numeric]
    if not numeric:
        raise DataError(
            f"{table.source or 'the table'} has no column of numbers", "name the measured one with --response"
        )
    return max(reversed(numeric), key=lambda name: len(table.columns[name].codes()[1]))


def likely_settings(table: Table, responses: Sequence[str]) -> list[str]:
    """Columns whose values come again: at most half as many levels as rows, and more than one.

    A column that numbers the trials inside the cells of the others is none: its removal leaves every cell with
    more rows and its values are all different inside each.
    """
    chosen = []
    for name, column in table.columns.items():
        codes, levels = column.codes()
        if name not in responses and len(levels) > 1 and 2 * len(levels) <= len(table) and not column.missing.any():
            chosen.append(name)
    for name in sorted(chosen, key=lambda name: -len(table.columns[name].codes()[1])):
        rest = [other for other in chosen if other != name]
        codes = table.columns[name].codes()[0]
        cells = [rows for _, rows in table.groups(rest)] if rest else []
        numbering = table.columns[name].numeric and _counts_from_start(table.numbers(name).tolist())
        if cells and numbering and all(len(set(codes[rows].tolist())) == rows.size > 1 for rows in cells):
            chosen.remove(name)
            break
    return chosen


def _counts_from_start(values: list[float]) -> bool:
    """Whether the values are the whole numbers 0 … m or 1 … m."""
    levels = sorted(set(values))
    return levels[0] in (0.0, 1.0) and levels == [levels[0] + i for i in range(len(levels))]
