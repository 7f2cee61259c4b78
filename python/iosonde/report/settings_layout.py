"""How settings of several factors become a table: columns by one factor, rows by the others. The same on the terminal
and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from iosonde.core.estimate_text import CANNOT_TELL
from iosonde.core.table import Cell
from iosonde.core.units import percent, typed_sizes

MOST_COLUMNS = 4
SEVERAL = 3  # responses that are rows of one table
Key = tuple[Cell, ...]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Pivoted(Generic[Item]):
    """``cells`` by (the levels of the factors of the rows, the level of that of the columns); a setting that was not
    measured has none."""

    rows: tuple[Key, ...]
    columns: tuple[Cell, ...]
    cells: dict[tuple[Key, Cell], Item]


def column_place(settings: Sequence[Key]) -> int | None:
    """The place of the factor whose levels become columns: the one with the fewest, the last one where several have;
    None where there is one factor, or each has many."""
    if not settings or len(settings[0]) < 2:
        return None
    counts = [len({key[place] for key in settings}) for place in range(len(settings[0]))]
    few = [place for place in reversed(range(len(counts))) if 2 <= counts[place] <= MOST_COLUMNS]
    return min(few, key=counts.__getitem__, default=None)


def pivoted(settings: Sequence[Key], items: Sequence[Item], column: int) -> Pivoted[Item]:
    """These items, one a setting, with columns by the factor at ``column``. All in the order of the levels."""
    rest = [(*key[:column], *key[column + 1 :]) for key in settings]
    levels = [key[column] for key in settings]
    cells = dict(zip(zip(rest, levels, strict=True), items, strict=True))
    places = [_level_places([key[at] for key in rest]) for at in range(len(rest[0]) if rest else 0)]
    rows = sorted(dict.fromkeys(rest), key=lambda key: [place[level] for place, level in zip(places, key, strict=True)])
    return Pivoted(tuple(rows), tuple(_level_places(levels)), cells)


def _level_places(levels: Sequence[Cell]) -> dict[Cell, int]:
    """Level → its place: as they come; numbers and sizes ascending, which settings that are no full grid may not be."""
    distinct = list(dict.fromkeys(levels))
    if all(isinstance(level, int | float) for level in distinct):
        distinct = sorted(distinct, key=lambda level: float(level or 0))
    elif all(isinstance(level, str) for level in distinct) and (sizes := typed_sizes(distinct)) is not None:
        distinct = [level for _, level in sorted(zip(sizes, distinct, strict=True), key=lambda pair: pair[0])]
    return {level: place for place, level in enumerate(distinct)}


def format_spread(counts: Sequence[int], cvs: Sequence[float | None]) -> str:
    """How many trials are behind these cells, and how much they vary: ``n 3, cv 3.9 % to 12 %``."""
    least, most = min(counts), max(counts)
    n = f"n {least}" if least == most else f"n {least} to {most}"
    sorted_cvs = sorted(cv for cv in cvs if cv is not None)
    if not sorted_cvs:
        return f"{n}, cv {CANNOT_TELL}"
    low, high = percent(sorted_cvs[0]), percent(sorted_cvs[-1])
    return f"{n}, cv {low}" if low == high else f"{n}, cv {low} to {high}"
