"""Layout of settings of several factors as a table: columns by one factor, rows by the others.
The same on the terminal and on the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from iosonde.core.estimate_text import CANNOT_TELL
from iosonde.core.table import Cell
from iosonde.core.units import format_percent, parse_typed_sizes

MOST_COLUMNS = 4
_LEAST_CROSSED = 0.7  # share of the cells that were measured
SEVERAL = 3  # responses from which they are rows of one table
Key = tuple[Cell, ...]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Pivoted(Generic[Item]):
    """``cells`` by (levels of the row factors, level of the column factor); unmeasured settings have none."""

    rows: tuple[Key, ...]
    columns: tuple[Cell, ...]
    cells: dict[tuple[Key, Cell], Item]


def choose_column_factor(settings: Sequence[Key]) -> int | None:
    """Return the index of the factor whose levels become columns: the one with the fewest, the last of several.
    None if there is only one factor, or if each has many levels.
    """
    if not settings or len(settings[0]) < 2:
        return None
    counts = [len({key[place] for key in settings}) for place in range(len(settings[0]))]
    few = [place for place in reversed(range(len(counts))) if 2 <= counts[place] <= MOST_COLUMNS]
    return min(few, key=counts.__getitem__, default=None)


def is_crossed(settings: Sequence[Key], column: int) -> bool:
    """Return whether most settings of the other factors have most levels of the one at index ``column``: the levels of
    a nested factor make mostly empty columns."""
    laid = pivot_items(settings, settings, column)
    return len(laid.cells) >= _LEAST_CROSSED * len(laid.rows) * len(laid.columns)


def is_mostly_filled(n_cells: int, n_responses: int, settings: Sequence[Key]) -> bool:
    """Return whether most responses were measured at most settings: jobs with operations of their own are not."""
    return n_cells >= _LEAST_CROSSED * n_responses * len(settings)


def pivot_items(settings: Sequence[Key], items: Sequence[Item], column: int) -> Pivoted[Item]:
    """Arrange items, one per setting, with columns by the factor at index ``column``, in the order of the levels."""
    rest = [(*key[:column], *key[column + 1 :]) for key in settings]
    levels = [key[column] for key in settings]
    cells = dict(zip(zip(rest, levels, strict=True), items, strict=True))
    places = [_order_levels([key[at] for key in rest]) for at in range(len(rest[0]) if rest else 0)]
    rows = sorted(dict.fromkeys(rest), key=lambda key: [place[level] for place, level in zip(places, key, strict=True)])
    return Pivoted(tuple(rows), tuple(_order_levels(levels)), cells)


def _order_levels(levels: Sequence[Cell]) -> dict[Cell, int]:
    """Return level → index: numbers and sizes ascending, other levels in order of appearance."""
    distinct = list(dict.fromkeys(levels))
    if all(isinstance(level, int | float) for level in distinct):
        distinct = sorted(distinct, key=lambda level: float(level or 0))
    elif all(isinstance(level, str) for level in distinct) and (sizes := parse_typed_sizes(distinct)) is not None:
        distinct = [level for _, level in sorted(zip(sizes, distinct, strict=True), key=lambda pair: pair[0])]
    return {level: place for place, level in enumerate(distinct)}


def format_spread(counts: Sequence[int], cvs: Sequence[float | None]) -> str:
    """Format the number of trials per cell and how much they vary: ``n 3, cv 3.9 % to 12 %``."""
    least, most = min(counts), max(counts)
    n = f"n {least}" if least == most else f"n {least} to {most}"
    sorted_cvs = sorted(cv for cv in cvs if cv is not None)
    if not sorted_cvs:
        return f"{n}, cv {CANNOT_TELL}"
    low, high = format_percent(sorted_cvs[0]), format_percent(sorted_cvs[-1])
    return f"{n}, cv {low}" if low == high else f"{n}, cv {low} to {high}"
