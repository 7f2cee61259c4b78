"""The default metric that decides a comparison of two commands: chosen by name and unit, never by value."""

from collections.abc import Iterable

from .column_units import is_rate
from .headlines import COMMAND

Name = tuple[str, str, str]  # operation, metric, unit
WORDS = "the first bandwidth in the output, else its first rate, else the duration of the last step"
_CLOCKS = ("_last_done", "_sum_of_ranks", "")  # in order of preference


def choose_deciding_name(names: Iterable[Name], query: str = "") -> Name | None:
    """Choose the first bandwidth, else the first rate, else the seconds of the last step; None if there are none.

    ``query`` narrows the choice: an operation (``write``), a metric (``seconds``), or both (``write bandwidth``). With
    several, separated by commas, the first that exists is taken.
    """
    every = list(names)
    if query:
        return next((name for term in _split_query(query) if (name := _select_first(every, term))), None)
    return _select_first(every)


def is_name_in_query(name: Name, query: str) -> bool:
    """Return whether ``name`` matches ``query``; an empty query matches every name."""
    return not query or any(_is_match(name, term) for term in _split_query(query))


def _split_query(query: str) -> list[str]:
    return [term.strip() for term in query.split(",")]


def _select_first(names: Iterable[Name], query: str = "") -> Name | None:
    candidates = [name for name in names if not query or _is_match(name, query)]
    for is_kind in ("bytes/s".__eq__, is_rate):
        for clock in _CLOCKS:
            if best := next((name for name in candidates if is_kind(name[2]) and name[1].endswith(clock)), None):
                return best
    seconds = [name for name in candidates if name[1] == "seconds"]
    return seconds[-1] if seconds else candidates[0] if query and candidates else None


def select_clocked_values(rows: Iterable[tuple[str, str, str, float, str]]) -> list[tuple[str, str, str, float]]:
    """Return (operation, metric, unit, value) of rows that also name the contents of their clock. Numbers that include
    the start of a command are dropped if the tool reports the same unit by its own clock."""
    every = list(rows)
    own = {(operation, unit) for operation, _, unit, _, includes in every if includes != COMMAND}
    return [row[:4] for row in every if row[4] != COMMAND or (row[0], row[2]) not in own]


def _is_match(name: Name, query: str) -> bool:
    operation, metric, _ = name
    metrics = {metric, *(metric.removesuffix(clock) for clock in _CLOCKS)}
    return query in {operation, *metrics, *(f"{operation} {variant}" for variant in metrics)}
