"""Rows of a sheet that sum up others: a mean below the trials of a block, or below all."""

import re
from collections.abc import Sequence

from iosonde.core.table import is_number

Rows = Sequence[Sequence[str]]

_SUMMARIES = frozenset(
    [
        "average",
        "avg",
        "mean",
        "median",
        "total",
        "sum",
        "sd",
        "std",
        "stddev",
        "stdev",
        "stderr",
        "sem",
        "mittelwert",
        "summe",
        "standardabweichung",
        "stdabw",
        "stabw",
        "mittel",
        "durchschnitt",
        "moyenne",
        "écart",
        "promedio",
    ]
)
_QUALIFIERS = frozenset(
    [
        "standard",
        "deviation",
        "dev",
        "error",
        "err",
        "grand",
        "overall",
        "geometric",
        "harmonic",
        "all",
        "of",
        "the",
        "type",
    ]
)
# A level of its own elsewhere; beside a mean it is a statistic.
_COMPANIONS = _QUALIFIERS | frozenset(
    ["min", "max", "minimum", "maximum", "cv", "var", "variance", "p", "ci", "iqr", "rsd", "range", "quantile"]
    + ["percentile", "confidence", "interval", "vk", "spannweite", "konfidenzintervall", "varianz"]
)
_WORD = re.compile(r"[^\W\d_]+")


def count_measured_rows(rows: Rows) -> int:
    """Return the number of rows before those at the end that sum up the others, as spreadsheets have them."""
    heads = [next((cell for cell in row if cell.strip()), "") for row in rows]
    return next((place for place in range(len(rows), 0, -1) if not _is_summary(heads[place - 1])), len(rows))


def find_summary_rows(rows: Rows) -> set[int]:
    """Return the places of rows that sum up others: a statistic's name stands where the other rows have numbers
    (``run`` is 1, 2, 3, mean), or begins a row that leaves a setting of all others blank. ``rows`` are of one width."""
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    numbered = [_find_in_counter(column) for column in columns]
    begun = find_headed_rows(rows)
    settings = [column for column in columns if all(cell or place in begun for place, cell in enumerate(column))]
    return set().union(*numbered, (place for place in begun if any(not column[place] for column in settings)))


def find_headed_rows(rows: Rows) -> set[int]:
    """Return the places of rows whose first cell that is not blank is a statistic's name."""
    heads = [next((cell.strip() for cell in row if cell.strip()), "") for row in rows]
    return {place for place, head in enumerate(heads) if _is_summary(head)}


def _find_in_counter(column: Sequence[str]) -> set[int]:
    names = {cell for cell in set(column) if _is_summary(cell)}
    if names:
        names |= {cell for cell in set(column) if _COMPANIONS.issuperset(_WORD.findall(cell.lower()) or [""])}
    others = [cell for cell in column if cell and cell not in names]
    is_counter = len(set(others)) > 1 and all(map(is_number, others))
    return {place for place, cell in enumerate(column) if cell in names} if is_counter else set()


def _is_summary(cell: str) -> bool:
    words = set() if is_number(cell) else set(_WORD.findall(cell.lower()))
    return bool(words & _SUMMARIES) and words <= _SUMMARIES | _QUALIFIERS and not any(map(str.isdigit, cell))
