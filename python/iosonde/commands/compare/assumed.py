"""The group where nobody named one: the setting that has the named levels, else the only setting of two levels; the
others are held in cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.words import join_names
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source

from .samples import index_levels
from .sides import Sides


def assume_group(source: Source, query: ResponseQuery, sides: Sides) -> Sides:
    """Return the sides by the column that has the named levels, or without levels by the only setting of two, with a
    note; as they are if a column is named, or none is certain. Raises InputError if several columns have the levels."""
    if sides.group is not None or sides.published or len(query.response) > 1:
        return sides
    if sides.levels:
        return replace(sides, group=_find_column_of_levels(source, query, sides.levels))
    names = list_candidates(source, query, sides)
    if len(names) != 1:
        return sides
    note = Message("assumed-group", "data: {group} separates A from B ({spell.group} chooses another)", group=names[0])
    return replace(sides, group=names[0], notes=(*sides.notes, note))


def _find_column_of_levels(source: Source, query: ResponseQuery, levels: Sequence[str]) -> str | None:
    """Return the setting that has all levels, else some of them; None if a level is a column, or no setting has any."""
    if len(levels) < 2 or any(map(source.table.has_column, levels)):
        return None
    rows, names = _list_settings(source, query)
    n_matches = {name: len(set(levels) & set(index_levels(rows.column(name), levels))) for name in names}
    best = max(n_matches.values(), default=0)
    matches = [name for name, n in n_matches.items() if n == best > 0]
    if len(matches) > 1:
        raise InputError(
            "ambiguous-levels",
            "{levels} are values of several columns",
            "name the column with {spell.group}: {names}",
            levels=join_names(levels),
            names=", ".join(matches),
        )
    return matches[0] if matches else None


def list_candidates(source: Source, query: ResponseQuery, sides: Sides) -> list[str]:
    """Return the settings of two levels, except those within whose levels is compared."""
    taken = {*sides.by, *sides.pair, *(sides.adjust or ())}
    rows, names = _list_settings(source, query)
    return [name for name in names if name not in taken and len(rows.column(name).codes()[1]) == 2]


def _list_settings(source: Source, query: ResponseQuery) -> tuple[Table, list[str]]:
    """Return rows and the names of their settings; none where no response was determined."""
    if source.knows_factors:
        return source.run_rows, list(source.varying_factors.names)
    try:
        response = build_responses(source, query)[0]
    except (DataError, IndexError):  # what is missing is said later
        return source.table, []
    return response.rows, list(response.names)
