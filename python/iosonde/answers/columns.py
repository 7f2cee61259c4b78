"""Columns of a table that are named as responses, with those that are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.table import Table
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import responses
from iosonde.data.source import Source


def with_computed(source: Source, table: Table, query: ResponseQuery, by: Sequence[str]) -> tuple[Table, list[str]]:
    """Return the rows with a column for each of ``query.response``, and their names. A computed column has its own
    name. Raises InputError, DataError."""
    names = []
    for text in query.response:
        if any(text in (column.name, column.label) for column in table.columns.values()):
            names.append(text)
            continue
        (response,) = responses(replace(source, table=table), replace(query, response=(text,), on=tuple(by)))
        table = replace(table, columns={**table.columns, response.title: response.rows.columns[response.title]})
        names.append(response.title)
    return table, names
