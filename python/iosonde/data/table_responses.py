"""Responses of a table: its measured columns, and expressions of them."""

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.column_roles import ColumnRole, Roles
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.types import Factor

from . import derived, roles
from .query import ResponseQuery
from .response import Response, factor_from_column, response_from_column, transform_response
from .source import Source
from .subsamples import average_trials

_MOST_NAMES = 3
_ALSO_SAID = {
    "parts": "; {parts} of a trial",
    "excluded": "; {excluded} left out (measured)",
    "facts": "; {facts} left out (facts)",
    "constants": "; {constants} left out (constant)",
}


def responses_from_table(source: Source, query: ResponseQuery) -> list[Response]:
    """Return each column that looks measured, or the responses that the query names. Raises InputError, DataError."""
    table = source.table
    if not len(table):
        raise InputError("no-rows", "{source} has no rows", "use a table with measurements", source=source.name)
    measured = [_find_measured(table, text) for text in query.response]
    columns = [name for _, names in measured for name in names]
    column_roles = None if query.response and query.on else roles.guess_roles(table, columns, list(query.on) or None)
    factors = _list_factors(table, column_roles)
    trials = average_trials(
        table,
        columns or (column_roles.responses if column_roles else ()),
        [table.column(name).name for name in query.on],
    )
    if query.response or column_roles is None:
        candidates = [
            _build_response(trials.rows, text, expression, factors)
            for text, (expression, _) in zip(query.response, measured, strict=True)
        ]
    else:
        candidates = [response_from_column(trials.rows, name, factors) for name in column_roles.responses]
    notes = (trials.note,) if trials.note else ()
    candidates = [
        replace(candidate, warnings=notes, are_parts=trials.are_parts, trial_note=trials.note)
        for candidate in candidates
    ]
    if column_roles is None or query.on or not factors:
        return candidates
    titles = query.response or column_roles.responses
    names = [name for name in candidates[0].names if name not in titles]
    warning = build_assumption_warning(source, column_roles, titles, names)
    return [replace(candidate, warnings=(warning, *candidate.warnings)) for candidate in candidates]


def _list_factors(table: Table, column_roles: Roles | None) -> tuple[Factor, ...]:
    """Return the columns that look set and vary; none if roles need not be guessed."""
    settings = () if column_roles is None else column_roles.settings
    return tuple(factor_from_column(table.column(name)) for name in settings if table.column(name).is_varying)


def _build_response(
    table: Table, text: str, expression: derived.Derived | None, factors: tuple[Factor, ...]
) -> Response:
    if expression is None:
        return response_from_column(table, text, factors)
    columns = {name: table.numbers(name) for name in expression.names}
    base = replace(response_from_column(table, expression.names[0], ()), factors=factors)
    return transform_response(base, expression, columns, expression.text, expression.names[0])


def build_assumption_warning(
    source: Source, column_roles: Roles, responses: Sequence[str], factors: Sequence[str]
) -> Message:
    """Return the line that says what was assumed of the columns, because the user names no ``factors``."""
    table, chosen = source.table, {column for column, _, _ in source.where}
    parts = [name for name in column_roles.select(ColumnRole.PART) if table.column(name).is_varying]
    values = {
        "responses": ", ".join(_format_name(table, name) for name in responses),
        "factors": ", ".join(factors),
        "parts": f"{', '.join(parts)} {'is part' if len(parts) == 1 else 'are parts'}" if parts else "",
        "excluded": ", ".join(column_roles.others),
        "facts": _join_some([name for name in column_roles.remarks if name not in column_roles.stated]),
        "constants": _join_some([name for name in column_roles.select(ColumnRole.CONSTANT) if name not in chosen]),
    }
    template = "data: {responses} by {factors}"
    template += "".join(text for name, text in _ALSO_SAID.items() if values[name])
    return Message("assumed-factors", template, **values)


def _format_name(table: Table, name: str) -> str:
    column = table.column(name) if table.has_column(name) else None
    return f"{column.label or column.name} ({column.unit})" if column and column.unit else name


def _join_some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} columns"


def _find_measured(table: Table, text: str) -> tuple[derived.Derived | None, tuple[str, ...]]:
    """Return (the expression, or None for a plain column; its measured columns)."""
    if table.has_column(text):
        return None, (table.column(text).name,)
    names = list(dict.fromkeys([*table.columns, *(column.label for column in table.columns.values())]))
    expression = derived.parse_expression(text, names)
    if expression is None:
        table.column(text)  # raises, with the nearest names
        raise InputError("unknown-column", "unknown column '{column}'", column=text)
    return expression, tuple(table.column(name).name for name in expression.names)[:1]
