"""Which columns are looked at, and by which factors: for commands that take several responses of a table or a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.errors import DataError, InputError

from ._data import Source

if TYPE_CHECKING:
    from iosonde.stats.table import Table


def responses_of(
    source: Source, responses: list[str], on: list[str], clock: str
) -> Iterator[tuple[Table, str, list[str]]]:
    """(rows, response, factors) of each response that is asked for, of a table or of a store's operations and metrics.

    Without ``responses`` every column that looks measured, without ``on`` every one that was set and varies. Raises
    InputError, DataError.
    """
    if source.store is not None and not responses:
        for title, table, names in _metrics(source, on, clock):
            yield table, title, names
        return
    from iosonde.stats import roles
    from iosonde.stats.regression.formula import parse_response

    table = source.trials(responses[0] if responses else None, on)
    if len(table) == 0:
        raise InputError(f"{table.source or 'the table'} holds no rows", "give a table with measurements")
    columns = [parse_response(response, table).column for response in responses]
    found = roles.guess(table, columns, on or None) if not (responses and on) else None
    names = on if found is None else [name for name in found.settings if len(table.column(name).codes()[1]) > 1]
    if not names:
        numbering = "" if found is None else ", ".join(found.numbering)
        raise InputError(
            f"{table.source}: no column that was set has two levels",
            f"name with --on what was set: {numbering} looks like the number of a row" if numbering
            else "what never varies cannot matter; other columns are named with --on",
        )  # fmt: skip
    for response in responses or found.responses:
        yield table, response, names


def _metrics(source: Source, on: list[str], clock: str) -> Iterator[tuple[str, Table, list[str]]]:
    """(name of the response, its rows, the factors) of each operation and metric."""
    from iosonde.stats.overview import overview
    from iosonde.stats.table import Column, Table

    rows, _ = overview.trials(source.table, clock)
    names = on or overview.settings(rows)
    if len(rows) == 0:
        raise DataError(f"{source.table.source} holds no complete trial", "iosonde show says what it holds")
    if not names:
        raise DataError(f"{source.table.source}: no setting varies", "measure at several settings")
    for (operation, metric), chosen in rows.groups(["operation", "metric"]):
        part = rows.take(chosen)
        title = f"{operation} {metric}"
        values = part.column("value").values
        unit = str(part.column("unit").values[0])
        yield title, Table({**part.columns, title: Column(title, values, title, unit)}, part.source), names
