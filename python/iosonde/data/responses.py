"""Choose responses: one metric of one operation over the trials, with its known factors.

Responses are built in this room alone, so that every analysis accepts the same names: a column of a table; for a
store an operation (``write``), a metric (``bandwidth_last_done``), both (``write bandwidth_last_done``) or ``value``;
and expressions of them (``log(write)``, ``value/nodes``).
"""

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.column_roles import ColumnRole, Roles
from iosonde.core.computed_columns import describe_computed_columns
from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.headlines import SPEEDS
from iosonde.core.message import Message
from iosonde.core.table import Table

from . import derived, roles
from .factors import VaryingFactors
from .looks import find_row_statistics
from .query import CLOCKS, ResponseQuery
from .repeats import describe_repeats
from .response import VALUE, Response, factor_from_column, response_from_column, transform_response
from .source import Source, StoredSource
from .stored_responses import responses_from_campaign
from .subsamples import TrialRows, average_trials

__all__ = [
    "VALUE",
    "Response",
    "build_responses",
    "choose_per_operation",
    "choose_response",
]

_MOST_NAMES = 3
_MORE = {
    "repeats": "; {repeats}",
    "statistics": "; each row is a mean ({statistics} known), and counts as one trial",
    "parts": "; {parts} of a trial",
    "averaged": "; {averaged}",
    "repetitions": "; {repetitions} left out (repetition)",
    "excluded": "; {excluded} left out (measured)",
    "covariates": "; {covariates} no factor (covariate)",
    "facts": "; {facts} left out (facts)",
    "constants": "; {constants} left out (constant)",
}


def build_responses(source: Source, query: ResponseQuery) -> list[Response]:
    """Return every requested response. Without ``query.response`` it is each metric of the clock, or each column that
    looks measured; without ``query.on`` the known factors are used. Raises InputError, DataError."""
    if isinstance(source, StoredSource):
        candidates = list(responses_from_campaign(source, query))
    else:
        candidates = _responses_from_table(source, query)
    return [response.on(source.apart(query.on)) for response in candidates] if query.on else candidates


def choose_response(source: Source, query: ResponseQuery) -> Response:
    """Return the only requested response; of several metrics of one operation the headline. Raises InputError if it is
    ambiguous, with a way to choose."""
    candidates = build_responses(source, query)
    chosen = candidates[0] if len(candidates) == 1 else _choose_headline(candidates)
    if chosen is not None:
        return chosen
    raise InputError(
        "ambiguous-response",
        "{response} has {n_responses} responses: {responses}{remainder}",
        "choose one with {spell.response}",
        response=f"'{query.response[0]}'" if query.response else "DATA",
        n_responses=len(candidates),
        responses=", ".join(f"'{candidate.title}'" for candidate in candidates[:6]),
        remainder=f" and {len(candidates) - 6} more" if len(candidates) > 6 else "",
    )


def choose_per_operation(source: Source, query: ResponseQuery) -> list[Response]:
    """Return one response for each operation of a store: of several metrics its headline, if it has one. For a table
    these are all responses. Raises InputError, DataError."""
    candidates = build_responses(source, query)
    by_operation = group_by_key((response.operation or response.title, response) for response in candidates)
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
            warning = Message(
                "headline-metric",
                "using {metric}, the headline of {operation}; also available: {others}",
                operation=chosen[0].operation,
                metric=chosen[0].metric.name,
                others=", ".join(candidate.title for candidate in candidates if candidate is not chosen[0]),
            )
            return replace(chosen[0], warnings=(*chosen[0].warnings, warning))
    return None


def _responses_from_table(source: Source, query: ResponseQuery) -> list[Response]:
    """Return each column that looks measured, or the responses that the query names. Raises InputError, DataError."""
    table = source.table
    if not len(table):
        raise InputError("no-rows", "{source} has no rows", "use a table with measurements", source=source.name)
    expressions = [(text, derived.parse_over_table(text, table)) for text in query.response]
    columns = [table.column(expression.names[0] if expression else text).name for text, expression in expressions]
    is_complete = query.response and query.on
    column_roles = Roles({}) if is_complete else roles.guess_roles(table, columns, query.on or None)
    if not query.response:
        columns = list(column_roles.responses)
        expressions = [(name, None) for name in columns]
    settings = map(table.column, column_roles.settings)
    varying = VaryingFactors(tuple(factor_from_column(column) for column in settings if column.is_varying))
    trials = average_trials(table, columns, [table.column(name).name for name in query.on])
    candidates = [_build_response(trials.rows, text, expression, varying) for text, expression in expressions]
    warnings: tuple[str, ...] = (*describe_repeats(table), *filter(None, [trials.note]))
    if varying.factors and not query.on:
        assumption = _build_assumption_warning(source, column_roles, candidates, trials)
        notes = describe_computed_columns(column_roles.computed)
        warnings = (assumption, *([trials.note] if trials.are_parts else []), *notes)
    return [
        replace(candidate, warnings=warnings, are_parts=trials.are_parts, trial_note=trials.note)
        for candidate in candidates
    ]


def _build_response(table: Table, text: str, expression: derived.Derived | None, varying: VaryingFactors) -> Response:
    if expression is None:
        return response_from_column(table, text, varying)
    columns = {name: table.numbers(name) for name in expression.names}
    base = replace(response_from_column(table, expression.names[0], VaryingFactors()), factors=varying.factors)
    return transform_response(base, expression, columns, expression.text, expression.names[0])


def _build_assumption_warning(
    source: Source, column_roles: Roles, responses: Sequence[Response], trials: TrialRows
) -> Message:
    """Return the line that says what was assumed of the columns, because the user names no factors; also what n counts,
    if it is trials."""
    averaged = "" if trials.are_parts else trials.note
    titles = [response.title for response in responses]
    table, filtered = source.table, {column for column, _, _ in source.where}
    parts = [name for name in column_roles.select(ColumnRole.PART) if table.column(name).is_varying]
    statistics = [name for name in find_row_statistics(list(table.columns.values())) if name in column_roles.remarks]
    explained = (*column_roles.stated, *column_roles.computed, *statistics)
    values = {
        "responses": ", ".join(_format_name(table, title) for title in titles),
        "factors": ", ".join(name for name in responses[0].names if name not in titles),
        "averaged": averaged,
        "repeats": "; ".join(describe_repeats(table)),
        "statistics": ", ".join(statistics),
        "parts": f"{', '.join(parts)} {'is part' if len(parts) == 1 else 'are parts'}" if parts else "",
        "repetitions": "" if averaged else _join_some(column_roles.select(ColumnRole.REPETITION)),
        "excluded": ", ".join(column_roles.others),
        "covariates": _join_some([name for name in column_roles.select(ColumnRole.COVARIATE) if name not in filtered]),
        "facts": _join_some([name for name in column_roles.remarks if name not in explained]),
        "constants": _join_some([name for name in column_roles.select(ColumnRole.CONSTANT) if name not in filtered]),
    }
    template = "data: {responses} by {factors}"
    template += "".join(text for name, text in _MORE.items() if values[name])
    return Message("assumed-factors", template, **values)


def _format_name(table: Table, name: str) -> str:
    column = table.column(name) if table.has_column(name) else None
    return f"{column.label or column.name} ({column.unit})" if column and column.unit not in ("", name) else name


def _join_some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} columns"
