"""Columns of a sheet whose cells were merged downwards: a value above blanks that belong to it."""

from collections.abc import Collection, Sequence
from itertools import pairwise

Rows = Sequence[Sequence[str]]


def count_merged_columns(rows: Rows) -> int:
    """Return the number of first columns that were merged: at least half blank, each value once in its block, which
    begins where one of the columns before has a value, or each combination once, in the first row of its block; all
    cells of the other columns are present."""
    if len(set(map(len, rows))) != 1:
        return 0
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    n_merged = next((place for place, column in enumerate(columns) if all(column)), 0)
    if not n_merged or not all(all(column) for column in columns[n_merged:]):
        return 0
    is_nested = all(_is_merged(columns[: place + 1]) for place in range(n_merged))
    return n_merged if is_nested or _is_written_once(list(zip(*columns[:n_merged], strict=True))) else 0


def fill_merged_cells(rows: Rows, n_merged: int, between: Collection[int] = ()) -> list[list[str]]:
    """Return the rows with the blanks in the first ``n_merged`` columns filled from above; the rows at the places
    ``between`` belong to no block."""
    filled = [list(row) for row in rows]
    for above, row in pairwise(row for place, row in enumerate(filled) if place not in between):
        row[:n_merged] = [cell if cell.strip() else other for cell, other in zip(row, above, strict=True)][:n_merged]
    return filled


def _is_written_once(keys: Sequence[tuple[str, ...]]) -> bool:
    """Return whether the first row of each block has all of its ``keys``, which no other block has, and the other rows
    have none."""
    written = [key for key in keys if any(key)]
    has_all_keys = bool(keys) and any(keys[0]) and all(map(all, written))
    return has_all_keys and 1 < len(written) == len(set(written)) <= len(keys) / 2


def _is_merged(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether the last of the ``columns`` was merged inside the blocks of those before it."""
    *outer, column = columns
    present = [cell for cell in column if cell]
    starts = [place for place in range(len(column)) if not place or any(other[place] for other in outer)]
    if not all(column[start] for start in starts) or not 1 < len(present) <= len(column) / 2:
        return False
    blocks = [column[start:end] for start, end in pairwise([*starts, len(column)])]
    return all(len(set(cells)) == len(cells) for block in blocks if (cells := [cell for cell in block if cell]))
