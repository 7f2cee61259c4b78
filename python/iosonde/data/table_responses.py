"""Responses of a table: its measured columns, and expressions of them."""

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.column_roles import ColumnRole, Roles
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.table import Table

from . import derived, roles
from .factors import VaryingFactors
from .query import ResponseQuery
from .response import Response, factor_from_column, response_from_column, transform_response
from .source import Source
from .subsamples import average_trials

_MOST_NAMES = 3
_MORE = {
    "parts": "; {parts} of a trial",
    "averaged": "; {averaged}",
    "repetitions": "; {repetitions} left out (repetition)",
    "excluded": "; {excluded} left out (measured)",
    "facts": "; {facts} left out (facts)",
    "constants": "; {constants} left out (constant)",
}


def responses_from_table(source: Source, query: ResponseQuery) -> list[Response]:
    """Return each column that looks measured, or the responses that the query names. Raises InputError, DataError."""
    table = source.table
    if not len(table):
        raise InputError("no-rows", "{source} has no rows", "use a table with measurements", source=source.name)
    expressions = [(text, derived.parse_over_table(text, table)) for text in query.response]
    columns = [table.column(expression.names[0] if expression else text).name for text, expression in expressions]
    column_roles = None if query.response and query.on else roles.guess_roles(table, columns, query.on or None)
    if column_roles is not None and not query.response:
        columns = list(column_roles.responses)
        expressions = [(name, None) for name in columns]
    settings = () if column_roles is None else column_roles.settings
    set_columns = [table.column(name) for name in settings]
    varying = VaryingFactors(tuple(factor_from_column(column) for column in set_columns if column.is_varying))
    trials = average_trials(table, columns, [table.column(name).name for name in query.on])
    candidates = [_build_response(trials.rows, text, expression, varying) for text, expression in expressions]
    warnings: tuple[str, ...] = (trials.note,) if trials.note else ()
    if column_roles is not None and varying.factors and not query.on:
        titles = [candidate.title for candidate in candidates]
        names = [name for name in candidates[0].names if name not in titles]
        averaged = "" if trials.are_parts else trials.note
        assumption = build_assumption_warning(source, column_roles, titles, names, averaged)
        warnings = (assumption,) if averaged else (assumption, *warnings)
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


def build_assumption_warning(
    source: Source, column_roles: Roles, responses: Sequence[str], factors: Sequence[str], averaged: str = ""
) -> Message:
    """Return the line that says what was assumed of the columns, because the user names no ``factors``; ``averaged`` is
    the note on what n counts."""
    table, filtered = source.table, {column for column, _, _ in source.where}
    parts = [name for name in column_roles.select(ColumnRole.PART) if table.column(name).is_varying]
    values = {
        "responses": ", ".join(_format_name(table, name) for name in responses),
        "factors": ", ".join(factors),
        "averaged": averaged,
        "parts": f"{', '.join(parts)} {'is part' if len(parts) == 1 else 'are parts'}" if parts else "",
        "repetitions": "" if averaged else _join_some(column_roles.select(ColumnRole.REPETITION)),
        "excluded": ", ".join(column_roles.others),
        "facts": _join_some([name for name in column_roles.remarks if name not in column_roles.stated]),
        "constants": _join_some([name for name in column_roles.select(ColumnRole.CONSTANT) if name not in filtered]),
    }
    template = "data: {responses} by {factors}"
    template += "".join(text for name, text in _MORE.items() if values[name])
    return Message("assumed-factors", template, **values)


def _format_name(table: Table, name: str) -> str:
    column = table.column(name) if table.has_column(name) else None
    return f"{column.label or column.name} ({column.unit})" if column and column.unit else name


def _join_some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} columns"
