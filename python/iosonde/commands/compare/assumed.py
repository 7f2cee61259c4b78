"""The group where nobody named one: the only setting of two levels; the others are held in cells."""

from __future__ import annotations

from dataclasses import replace

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source

from .sides import Sides


def assume_group(source: Source, query: ResponseQuery, sides: Sides) -> Sides:
    """Return the sides by the only setting of two levels, with a note; as they are if sides are named, or if there is
    not exactly one such setting."""
    if sides.group is not None or sides.levels or sides.published or len(query.response) > 1:
        return sides
    names = list_candidates(source, query, sides)
    if len(names) != 1:
        return sides
    note = Message("assumed-group", "data: {group} separates A from B ({spell.group} chooses another)", group=names[0])
    return replace(sides, group=names[0], notes=(*sides.notes, note))


def list_candidates(source: Source, query: ResponseQuery, sides: Sides) -> list[str]:
    """Return the settings of two levels, except those within whose levels is compared."""
    taken = {*sides.by, *sides.pair, *(sides.adjust or ())}
    if source.knows_factors:
        rows, names = source.run_rows, list(source.varying_factors.names)
    else:
        try:
            response = build_responses(source, query)[0]
        except (DataError, IndexError):  # what is missing is said later
            return []
        rows, names = response.rows, response.names
    return [name for name in names if name not in taken and len(rows.column(name).codes()[1]) == 2]
