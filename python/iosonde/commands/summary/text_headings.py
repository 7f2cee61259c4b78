"""Choice of the columns of a too wide table that become heading lines above the rows that share their values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations

_MAX_EXHAUSTIVE = 8  # up to this many columns, all 2^n choices are tried


def choose_headings(
    columns: Sequence[Sequence[str]], widths: Sequence[int], free: int, keys: Sequence[Hashable]
) -> tuple[int, ...]:
    """Return the indices of the columns to use as headings, so that the ``widths`` of the others fit in ``free``.
    Minimizes the number of groups of rows with equal ``keys`` and headings, exactly for few columns. Returns all
    columns if no choice fits.
    """
    if len(columns) <= _MAX_EXHAUSTIVE:
        return _try_all(columns, widths, free, keys)
    return _take_columns_by_split(columns, widths, free, keys)


def _try_all(
    columns: Sequence[Sequence[str]], widths: Sequence[int], free: int, keys: Sequence[Hashable]
) -> tuple[int, ...]:
    places = range(len(columns))
    choices = (above for size in places[1:] for above in combinations(places, size))
    return min(
        [above for above in choices if sum(widths) - sum(widths[place] for place in above) <= free],
        key=lambda above: len(set(zip(keys, *(columns[place] for place in above), strict=True))),
        default=tuple(places),
    )


def _take_columns_by_split(
    columns: Sequence[Sequence[str]], widths: Sequence[int], free: int, keys: Sequence[Hashable]
) -> tuple[int, ...]:
    """Move the column that splits the groups least until the others fit, then restore what is not needed.
    The work grows with rows × columns², not with 2^columns.
    """
    above: list[int] = []
    below, groups = set(range(len(columns))), list(keys)
    wide = sum(widths)
    while wide > free and below:
        splits = {place: len(set(zip(groups, columns[place], strict=True))) for place in below}
        place = min(below, key=lambda place: (splits[place], -widths[place], place))
        below.remove(place)
        above.append(place)
        numbers: dict[tuple[Hashable, str], int] = {}
        groups = [numbers.setdefault(pair, len(numbers)) for pair in zip(groups, columns[place], strict=True)]
        wide -= widths[place]
    for place in reversed(above):
        if wide + widths[place] <= free:
            wide += widths[place]
            above.remove(place)
    return tuple(sorted(above))
