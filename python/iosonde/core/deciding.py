"""The default metric that decides a comparison of two commands: chosen by name and unit, never by value."""

from collections.abc import Iterable, Sequence

from .column_units import is_rate
from .headlines import COMMAND, format_metric, list_kinds

Name = tuple[str, str, str]  # operation, metric, unit
WORDS = "the first bandwidth in the output, else its first rate, else the duration of the last step"
_CLOCKS = ("_last_done", "_sum_of_ranks", "")  # in order of preference


def choose_deciding_name(names: Iterable[Name], query: str = "") -> Name | None:
    """Choose the first bandwidth, else the first rate, else the seconds of the last step; None if there are none.

    ``query`` narrows the choice: an operation (``write``), a metric or its kind (``seconds``, ``IOPS``, ``p99``), or
    both (``write bandwidth``). With several, separated by commas, the first that exists is taken.
    """
    every = list(names)
    if query:
        return next((name for term in _split_query(query) if (name := _select_first(every, term))), None)
    return _select_first(every)


def select_names_in_query(names: Iterable[Name], query: str) -> list[Name]:
    """Return the names that match ``query``; an empty query matches every name."""
    every = list(names)
    chosen = {name for term in _split_query(query) for name in _match_names(every, term)}
    return [name for name in every if not query or name in chosen]


def select_names_by_metric(names: Sequence[Name], query: str) -> list[Name]:
    """Return the names whose metric, or operation and metric, is exactly ``query``; without one, those in it."""
    text = query.lower()
    exact = [name for name in names if text in (name[1].lower(), f"{name[0]} {name[1]}".strip().lower())]
    return exact or select_names_in_query(names, query)


def select_metrics_in_query(names: Iterable[Name], query: str) -> list[Name]:
    """Return the names whose metric is in ``query``; a term that is an operation alone names none of its metrics."""
    every = list(names)
    chosen = {name for term in _split_query(query) for name in _match_names(every, term) if name[0] != term}
    return [name for name in every if name in chosen]


def list_missing_terms(names: Iterable[Name], query: str) -> list[str]:
    """Return the terms of ``query`` that match no name."""
    every = list(names)
    return [term for term in _split_query(query) if not _match_names(every, term)] if query else []


def list_readable_names(names: Iterable[Name]) -> list[str]:
    """Return the names as people read them, and as a query may name them: ``read IOPS``."""
    return list(dict.fromkeys(f"{operation} {format_metric(metric, operation)}" for operation, metric, _ in names))


def _split_query(query: str) -> list[str]:
    return [term.strip() for term in query.split(",")]


def _select_first(names: Iterable[Name], query: str = "") -> Name | None:
    candidates = _match_names(list(names), query) if query else list(names)
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


def _match_names(names: Sequence[Name], term: str) -> list[Name]:
    """Return the names of an operation, a metric or its kind, or both; else those whose metric ends with the kind, as
    ``completion_latency_p99`` with ``p99``."""
    ranks = {name: rank for name in names if (rank := _rank_match(name, term)) is not None}
    best = {name[0]: min(rank for other, rank in ranks.items() if other[0] == name[0]) for name in ranks}
    return [name for name in ranks if ranks[name] == best[name[0]]] or [n for n in names if _has_ending(n, term)]


def _rank_match(name: Name, term: str) -> int | None:
    """Return the place of a name's kind among those of a term, 0 for its operation or its metric; None if neither."""
    operation, metric, _ = name
    words = term.removeprefix(f"{operation} ")
    metrics = {metric, *(metric.removesuffix(clock) for clock in _CLOCKS)}
    if term == operation or words in metrics:
        return 0
    return next((rank for rank, kind in enumerate(list_kinds(words)) if kind in metrics), None)


def _has_ending(name: Name, term: str) -> bool:
    operation, metric, _ = name
    return metric.endswith(f"_{list_kinds(term.removeprefix(f'{operation} '))[-1]}")
