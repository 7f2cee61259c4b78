"""The number that decides between two commands, where nobody names one: chosen by names and units, never by values."""

from __future__ import annotations

from collections.abc import Iterable

from .column_units import is_rate
from .headlines import COMMAND

Name = tuple[str, str, str]  # operation, metric, unit
WORDS = "the first bandwidth that is read from the output, else its first rate, else how long the last step takes"
_CLOCKS = ("_last_done", "_sum_of_ranks", "")  # the best known first


def deciding(names: Iterable[Name], query: str = "") -> Name | None:
    """The first bandwidth, else the first rate, else the seconds of the last step; None where there is none of them.

    ``query`` narrows the choice: an operation (``write``), a metric (``seconds``), or both (``write bandwidth``); of
    several, with commas between them, the first that is there.
    """
    every = list(names)
    if query:
        return next((name for term in _split_query(query) if (name := _select_first(every, term))), None)
    return _select_first(every)


def is_among(name: Name, query: str) -> bool:
    """Whether a number is one of those that are asked for; every one where none is."""
    return not query or any(_is_match(name, term) for term in _split_query(query))


def _split_query(query: str) -> list[str]:
    return [term.strip() for term in query.split(",")]


def _select_first(names: Iterable[Name], query: str = "") -> Name | None:
    candidates = [name for name in names if not query or _is_match(name, query)]
    for kind in (_is_bandwidth, _is_rate):
        for clock in _CLOCKS:
            best = next((name for name in candidates if kind(name) and name[1].endswith(clock)), None)
            if best:
                return best
    seconds = [name for name in candidates if name[1] == "seconds"]
    return seconds[-1] if seconds else candidates[0] if query and candidates else None


def own_clock(rows: Iterable[tuple[str, str, str, float, str]]) -> list[tuple[str, str, str, float]]:
    """(operation, metric, unit, value) of rows that have what their clock includes as well: without those that have the
    start of a command inside, where the tool says a number of the same unit by its own clock."""
    every = list(rows)
    own = {(operation, unit) for operation, _, unit, _, includes in every if includes != COMMAND}
    return [row[:4] for row in every if row[4] != COMMAND or (row[0], row[2]) not in own]


def _is_match(name: Name, query: str) -> bool:
    operation, metric, _ = name
    metrics = {metric, *(metric.removesuffix(clock) for clock in _CLOCKS)}
    return query in {operation, *metrics, *(f"{operation} {variant}" for variant in metrics)}


def _is_bandwidth(name: Name) -> bool:
    return name[2] == "bytes/s"


def _is_rate(name: Name) -> bool:
    return is_rate(name[2])
