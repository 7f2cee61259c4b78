"""Choose responses: one metric of one operation over the trials, with its known factors.

Responses are built in this room alone, so that every analysis accepts the same names: a column of a table; for a
store an operation (``write``), a metric (``bandwidth_last_done``), both (``write bandwidth_last_done``) or ``value``;
and expressions of them (``log(write)``, ``value/nodes``).
"""

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.errors import InputError
from iosonde.core.headlines import SPEEDS
from iosonde.core.message import Message

from .query import CLOCKS, ResponseQuery
from .response import VALUE, Response
from .source import Source, StoredSource
from .stored_responses import responses_from_campaign
from .table_responses import build_assumption_warning, responses_from_table

__all__ = [
    "VALUE",
    "Response",
    "build_assumption_warning",
    "build_responses",
    "choose_per_operation",
    "choose_response",
]


def build_responses(source: Source, query: ResponseQuery) -> list[Response]:
    """Return every requested response. Without ``query.response`` it is each metric of the clock, or each column that
    looks measured; without ``query.on`` the known factors are used. Raises InputError, DataError."""
    if isinstance(source, StoredSource):
        candidates = list(responses_from_campaign(source, query))
    else:
        candidates = responses_from_table(source, query)
    return [response.on(source.apart(query.on)) for response in candidates] if query.on else candidates


def choose_response(source: Source, query: ResponseQuery) -> Response:
    """Return the only requested response; of several metrics of one operation the headline. Raises InputError if it is
    ambiguous, with a way to choose."""
    candidates = build_responses(source, query)
    if len(candidates) == 1:
        return candidates[0]
    first = _choose_headline(candidates)
    if first is not None:
        return first
    titles = ", ".join(f"'{candidate.title}'" for candidate in candidates[:6])
    more = f" and {len(candidates) - 6} more" if len(candidates) > 6 else ""
    what = f"'{query.response[0]}'" if query.response else "DATA"
    raise InputError(
        "ambiguous-response",
        "{response} has {n_responses} responses: {responses}{remainder}",
        "choose one with {spell.response}",
        response=what,
        n_responses=len(candidates),
        responses=titles,
        remainder=more,
    )


def choose_per_operation(source: Source, query: ResponseQuery) -> list[Response]:
    """Return one response for each operation of a store: of several metrics its headline, if it has one. For a table
    these are all responses. Raises InputError, DataError."""
    by_operation: dict[str, list[Response]] = {}
    for response in build_responses(source, query):
        by_operation.setdefault(response.operation or response.title, []).append(response)
    chosen = [(several, _choose_headline(several) if len(several) > 1 else None) for several in by_operation.values()]
    return [response for several, first in chosen for response in ([first] if first else several)]


def _choose_headline(candidates: Sequence[Response]) -> Response | None:
    """Return the bandwidth of one operation, else its rate; None if there is neither, or more than one."""
    if len({candidate.operation for candidate in candidates}) != 1 or not candidates[0].operation:
        return None
    for kind in SPEEDS:
        chosen = [
            candidate for candidate in candidates if candidate.metric.name in {f"{kind}_{clock}" for clock in CLOCKS}
        ]
        if len(chosen) == 1:
            others = ", ".join(candidate.metric.name for candidate in candidates if candidate is not chosen[0])
            warning = Message(
                "headline-metric",
                "using {metric}, the headline of {operation}; also available: {others}",
                operation=chosen[0].operation,
                metric=chosen[0].metric.name,
                others=others,
            )
            return replace(chosen[0], warnings=(*chosen[0].warnings, warning))
    return None
